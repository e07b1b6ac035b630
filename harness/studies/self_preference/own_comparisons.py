"""Recorded comparisons of a judge's own output with another system's output of the same source text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from harness.errors import ContentError
from harness.model import Item
from harness.row_files import json_rows, read_rows

Question = Literal["recognition", "preference"]
QUESTION_METRICS: dict[str, Question] = {"self_recognition": "recognition", "self_preference": "preference"}
_FIRST, _SECOND = "1", "2"  # the label of the output that is shown first, and of the one that is shown second


class OwnComparison(msgspec.Struct, frozen=True):
    """One judge, its own output and another one: which of the two it wrote, or which of the two it prefers."""

    judge: str
    language: str
    dataset: str
    group: str
    own: str
    other: str
    question: Question
    confidence: float  # the probability, in [0, 1], that the judge gives to its own output, a mean over both orders
    chose_own_first: bool | None = None  # whether it chose its own output when that stood first; None where this is not recorded
    chose_own_second: bool | None = None


class _Row(msgspec.Struct):
    """The keys of a row of a judgment file that compares two outputs; other rows have no `other_item_id`."""

    item_id: str
    judge: str
    metric: str
    score: float | str | None = None  # words are scores of other metrics
    other_item_id: str | None = None
    forward: str | int | None = None
    backward: str | int | None = None


def read_own_comparisons(path: Path, items: Mapping[str, Item]) -> Iterator[OwnComparison]:
    """Yield the comparisons in a judgment file. `item_id` is the judge's own output, `other_item_id` the other one, `score` the confidence.

    `forward` and `backward` are the labels that were chosen, 1 or 2, with the own output first and second. Rows of other metrics and rows
    without `other_item_id` are passed over.

    Raises:
        ContentError: with `file:line`, for an item that does not exist or has no system, two items of different source texts, one
            system compared with itself, a confidence outside 0 to 1 and a label other than 1 and 2.
    """
    for line, row in _rows(path):
        question = QUESTION_METRICS.get(row.metric)
        if question is None or row.other_item_id is None or row.score is None:
            continue
        try:
            yield _comparison(row, question, items)
        except ValueError as err:
            raise ContentError(str(err), path, line) from None


def _rows(path: Path) -> Iterator[tuple[int, _Row]]:
    if path.suffix != ".parquet":
        yield from json_rows(path, _Row, "a judgment")
        return
    for line, row in read_rows(path):
        try:
            yield line, msgspec.convert(row, _Row)
        except msgspec.ValidationError as err:
            raise ContentError(f"not a judgment ({err})", path, line) from None


def _comparison(row: _Row, question: Question, items: Mapping[str, Item]) -> OwnComparison:
    own_output, other_output = (_item(name, items) for name in (row.item_id, str(row.other_item_id)))
    if own_output.group != other_output.group:
        raise ValueError(
            f"'{own_output.item_id}' and '{other_output.item_id}' are outputs of different source texts; a comparison needs one source text"
        )
    if own_output.system == other_output.system:
        raise ValueError(
            f"'{own_output.item_id}' and '{other_output.item_id}' are both by '{own_output.system}'; a comparison needs two systems"
        )
    if not isinstance(row.score, float) or not 0 <= row.score <= 1:
        raise ValueError(f"the score of '{row.metric}' is {row.score!r}; it should be a probability from 0 to 1")
    dataset = own_output.fields.get("dataset")  # the part of the data that an item belongs to
    return OwnComparison(
        judge=row.judge,
        language=own_output.language,
        dataset="" if dataset is None else str(dataset),
        group=own_output.group,
        own=str(own_output.system),
        other=str(other_output.system),
        question=question,
        confidence=float(row.score),
        chose_own_first=_chose(row.forward, _FIRST),
        chose_own_second=_chose(row.backward, _SECOND),
    )


def _item(name: str, items: Mapping[str, Item]) -> Item:
    item = items.get(name)
    if item is None:
        raise ValueError(f"no item '{name}' among the items")
    if not item.system:
        raise ValueError(f"item '{name}' has no system; a comparison needs the system that wrote each output")
    return item


def _chose(label: str | int | None, own_label: str) -> bool | None:
    if label is None:
        return None
    if str(label) not in (_FIRST, _SECOND):
        raise ValueError(f"the chosen label is {label!r}; it should be 1 (the first output) or 2 (the second)")
    return str(label) == own_label
