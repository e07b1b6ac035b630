"""Makes a data folder of pairs from one with single outputs: two systems' outputs for the same source text stand side by side."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from operator import attrgetter
from pathlib import Path
from typing import Any

import langcodes
import msgspec

from harness.content import Library, Task
from harness.content.lexicons import lexicon_for
from harness.content.specs import DatasetCard
from harness.content.tags import choose_from
from harness.data.dataset import Dataset, read_back
from harness.data.folders import data_toml, write_folder
from harness.errors import UsageError
from harness.model import Item
from harness.offensive_texts import refuse_in_repository
from harness.row_files import to_jsonl
from harness.text_measures import control_answer

HUMAN = "human"
COMPUTED = "computed"  # the annotator of control questions
PARALLEL_SOURCE = "parallel_source"
"""The key of an output or pair that names its source text in all languages. Outputs that models write to it are no parallel texts."""


class EqualScores(msgspec.Struct, frozen=True):
    """Only outputs that people scored alike on a metric: their mean scores differ by `tolerance` at most."""

    metric: str
    tolerance: float

    @classmethod
    def parse(cls, text: str) -> EqualScores:
        """Read `METRIC:TOL`. Raises UsageError.

        >>> EqualScores.parse("Fluency:0.5")
        EqualScores(metric='Fluency', tolerance=0.5)
        """
        metric, _, number = text.rpartition(":")
        try:
            tolerance = float(number)
        except ValueError:
            tolerance = -1.0
        if not metric or not 0 <= tolerance < float("inf"):
            raise UsageError(f"'{text}' should be a metric and how far the scores may differ, such as Fluency:0.5")
        return cls(metric, tolerance)


class MadePairs(msgspec.Struct, frozen=True):
    """The pairs that were made: their rows, how many by language, and what was left out or is worth knowing.

    `labels` are the computed answers to control questions; `notes` says for readers of results how the pairs were chosen.
    """

    rows: tuple[dict[str, Any], ...]
    by_language: dict[str, int]
    identical: int
    not_equal: int = 0
    not_scored: int = 0
    labels: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()


def in_one_style(text: str, language: str) -> str:
    """Return a text with the marks of style removed that say nothing of its content, by which a judge may know its writer.

    White space is single, the first letter is a capital where the script has them, and the text ends with the full stop of its script if
    it ends with no mark.

    >>> in_one_style("a  dog ran", "en"), in_one_style("犬が走った", "ja"), in_one_style('"Run!"', "en")
    ('A dog ran.', '犬が走った。', '"Run!"')
    """
    text = " ".join(text.split())
    first = next((position for position, character in enumerate(text) if character.isalnum()), len(text))
    upper = text[first : first + 1].upper()
    text = text[:first] + (upper if len(upper) == 1 else text[first : first + 1]) + text[first + 1 :]
    stop = _FULL_STOPS.get(langcodes.get(language).maximize().script or "", ".")
    ends = text.rstrip("\"'”’»›)]）」』】 ")[-1:]
    return text if not ends or ends in _END_MARKS else text + stop


_FULL_STOPS = {"Jpan": "。", "Hans": "。", "Hant": "。", "Deva": "।", "Beng": "।", "Guru": "।", "Orya": "।", "Armn": "։"}
_FULL_STOPS |= {"Ethi": "።", "Khmr": "។", "Mymr": "။", "Thai": "", "Laoo": ""}
_END_MARKS = ".!?…:;。！？．｡।॥։።។။؟۔"


def make_pairs(
    data: Dataset,
    library: Library,
    against: str = "all",
    equal: EqualScores | None = None,
    controls: Sequence[str] = (),
    *,
    one_style: bool = False,
) -> MadePairs:
    """Pair the outputs of different systems for one source text.

    Args:
        data: items with one output each, which name their system. A source text is one `segment` of the dataset card, or else one group.
        library: its pairwise tasks say which single tasks they put side by side (`pairs_of`).
        against: a system that each pair has to hold; `human` also for a system of that name in another case; `all`: any two systems.
        equal: keeps only pairs that people scored alike.
        controls: control questions whose answers are computed and become labels; pairs that are equal in a measure get none.
        one_style: outputs are compared as `in_one_style` writes them; the notes say how many that changed.

    The pairs come in the order of the items. Which output is A is drawn by a hash of both ids, so that no system stands always first.
    Raises UsageError without systems, without a pairwise task, for an unknown system, metric or control question, for a control question
    that a language of the pairs does not have, and if no pair is left.
    """
    tasks = {task.pairs_of: task for name in library.task_files if (task := library.task(name)).pairs_of}
    items = [item for item in data.items if item.system]
    if not items:
        raise UsageError(f"no item of {data.id} names its system; pairs need outputs of two systems or more, with the key 'system'")
    for name in sorted({item.task for item in items} - tasks.keys()):
        raise UsageError(f"no pairwise task has pairs_of = '{name}'; add one with --content (docs/studies.md).{choose_from(tasks, name)}")
    wanted = _choose_system(against, {str(item.system) for item in items})
    if equal:
        # `{item_id: mean of people's scores}` on a metric.
        scores: defaultdict[str, list[float]] = defaultdict(list)
        if equal.metric not in data.labels.metric.used:
            raise UsageError(f"no label is on the metric '{equal.metric}'.{choose_from(data.labels.metric.used, equal.metric)}")
        for label in data.labels:
            if label.metric == equal.metric:
                if isinstance(label.score, str):
                    raise UsageError(f"the scores of '{equal.metric}' are names, which have no mean; --equal needs a metric with numbers")
                scores[label.item_id].append(float(label.score))
        means = {name: sum(item_scores) / len(item_scores) for name, item_scores in scores.items()}
    else:
        means = {}
    rows: list[dict[str, Any]] = []
    left_out: Counter[str] = Counter()
    for first, other in _find_candidates(items, data.about.segment, wanted):
        if equal and (why := _describe_difference(first, other, means, equal.tolerance)):
            left_out[why] += 1
        else:
            rows.append(_make_pair(first, other, tasks[first.task], library.task(first.task).outputs[0]))
    changed = 0
    for row in rows if one_style else ():
        for name in ("output_a", "output_b"):
            styled = in_one_style(row[name], row["language"])
            changed += styled != row[name]
            row[name] = styled
    if not rows and not left_out:
        systems = ", ".join(sorted({str(item.system) for item in items}))
        wanted_systems = f"'{wanted}' and another system" if wanted else f"two systems; named are {systems}"
        raise UsageError(f"no source text has outputs of {wanted_systems}")
    if not rows:
        raise UsageError(f"no pair is left: {left_out['unequal']} differ more in people's scores, {left_out['unscored']} have no score")
    identical = sum(row["output_a"].strip() == row["output_b"].strip() for row in rows)
    labels = tuple(label for row in rows for label in _compute_control_labels(row, controls, library))
    by_language = dict(Counter(row["language"] for row in rows))
    notes: tuple[str, ...] = (_write_equal_note(data, equal),) if equal else ()
    if one_style:
        notes += (f"outputs in one style (single spaces, a capital first, a full stop last): {changed} of {2 * len(rows)} texts changed",)
    return MadePairs(tuple(rows), by_language, identical, left_out["unequal"], left_out["unscored"], labels, notes)


def _write_equal_note(data: Dataset, equal: EqualScores) -> str:
    sources = sorted({label.source for label in data.labels if label.metric == equal.metric})
    alike = f"differ by {equal.tolerance:g} at most" if equal.tolerance else "are equal"
    return f"only pairs whose mean scores on {equal.metric} {alike} (labels: {', '.join(sources)})"


def _compute_control_labels(row: Mapping[str, Any], controls: Sequence[str], library: Library) -> Iterator[dict[str, Any]]:
    lexicon = lexicon_for(row["language"], library.lexicons)
    for metric in controls:
        score = control_answer(metric, row["output_a"], row["output_b"], row["language"], lexicon)
        if score is not None:
            yield {"item_id": row["item_id"], "annotator_id": COMPUTED, "metric": metric, "score": score, "source": "constructed"}


def parallel_source(item: Item) -> str | None:
    """The name that the source text of an item has in all languages; None if it has none."""
    source = item.fields.get(PARALLEL_SOURCE) or item.parallel_id
    return str(source) if source else None


def write_pairs(folder: Path, pairs: MadePairs, source: Dataset, library: Library) -> None:
    """Write the pairs as a new data folder. Raises UsageError if the folder exists, StoreError if it cannot be written or read again."""
    if folder.exists():
        raise UsageError(f"--out {folder} exists already; name a new folder")
    about = source.about
    refuse_in_repository(folder, about)
    card = DatasetCard(
        id=f"{source.id}-pairs",
        version=about.version,
        title=f"Pairs of outputs: {about.title or source.id}",
        licence=about.licence,
        citation=about.citation,
        sampling=about.sampling,
        offensive=about.offensive,
        notes=(*about.notes, *pairs.notes),
        source="constructed",
        annotators="aggregate",
    )
    files = {"items.jsonl": to_jsonl(pairs.rows), "data.toml": data_toml(card).encode()}
    files |= {"labels.jsonl": to_jsonl(pairs.labels)} if pairs.labels else {}
    write_folder(folder, files, read_back(folder, library, {"items": len(pairs.rows), "labels": len(pairs.labels)}))


def _choose_system(against: str, systems: set[str]) -> str | None:
    """The system that each pair has to hold; None for any."""
    if against == "all":
        return None
    if against in systems:
        return against
    same = [name for name in systems if against == HUMAN and name.casefold() == HUMAN]
    if not same:
        raise UsageError(f"no item has the system '{against}'.{choose_from(sorted(systems), against)}")
    return same[0]


def _describe_difference(first: Item, other: Item, means: Mapping[str, float], tolerance: float) -> str:
    """Say why two outputs do not count as scored alike; empty if they do."""
    if first.item_id not in means or other.item_id not in means:
        return "unscored"
    return "unequal" if abs(means[first.item_id] - means[other.item_id]) > tolerance + 1e-9 else ""


def _find_candidates(items: Sequence[Item], segment: str, wanted: str | None) -> Iterator[tuple[Item, Item]]:
    """Two outputs of different systems for one source text."""
    sources: defaultdict[tuple[str, ...], list[Item]] = defaultdict(list)
    for item in items:
        source = str(item.fields.get(segment, item.group)) if segment else item.group
        sources[item.language, item.task, source].append(item)
    for same in sources.values():
        for first, other in combinations(same, 2):
            if first.system != other.system and (wanted is None or wanted in (first.system, other.system)):
                yield first, other


def _make_pair(item: Item, partner: Item, task: Task, output: str) -> dict[str, Any]:
    """Return the item of two outputs, in an order that is drawn by a hash of both ids."""
    low, high = sorted((item, partner), key=attrgetter("item_id"))
    is_swapped = hashlib.sha256(f"{low.item_id}\x1f{high.item_id}".encode()).digest()[0] % 2
    first, other = (low, high) if is_swapped else (high, low)
    inputs = {name: first.fields[name] for name, field in task.fields.items() if field.role == "input" and name in first.fields}
    row = {
        "item_id": f"{first.item_id}|{other.item_id}",
        "language": first.language,
        "task": task.id,
        "split": "test" if first.split == other.split == "test" else "dev",
        "group": first.group,
        "system_a": first.system,
        "system_b": other.system,
        "item_a": first.item_id,
        "item_b": other.item_id,
    }
    parallel, second_source = parallel_source(first), parallel_source(other)
    row |= {PARALLEL_SOURCE: parallel} if parallel and parallel == second_source else {}
    dataset = first.fields.get("dataset")
    row |= {"dataset": dataset} if dataset and dataset == other.fields.get("dataset") else {}
    return row | inputs | dict(zip(task.outputs, (str(first.fields.get(output, "")), str(other.fields.get(output, ""))), strict=True))
