"""Minimal pairs that native readers confirm: for each pair, how many choose the text that is constructed as better, and find the flaw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import msgspec

from harness.annotate.pages.blind_pairs import METRIC, READERS

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
