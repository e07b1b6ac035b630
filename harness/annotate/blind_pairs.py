"""Minimal pairs for readers who do not know which text is flawed: a twin beside its flawless text, as one item of a pairwise task.

Readers confirm a pair: so many choose the text that is constructed as better, and find the flaw.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import msgspec

from harness.content import Library, Task
from harness.content.specs import Pack, read_spec
from harness.content.tags import choose_from
from harness.data.dataset import Dataset, load_bundled_pack
from harness.data.labels import Labels
from harness.errors import UsageError
from harness.model import Item

METRIC = "preference"
READERS = 5
"""How many readers a pair has."""


def load_pack(library: Library, name: str) -> Dataset:
    """Return the items and labels of the packs `name` (`models`) of all languages that have one. Raises UsageError if none has."""
    languages = sorted({key.partition("/")[2] for key in library.further_pack_files})
    if name not in languages:
        raise UsageError(f"no language has a pack '{name}'.{choose_from(languages, name)}")
    return load_bundled_pack(library, name)


def pack_version(library: Library, language: str, name: str) -> str:
    """Return the version of a language's pack of this name."""
    return read_spec(library.further_pack_files[f"{language}/{name}"], Pack).version


def blind_pairs(data: Dataset, library: Library) -> Dataset:
    """Each twin beside its flawless text, under the id of the twin, without labels.

    Which of the two is text A is drawn by a hash of the id. An item has `better`, the text that the labels say is better (`A`, `B`, or
    `tie` for a harmless change), and the `construction` of its twin; pages show neither.

    Raises UsageError for data without twins, and for a task that no pairwise task puts side by side.
    """
    tasks = {task.pairs_of: task for name in library.task_files if (task := library.task(name)).pairs_of and METRIC in task.metrics}
    pairs = tuple(_pairs(data, library, tasks))
    if not pairs:
        raise UsageError(f"no item of {data.id} names its flawless text in the key 'twin', so there are no pairs to show")
    outputs = {task.id: task.outputs for task in tasks.values()}
    scales = {**data.scales, METRIC: library.rubric(METRIC).scale}
    return msgspec.structs.replace(data, items=pairs, labels=Labels.from_rows(()), scales=scales, outputs=outputs, checks=())


