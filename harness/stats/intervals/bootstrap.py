"""Intervals of any statistic in many cells, from one set of resamples for each cell.

Shares and means get the intervals of `harness.stats.intervals.intervals`. Coefficients get the bias-corrected accelerated
interval (BCa) with its levels widened from the normal distribution to Student's t. The reason: a bootstrap over G groups is
too narrow by about sqrt(1 - 1/G) and ignores small degrees of freedom (G - 1 for single items, fewer for texts that differ
in weight, see `degrees_of_freedom`). Both were chosen by simulation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.agreement.describe import uncommon_expected
from harness.stats.core.arrays import Floats, power
from harness.stats.core.at_once import at_once
from harness.stats.core.groups import GroupSums, distinct_sums, freedom_of_moments
from harness.stats.core.resample import RESAMPLES, CellSums, Draws, Resampled, cells_of, features_of, resample
from harness.stats.core.rows import Rows
from harness.stats.core.statistic import Features, Statistic, distinctly_named
from harness.stats.intervals.intervals import (
    MIN_GROUPS,
    NO_VARIATION,
    Interval,
    mean_of_sums,
    no_interval,
    share_of_sums,
    t_quantile,
    tested_mean,
)

FEW_UNCOMMON = "too few rare cases for an interval"
_DEFINED = 0.9  # share of resamples that must have a value
_CELLS_AT_ONCE = 8  # more of them no longer fit into the cache of a core
_NUMBERS = 1 << 18  # sums of cells that are held at a time


def intervals(
    statistics: Iterable[Statistic],
    rows: Rows,
    *,
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, tuple[Interval, ...]]:
    """Cluster-aware intervals of many statistics in many cells.

    Args:
        statistics: what to compute, as in `estimate`.
        rows: from `tabulate`, with `group` where items share texts.
        level: confidence in (0, 1).
        seed: of the resampling. The interval of a cell does not depend on the other cells.
        resamples: number of resamples of each cell.

    Returns:
        By name, one `Interval` for each cell.

    Raises:
        ValueError: for a level outside (0, 1), fewer than 100 resamples, or two statistics of one name.

    Reference: Efron (1987), BCa; Hesterberg (2015), expanded levels; Field & Welsh (2007), resampling clusters.

    >>> from harness.stats.agreement.kappa import fleiss
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
    features, place = features_of(chosen, rows)
    draws = Draws(seed, resamples)
    found: list[list[Interval]] = []
    for cells in _together(cells_of(rows, features)):
        found += at_once(
            lambda alike: _of_cells(alike, chosen, place, resample(alike, draws), level),
            cells,
            lambda cell: cell.shape,
            most=_CELLS_AT_ONCE,
        )
    uncommon = uncommon_expected(rows).tolist()
    for cell, expected in zip(found, uncommon, strict=True):
        for column, statistic in enumerate(chosen):
            if cell[column].reason is None and expected < statistic.least_uncommon:
                cell[column] = no_interval(cell[column].groups, FEW_UNCOMMON)
    return {statistic.name: tuple(cell[column] for cell in found) for column, statistic in enumerate(chosen)}


def _together(cells: Iterable[CellSums]) -> Iterator[list[CellSums]]:
    """Many small cells at a time, or a few large ones: among many, more are of one shape."""
    some: list[CellSums] = []
    for cell in cells:
        some.append(cell)
        if sum(each.sums.size for each in some) > _NUMBERS:
            yield some
            some = []
    yield some


def _of_cells(
    cells: Sequence[CellSums], chosen: Sequence[Statistic], place: Mapping[Features, slice], resampled: Resampled, level: float
) -> list[list[Interval]]:
    """The intervals of each cell, of cells of one shape."""
    columns = []
    for statistic in chosen:
        interval = _ratios if statistic.kind in ("share", "mean", "difference") else _coefficients
        columns.append(interval(statistic, cells, place[statistic.features], resampled, level))
    return [list(of_cell) for of_cell in zip(*columns, strict=True)]


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
        level: confidence in (0, 1).

    Returns:
        Lower and upper ends (...); NaN where no unit changes the value.

    >>> draws = np.random.default_rng(0).normal(0, 1, 4000)
    >>> lo, hi = bca(0.0, draws, np.array([-0.1, 0.1]), np.array([50.0, 50.0]))
    >>> round(float(lo), 1), round(float(hi), 1)
    (-1.9, 2.1)
    """
    from scipy.special import ndtr, ndtri, stdtrit

    own, groups = np.asarray(value, np.float64)[..., None], times.sum(axis=-1)
    influence = (np.vecdot(times, left_out) / groups)[..., None] - left_out
    spread = np.vecdot(times, influence * influence)
    ascending = np.sort(replicates, axis=-1)
    drawn = ascending.shape[-1]
    below = ((ascending < own).sum(axis=-1) + 0.5 * (ascending == own).sum(axis=-1)) / drawn
    bias = ndtri(np.clip(below, 1 / (drawn + 1), drawn / (drawn + 1)))
    free = groups - 1 if freedom is None else np.asarray(freedom, np.float64)
    reach = np.sqrt(groups / (groups - 1)) * stdtrit(free, 0.5 + level / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        acceleration = np.vecdot(times, influence**3) / (6 * power(spread, 1.5))
        levels = [ndtr(bias + moved / np.maximum(1 - acceleration * moved, 1e-6)) for moved in (bias - reach, bias + reach)]
    lo, hi = (np.where(spread > 0, _quantile(ascending, np.nan_to_num(each)), math.nan) for each in levels)
    return lo, hi


def _quantile(ascending: Floats, level: Floats) -> Floats:
    """`np.quantile` of sorted numbers (..., R), each at a level of its own (...)."""
    last = ascending.shape[-1] - 1
    place = last * level
    before = np.minimum(place.astype(np.int64), last)
    low, high = (np.take_along_axis(ascending, at[..., None], axis=-1)[..., 0] for at in (before, np.minimum(before + 1, last)))
    part = place - before
    return np.asarray(np.where(part >= 0.5, high - (high - low) * (1 - part), low + (high - low) * part))


def _ratios(statistic: Statistic, cells: Sequence[CellSums], at: slice, resampled: Resampled, level: float) -> list[Interval]:
    """The intervals of a share, mean or difference, which depend only on the groups' sums of y and numbers of units."""

    @cache
    def replicates() -> Floats:
        return resampled.values(statistic, at).replicates

    found = []
    for number, cell in enumerate(cells):
        sums = distinct_sums(cell.sums[:, at.start + 1], cell.sums[:, at.start], cell.times)
        n, y = cell.items[:, at.start], cell.items[:, at.start + 1]
        squares = cell.items[:, at.start + 2] if at.stop - at.start > 2 else y**2
        units = max(float(cell.weight @ n), 1.0)
        scatter = float(cell.weight @ squares) / units - (float(cell.weight @ y) / units) ** 2
        found.append(_ratio(statistic, sums, scatter, lambda number=number: replicates()[number], level))
    return found


