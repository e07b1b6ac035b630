"""Intervals of any statistic in many cells, from one set of resamples for each cell.

Where every group is single, a resample of the n items is a multinomial draw of the distinct rows' weights (the same
distribution, a hundredth of the work); otherwise it draws groups.

Shares and means get the intervals of `harness.stats.intervals.intervals`. Coefficients get the bias-corrected accelerated
interval (BCa) with its levels widened from the normal distribution to Student's t. The reason: a bootstrap over G groups is
too narrow by about sqrt(1 - 1/G) and ignores small degrees of freedom (G - 1 for single items, fewer for texts that differ
in weight, see `degrees_of_freedom`). Both were chosen by simulation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import accumulate, chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.options import RESAMPLES
from harness.stats.agreement.describe import uncommon_expected
from harness.stats.core.arrays import Floats, power
from harness.stats.core.groups import GroupSums, distinct_sums_each, freedom_of_moments, spread_of
from harness.stats.core.many_cells import batch_by_shape, parts_of, run_parts, windows
from harness.stats.core.rows import Rows
from harness.stats.core.statistic import Features, Statistic, distinctly_named
from harness.stats.intervals.intervals import (
    MIN_GROUPS,
    NO_VARIATION,
    Interval,
    MeanToTest,
    mean_of_sums,
    no_interval,
    share_of_sums,
    t_quantile,
    tested_means,
)

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
    columns_of: dict[Features, slice] = {}
    columns, width = [np.empty((len(rows.counts), 0))], 0
    for statistic in statistics:
        if statistic.features not in columns_of:
            columns.append(statistic.features(rows))
            columns_of[statistic.features] = slice(width, width + columns[-1].shape[1])
            width += columns[-1].shape[1]
    return np.concatenate(columns, axis=1), columns_of


def cells_of(rows: Rows, features: Floats) -> Iterable[CellSums]:
    """The units of each cell."""
    ends = rows.ends()
    same = np.arange(len(features))  # patterns with equal features are merged
    if 0 < len(features) <= _PATTERNS:
        features, same = np.unique(features, axis=0, return_inverse=True)
    for cell, clustered in enumerate(rows.clustered):
        span = slice(ends[cell], ends[cell + 1])
        kinds, kind = np.unique(same[rows.pattern[span]], return_inverse=True)
        items, weight = features[kinds], np.asarray(np.bincount(kind, rows.weight[span]), np.float64)
        if not clustered:
            yield CellSums(items, weight, False, items, weight)
            continue
        begins = np.flatnonzero(np.r_[True, np.diff(rows.group[span]) != 0])
        sums = np.add.reduceat(items[kind] * rows.weight[span][:, None], begins)
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
            rng, step = np.random.default_rng(self.seed), max(1, _DRAWN // units)
            for count in self._chunks(units):
                weights = np.empty((count, units), np.min_scalar_type(units))
                for start in range(0, count, step):
                    some = weights[start : start + step]
                    chosen = rng.integers(0, units, some.shape) + np.arange(len(some))[:, None] * units
                    some[:] = np.bincount(chosen.ravel(), minlength=some.size).reshape(some.shape)
                if small:
                    self._kept.append(weights)
                yield weights
            self._groups = units if small else -1

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

    def values(self, statistic: Statistic, columns: slice) -> ResampledValues:
        """The statistic of every row; `columns` are the columns of its features."""
        values = statistic.value(self.rows[:, columns])
        value, *rest = (part.reshape(self.cells, -1) for part in np.split(values, _ends(self.cells, self.widths)[:-1]))
        return ResampledValues(value[:, 0], *rest)


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
    for index, cell in enumerate(cells):
        total = cell.times @ cell.sums
        starts = [begin + index * width for begin, width in zip((0, *ends), widths, strict=False)]
        table[:, starts[0]] = total
        table[:, starts[1] : starts[1] + units] = (total - cell.sums).T
        table[:, starts[2] : starts[2] + items] = (total - cell.items[:items]).T
        for weights in draws.weights_for(cell) if units else ():
            # (weights @ sums).T, in pieces too small for a threaded BLAS to wake its threads: that costs 100 times the product.
            out = table[:, starts[3] : starts[3] + len(weights)]
            step = _SINGLE // max(cell.sums.size, 1)
            step = step if step >= 4 else len(weights)
            for start in range(0, len(weights), step):
                np.matmul(cell.sums.T, weights[start : start + step].T.astype(np.float64), out=out[:, start : start + step])
            starts[3] += len(weights)
    return Resampled(table.T, len(cells), widths)


def _ends(cells: int, widths: Sequence[int]) -> list[int]:
    return [cells * end for end in accumulate(widths)]


FEW_UNCOMMON = "too few rare cases for an interval"
_DEFINED = 0.9  # share of resamples that must have a value
_CELLS_AT_ONCE = 16  # more of them no longer fit into the cache
_NUMBERS = 1 << 20  # sums of cells that are held at a time


def intervals(
    statistics: Iterable[Statistic],
    rows: Rows,
    *,
    only: Collection[str] | None = None,
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, tuple[Interval, ...]]:
    """Cluster-aware intervals of many statistics in many cells.

    Args:
        statistics: what to compute, as in `estimate`.
        rows: from `tabulate`, with `group` where items share texts.
        only: names of the statistics that get an interval, the same as beside all others; default all.
        seed: of the resampling. The interval of a cell does not depend on the other cells.
        resamples: number of resamples of each cell.

    Returns:
        By name, one `Interval` for each cell.

    Raises:
        ValueError: for a level outside (0, 1), fewer than 100 resamples, or two statistics of one name.

    Reference: Efron (1987), BCa; Hesterberg (2015), expanded levels; Field & Welsh (2007), resampling clusters.

    >>> from harness.stats.agreement.agreement import fleiss
    >>> from harness.stats.core.rows import count_classes, tabulate
    >>> rows = tabulate(count_classes([[0, 0], [1, 1], [0, 1], [1, 1]] * 10, k=2))
    >>> found = intervals([fleiss()], rows)["human_fleiss"][0]
    >>> round(found.lo, 1), round(found.hi, 1), found.method, found.groups
    (0.1, 0.7, 'cluster bootstrap (bca)', 40)
    """
    if not 0 < level < 1 or resamples < 100:
        raise ValueError(f"level must be in (0, 1) and resamples at least 100; got {level} and {resamples}")
    chosen = distinctly_named(statistics)
    if not chosen:
        return {}
    features, columns_of = features_of(chosen, rows)
    if only is not None:  # the features of all: units and their sums are then the same to the last digit
        chosen = [statistic for statistic in chosen if statistic.name in only]
    draws = Draws(seed, resamples)
    by_cell: list[list[Interval]] = []
    for cells in windows(cells_of(rows, features), lambda cell: cell.sums.size, _NUMBERS):
        by_cell += batch_by_shape(
            lambda alike: _of_cells(alike, chosen, columns_of, resample(alike, draws), level),
            cells,
            lambda cell: cell.shape,
            most=_CELLS_AT_ONCE,
        )
    uncommon = uncommon_expected(rows).tolist()
    for cell, expected in zip(by_cell, uncommon, strict=True):
        for column, statistic in enumerate(chosen):
            if cell[column].reason is None and expected < statistic.least_uncommon:
                cell[column] = no_interval(cell[column].groups, FEW_UNCOMMON)
    return {statistic.name: tuple(cell[column] for cell in by_cell) for column, statistic in enumerate(chosen)}


def intervals_on_all_cores(
    statistics: Callable[[], Sequence[Statistic]], rows: Rows, *, processes: int | None = None, **drawing: Any
) -> dict[str, tuple[Interval, ...]]:
    """Return `intervals` of the statistics that a function returns, in as many processes as there are cores if there are many cells.

    Args:
        statistics: a function of a module, or a `functools.partial` of one: it is sent to the processes.
        rows: from `tabulate`.
        processes: how many, if not one for each core.
        drawing: only, level, seed and resamples, as `intervals`.

    Raises as `intervals`. Where no process can be started, or one dies, its cells are computed here.
    """
    parts = parts_of(rows.cells, processes)
    tasks = [(statistics, rows.of_cells(first, last) if len(parts) > 1 else rows, drawing) for first, last in parts]
    results = run_parts(_intervals_of_part, tasks)
    return {name: tuple(chain.from_iterable(part[name] for part in results)) for name in results[0]}


def _intervals_of_part(
    statistics: Callable[[], Sequence[Statistic]], rows: Rows, drawing: dict[str, Any]
) -> dict[str, tuple[Interval, ...]]:
    return intervals(statistics(), rows, **drawing)


_Place = tuple[int, int]  # the numbers of a statistic and of a cell


def _of_cells(
    cells: Sequence[CellSums], chosen: Sequence[Statistic], columns_of: Mapping[Features, slice], resampled: Resampled, level: float
) -> list[list[Interval]]:
    """The intervals of each cell, of cells of one shape. Those of coefficients are computed at once, and those of differences."""
    results: dict[_Place, Interval] = {}
    means: dict[_Place, MeanToTest] = {}
    samples: dict[_Place, _Sample] = {}
    for column, statistic in enumerate(chosen):
        columns, keys = columns_of[statistic.features], [(column, number) for number in range(len(cells))]
        if statistic.kind in ("share", "mean"):
            results |= zip(keys, _levels(statistic, cells, columns, resampled, level), strict=True)
        elif statistic.kind == "difference":
            means |= zip(keys, (MeanToTest(*sums, statistic.bounds) for sums in _sums(cells, columns)), strict=True)
        else:
            for key, sample in zip(keys, _samples(statistic, cells, columns, resampled), strict=True):
                if isinstance(sample, Interval):
                    results[key] = sample
                else:
                    samples[key] = sample
    results |= zip(means, (interval for interval, _ in tested_means(list(means.values()), level=level)), strict=True)
    results |= zip(
        samples, batch_by_shape(partial(_of_samples, level=level), list(samples.values()), lambda sample: sample.shape), strict=True
    )
    return [[results[column, number] for column in range(len(chosen))] for number in range(len(cells))]


def bca(
    value: ArrayLike,
    replicates: Floats,
    left_out: Floats,
    times: Floats,
    freedom: ArrayLike | None = None,
    *,
    level: float = 0.95,
) -> tuple[Floats, Floats]:
    """BCa intervals with levels widened to Student's t.

    z0 = bias correction, a = acceleration from the values without one unit; the levels are
    Phi(z0 + (z0 + q) / (1 - a (z0 + q))) at q = ± sqrt(G / (G - 1)) t.

    Args:
        value: (...) the statistic.
        replicates: (..., R) its values in the resamples.
        left_out: (..., U) its values without one unit of each kind.
        times: (..., U) number of units of each kind; their sum is G.
        freedom: (...) of Student's t; default G - 1.

    Returns:
        Lower and upper ends (...); NaN where no unit changes the value.

    >>> draws = np.random.default_rng(0).normal(0, 1, 4000)
    >>> lo, hi = bca(0.0, draws, np.array([-0.1, 0.1]), np.array([50.0, 50.0]))
    >>> round(float(lo), 1), round(float(hi), 1)
    (-1.9, 2.1)
    """
    from scipy.special import ndtr, ndtri, stdtrit

    estimate, groups = np.asarray(value, np.float64)[..., None], times.sum(axis=-1)
    influence = (np.vecdot(times, left_out) / groups)[..., None] - left_out
    spread = np.vecdot(times, influence * influence)
    ascending = np.sort(replicates, axis=-1)
    drawn = ascending.shape[-1]
    below = ((ascending < estimate).sum(axis=-1) + 0.5 * (ascending == estimate).sum(axis=-1)) / drawn
    bias = ndtri(np.clip(below, 1 / (drawn + 1), drawn / (drawn + 1)))
    free = groups - 1 if freedom is None else np.asarray(freedom, np.float64)
    reach = np.sqrt(groups / (groups - 1)) * stdtrit(free, 0.5 + level / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        acceleration = np.vecdot(times, influence**3) / (6 * power(spread, 1.5))
        levels = [ndtr(bias + moved / np.maximum(1 - acceleration * moved, 1e-6)) for moved in (bias - reach, bias + reach)]
    lo, hi = (np.where(spread > 0, _quantile(ascending, np.nan_to_num(probabilities)), math.nan) for probabilities in levels)
    return lo, hi


def _quantile(ascending: Floats, level: Floats) -> Floats:
    """`np.quantile` of sorted numbers (..., R), each at a level of its own (...)."""
    last = ascending.shape[-1] - 1
    position = last * level
    before = np.minimum(position.astype(np.int64), last)
    low, high = (np.take_along_axis(ascending, index[..., None], axis=-1)[..., 0] for index in (before, np.minimum(before + 1, last)))
    part = position - before
    return np.asarray(np.where(part >= 0.5, high - (high - low) * (1 - part), low + (high - low) * part))


def _levels(statistic: Statistic, cells: Sequence[CellSums], columns: slice, resampled: Resampled, level: float) -> Iterator[Interval]:
    """The intervals of a share or mean, which depend only on the groups' sums of y and numbers of units."""
    spreads = cache(lambda: spread_of(resampled.values(statistic, columns).replicates))
    for number, (sums, scatter) in enumerate(_sums(cells, columns)):
        spread = partial(lambda number: float(spreads()[number]), number)
        if statistic.kind == "share":
            yield share_of_sums(sums, scatter, spread, level=level)
        else:
            yield mean_of_sums(sums, scatter, statistic.bounds, spread, level=level)


