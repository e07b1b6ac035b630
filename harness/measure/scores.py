"""Labels on interval scales as numbers: every item's scores by annotator, raw and standardised."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.data.columns import CodedColumn, combination_ids
from harness.data.dataset import Dataset
from harness.data.labels import Labels
from harness.errors import UsageError
from harness.measure.options import Standardise
from harness.stats.agreement.variance_components import SingleScoreError, standardised
from harness.stats.core.arrays import Floats, Ints


@dataclass(frozen=True)
class ItemScores:
    """One metric's labels as numbers, sorted by item, (labels,)."""

    item: Ints  # an index into the items of the data
    annotator: Ints  # a code
    raw: Floats  # the score as given
    value: Floats  # the score that correlations use: standardised within annotator where this was asked for, else the same
    items: int  # of the data

    @cached_property
    def n(self) -> Ints:
        """Labels of every item, (items,)."""
        return np.bincount(self.item, minlength=self.items)

    @cached_property
    def raw_mean(self) -> Floats:
        """The mean score of every item, (items,); NaN without labels."""
        return self._mean(self.raw)

    @cached_property
    def mean(self) -> Floats:
        """The mean of the scores that correlations use, (items,); NaN without labels."""
        return self.raw_mean if self.value is self.raw else self._mean(self.value)

    def _mean(self, values: Floats) -> Floats:
        sums = np.bincount(self.item, values, minlength=self.items)
        return np.asarray(np.round(np.where(self.n > 0, sums / np.maximum(self.n, 1), np.nan), 12), np.float64)  # equal means are equal

    def sums(self, power: int, centre: float) -> Floats:
        """Return the sum of (raw score - centre)^power of every item, (items,)."""
        return np.asarray(np.bincount(self.item, (self.raw - centre) ** power, minlength=self.items), np.float64)

    def of_items(self, items: Ints) -> ItemScores:
        """Return the labels of some items, whose index is then their place in `items` (rising)."""
        position = np.full(self.items, -1, np.int64)
        position[items] = np.arange(len(items))
        selected = position[self.item] >= 0
        return ItemScores(position[self.item[selected]], self.annotator[selected], *self._both(selected), len(items))

    def only(self, items: NDArray[np.bool_]) -> ItemScores:
        """Return the labels of the items in a mask (items,); the others have none."""
        mask = items[self.item]
        return self if mask.all() else ItemScores(self.item[mask], self.annotator[mask], *self._both(mask), self.items)

    def _both(self, rows: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        raw = self.raw[rows]
        return raw, raw if self.value is self.raw else self.value[rows]

    def table(self) -> Floats:
        """Return raw scores (items, annotators), NaN where missing; a second label of an annotator replaces the first."""
        people, column = np.unique(self.annotator, return_inverse=True)
        table = np.full((self.items, len(people)), np.nan)
        table[self.item, column] = self.raw
        return table


def numbers(column: CodedColumn) -> Floats:
    """Return the scores of a column as numbers, (rows,); NaN where there is none.

    >>> numbers(CodedColumn.from_values([1, None, 0.5])).tolist()
    [1.0, nan, 0.5]
    """
    values = np.array([*(float(v) if isinstance(v, (int, float)) else np.nan for v in column.values), np.nan])
    return np.asarray(values[column.codes])


def item_scores(data: Dataset, metric: str, standardise: Standardise = "none", labels: Labels | None = None) -> ItemScores:
    """Return the labels of an interval metric as numbers.

    With `standardise` "annotator", `value` is standardised within the annotator's labels of a language; that raises UsageError if
    annotators cannot be followed from item to item, or have a single label. `labels` are those of the data by default.
    """
    all_labels = data.labels if labels is None else labels
    rows = np.flatnonzero(all_labels.metric.equals(metric))
    item = all_labels.item.take(rows).recode(data.positions).astype(np.int64)
    rows, item = rows[item >= 0], item[item >= 0]
    order = np.argsort(item, kind="stable")
    rows, item = rows[order], item[order]
    raw = numbers(all_labels.score.take(rows))
    annotator = all_labels.annotator.take(rows)
    value = raw if standardise == "none" else _standardise(data, metric, item, annotator, raw)
    return ItemScores(item, annotator.codes.astype(np.int64), raw, value, len(data.items))


def _standardise(data: Dataset, metric: str, item: Ints, annotator: CodedColumn, raw: Floats) -> Floats:
    kind = data.about.annotators
    if kind != "persistent":
        raise UsageError(f"annotators are {kind}: nobody can be followed from item to item, so scores cannot be standardised within them")
    language = CodedColumn.from_values(data_item.language for data_item in data.items).take(item)
    who = combination_ids([language], annotator.codes)
    try:
        return standardised(raw, who)
    except SingleScoreError as err:
        name: Any = annotator.values[annotator.codes[np.flatnonzero(who == err.annotator)[0]]]
        raise UsageError(
            f"annotator '{name}' has a single label on '{metric}' in a language: standardising needs two or more of each annotator"
        ) from None
