"""Does agreement change along an ordered condition, such as the temperature? The slope, and Page's test."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, ShapeError, same_shape
from harness.stats.core.statistic import ratio
from harness.stats.core.sums import Estimated, bootstrap_from_sums
from harness.stats.intervals.intervals import MIN_GROUPS, NO_VARIATION, TOO_FEW


def slope(
    x: ArrayLike,
    y: ArrayLike,
    groups: ArrayLike,
    *,
    seed: int = 0,
    resamples: int = 1000,
) -> Estimated:
    """Least-squares slope of y on x, in units of y per unit of x, with the cluster bootstrap's interval and p.

    sum (x - mean x)(y - mean y) / sum (x - mean x)². The slope summarises the change; it does not claim that the relation is linear.

    Args:
        x, y: (units,) numbers, NaN where missing (such units are left out).
        groups: (units,) any sortable codes of what units share; an item at several x is one group at least.

    Returns:
        `Estimated`; undefined if x is constant ("one condition only").

    >>> found = slope([0, 1] * 20, [1, 0, 1, 1] * 10, np.repeat(range(20), 2))
    >>> found.value, found.n, found.interval.hi < 0
    (-0.5, 40, True)
    """
    a, b, codes = np.asarray(x, np.float64), np.asarray(y, np.float64), np.asarray(groups)
    same_shape("of the same units", x=a, y=b, groups=codes)
    known = ~(np.isnan(a) | np.isnan(b))
    a, b = a[known], b[known]
    a = a - a.mean() if len(a) else a
    features = np.stack([np.ones(len(a)), a, b, a * a, a * b], axis=1)
    return bootstrap_from_sums(features, _slope_of_sums, codes[known], constant="one condition only", seed=seed, resamples=resamples)


def _slope_of_sums(sums: Floats) -> Floats:
    n, x, y, xx, xy = np.moveaxis(sums, -1, 0)
    return ratio(n * xy - x * y, n * xx - x * x)


@dataclass(frozen=True, slots=True)
class PageTest:
    """Page's L with the one-sided `p` of a falling trend and the number of its `blocks`; NaN and a reason if undefined."""

    statistic: float
    p: float
    blocks: int
    reason: str | None


def page_falling(table: ArrayLike) -> PageTest:
    """Page's test that the columns fall from left to right, against the hypothesis that they do not differ.

    L = sum of (predicted rank) x (sum of the blocks' ranks); blocks whose values are all equal have no
    order and are left out. Remaining ties get middle ranks, which makes the test conservative.

    Args:
        table: (blocks, conditions) numbers, conditions in the order in which the values should fall; no NaN.

    Returns:
        `PageTest`: undefined with fewer than three conditions, fewer than 8 blocks, or no two blocks that vary.

    Reference: Page (1963); `scipy.stats.page_trend_test`.

    >>> found = page_falling([[3, 2, 1]] * 6 + [[1, 2, 3], [2, 2, 2]])
    >>> found.statistic, found.blocks, found.p < 0.05
    (94.0, 7, True)
    """
    given = np.asarray(table, np.float64)
    if given.ndim != 2:
        raise ShapeError(f"table must be blocks x conditions, got shape {given.shape}")
    varied = given[np.ptp(given, axis=1) > 0] if given.size else given[:0]
    if given.shape[1] < 3:
        return PageTest(math.nan, math.nan, len(varied), "fewer than three conditions")
    if len(given) < MIN_GROUPS:
        return PageTest(math.nan, math.nan, len(varied), TOO_FEW)
    if len(varied) < 2:
        return PageTest(math.nan, math.nan, len(varied), NO_VARIATION)
    from scipy.stats import page_trend_test  # late: half a second

    found = page_trend_test(varied[:, ::-1])
    return PageTest(float(found.statistic), float(found.pvalue), len(varied), None)
