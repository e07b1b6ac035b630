"""One day of a watch: answers on anchors, which are labelled texts that the judge is asked again, and scores of new texts.

The texts that the certificate was made from set the production level, so as new texts they would show that nothing has changed: they are
left out.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

import msgspec
import numpy as np

from harness.correction.cell_results import judged_rows
from harness.correction.certificate import CertifiedJudge
from harness.correction.stale_certificate import condition_changes
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.data.same_texts import text_key
from harness.errors import ContentError, UsageError
from harness.measure.compare import Recording
from harness.model import Item, Score
from harness.watch.daily_log import Seen, SeenAnchors, SeenProduction
from harness.watch.watch_plan import CERTIFIED, Anchor, WatchedCell, WatchPlan, certified_hash

Answers = Mapping[tuple[str, str], Sequence[Score | None]]
"""`{(item_id, metric): answers in the order of their repeats}`, None for an answer that cannot be read."""
_NAMED = 3  # anchors that a sentence names


def draw_anchors(anchors: Sequence[Anchor], plan: WatchPlan, day: date) -> dict[str, int]:
    """Return how often each anchor is drawn on a day: `per_day` draws a language, at random and with replacement.

    The draw depends on the plan's seed and the day alone, so a command that was killed draws the same anchors again.
    """
    drawn: Counter[str] = Counter()
    for language in sorted({anchor.language for anchor in anchors}):
        pool = sorted({anchor.item_id for anchor in anchors if anchor.language == language})
        seed = [plan.options.seed, day.toordinal(), *language.encode()]
        drawn.update(pool[number] for number in np.random.default_rng(seed).integers(0, len(pool), plan.options.per_day))
    return dict(drawn)


def answers_of(judgments: Judgments) -> dict[tuple[str, str], list[Score | None]]:
    """The answers on each item and metric, in the order of their repeats."""
    rows = sorted(
        zip(judgments.item, judgments.metric, (repeat or 0 for repeat in judgments.repeat), judgments.score, strict=True),
        key=lambda row: (row[0], row[1], row[2]),
    )
    answers: dict[tuple[str, str], list[Score | None]] = {}
    for item, metric, _, score in rows:
        answers.setdefault((item, metric), []).append(score)
    return answers


def refuse_unanswered(anchors: Sequence[Anchor], times: Mapping[str, int], answers: Answers, where: str) -> None:
    """Raise UsageError for drawn anchors without an answer, with their ids."""
    absent = sorted({anchor.item_id for anchor in anchors if anchor.item_id in times and (anchor.item_id, anchor.metric) not in answers})
    if absent:
        listed = ", ".join(absent[:_NAMED]) + (f" and {len(absent) - _NAMED} more" if len(absent) > _NAMED else "")
        problem = f"{where} has no answer of the judge on {len(absent)} of the anchors that are drawn: {listed}"
        raise UsageError(f"{problem}; an answer that cannot be read is a row without a score")


def see_anchors(cell: WatchedCell, anchors: Sequence[Anchor], times: Mapping[str, int], answers: Answers) -> SeenAnchors | None:
    """Return the result of the answers on the drawn anchors in one cell; None where none of them is of it.

    The k-th draw of an anchor takes its k-th answer, or its last one where there are fewer.
    """
    drawn_answers = [
        (anchor, answers[anchor.item_id, anchor.metric][min(draw, len(answers[anchor.item_id, anchor.metric]) - 1)])
        for anchor in anchors
        if (anchor.language, anchor.metric) == (cell.language, cell.metric)
        for draw in range(times.get(anchor.item_id, 0))
    ]
    agreement = Seen.of(cell.agreement(score, anchor) for anchor, score in drawn_answers)
    if agreement is None:
        return None
    read = [score for _, score in drawn_answers if score is not None]
    return SeenAnchors(len(drawn_answers), len(drawn_answers) - len(read), agreement, Seen.of(map(cell.level, read)))


Answer = tuple[Item, WatchedCell, Score | None]


def group_key(cell: WatchedCell, group: str) -> str:
    """A short hash of a group in a cell, under which it is remembered."""
    return hashlib.sha256(f"{cell.name}\x1f{group}".encode()).hexdigest()[:16]


def see_production(
    source: Recording, judge: CertifiedJudge, cells: Collection[WatchedCell], known_groups: Collection[str]
) -> tuple[dict[str, SeenProduction], list[str]]:
    """Return one day's scores in each cell, and the groups that came for the first time.

    A group enters as one value, the mean of its texts; one that an earlier day had (`known_groups`, as `group_key`) does not enter again,
    as it says the same twice. Raises UsageError for scores of another judge or condition, an empty day, and scores off the scale.
    """
    for problem in condition_changes(judge, source):
        raise UsageError(f"{source.name} holds no scores to watch: {problem}")
    by_group = scores_by_group(source, judge, cells)
    if not any(by_group.values()):
        raise UsageError(
            f"{source.name} has no score of '{judge.name}' in {', '.join(cell.name for cell in cells)}; there is nothing to add"
        )
    seen, new = dict[str, SeenProduction](), list[str]()
    for cell in cells:
        groups = by_group[cell.name]
        first = {key: levels for group, levels in groups.items() if (key := group_key(cell, group)) not in known_groups}
        read = {key: [level for level in levels if level is not None] for key, levels in first.items()}
        texts = sum(map(len, groups.values()))
        new += first
        if texts:
            seen[cell.name] = SeenProduction(
                texts=texts,
                unread=sum(level is None for levels in groups.values() for level in levels),
                known=texts - sum(map(len, first.values())),
                level=Seen.of(sum(levels) / len(levels) for levels in read.values() if levels),
                readable=Seen.of(len(read[key]) / len(levels) for key, levels in first.items()),
            )
    return seen, new


def scores_by_group(
    source: Recording, judge: CertifiedJudge, cells: Collection[WatchedCell]
) -> Mapping[str, dict[str, list[float | None]]]:
    """`{cell: {group: levels of its answers}}`, None for an answer that cannot be read."""
    groups: dict[str, dict[str, list[float | None]]] = {cell.name: {} for cell in cells}
    cluster = dict(zip(source.data.by_id, source.data.clusters, strict=True))
    for item, cell, score in _answers_by_item(source, judge, cells):
        groups[cell.name].setdefault(cluster[item.item_id] or item.item_id, []).append(None if score is None else cell.level(score))
    return groups


def certified_texts(source: Recording, judge: CertifiedJudge, cells: Collection[WatchedCell]) -> tuple[str, ...]:
    """Short hashes that know the judged texts of the certified cells again, by their ids and by what is read of them, in order."""
    texts = _read_texts(_answers_by_item(source, judge, cells))
    return tuple(sorted({key for item, _ in texts for key in (_hash_parts([item.item_id]), *_text_keys(source.data, item))}))


def without_certified(source: Recording, plan: WatchPlan, certified: frozenset[str]) -> tuple[Recording, Counter[str]]:
    """New scores without those of certified texts, and how many were left out in each cell (by its name).

    A text is known by its id and its outputs, by all that is read of it under whatever id, or by its id alone where the new scores come
    without texts. Raises UsageError where no other text is left.
    """
    left_out, n_new, is_certified = Counter[str](), 0, dict[str, bool]()
    for item, cell in _read_texts(_answers_by_item(source, plan.judge, plan.cells)):
        if item.item_id not in is_certified:
            is_certified[item.item_id] = not certified.isdisjoint(_text_keys(source.data, item))
        left_out[cell.name] += is_certified[item.item_id]
        n_new += not is_certified[item.item_id]
    if not any(is_certified.values()):
        return source, left_out
    if not n_new:
        raise UsageError(
            f"all {len(is_certified):,} texts of {source.name} are those that the certificate was made from; name texts that came later"
        )
    new = (item.item_id for item in source.data.items if not is_certified.get(item.item_id))
    return msgspec.structs.replace(source, judgments=source.judgments.for_items(new)), left_out


def read_certified(home: Path, plan: WatchPlan) -> frozenset[str]:
    """Return what `certified_texts` gave when the watch began. Raises ContentError for a changed file."""
    path = home / CERTIFIED
    keys = tuple(path.read_text("ascii", "replace").split()) if path.is_file() else ()
    if certified_hash(keys) != plan.certified:
        raise ContentError("these are not the certified texts that the watch began with; restore the file, or begin another watch", path)
    return frozenset(keys)


def _answers_by_item(source: Recording, judge: CertifiedJudge, cells: Collection[WatchedCell]) -> Iterator[Answer]:
    rows, items = judged_rows(source, judge.condition), source.data.by_id
    by_place = {(cell.language, cell.metric): cell for cell in cells}
    for item_id, metric, score in zip(rows.item, rows.metric, rows.score, strict=True):
        cell = by_place.get((items[item_id].language, metric))
        if cell is not None:
            yield items[item_id], cell, score


def _read_texts(answers: Iterable[Answer]) -> Collection[tuple[Item, WatchedCell]]:
    """Each text once in each of its cells."""
    return {(item.item_id, cell.name): (item, cell) for item, cell, _ in answers}.values()


def _text_keys(data: Dataset, item: Item) -> tuple[str, ...]:
    """By its id and its outputs, and by all that is read of it; by its id alone where it comes without its outputs."""
    outputs, text = [item.fields.get(name) for name in data.outputs_of(item)], text_key(item, data.outputs_of(item))
    return (_hash_parts([item.item_id]),) if text is None else (_hash_parts([item.item_id, *outputs]), text)


def _hash_parts(parts: list[object]) -> str:
    return hashlib.sha256(msgspec.json.encode(parts, enc_hook=str)).hexdigest()[:16]