def _sums(cells: Sequence[CellSums], columns: slice) -> Iterator[tuple[GroupSums, float]]:
    """Yield for each cell the distinct sums of groups, and the variance of single units."""
    units = ((cell.sums[:, columns.start + 1], cell.sums[:, columns.start], cell.times) for cell in cells)
    y, size, times = (np.stack(part) for part in zip(*units, strict=True))
    for cell, sums in zip(cells, distinct_sums_each(y, size, times), strict=True):
        n, y = cell.items[:, columns.start], cell.items[:, columns.start + 1]
        squares = cell.items[:, columns.start + 2] if columns.stop - columns.start > 2 else y**2
        count = max(float(cell.weight @ n), 1.0)
        yield sums, float(cell.weight @ squares) / count - (float(cell.weight @ y) / count) ** 2


class _Sample(NamedTuple):
    """The defined values of a coefficient of one cell: its value, in resamples, and without units (`times` of each) and items (`weight`).

    `most` is the largest possible value of a standard deviation, whose interval is made on its logarithm; NaN of other coefficients.
    """

    most: float
    clustered: bool
    groups: int
    value: float
    replicates: Floats
    left_out: Floats
    times: Floats
    item_left_out: Floats
    weight: Floats

    @property
    def shape(self) -> tuple[bool, bool, int, int, int]:
        """Intervals of samples of one shape are computed at once."""
        return math.isnan(self.most), self.clustered, len(self.replicates), len(self.left_out), len(self.item_left_out)


