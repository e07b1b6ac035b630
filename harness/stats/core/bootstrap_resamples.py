"""Resamples of cells: units and their feature sums, weights drawn for them, and statistics of the weighted sums.

Where every group is single, a resample of the n items is a multinomial draw of the distinct rows' weights (the same
distribution, a hundredth of the work); otherwise it draws groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.stats.core.arrays import Floats
from harness.stats.core.rows import Rows
from harness.stats.core.statistic import Features, Statistic

RESAMPLES = 1000
"""The resamples of a bootstrap, unless a caller says otherwise."""
Counts = NDArray[Any]  # how often each unit is drawn in each resample (R, U), in the smallest integer type that fits

_SINGLE = 1 << 18  # multiplications that OpenBLAS does in one thread
_CHUNK = 1 << 22  # numbers of a resampling matrix held at a time
_DRAWN = 1 << 16  # numbers drawn at a time
_PATTERNS = 1 << 13  # with more patterns than this, equal features are not searched for


class CellSums(NamedTuple):
    """The feature sums of a cell's distinct units (U, M), the number of each (U,), and whether units are groups."""

    sums: Floats
    times: Floats
    clustered: bool
    items: Floats  # features (I, M) of the distinct items, for the design effect
    weight: Floats  # how many of each (I,)

    @property
    def shape(self) -> tuple[bool, int, int]:
        """Cells of one shape are resampled together."""
        return self.clustered, len(self.sums), len(self.items)


def features_of(statistics: Sequence[Statistic], rows: Rows) -> tuple[Floats, dict[Features, slice]]:
    """Features (P, M) of all statistics side by side, equal ones once, and the columns of each statistic."""
    place: dict[Features, slice] = {}
    columns, width = [np.empty((len(rows.counts), 0))], 0
    for statistic in statistics:
        if statistic.features not in place:
            columns.append(statistic.features(rows))
            place[statistic.features] = slice(width, width + columns[-1].shape[1])
            width += columns[-1].shape[1]
    return np.concatenate(columns, axis=1), place


def cells_of(rows: Rows, features: Floats) -> Iterable[CellSums]:
    """The units of each cell."""
    ends = rows.ends()
    same = np.arange(len(features))  # patterns with equal features are merged
    if 0 < len(features) <= _PATTERNS:
        features, same = np.unique(features, axis=0, return_inverse=True)
    for cell, clustered in enumerate(rows.clustered):
        at = slice(ends[cell], ends[cell + 1])
        kinds, kind = np.unique(same[rows.pattern[at]], return_inverse=True)
        items, weight = features[kinds], np.asarray(np.bincount(kind, rows.weight[at]), np.float64)
        if not clustered:
            yield CellSums(items, weight, False, items, weight)
            continue
        begins = np.flatnonzero(np.r_[True, np.diff(rows.group[at]) != 0])
        sums = np.add.reduceat(items[kind] * rows.weight[at][:, None], begins)
        sums = sums[np.lexsort(sums.T)]  # sorted, so that names and order of groups do not change an interval
        yield CellSums(sums, np.ones(len(begins)), True, items, weight)


class Draws:
    """Resampling weights in chunks. Weights of groups depend only on the number of groups and are kept for the next cell."""

    def __init__(self, seed: int, resamples: int) -> None:
        self.seed, self.resamples = seed, resamples
        self._groups = -1
        self._kept: list[Counts] = []

    def weights_for(self, cell: CellSums) -> Iterable[Counts]:
        units = round(cell.times.sum())
        if not cell.clustered:
            rng = np.random.default_rng(self.seed)
            for count in self._chunks(len(cell.times)):
                yield rng.multinomial(units, cell.times / units, count)
        elif units == self._groups:
            yield from self._kept
        else:
            self._groups, self._kept = -1, []
            small = units * self.resamples <= _CHUNK
            for drawn in self._of_groups(units):
                if small:
                    self._kept.append(drawn)
                yield drawn
            self._groups = units if small else -1

    def _of_groups(self, groups: int) -> Iterable[Counts]:
        rng = np.random.default_rng(self.seed)
        step = max(1, _DRAWN // groups)
        for count in self._chunks(groups):
            weights = np.empty((count, groups), np.min_scalar_type(groups))
            for at in range(0, count, step):
                some = weights[at : at + step]
                chosen = rng.integers(0, groups, some.shape) + np.arange(len(some))[:, None] * groups
                some[:] = np.bincount(chosen.ravel(), minlength=some.size).reshape(some.shape)
            yield weights

    def _chunks(self, width: int) -> Sequence[int]:
        step = max(1, min(self.resamples, _CHUNK // max(width, 1)))
        return [min(step, self.resamples - done) for done in range(0, self.resamples, step)]


class Resampled(NamedTuple):
    """Feature sums (rows, M) of cells of one shape: of all units of each, then without each unit, without each distinct item, and of each
    resample.

    One call of a statistic gives all of its values, so that a resample with the sums of the sample has exactly its value. Each feature is
    one long row in memory: sums over the few features of many resamples are then fast.
    """

    rows: Floats
    cells: int
    widths: tuple[int, int, int, int]  # of each cell: 1, units, items, resamples

    def values(self, statistic: Statistic, at: slice) -> ResampledValues:
        """The statistic of every row; `at` are the columns of its features."""
        found = statistic.value(self.rows[:, at])
        value, *others = (part.reshape(self.cells, -1) for part in np.split(found, _ends(self.cells, self.widths)[:-1]))
        return ResampledValues(value[:, 0], *others)


class ResampledValues(NamedTuple):
    """A statistic of cells (`value`, (C,)), without each unit (C, U), without each distinct item (C, I), and in the resamples (C, R)."""

    value: Floats
    left_out: Floats
    item_left_out: Floats
    replicates: Floats


def resample(cells: Sequence[CellSums], draws: Draws) -> Resampled:
    """The sums of cells of one shape, and of their resamples; there is no item to leave out where every item is a unit."""
    units, items = len(cells[0].sums), len(cells[0].items) if cells[0].clustered else 0
    widths = (1, units, items, draws.resamples if units else 0)
    ends = _ends(len(cells), widths)
    table = np.empty((cells[0].sums.shape[1], ends[-1]))
    for place, cell in enumerate(cells):
        total = cell.times @ cell.sums
        at = [begin + place * width for begin, width in zip((0, *ends), widths, strict=False)]
        table[:, at[0]] = total
        table[:, at[1] : at[1] + units] = (total - cell.sums).T
        table[:, at[2] : at[2] + items] = (total - cell.items[:items]).T
        for weights in draws.weights_for(cell) if units else ():
            _product(weights, cell.sums, table[:, at[3] : at[3] + len(weights)])
            at[3] += len(weights)
    return Resampled(table.T, len(cells), widths)


def _ends(cells: int, widths: Sequence[int]) -> list[int]:
    return [cells * end for end in accumulate(widths)]


def _product(weights: Counts, sums: Floats, out: Floats) -> None:
    """(weights @ sums).T, in pieces too small for a threaded BLAS to wake its threads: that costs 100 times the product."""
    step = _SINGLE // max(sums.size, 1)
    step = step if step >= 4 else len(weights)
    for at in range(0, len(weights), step):
        np.matmul(sums.T, weights[at : at + step].T.astype(np.float64), out=out[:, at : at + step])
