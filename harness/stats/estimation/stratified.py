"""Rank correlation within strata: are two variables associated among items that are equal in a third?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.agreement.concordance import pair_sums
from harness.stats.core.arrays import Floats, Ints, as_index, same_shape
from harness.stats.core.groups import degrees_of_freedom
from harness.stats.core.statistic import ratio
from harness.stats.core.sums import Estimated, t_interval_from_sums
from harness.stats.intervals.intervals import MIN_GROUPS, no_interval

CONSTANT = "constant scores"


def tau_within(x: ArrayLike, y: ArrayLike, strata: ArrayLike, groups: ArrayLike) -> Estimated:
    """Kendall's tau-b within each stratum, averaged with the strata's numbers of items.

    sum_s n_s tau_s / sum_s n_s over the strata in which neither x nor y is constant.

    Args:
        x, y: (items,) numbers, NaN where missing (such items are left out).
        strata: (items,) any sortable codes; pairs of items are compared within one only.

    Returns:
        `Estimated` in [-1, 1], n being the items of the strata that count, with Student's interval of 95 % by leaving one
        group out at a time; undefined without items ("no overlap") and where x or y is constant in every stratum ("constant scores").

    Reference: Kendall (1945); MacKinnon & Webb (2018), the cluster jackknife.

    >>> found = tau_within([1, 2, 3, 10, 20], [1, 2, 2, 5, 4], ["a", "a", "a", "b", "b"], range(5))
    >>> round(found.value, 4), found.n
    (0.0899, 5)
    """
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    layer, codes = np.asarray(strata), np.asarray(groups)
    same_shape(x=a, y=b, strata=layer, groups=codes)
    known = ~(np.isnan(a) | np.isnan(b))
    if not known.any():
        return Estimated(math.nan, 0, no_interval(0), math.nan, "no overlap")
    kept = np.flatnonzero(known)[_varied(a[known], b[known], as_index(layer[known], int(known.sum()), "strata"))]
    if not len(kept):
        return Estimated(math.nan, int(known.sum()), no_interval(0, CONSTANT), math.nan, CONSTANT)
    values = _left_out(a[kept], b[kept], as_index(layer[kept], len(kept), "strata"), as_index(codes[kept], len(kept), "groups"))
    value, count = float(values[0]), len(values) - 1
    if count < MIN_GROUPS:
        return Estimated(value, len(kept), no_interval(count), math.nan, None)
    rest = values[1:][~np.isnan(values[1:])]
    influence = rest - rest.mean()
    error = math.sqrt(float(influence @ influence) * (count - 1) / count)
    freedom = degrees_of_freedom(influence, np.ones(len(influence)))
    return t_interval_from_sums(value, len(kept), error, freedom, count, (-1.0, 1.0), "cluster jackknife (t)")


def _varied(a: Floats, b: Floats, layer: Ints) -> NDArray[np.bool_]:
    """The items of strata in which neither a nor b is constant."""
    varied = [np.ptp(a[layer == stratum]) > 0 and np.ptp(b[layer == stratum]) > 0 for stratum in range(int(layer.max()) + 1)]
    return np.array(varied)[layer]


def _left_out(a: Floats, b: Floats, layer: Ints, group: Ints) -> Floats:
    """The average tau-b with every group, then without each: (1 + groups,)."""
    groups = int(group.max()) + 1
    above, below = np.zeros(1 + groups), np.zeros(1 + groups)
    for stratum in range(int(layer.max()) + 1):
        rows = np.flatnonzero(layer == stratum)
        own = group[rows]
        over_all, inside = pair_sums(a[rows], b[rows]), pair_sums(a[rows], b[rows], own)
        signs, a_untied, b_untied = (_without(*sums, own, groups) for sums in zip(over_all, inside, strict=True))
        tau = np.clip(ratio(signs, np.sqrt(np.maximum(a_untied * b_untied, 0))), -1, 1)
        n = np.where(np.isnan(tau), 0, len(rows) - np.r_[0, np.bincount(own, minlength=groups)])
        above, below = above + n * np.where(np.isnan(tau), 0, tau), below + n
    average: Floats = ratio(above, below)
    return average


def _without(every: Floats, inside: Floats, group: Ints, groups: int) -> Floats:
    """Sums over pairs with every group, then without each. Pairs with other groups are counted from both ends, pairs inside once."""
    left: Floats = every.sum() - np.r_[0.0, np.bincount(group, 2 * every - inside, minlength=groups)]
    return left
