"""Intervals by leaving one group out: of any number that can be computed again without each group."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from harness.stats.core.arrays import Floats, Ints
from harness.stats.core.groups import degrees_of_freedom
from harness.stats.core.sums import Estimated
from harness.stats.intervals.intervals import MIN_GROUPS, NO_VARIATION, Interval, no_interval, t_quantile

Scale = Literal["plain", "fisher", "log"]
"""The scale on which an interval is symmetric: the value's own, atanh(value) for correlations, log(value) for what is positive."""

_DEFINED = 0.9  # share of the groups without which the value must be defined
_TO: dict[Scale, Callable[[Floats], Floats]] = {"plain": np.asarray, "fisher": np.arctanh, "log": np.log}
_FROM: dict[Scale, Callable[[Floats], Floats]] = {"plain": np.asarray, "fisher": np.tanh, "log": np.exp}
_ROUNDING = 1e-12


def left_out_interval(
    values: Floats, bounds: tuple[float, float] = (-math.inf, math.inf), *, scale: Scale = "plain", level: float = 0.95
) -> Interval:
    """The interval of a value from its values without each group: the cluster jackknife with Student's t.

    With z = the value on the given scale and z_g without group g: variance = (G - 1) / G sum (z_g - mean)², degrees of freedom that fall
    where few groups hold most of the variation; the ends go back to the value's own scale.

    Args:
        values: (1 + groups,) the value, then the value without each group; NaN where it is undefined.
        bounds: smallest and largest possible value.
        scale: see `Scale`.

    Returns:
        An `Interval`; undefined with fewer than 8 groups, if the value is undefined without many of them, and if no group changes it.

    Reference: MacKinnon & Webb (2018), the cluster jackknife; Fisher (1921), atanh.

    >>> found = left_out_interval(np.r_[0.5, 0.5 + np.array([-0.02, 0.02] * 10)], (-1, 1), scale="fisher")
    >>> round(found.lo, 2), round(found.hi, 2), found.groups
    (0.3, 0.66, 20)
    """
    return left_out_test(values, bounds, scale=scale, level=level)[0]


def left_out_test(
    values: Floats, bounds: tuple[float, float] = (-math.inf, math.inf), *, scale: Scale = "plain", level: float = 0.95
) -> tuple[Interval, float]:
    """The interval of `left_out_interval`, and the two-sided p that the value is 0, from the same t: NaN exactly without an interval.

    Args, reference as there. On the scale `log` no value is 0, and p is NaN.

    >>> found, p = left_out_test(np.r_[0.1, 0.1 + np.array([-0.01, 0.01] * 10)])
    >>> round(found.lo, 3), round(found.hi, 3), round(p, 3)
    (0.009, 0.191, 0.033)
    """
    groups = len(values) - 1
    if groups < MIN_GROUPS:
        return no_interval(groups), math.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = _TO[scale](np.asarray(values, np.float64))
    own, rest = moved[0], moved[1:][np.isfinite(moved[1:])]
    if len(rest) < _DEFINED * groups:
        return no_interval(groups, NO_VARIATION if abs(values[0]) == 1 else "undefined without some texts"), math.nan
    influence = rest - rest.mean()
    error = math.sqrt(float(influence @ influence) * (groups - 1) / groups)
    if not (error > _ROUNDING * max(1.0, abs(float(own))) and np.isfinite(own)):
        return no_interval(groups, NO_VARIATION), math.nan
    from scipy.special import stdtr

    freedom = degrees_of_freedom(influence, np.ones(len(influence)))
    half = t_quantile(level, freedom) * error
    lo, hi = (float(end) for end in _FROM[scale](np.array([own - half, own + half])))
    p = math.nan if scale == "log" else float(2 * stdtr(freedom, -abs(float(own) / error)))
    return Interval(max(bounds[0], lo), min(bounds[1], hi), "cluster jackknife (t)", groups, None, None), p


def of_group_sums(
    sums: Floats,
    value: Callable[[Floats], Floats],
    bounds: tuple[float, float] = (-math.inf, math.inf),
    *,
    scale: Scale = "plain",
    empty: str = "no overlap",
    constant: str = "constant raters",
    level: float = 0.95,
) -> Estimated:
    """A function of sums over items, with its jackknife interval.

    Args:
        sums: (groups, m) sums of the groups' items; column 0 counts the items that are used. Groups without any are left out.
        value: maps sums (..., m) to values (...), NaN where undefined.
        bounds, scale, level: as `left_out_interval`.
        empty, constant: the reason for an undefined value without items, and with items.

    >>> of_group_sums(np.array([[2.0, 6.0], [1.0, 0.0]]), lambda s: s[..., 1] / s[..., 0]).value
    2.0
    """
    used = sums[sums[:, 0] > 0]
    total = used.sum(axis=0)
    n = round(float(total[0]))
    if not n:
        return Estimated(math.nan, 0, no_interval(0), math.nan, empty)
    whole = float(value(total))
    if math.isnan(whole):
        return Estimated(math.nan, n, no_interval(len(used), constant), math.nan, constant)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.r_[whole, value(total - used)]
    return Estimated(whole, n, left_out_interval(values, bounds, scale=scale, level=level), math.nan, None)


def sums_by_group(features: Floats, group: Ints) -> Floats:
    """Sums (groups, m) of features (items, m) over integer group codes (items,) from 0.

    >>> sums_by_group(np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 4.0]]), np.array([0, 1, 0])).tolist()
    [[2.0, 6.0], [1.0, 3.0]]
    """
    count = int(group.max(initial=-1)) + 1
    return np.stack([np.bincount(group, column, minlength=count) for column in features.T], axis=1).astype(np.float64)
