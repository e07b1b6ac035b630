"""Trends: the slope along an ordered condition, Page's test, a line through means over source texts, and the rise of a share in logits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.core.arrays import Floats, ShapeError, same_shape
from harness.stats.core.functions_of_sums import Estimated, bootstrap_from_sums
from harness.stats.core.statistic import ratio
from harness.stats.intervals.intervals import MIN_GROUPS, NO_VARIATION, TOO_FEW, Interval, no_interval, proportion_interval

_MOST_UNDEFINED = 0.1  # share of the resamples in which the line may be undefined


def slope(x: ArrayLike, y: ArrayLike, groups: ArrayLike, *, seed: int = 0, resamples: int = 1000) -> Estimated:
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
    present = ~(np.isnan(a) | np.isnan(b))
    a, b = a[present], b[present]
    a = a - a.mean() if len(a) else a
    features = np.stack([np.ones(len(a)), a, b, a * a, a * b], axis=1)
    return bootstrap_from_sums(features, _slope_of_sums, codes[present], constant="one condition only", seed=seed, resamples=resamples)


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
    values = np.asarray(table, np.float64)
    if values.ndim != 2:
        raise ShapeError(f"table must be blocks x conditions, got shape {values.shape}")
    varied = values[np.ptp(values, axis=1) > 0] if values.size else values[:0]
    if values.shape[1] < 3:
        return PageTest(math.nan, math.nan, len(varied), "fewer than three conditions")
    if len(values) < MIN_GROUPS:
        return PageTest(math.nan, math.nan, len(varied), TOO_FEW)
    if len(varied) < 2:
        return PageTest(math.nan, math.nan, len(varied), NO_VARIATION)
    from scipy.stats import page_trend_test  # late: half a second

    test = page_trend_test(varied[:, ::-1])
    return PageTest(float(test.statistic), float(test.pvalue), len(varied), None)


@dataclass(frozen=True)
class Line:
    """y = intercept + slope x by ordinary least squares over `points` points; NaN where all points have one x."""

    slope: float
    intercept: float
    slope_interval: Interval
    points: int


def least_squares(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Slopes and intercepts (...) of ordinary least squares over the last axis of x and y (..., points); NaN where x is constant.

    >>> [round(float(value), 12) for value in least_squares(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]))]
    [2.0, 1.0]
    """
    dx = x - x.mean(axis=-1, keepdims=True)
    dy = y - y.mean(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (dx * dy).sum(axis=-1) / (dx * dx).sum(axis=-1)
    slope = np.where(np.ptp(x, axis=-1) > 0, slope, math.nan)
    return slope, y.mean(axis=-1) - slope * x.mean(axis=-1)


def fit_line(
    points: Sequence[Mapping[str, Floats]], strata: Sequence[str], *, seed: int = 0, resamples: int = 1999, level: float = 0.95
) -> Line:
    """Fit a line through points, and again in resamples of the source texts, because points that share texts are dependent.

    Args:
        points: for each point `{source text: (sum of x, count of x, sum of y, count of y)}`; a coordinate is the ratio of its sums.
        strata: for each point the set of texts that it rests on: points of one stratum are resampled together.

    Returns:
        The line with the percentile interval of its slope; no interval if a stratum has fewer than 8 texts.

    Reference: the line is that of Panickssery, Bowman & Feng (2024), figure 1; Davison & Hinkley (1997), resampling of clusters.

    >>> texts = {f"t{n}": np.array([0.1 * (n % 3), 1.0, 0.2 * (n % 3), 1.0]) for n in range(9)}
    >>> moved = [{text: sums + (add, 0, 2 * add, 0) for text, sums in texts.items()} for add in (0.0, 0.3, 0.5)]
    >>> line = fit_line(moved, ["en"] * 3)
    >>> round(line.slope, 6), round(abs(line.intercept), 6), line.points
    (2.0, 0.0, 3)
    """
    totals = np.array([np.sum(list(point.values()), axis=0) for point in points])
    slope, intercept = least_squares(*_coordinates(totals))
    texts = {
        name: sorted({text for point, stratum in zip(points, strata, strict=True) if stratum == name for text in point}) for name in strata
    }
    fewest = min(map(len, texts.values()))
    if fewest < MIN_GROUPS:
        interval = no_interval(fewest)
    else:
        rng = np.random.default_rng(seed)
        times = {name: rng.multinomial(len(codes), np.full(len(codes), 1 / len(codes)), resamples) for name, codes in texts.items()}
        sums = [
            times[name] @ np.array([point.get(text, np.zeros(4)) for text in texts[name]])
            for point, name in zip(points, strata, strict=True)
        ]
        slopes, _ = least_squares(*_coordinates(np.stack(sums, axis=1)))
        defined = slopes[np.isfinite(slopes)]
        if len(defined) < (1 - _MOST_UNDEFINED) * resamples:
            interval = no_interval(fewest, "undefined in many resamples")
        else:
            lo, hi = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
            interval = Interval(float(lo), float(hi), "cluster bootstrap (percentile)", fewest, None, None)
    return Line(float(slope), float(intercept), interval, len(points))


def _coordinates(sums: Floats) -> tuple[Floats, Floats]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return sums[..., 0] / sums[..., 1], sums[..., 2] / sums[..., 3]


NEVER, ALWAYS = "one condition is never seen", "one condition is always seen"
_METHOD = "square-and-add of logits"


def logit_rise(
    first: ArrayLike, second: ArrayLike, groups: ArrayLike, *, level: float = 0.95, seed: int = 0, resamples: int = 1000
) -> Estimated:
    """log odds that `second` is 1 minus log odds that `first` is 1, both of the same items: a log odds ratio of shares, not of items.

    The interval is that of square-and-add: from each share's own interval (`proportion_interval`) on the logit scale, and the correlation
    of both shares over the groups, corrected for few items. A share of 0 or 1 has no logit, so there is no value either.

    Args:
        first, second: (items,) 0 or 1, NaN where missing; items without both are left out.

    Returns:
        `Estimated` without p, in logits, of any size; 0 if both shares are equal, 1 if the odds are e times as large. Undefined without
        items ("no overlap"), or if a share is 0 or 1; fewer than 8 groups have no interval.

    Raises:
        ValueError: for numbers outside [0, 1].

    Reference: Zou & Donner (2008), square-and-add with correlation; Newcombe (1998), correction of phi; Newcombe (2001), Wilson's
    interval on the logit scale.

    >>> found = logit_rise([1, 0, 0, 0] * 5, [1, 1, 1, 0] * 5, range(20))
    >>> round(found.value, 3), [round(end, 2) for end in (found.interval.lo, found.interval.hi)]  # 2 ln 3
    (2.197, [0.97, 3.43])
    >>> logit_rise([0, 0], [1, 0], range(2)).reason
    'one condition is never seen'
    """
    # Both measurements and the number of the group, of the items that have both.
    a, b, codes = np.asarray(first, np.float64), np.asarray(second, np.float64), np.asarray(groups)
    same_shape(first=a, second=b, groups=codes)
    shared = ~(np.isnan(a) | np.isnan(b))
    x, other, codes = a[shared], b[shared], np.unique(codes[shared], return_inverse=True)[1]
    if not len(x):
        return Estimated(math.nan, 0, no_interval(0), math.nan, "no overlap")
    shares = float(x.mean()), float(other.mean())
    if not all(0 < share < 1 for share in shares):
        why = NEVER if 0 in shares else ALWAYS
        return Estimated(math.nan, len(x), no_interval(len(np.unique(codes)), why), math.nan, why)
    value = _logit(shares[1]) - _logit(shares[0])
    share_intervals = [proportion_interval(hits, codes, level=level, seed=seed, resamples=resamples) for hits in (x, other)]
    if share_intervals[0].reason:
        return Estimated(value, len(x), share_intervals[0], math.nan, None)
    lower, upper = (_logit(one_end) for one_end in (share_intervals[0].lo, share_intervals[0].hi))
    below, above = (_logit(one_end) for one_end in (share_intervals[1].lo, share_intervals[1].hi))
    middle, r = (_logit(shares[0]), _logit(shares[1])), _correlation(x, other, codes)
    lo = value - _added(middle[1] - below, upper - middle[0], r)
    hi = value + _added(above - middle[1], middle[0] - lower, r)
    return Estimated(value, len(x), Interval(lo, hi, _METHOD, share_intervals[0].groups, None, None), math.nan, None)


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


def _added(first: float, other: float, r: float) -> float:
    """The length of two distances from a middle to an end, of estimates that correlate with r."""
    return math.sqrt(max(first**2 - 2 * r * first * other + other**2, 0.0))


def _correlation(first: Floats, other: Floats, codes: NDArray[np.intp]) -> float:
    """The correlation of the two shares, from the groups' sums of deviations; 0 if one of the two does not vary over groups.

    A positive one makes the interval narrower, so half an item is taken off, as Newcombe's correction of phi does.
    """
    a, b = (np.bincount(codes, scores - scores.mean()) for scores in (first, other))
    size, shared = math.sqrt(float(a @ a) * float(b @ b)), float(a @ b)
    return min(shared, max(shared - 0.5, 0.0)) / size if size > 0 else 0.0
