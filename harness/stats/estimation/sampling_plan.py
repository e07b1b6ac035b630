"""Sampling plans: how many labels, their allocation to strata, and what a design gains over a simple random sample."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, Ints, as_index, same_shape
from harness.stats.intervals.intervals import wilson

FLOOR = 2
"""Fewest labels of a stratum: a variance needs two."""
_NEGLIGIBLE = 1e-12


def items_for_wilson(share: float, half_width: float, *, level: float = 0.95, effect: float = 1.0) -> float:
    """Fewest items at which Wilson's interval of the share has the half-width or less, times the design effect, rounded up.

    Args:
        share: expected, in [0, 1]; the number of successes may be a fraction.
        half_width: above 0.
        effect: design effect.

    Raises:
        ValueError: for a half-width of 0 or less.

    >>> items_for_wilson(0.9, 0.03)
    388.0
    """
    if not half_width > 0:
        raise ValueError(f"a half-width must be above 0, got {half_width}")

    def narrow(n: int) -> bool:
        lo, hi = wilson(share * n, n, level)
        return (hi - lo) / 2 <= half_width

    return math.ceil(effect * fewest(narrow, 1)) * 1.0


def fewest(enough: Callable[[int], bool], least: int) -> int:
    """The smallest n >= least that is enough; `enough` must become true, and stay so.

    >>> fewest(lambda n: n * n > 50, 1)
    8
    """
    high = max(least, 2)
    while not enough(high):
        high *= 2
    return least + bisect_left(range(least, high), True, key=enough)


def neyman_allocation(sizes: ArrayLike, sds: ArrayLike, n: float, *, floor: ArrayLike = FLOOR) -> Floats:
    """Labels of each stratum that give the stratified mean the smallest variance, as real numbers that add up to n.

    n_h = n N_h S_h / sum N_h S_h, at least `floor` and at most N_h; strata at a bound are fixed there and the rest is allocated again.

    Args:
        sizes: (strata,) items N_h.
        sds: (strata,) standard deviation S_h within each, 0 or more; all equal gives proportional allocation.
        n: labels in all.
        floor: fewest labels of a stratum, one number or (strata,), or all of a stratum that is smaller.

    Returns:
        (strata,) numbers of labels; `whole_labels` rounds them.

    Raises:
        ValueError: for a negative sd, or n below the floors or above the number of items.

    Reference: Neyman (1934); Cochran (1977), sections 5.5 and 5.8.

    >>> neyman_allocation([200, 60, 10], [0.1, 0.4, 0.9], 100).round(1).tolist()
    [40.9, 49.1, 10.0]
    """
    count, sd = np.asarray(sizes, np.float64), np.asarray(sds, np.float64)
    same_shape("of the same strata", sizes=count, sds=sd)
    if (sd < 0).any() or np.isnan(sd).any():
        raise ValueError(f"standard deviations are 0 or more; found {sd[~(sd >= 0)][0]}")
    return _proportional_within(count * sd, count, n, np.minimum(floor, count), count)


def proportional_allocation(sizes: ArrayLike, n: float, *, floor: ArrayLike = 0.0) -> Floats:
    """n N_h / sum N_h labels of each stratum, as real numbers; args and errors as `neyman_allocation`.

    >>> proportional_allocation([900, 400, 150, 50], 120).tolist()
    [72.0, 32.0, 12.0, 4.0]
    """
    count = np.asarray(sizes, np.float64)
    return neyman_allocation(count, np.ones_like(count), n, floor=floor)


def _proportional_within(weight: Floats, fallback: Floats, total: float, low: Floats, high: Floats) -> Floats:
    """Shares of `total` proportional to weight within [low, high]: clip(c weight, low, high) with the c that adds up.

    The sum is a piecewise linear function of c that bends where a share meets a bound, so c is found by interpolation. Shares without
    weight rise from `low`, in proportion to `fallback`, only after all others are at `high`.
    """
    if not low.sum() - 1e-9 <= total <= high.sum() + 1e-9:
        raise ValueError(f"{total:g} labels cannot be allocated: the strata take {low.sum():g} to {high.sum():g}")
    if not (weight > 0).any():
        return low if low.sum() == high.sum() else _proportional_within(fallback, fallback, total, low, high)
    w = np.where(weight > 0, weight, _NEGLIGIBLE * weight.max() * fallback / max(float(fallback.max()), _NEGLIGIBLE))
    used = w > 0
    bends = np.unique(np.concatenate([low[used] / w[used], high[used] / w[used], [0.0]]))
    sums = np.clip(bends[:, None] * w, low, high).sum(axis=1)
    return np.asarray(np.clip(np.interp(total, sums, bends) * w, low, high))


def whole_labels(allocation: ArrayLike) -> Ints:
    """Whole numbers with the same sum (rounded), by largest remainders; the first stratum wins a tie.

    >>> whole_labels([43.49, 45.1, 24.16, 7.25]).tolist()
    [44, 45, 24, 7]
    """
    share = np.asarray(allocation, np.float64)
    labels = np.floor(share + 1e-9).astype(np.int64)
    order = np.argsort(-(share - labels), kind="stable")
    labels[order[: round(float(share.sum())) - int(labels.sum())]] += 1
    return labels


def stratified_variance(sizes: ArrayLike, sds: ArrayLike, labels: ArrayLike, *, finite: bool = True) -> float:
    """Variance of the stratified mean that an allocation gives: sum W_h² S_h² / n_h, with W_h = N_h / N.

    Args:
        sizes, sds: as `neyman_allocation`.
        labels: (strata,) n_h, real or whole.
        finite: multiply each term by 1 - n_h / N_h, for a claim about these items only.

    Returns:
        NaN if a stratum has no labels.

    Raises ShapeError if the arrays are not of the same strata.

    >>> stratified_variance([100, 100], [0.5, 0.5], [10, 10], finite=False)
    0.0125
    """
    count, sd, n = (np.asarray(column, np.float64) for column in (sizes, sds, labels))
    same_shape("of the same strata", sizes=count, sds=sd, labels=n)
    if not (n > 0).all():
        return float("nan")
    terms = (count / count.sum()) ** 2 * sd**2 / n
    return float((terms * (1 - n / count)).sum() if finite else terms.sum())


def gain_over_simple_sample(y: ArrayLike, weight: ArrayLike, stratum: ArrayLike | None = None) -> float:
    """The variance of a mean in a simple random sample of as many items, divided by that of the weighted mean in this sample.

    1 / Kish's design effect. With influences z_i = w_i (y_i - mean) / sum w, the variance of the weighted mean is
    sum_h n_h / (n_h - 1) sum_i (z_hi - mean of z_h)² over the strata; that of the simple sample is sum w (y - mean)² / sum w / (n - 1).
    Above 1, the strata gain more than unequal weights lose. Strata with a single item are taken together.

    Args:
        y: (items,) values of the drawn items; NaN where unknown.
        weight: (items,) 1 / inclusion probability.
        stratum: (items,) sortable codes of what the items were drawn from; None: one stratum.

    Returns:
        The gain; NaN with fewer than two items, and if a variance is 0 or cannot be estimated.

    Reference: Kish (1965); Särndal, Swensson & Wretman (1992), section 5.7, linearised ratio; Cochran (1977), section 5A.12, strata taken
    together.

    >>> gain_over_simple_sample([1, 1, 1, 0, 0, 0, 1, 0], np.ones(8)).__round__(3)
    1.0
    >>> gain_over_simple_sample([1, 1, 1, 0, 0, 0, 1, 0], np.ones(8), [0, 0, 0, 1, 1, 1, 0, 0]).__round__(3)
    2.286
    """
    values, weights = np.asarray(y, np.float64), np.asarray(weight, np.float64)
    codes = as_index(stratum, len(values), "stratum")
    same_shape(y=values, weight=weights)
    labelled = ~np.isnan(values)
    values, weights, codes = values[labelled], weights[labelled], codes[labelled]
    n = np.bincount(codes)
    codes = np.unique(np.where(n[codes] > 1, codes, -1), return_inverse=True)[1]
    n = np.bincount(codes)
    if len(values) < 2 or n.min() < 2:
        return math.nan
    off = values - np.average(values, weights=weights)
    simple = float(np.average(off**2, weights=weights)) / (len(values) - 1)
    z = weights * off / weights.sum()
    z -= (np.bincount(codes, z) / n)[codes]
    drawn = float((n / (n - 1)) @ np.bincount(codes, z**2))
    return simple / drawn if simple > 0 and drawn > 0 else math.nan
