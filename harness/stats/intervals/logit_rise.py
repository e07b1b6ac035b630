"""How much more often something is seen under one condition than under another, on the logit scale: the slope of a psychometric curve."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.core.arrays import Floats, same_shape
from harness.stats.core.sums import Estimated
from harness.stats.intervals.intervals import Interval, no_interval, proportion_interval

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
    one, other, codes = _common(first, second, groups)
    if not len(one):
        return Estimated(math.nan, 0, no_interval(0), math.nan, "no overlap")
    shares = float(one.mean()), float(other.mean())
    if not all(0 < share < 1 for share in shares):
        why = NEVER if 0 in shares else ALWAYS
        return Estimated(math.nan, len(one), no_interval(len(np.unique(codes)), why), math.nan, why)
    value = _logit(shares[1]) - _logit(shares[0])
    own = [proportion_interval(each, codes, level=level, seed=seed, resamples=resamples) for each in (one, other)]
    if own[0].reason:
        return Estimated(value, len(one), own[0], math.nan, None)
    lower, upper = (_logit(one_end) for one_end in (own[0].lo, own[0].hi))
    below, above = (_logit(one_end) for one_end in (own[1].lo, own[1].hi))
    middle, r = (_logit(shares[0]), _logit(shares[1])), _correlation(one, other, codes)
    lo = value - _added(middle[1] - below, upper - middle[0], r)
    hi = value + _added(above - middle[1], middle[0] - lower, r)
    return Estimated(value, len(one), Interval(lo, hi, _METHOD, own[0].groups, None, None), math.nan, None)


def _common(first: ArrayLike, second: ArrayLike, groups: ArrayLike) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Both measurements and the number of the group, of the items that have both."""
    a, b, codes = np.asarray(first, np.float64), np.asarray(second, np.float64), np.asarray(groups)
    same_shape(first=a, second=b, groups=codes)
    both = ~(np.isnan(a) | np.isnan(b))
    return a[both], b[both], np.unique(codes[both], return_inverse=True)[1]


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


def _added(one: float, other: float, r: float) -> float:
    """The length of two distances from a middle to an end, of estimates that correlate with r."""
    return math.sqrt(max(one**2 - 2 * r * one * other + other**2, 0.0))


def _correlation(one: Floats, other: Floats, codes: NDArray[np.intp]) -> float:
    """The correlation of the two shares, from the groups' sums of deviations; 0 if one of the two does not vary over groups.

    A positive one makes the interval narrower, so half an item is taken off, as Newcombe's correction of phi does.
    """
    a, b = (np.bincount(codes, each - each.mean()) for each in (one, other))
    size, shared = math.sqrt(float(a @ a) * float(b @ b)), float(a @ b)
    return min(shared, max(shared - 0.5, 0.0)) / size if size > 0 else 0.0
