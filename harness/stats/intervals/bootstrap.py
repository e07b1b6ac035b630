"""Intervals of any statistic in many cells, from one set of resamples for each cell.

Shares and means get the intervals of `harness.stats.intervals.intervals`. Coefficients get the bias-corrected accelerated
interval (BCa) with its levels widened from the normal distribution to Student's t. The reason: a bootstrap over G groups is
too narrow by about sqrt(1 - 1/G) and ignores small degrees of freedom (G - 1 for single items, fewer for texts that differ
in weight, see `degrees_of_freedom`). Both were chosen by simulation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from harness.stats.agreement.describe import uncommon_expected
from harness.stats.core.arrays import Floats
from harness.stats.core.groups import degrees_of_freedom, distinct_sums
from harness.stats.core.resample import RESAMPLES, CellSums, Draws, Resampled, cells_of, features_of, resample
from harness.stats.core.rows import Rows
from harness.stats.core.statistic import Statistic, distinctly_named
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
    found: list[list[Interval]] = [[] for _ in chosen]
    draws = Draws(seed, resamples)
    uncommon = uncommon_expected(rows).tolist()
    for number, cell in enumerate(cells_of(rows, features)):
        resampled = resample(cell, draws)
        for column, statistic in enumerate(chosen):
            interval = _ratio if statistic.kind in ("share", "mean", "difference") else _coefficient
            made = interval(statistic, cell, place[statistic.features], resampled, level)
            few = made.reason is None and uncommon[number] < statistic.least_uncommon
            found[column].append(no_interval(made.groups, FEW_UNCOMMON) if few else made)
    return {statistic.name: tuple(per_cell) for statistic, per_cell in zip(chosen, found, strict=True)}


def bca(
    value: float,
    replicates: Floats,
    left_out: Floats,
    times: Floats,
    freedom: float | None = None,
    *,
    level: float = 0.95,
) -> tuple[float, float]:
    """BCa interval with levels widened to Student's t.

    z0 = bias correction, a = acceleration from the values without one unit; the levels are
    Phi(z0 + (z0 + q) / (1 - a (z0 + q))) at q = ± sqrt(G / (G - 1)) t.

    Args:
        value: the statistic.
        replicates: (R,) its values in the resamples.
        left_out: (U,) its values without one unit of each kind.
        times: (U,) number of units of each kind; their sum is G.
        freedom: of Student's t; default G - 1.
        level: confidence in (0, 1).

    >>> draws = np.random.default_rng(0).normal(0, 1, 4000)
    >>> lo, hi = bca(0.0, draws, np.array([-0.1, 0.1]), np.array([50.0, 50.0]))
    >>> round(lo, 1), round(hi, 1)
    (-1.9, 2.1)
    """
    groups = float(times.sum())
    influence = float(times @ left_out) / groups - left_out
    squares = influence * influence
    spread = float(times @ squares)
    if not spread > 0:
        return math.nan, math.nan
    acceleration = float(times @ influence**3) / (6 * spread**1.5)
    ascending = np.sort(replicates)
    drawn = len(ascending)
    lower, not_higher = ascending.searchsorted(value), ascending.searchsorted(value, "right")
    below = (int(lower) + 0.5 * int(not_higher - lower)) / drawn
    from scipy.special import ndtr, ndtri

    bias = float(ndtri(min(max(below, 1 / (drawn + 1)), drawn / (drawn + 1))))
    reach = math.sqrt(groups / (groups - 1)) * t_quantile(level, groups - 1 if freedom is None else freedom)
    lo, hi = (
        _quantile(ascending, float(ndtr(bias + moved / max(1 - acceleration * moved, 1e-6)))) for moved in (bias - reach, bias + reach)
    )
    return lo, hi


def _quantile(ascending: Floats, level: float) -> float:
    """`np.quantile` of sorted numbers, which it would search and check for each of many cells."""
    place = (len(ascending) - 1) * level
    before = min(int(place), len(ascending) - 1)
    low, high = float(ascending[before]), float(ascending[min(before + 1, len(ascending) - 1)])
    part = place - before
    return high - (high - low) * (1 - part) if part >= 0.5 else low + (high - low) * part


def _ratio(statistic: Statistic, cell: CellSums, at: slice, resampled: Resampled, level: float) -> Interval:
    """The interval of a share, mean or difference, which depends only on the groups' sums of y and numbers of units."""
    sums = distinct_sums(cell.sums[:, at.start + 1], cell.sums[:, at.start], cell.times)
    n, y = cell.items[:, at.start], cell.items[:, at.start + 1]
    squares = cell.items[:, at.start + 2] if at.stop - at.start > 2 else y**2
    units = max(float(cell.weight @ n), 1.0)
    scatter = float(cell.weight @ squares) / units - (float(cell.weight @ y) / units) ** 2

    def replicates() -> Floats:
        return resampled.values(statistic, at).replicates

    if statistic.kind == "share":
        return share_of_sums(sums, scatter, replicates, level=level)
    if statistic.kind == "mean":
        return mean_of_sums(sums, scatter, statistic.bounds, replicates, level=level)
    return tested_mean(sums, scatter, statistic.bounds, level=level)[0]


def _coefficient(statistic: Statistic, cell: CellSums, at: slice, resampled: Resampled, level: float) -> Interval:
    """The BCa interval of a coefficient, or the reason why it has none."""
    used = cell.sums[:, at.start] > 0
    groups = round(float(cell.times @ used))
    if groups < MIN_GROUPS:
        return no_interval(groups)
    value, left_out, item_left_out, drawn = resampled.values(statistic, at)
    if math.isnan(value):
        return no_interval(groups, statistic.constant)
    replicates = drawn[~np.isnan(drawn)]
    if len(replicates) < _DEFINED * len(drawn):
        return no_interval(groups, "undefined in many resamples")
    known = used & ~np.isnan(left_out)
    left_out, times = left_out[known], cell.times[known]
    freedom = degrees_of_freedom(left_out - value, times) if cell.clustered else groups - 1.0
    if statistic.kind == "spread":
        method = "cluster bootstrap (t of the logarithm)"
        lo, hi = _log_t(value, replicates, groups, freedom, level)
        hi = min(hi, statistic.bounds[1])
    else:
        method = "cluster bootstrap (bca)"
        lo, hi = bca(value, replicates, left_out, times, freedom, level=level)
    if not hi > lo:
        return no_interval(groups, NO_VARIATION)
    effect = 1.0
    if cell.clustered:
        alone = _jackknife(item_left_out, cell.weight)
        effect = _jackknife(left_out, times) / alone if alone > 0 else math.nan
    return Interval(lo, hi, method, groups, effect if effect > 0 else None, None)


def _log_t(value: float, replicates: Floats, groups: int, freedom: float, level: float) -> tuple[float, float]:
    """Student's interval of a positive value, computed on its logarithm; NaN for 0."""
    if not (value > 0 and (replicates > 0).any()):
        return math.nan, math.nan
    error = float(np.std(np.log(replicates[replicates > 0]))) * math.sqrt(groups / (groups - 1))
    factor = math.exp(t_quantile(level, freedom) * error)
    return value / factor, value * factor


def _jackknife(left_out: Floats, times: Floats) -> float:
    """The delete-one jackknife variance."""
    known = ~np.isnan(left_out)
    left_out, times = left_out[known], times[known]
    n = float(times.sum())
    if n < 2:
        return math.nan
    return float(times @ (left_out - float(times @ left_out) / n) ** 2) * (n - 1) / n