def blind_shares(items: Sequence[Item], annotators: Sequence[str]) -> dict[str, list[Item]]:
    """Return which pairs each annotator reads, so that each pair has 5 readers or more, and nobody meets a flawless text more often than
    needed.

    Five annotators read all pairs. Ten read half of the pairs of each text, twenty a quarter: then nobody meets a flawless text twice where
    it has four twins.

    >>> pairs = [Item(f"{group}{n}", "cs", "t", group=group) for group in "gh" for n in range(4)]
    >>> {who: [item.item_id for item in own] for who, own in blind_shares(pairs, list("abcdefghij")).items() if who in "ab"}
    {'a': ['g0', 'g2', 'h0', 'h2'], 'b': ['g1', 'g3', 'h1', 'h3']}
    """
    rounds = max(1, len(annotators) // READERS)
    met: Counter[str] = Counter()
    turn = []
    for item in items:
        turn.append(met[item.group] % rounds)
        met[item.group] += 1
    return {
        who: [item for item, item_turn in zip(items, turn, strict=True) if item_turn == number % rounds]
        for number, who in enumerate(annotators)
    }


def most_alike(items: Iterable[Item]) -> int:
    """Return how many pairs the text with the most pairs has."""
    return max(Counter(item.group for item in items).values(), default=0)


def _pairs(data: Dataset, library: Library, tasks: dict[str, Task]) -> Iterator[Item]:
    from_best: dict[str, dict[str, float]] = {}
    for label in data.labels:
        if not isinstance(label.score, str):
            best = data.scales[label.metric].best
            from_best.setdefault(label.item_id, {})[label.metric] = 0.0 if best is None else abs(float(label.score) - float(best))
    for twin in data.items:
        base = data.by_id.get(str(twin.fields.get("twin")))
        if base is None:
            continue
        if twin.task not in tasks:
            raise UsageError(
                f"no pairwise task has pairs_of = '{twin.task}'; add one with --content (docs/studies.md).{choose_from(tasks)}"
            )
        of_base, of_twin = from_best.get(base.item_id, {}), from_best.get(twin.item_id, {})
        # By how much the labels of the twin are further from the best ones than those of the base, on the metrics that both have.
        lead = sum(of_twin[metric] - of_base[metric] for metric in of_base.keys() & of_twin.keys())
        task, [output] = tasks[twin.task], library.task(twin.task).outputs
        base_first = hashlib.sha256(f"blind\x1f{twin.item_id}".encode()).digest()[0] % 2 == 0
        first, second = (base, twin) if base_first else (twin, base)
        inputs = {name: base.fields[name] for name, field in task.fields.items() if field.role == "input" and name in base.fields}
        better = "tie" if lead == 0 else "A" if (lead > 0) == base_first else "B"
        outputs = dict(zip(task.outputs, (first.fields[output], second.fields[output]), strict=True))
        about = {"construction": twin.fields.get("construction"), "twin_of": base.item_id, "better": better}
        yield Item(twin.item_id, twin.language, task.id, group=twin.group, fields={**inputs, **outputs, **about})


AGREE = 4 / 5
"""The share of readers who have to choose the constructed answer."""
_OTHER = {"A": "output_b", "B": "output_a"}


class KeptPair(msgspec.Struct, frozen=True):
    """The readers' answers to one pair.

    `better` is the constructed answer. Of the `readers`, `agree` chose it, `equal` said that both are as good, `other` chose the flawed
    text; for a harmless change, `equal` is what is constructed and `other` counts those who chose a text. `found` marked a place
    that touches the flaw. `kept` is None with fewer than 5 readers.
    """

    item_id: str
    construction: str
    better: str
    readers: int
    agree: int
    equal: int
    other: int
    found: int
    kept: bool | None


def kept_pairs(items: Mapping[str, Mapping[str, Any]], labels: Iterable[Mapping[str, Any]]) -> list[KeptPair]:
    """Return what the readers said of every pair that has an answer, in the order of the items.

    A pair is kept if at least 5 readers answered, and 4 of 5 of them (or more) chose what is constructed. `items` are the rows by id of a
    data folder that blind pairs were imported into (`output_a`, `output_b`, `better`, `construction`), `labels` the rows of its labels,
    with `spans`.
    """
    answers: dict[str, list[Mapping[str, Any]]] = {}
    for row in labels:
        if row["metric"] == METRIC and "better" in items.get(row["item_id"], {}):
            answers.setdefault(row["item_id"], []).append(row)
    return [_kept(name, item, answers[name]) for name, item in items.items() if name in answers]


def _kept(name: str, item: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> KeptPair:
    better, scores = str(item["better"]), [row["score"] for row in answers]
    agree, equal = scores.count(better), scores.count("tie")
    return KeptPair(
        item_id=name,
        construction=str(item.get("construction") or ""),
        better=better,
        readers=len(scores),
        agree=agree,
        equal=equal,
        other=len(scores) - agree - (equal if better != "tie" else 0),
        found=sum(_finds(item, row.get("spans") or ()) for row in answers) if better in _OTHER else 0,
        kept=agree >= AGREE * len(scores) - 1e-9 if len(scores) >= READERS else None,
    )


def _finds(item: Mapping[str, Any], spans: Iterable[Mapping[str, Any]]) -> bool:
    """Return True if a marked place of the flawed text touches what differs from the flawless one."""
    flawed = _OTHER[item["better"]]
    differing = differing_places(item["output_a" if flawed == "output_b" else "output_b"], item[flawed])
    field_spans = [span for span in spans if span.get("field") == flawed]
    return any(span["start"] <= end and span["end"] >= start for span in field_spans for start, end in differing)


def differing_places(flawless: str, flawed: str) -> list[tuple[int, int]]:
    """From where to where the flawed text differs from the flawless one, in characters of the flawed text; of a missing part, where it was.

    >>> differing_places("The list grows.", "The list grow.")
    [(13, 13)]
    >>> differing_places("He had two cats.", "He had six cats!")
    [(7, 10), (15, 16)]
    """
    steps = SequenceMatcher(None, flawless, flawed, autojunk=False).get_opcodes()
    return [(start, end) for kind, _, _, start, end in steps if kind != "equal"]