def _ratio(statistic: Statistic, sums: GroupSums, scatter: float, replicates: Callable[[], Floats], level: float) -> Interval:
    if statistic.kind == "share":
        return share_of_sums(sums, scatter, replicates, level=level)
    if statistic.kind == "mean":
        return mean_of_sums(sums, scatter, statistic.bounds, replicates, level=level)
    return tested_mean(sums, scatter, statistic.bounds, level=level)[0]


class _Sample(NamedTuple):
    """What is defined of a coefficient of one cell: its value, in resamples, and without units (`times` of each) and items (`weight`)."""

    groups: int
    value: float
    replicates: Floats
    left_out: Floats
    times: Floats
    item_left_out: Floats
    weight: Floats

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.replicates), len(self.left_out), len(self.item_left_out)


def _coefficients(statistic: Statistic, cells: Sequence[CellSums], at: slice, resampled: Resampled, level: float) -> list[Interval]:
    """The intervals of a coefficient, or the reasons why it has none."""
    made: dict[int, Interval] = {}
    samples: dict[int, _Sample] = {}
    for place, (cell, *found) in enumerate(zip(cells, *resampled.values(statistic, at), strict=True)):
        sample = _sample(cell, cell.sums[:, at.start] > 0, *found)
        if sample.groups < MIN_GROUPS:
            made[place] = no_interval(sample.groups)
        elif math.isnan(sample.value):
            made[place] = no_interval(sample.groups, statistic.constant)
        elif len(sample.replicates) < _DEFINED * resampled.widths[-1]:
            made[place] = no_interval(sample.groups, "undefined in many resamples")
        else:
            samples[place] = sample
    intervals_of = partial(_of_samples, statistic, clustered=cells[0].clustered, level=level)
    made |= zip(samples, at_once(intervals_of, list(samples.values()), lambda sample: sample.shape), strict=True)
    return [made[place] for place in range(len(cells))]


def _sample(cell: CellSums, used: NDArray[np.bool_], value: float, left_out: Floats, item_left_out: Floats, replicates: Floats) -> _Sample:
    known, of_items, drawn = used & ~np.isnan(left_out), ~np.isnan(item_left_out), ~np.isnan(replicates)
    return _Sample(
        round(float(cell.times @ used)),
        float(value),
        replicates if drawn.all() else replicates[drawn],
        *((left_out, cell.times) if known.all() else (left_out[known], cell.times[known])),
        *((item_left_out, cell.weight[: len(of_items)]) if of_items.all() else (item_left_out[of_items], cell.weight[of_items])),
    )


def _of_samples(statistic: Statistic, samples: Sequence[_Sample], *, clustered: bool, level: float) -> list[Interval]:
    """BCa intervals, or Student's of the logarithm, of samples of one shape."""
    groups, value, replicates, left_out, times, item_left_out, weight = (np.array(part) for part in zip(*samples, strict=True))
    freedom = groups - 1.0
    if clustered:
        deviation, counted = left_out - value[:, None], times.sum(axis=-1)
        second, fourth = (np.vecdot(times, deviation**order) / counted for order in (2, 4))
        freedom = freedom_of_moments(second, fourth, counted)
    if statistic.kind == "spread":
        method = "cluster bootstrap (t of the logarithm)"
        lo, hi = (np.array(ends) for ends in zip(*map(partial(_log_t, level=level), value, replicates, groups, freedom), strict=True))
        hi = np.minimum(hi, statistic.bounds[1])
    else:
        method = "cluster bootstrap (bca)"
        lo, hi = bca(value, replicates, left_out, times, freedom, level=level)
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
