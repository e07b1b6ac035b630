"""Labels as columns, and their reading: each of an item, on its metric's scale, once an annotator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.columns import NO_VALUE, Coded, Columns, distinct, read_columns
from harness.errors import ContentError
from harness.model import Label, Scale, Score, Source


class LabelRow(msgspec.Struct):
    """What a row of a label file may say; other keys are passed over."""

    item_id: str
    annotator_id: str
    metric: str
    score: int | float | str
    source: Source | None = None
    language: str | None = None


class Labels:
    """Labels in the order of their file; iterating gives each as a `Label`.

    Columns (rows,): `item`, `annotator`, `metric`, `score`, `source`.
    """

    def __init__(self, item: Coded, annotator: Coded, metric: Coded, score: Coded, source: Coded) -> None:
        self.item, self.annotator, self.metric, self.score, self.source = item, annotator, metric, score, source

    @classmethod
    def of(cls, labels: Iterable[Label]) -> Labels:
        rows = [(x.item_id, x.annotator_id, x.metric, x.score, x.source) for x in labels]
        return cls(*map(Coded.of, zip(*rows, strict=True))) if rows else cls(*(Coded.of(()) for _ in range(5)))

    def __len__(self) -> int:
        return len(self.item)

    def __iter__(self) -> Iterator[Label]:
        return map(Label, self.item, self.annotator, self.metric, self.score, self.source)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Labels) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def most_raters(self) -> int:
        """The highest number of labels that one item has on one metric."""
        pair = self.item.codes.astype(np.int64) * max(len(self.metric.values), 1) + self.metric.codes
        return int(np.unique(pair, return_counts=True)[1].max(initial=0))

    def take(self, rows: NDArray[Any]) -> Labels:
        """Some of the labels (a mask or row numbers)."""
        return Labels(*(column.take(rows) for column in (self.item, self.annotator, self.metric, self.score, self.source)))

    def of_items(self, ids: Iterable[str]) -> Labels:
        """The labels of some items."""
        kept = self.item.recoded(dict.fromkeys(ids, 0)) != NO_VALUE
        return self if kept.all() else self.take(kept)


def read_labels(path: Path, scales: Mapping[str, Scale], items: Mapping[str, Any], *, source: Source = "native") -> Labels:
    """Labels of one file; `read_label_rows` and `checked_labels` in one. Raises ContentError with `file:line`."""
    return checked_labels(read_label_rows(path), scales, items, path, source=source)


def read_label_rows(path: Path) -> Columns:
    """The rows of a label file, of the right types and not yet checked. Raises ContentError for a row that is no label."""
    return read_columns(path, LabelRow, "a label")


def checked_labels(
    rows: Columns, scales: Mapping[str, Scale], items: Mapping[str, Any], path: Path, *, source: Source = "native"
) -> Labels:
    """Labels of a file's rows. `source` is that of rows that do not say theirs.

    Raises ContentError with `file:line` for a label of an item that is not in `items`, on a metric without a scale, off its scale, or
    the second of one annotator for one item and metric.
    """
    refuse_unknown_items(rows, items, path, "label")
    refuse_unknown_metrics(rows, scales, path)
    _refuse_off_scale(rows, scales, path)
    _refuse_repeats(rows, path)
    own, said = rows["source"], rows["source"].codes.astype(np.int32)
    values = tuple(dict.fromkeys((*own.values, source)))
    codes = np.where(said == NO_VALUE, values.index(source), said)
    return Labels(rows["item_id"], rows["annotator_id"], rows["metric"], rows["score"], Coded(values, codes))


def refuse_unknown_items(rows: Columns, items: Mapping[str, Any], path: Path, what: str) -> None:
    column = rows["item_id"]
    for code, item_id in enumerate(column.values):
        if item_id not in items:
            raise ContentError(f"a {what} of item '{item_id}', which is not among the items", path, first_line(rows, column.codes == code))


def refuse_unknown_metrics(rows: Columns, scales: Mapping[str, Scale], path: Path) -> None:
    column = rows["metric"]
    for code, metric in enumerate(column.values):
        if metric not in scales:
            raise ContentError(
                f"metric '{metric}' has no scale; add [metrics.{metric}] to data.toml or a rubric (known: {', '.join(scales)})",
                path,
                first_line(rows, column.codes == code),
            )


def _refuse_off_scale(rows: Columns, scales: Mapping[str, Scale], path: Path) -> None:
    pairs, which = pairs_of(rows["metric"], rows["score"])
    for number, (metric, score) in enumerate(pairs):
        if not scales[metric].holds(score):
            scale = scales[metric].describe()
            raise ContentError(f"score {score!r} is outside the scale of '{metric}' ({scale})", path, first_line(rows, which == number))


def _refuse_repeats(rows: Columns, path: Path) -> None:
    item, annotator, metric = (rows[name] for name in ("item_id", "annotator_id", "metric"))
    key = (item.codes.astype(np.int64) * max(len(annotator.values), 1) + annotator.codes) * max(len(metric.values), 1) + metric.codes
    order = np.argsort(key, kind="stable")
    again = order[1:][np.diff(key[order]) == 0]
    if not len(again):
        return
    second = int(again.min())
    first = int(np.argmax(key == key[second]))
    who, what, which = (column.values[column.codes[second]] for column in (annotator, metric, item))
    raise ContentError(
        f"annotator '{who}' has already scored '{what}' of '{which}' in line {rows.lines[first]}", path, int(rows.lines[second])
    )


def pairs_of(metric: Coded, score: Coded) -> tuple[list[tuple[str, Score]], NDArray[np.int64]]:
    """Every metric with every score that it has, and which of these each row is; -1 for a row without a score."""
    width = len(score.values) + 1
    found, which = distinct(metric.codes.astype(np.int64) * width + score.codes + 1, len(metric.values) * width)
    pairs = [(metric.values[pair // width], pair % width - 1) for pair in found.tolist()]
    known = [(name, score.values[code]) for name, code in pairs if code != NO_VALUE]
    number = np.cumsum([code != NO_VALUE for _, code in pairs]) - 1
    return known, np.where(score.codes == NO_VALUE, NO_VALUE, number[which] if len(pairs) else which)


def first_line(rows: Columns, here: NDArray[np.bool_]) -> int:
    """The line of the first row of a mask."""
    return int(rows.lines[int(np.argmax(here))])
