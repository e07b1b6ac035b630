"""Interval and p, by the cluster bootstrap, of any smooth function of sums over items: slopes, differences of correlations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, ShapeError
from harness.stats.core.bootstrap_resamples import RESAMPLES
from harness.stats.core.groups import degrees_of_freedom
from harness.stats.intervals.intervals import MIN_GROUPS, NO_VARIATION, Interval, no_interval, t_quantile

_DEFINED = 0.9  # share of resamples that must have a value
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Estimated:
    """`value` on `n` items, its interval, and the two-sided `p` of the hypothesis that it is 0; a reason if it is undefined."""

    value: float
    n: int
    interval: Interval
    p: float
    reason: str | None


def bootstrap_from_sums(
    features: ArrayLike,
    value: Callable[[Floats], Floats],
    groups: ArrayLike,
    *,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    constant: str = "constant values",
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimated:
    """A function of the items' summed features, with standard error by the cluster bootstrap and Student's t for interval and p.

    Degrees of freedom fall where a few groups hold most of the variation, as in `mean_interval`; p < 0.05 exactly where
    the interval excludes 0.

    Args:
        features: (items, m).
        value: maps sums (..., m) to values (...), NaN where undefined.
        bounds: smallest and largest possible value; the interval ends there.
        constant: the reason if there are items, but the value is undefined.

    Returns:
        `Estimated`; without interval and p for fewer than 8 groups, and if all groups are equal (then the p of the value 0 is 1).

    Reference: Field & Welsh (2007); Cameron & Miller (2015).

    >>> found = bootstrap_from_sums([[1.0, 2.0], [1.0, 4.0]] * 8, lambda s: s[..., 1] / s[..., 0], range(16))
    >>> found.value, found.n, round(found.interval.lo, 1), round(found.interval.hi, 1)
    (3.0, 16, 2.4, 3.6)
    """
    table, codes = np.asarray(features, np.float64), np.asarray(groups)
    if table.ndim != 2 or codes.shape != table.shape[:1]:
        raise ShapeError(f"features {table.shape} and groups {codes.shape} must be of the same items")
    _, code = np.unique(codes, return_inverse=True)
    count = int(code.max(initial=-1)) + 1
    if not count:
        return Estimated(math.nan, 0, no_interval(0), math.nan, "no overlap")
    sums = np.zeros((count, table.shape[1]))
    np.add.at(sums, code, table)
    sums = sums[np.lexsort(sums.T)]  # the names of groups do not matter
    total = sums.sum(axis=0)
    found = float(value(total))
    if math.isnan(found):
        return Estimated(found, len(table), no_interval(count, constant), math.nan, constant)
    if count < MIN_GROUPS:
        return Estimated(found, len(table), no_interval(count), math.nan, None)
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), resamples)
    replicates = value(drawn.astype(np.float64) @ sums)
    replicates = replicates[~np.isnan(replicates)]
    if len(replicates) < _DEFINED * resamples:
        return Estimated(found, len(table), no_interval(count, "undefined in many resamples"), math.nan, None)
    error = float(np.std(replicates)) * math.sqrt(count / (count - 1))
    left_out = value(total - sums)
    influence = (left_out - found)[~np.isnan(left_out)]
    freedom = degrees_of_freedom(influence, np.ones(len(influence))) if len(influence) else 3.0
    return t_interval_from_sums(found, len(table), error, freedom, count, bounds, "cluster bootstrap (t)")


def t_interval_from_sums(
    value: float, n: int, error: float, freedom: float, groups: int, bounds: tuple[float, float], method: str
) -> Estimated:
    """Student's interval and p of a value with a standard error. If that is 0, there is no interval; the p of the value 0 is then 1.

    >>> found = t_interval_from_sums(0.5, 40, 0.1, 39.0, 40, (-1.0, 1.0), "jackknife")
    >>> round(found.interval.lo, 2), round(found.interval.hi, 2), found.p < 0.001
    (0.3, 0.7, True)
    """
    if error <= _ROUNDING * max(1.0, abs(value)):
        return Estimated(value, n, no_interval(groups, NO_VARIATION), 1.0 if abs(value) <= _ROUNDING else math.nan, None)
    from scipy.special import stdtr

    half = t_quantile(0.95, freedom) * error
    interval = Interval(max(bounds[0], value - half), min(bounds[1], value + half), method, groups, None, None)
    return Estimated(value, n, interval, float(2 * stdtr(freedom, -abs(value) / error)), None)
