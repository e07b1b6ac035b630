"""Judgments laid beside the labels of one data set, and the keys by which they are grouped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import numpy as np

from harness.data.columns import CodedColumn, combination_ids, first_rows
from harness.data.dataset import Dataset
from harness.measure.design import Design
from harness.measure.options import ALWAYS, POOLED
from harness.measure.units import LabelCounts, Units, item_key
from harness.model import CONDITION
from harness.stats import LEVELS, agreement_level
from harness.stats.core.arrays import Ints


class JudgedData(msgspec.Struct, frozen=True):
    """Judgments laid beside the labels of one data set: of one source, or of several on the same items and labels.

    `baseline` is `{(item_id, metric): score}` that a majority baseline has learnt from development items; None if nothing was. Pairs that
    are missing get the commonest reference of the item's language, task and metric in the cell.
    """

    data: Dataset
    units: Units  # one row a judgment of what judges were asked; `missing` where there is none
    unasked: Units  # labelled items that judges were not asked about
    counted: Mapping[str, LabelCounts]  # by metric; units of other metrics have no labels
    baseline: Mapping[tuple[str, str], Any] | None = None
    design: Design | None = None  # how the labelled items were drawn; None if each counts once
    design_notes: tuple[str, ...] = ()  # why stated probabilities are not used

    def of(self, units: Units) -> JudgedData:
        """The same data with other units."""
        return msgspec.structs.replace(self, units=units)

    def columns(self, names: Iterable[str]) -> dict[str, CodedColumn]:
        """The values of keys for every unit. Raises UsageError for a key that no item has."""
        return {name: self.column(name) for name in names}

    def column(self, name: str) -> CodedColumn:
        """The value of the key `name` for every unit."""
        if name in ("metric", *CONDITION, "repeat", "order"):
            column: CodedColumn = getattr(self.units.judgments, name)
            return column
        if name == "source":
            return self.units.source
        return self._agreement() if name == "agreement" else item_key(self.data, name).take(self.units.item)

    def _agreement(self) -> CodedColumn:
        level = np.full(len(self.units), -1, np.int32)
        for metric, of in self.counted.items():
            here = self.units.judgments.metric.equals(metric)
            level[here] = agreement_level(of.counts[self.units.item[here]], None)
        return CodedColumn(LEVELS, level)

    def keyed(self, names: Iterable[str]) -> tuple[list[dict[str, Any]], Ints]:
        """`factorise` of these keys of the units."""
        return factorise(self.columns(names), len(self.units))


def factorise(columns: Mapping[str, CodedColumn], rows: int) -> tuple[list[dict[str, Any]], Ints]:
    """The distinct keys, each with all names of `ALWAYS`, and for every row the number of its key."""
    code = combination_ids(columns.values(), np.zeros(rows, np.int8))
    keys = []
    for row in first_rows(code).tolist():
        keys.append(dict.fromkeys(ALWAYS, POOLED) | {name: column.at(row) for name, column in columns.items()})
    return keys, code