def _samples(statistic: Statistic, cells: Sequence[CellSums], columns: slice, resampled: Resampled) -> Iterator[_Sample | Interval]:
    """Yield the sample for the interval of a coefficient, or the reason why it has none."""
    values = resampled.values(statistic, columns)
    most = statistic.bounds[1] if statistic.kind == "spread" else math.nan
    times, used = np.stack([cell.times for cell in cells]), np.stack([cell.sums[:, columns.start] for cell in cells]) > 0
    unit_defined, of_items, drawn = used & ~np.isnan(values.left_out), ~np.isnan(values.item_left_out), ~np.isnan(values.replicates)
    groups, enough = np.vecdot(times, used).round().astype(np.int64), drawn.sum(axis=-1) >= _DEFINED * drawn.shape[-1]
    complete = np.all([part.all(axis=-1) for part in (unit_defined, of_items, drawn)], axis=0)
    for number, cell in enumerate(cells):
        count, value = int(groups[number]), float(values.value[number])
        if count < MIN_GROUPS:
            yield no_interval(count)
        elif math.isnan(value):
            yield no_interval(count, statistic.constant)
        elif not enough[number]:
            yield no_interval(count, "undefined in many resamples")
        else:
            weight = cell.weight[: of_items.shape[-1]]
            parts = values.replicates[number], values.left_out[number], cell.times, values.item_left_out[number], weight
            if not complete[number]:
                masks = drawn[number], unit_defined[number], unit_defined[number], of_items[number], of_items[number]
                parts = tuple(part[mask] for part, mask in zip(parts, masks, strict=True))
            yield _Sample(most, cell.clustered, count, value, *parts)


def _of_samples(samples: Sequence[_Sample], *, level: float) -> list[Interval]:
    """BCa intervals, or Student's of the logarithm, of samples of one shape."""
    most, _, groups, value, replicates, left_out, times, item_left_out, weight = (np.array(part) for part in zip(*samples, strict=True))
    clustered, freedom = samples[0].clustered, groups - 1.0
    if clustered:
        deviation, counted = left_out - value[:, None], times.sum(axis=-1)
        second, fourth = (np.vecdot(times, deviation**order) / counted for order in (2, 4))
        freedom = freedom_of_moments(second, fourth, counted)
    if math.isnan(samples[0].most):
        method = "cluster bootstrap (bca)"
        lo, hi = bca(value, replicates, left_out, times, freedom, level=level)
    else:
        method = "cluster bootstrap (t of the logarithm)"
        ends = map(partial(_log_t, level=level), value, replicates, groups, freedom)
        lo, hi = (np.array(limits) for limits in zip(*ends, strict=True))
        hi = np.minimum(hi, most)
    effects = np.ones(len(samples))
    if clustered:
        alone = _jackknife(item_left_out, weight)
        effects = np.where(alone > 0, _jackknife(left_out, times) / np.where(alone > 0, alone, 1.0), math.nan)
    return [
        Interval(low, high, method, count, effect if effect > 0 else None, None) if high > low else no_interval(count, NO_VARIATION)
        for low, high, count, effect in zip(lo.tolist(), hi.tolist(), groups.tolist(), effects.tolist(), strict=True)
    ]


def _log_t(value: float, replicates: Floats, groups: int, freedom: float, level: float) -> tuple[float, float]:
    """Student's interval of a positive value, computed on its logarithm; NaN for 0."""
    if not (value > 0 and (replicates > 0).any()):
        return math.nan, math.nan
    error = float(np.std(np.log(replicates[replicates > 0]))) * math.sqrt(groups / (groups - 1))
    factor = math.exp(t_quantile(level, freedom) * error)
    return value / factor, value * factor


def _jackknife(left_out: Floats, times: Floats) -> Floats:
    """The delete-one jackknife variance, of (..., U) values and how often each occurs."""
    n = times.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = left_out - (np.vecdot(times, left_out) / n)[..., None]
        return np.asarray(np.where(n < 2, math.nan, np.vecdot(times, deviation**2) * (n - 1) / n))
