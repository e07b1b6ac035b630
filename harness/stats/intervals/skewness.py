"""Interval and p of a mean over groups, from one studentised and skewness-corrected statistic: Hall's transformation.

Student's t fails where differences are skewed: most items of a good judge differ by 0 and a few by -1, so that the mean and its
standard error move together. Hall's cubic removes the skewness, is monotone in the hypothesised mean, and has a closed inverse. The
bound at a level is therefore exactly the mean at which the one-sided p equals that level: interval and p cannot contradict each other.

A sample does not show a tail without observations. Each bound is therefore guarded by `GUARD` of an item at the extreme value: the lower
bound at the lowest possible value, the upper bound at the highest. Jeffreys' interval of a share also adds half an item; the simulation
in `python -m tests.unit.stats.intervals.test_skewness` shows that half an item suffices. Groups are the independent units throughout.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, power
from harness.stats.core.groups import freedom_of_moments

GUARD = 0.5
"""The part of an item that guards each bound of an interval."""
_ROUNDING = 1e-12


class HallMean(NamedTuple):
    """Means over groups, and the other inputs of Hall's transformation; all of one shape (...).

    `mean` is sum(y) / sum(size); `deviation` the standard deviation of the groups' influences, so that the standard error is
    deviation / sqrt(groups), 0 if all groups have the same mean; `skewness` that of the influences; `groups` their number, a guard
    counted with its weight; `freedom` Student's degrees of freedom by Satterthwaite's rule (`_replace` it with groups - 1 for the plain
    rule).
    """

    mean: Floats
    deviation: Floats
    skewness: Floats
    groups: Floats
    freedom: Floats

    def statistic(self, value: ArrayLike) -> Floats:
        """T of the hypothesis that the mean is `value`: falls as `value` rises, about Student's t if the hypothesis holds.

        T = sqrt(G) (S + k S² / 3 + k² S³ / 27 + k / (6 G)), S = (mean - value) / deviation, k the skewness. If all groups have the same
        mean, T is infinite for a `value` below it, else -infinity.
        """
        distance, k = self.mean - np.asarray(value, np.float64), self.skewness
        with np.errstate(divide="ignore", invalid="ignore"):
            s = distance / self.deviation
            t = np.sqrt(self.groups) * (s + k * s**2 / 3 + k**2 * power(s, 3) / 27 + k / (6 * self.groups))
        return np.asarray(np.where(self.deviation > 0, t, np.where(distance > 0, math.inf, -math.inf)))

    def with_floor(self, variance: ArrayLike) -> HallMean:
        """With a deviation² of at least `variance`; the skewness falls as the deviation rises."""
        deviation = np.maximum(self.deviation, np.sqrt(variance))
        with np.errstate(divide="ignore", invalid="ignore"):
            skewness = np.where(self.deviation > 0, self.skewness * (self.deviation / deviation) ** 3, 0.0)
        return self._replace(deviation=deviation, skewness=skewness)

    def p_above(self, value: ArrayLike) -> Floats:
        """One-sided p, in [0, 1], of the hypothesis that the mean is `value` or less."""
        from scipy.special import stdtr

        return np.asarray(stdtr(self.freedom, -self.statistic(value)))

    def lower_bound(self, alpha: float) -> Floats:
        """The `value` at which `p_above` is `alpha`, in (0, 0.5); the mean itself if all groups have the same mean."""
        from scipy.special import stdtrit

        u = stdtrit(self.freedom, 1 - alpha) / np.sqrt(self.groups) - self.skewness / (6 * self.groups)
        root = np.cbrt(1 + self.skewness * u)
        s = 3 * u / (1 + root + root**2)  # = 3 (root - 1) / skewness, also where the skewness is 0
        return np.asarray(self.mean - s * self.deviation)


def hall_mean(
    y: ArrayLike,
    size: ArrayLike,
    times: ArrayLike,
    *,
    guard: float | None = None,
    weight: float = GUARD,
    units: ArrayLike = 1.0,
    factors: ArrayLike | None = None,
) -> HallMean:
    """Mean of units in groups, prepared for Hall's transformation.

    With influences x_g = (y_g - mean size_g) G / n of G groups with n units: deviation² = sum x² / (G - 1), the cluster variance times G,
    and skewness = (sum x³ / G) / deviation³. The degrees of freedom fall from G - 1 where few groups hold most of the variation.

    Args:
        y: (..., groups) sums of the groups' units.
        size: (..., groups) number of units of each group.
        times: (..., groups) how many such groups there are.
        guard: the value of one further group, which stands for unseen values.
        weight, units: of that group: its weight (1 is a whole group) and its number of units (...).
        factors: (..., groups) of the groups' influences; the guard's is 1. Default, of the guard too: (1 - 1 / G) / (1 - h) of a group with
            a share h of the units, because it pulls the mean towards itself by a factor 1 - h. All are 1 if all groups have one size.

    Reference: Hall (1992), removal of skewness by transformation; Cameron & Miller (2015), clusters; MacKinnon & Webb (2018), CR3 by the
    jackknife.

    >>> found = hall_mean([3.0, 1.0], [1, 1], [10, 30])
    >>> float(found.mean), round(float(found.lower_bound(0.025)), 3), round(float(found.p_above(1.266)), 3)
    (1.5, 1.251, 0.033)
    """
    sums, n_of = np.asarray(y, np.float64), np.asarray(size, np.float64)
    count = np.asarray(times, np.float64)
    weights = None if factors is None else np.asarray(factors, np.float64)
    if guard is not None:
        more = np.broadcast_to(np.asarray(units, np.float64), sums.shape[:-1])[..., None]
        sums, n_of, count = _with(sums, guard * more), _with(n_of, more), _with(count, weight)
        weights = None if weights is None else _with(weights, 1.0)
    groups, n = np.asarray(count.sum(axis=-1)), np.vecdot(n_of, count)
    mean = np.vecdot(sums, count) / n
    x = (sums - mean[..., None] * n_of) * (groups / n)[..., None]
    x = x * ((1 - 1 / groups)[..., None] / np.maximum(1 - n_of / n[..., None], _ROUNDING) if weights is None else weights)
    x = np.where(count > 0, x, 0.0)
    squares = x * x
    second, third, fourth = (np.vecdot(terms, count) / groups for terms in (squares, squares * x, squares * squares))
    varies = np.abs(x).max(axis=-1, initial=0.0) > _ROUNDING * np.maximum(1.0, np.abs(sums).max(axis=-1, initial=0.0))
    variance = np.where(varies, second * groups / np.maximum(groups - 1, _ROUNDING), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = np.where(variance > 0, third / power(variance, 1.5), 0.0)
    freedom = freedom_of_moments(second, fourth, groups)
    return HallMean(mean, np.sqrt(variance), skewness, np.broadcast_to(groups, mean.shape), freedom)


def _with(values: Floats, axes: ArrayLike) -> Floats:
    """Values (..., groups) and those of one further group, which may be of more samples."""
    more = np.asarray(axes, np.float64)
    more = more if more.ndim else more[None]
    if values.ndim == more.ndim == 1:
        return np.concatenate([values, more])
    shape = np.broadcast_shapes(values.shape[:-1], more.shape[:-1])
    return np.concatenate([np.broadcast_to(values, (*shape, values.shape[-1])), np.broadcast_to(more, (*shape, 1))], axis=-1)


def least_p(groups: ArrayLike) -> Floats:
    """The smallest two-sided p that so many groups (...) can give: that of the sign test, 2^(1 - groups).

    >>> least_p([1, 8]).tolist()
    [1.0, 0.0078125]
    """
    return np.minimum(1.0, power(2.0, 1 - np.asarray(groups, np.float64)))


class TwoSided(NamedTuple):
    """The bounds of an interval, the p of the hypothesis that the mean is 0, and the standard error over groups; of any one shape."""

    lo: Floats
    hi: Floats
    p: Floats
    error: Floats


def two_sided(
    y: ArrayLike,
    size: ArrayLike,
    times: ArrayLike,
    bounds: tuple[float, float] | None,
    scatter: ArrayLike,
    *,
    level: float = 0.95,
) -> TwoSided:
    """Interval of a mean over groups and the two-sided p of 0, each the inverse of the other.

    Each side has two bounds, Hall's and the exact one of a share; the tighter one is used. p = min(1, 2 min(p_above, p_below)), with
    the smaller p of each side, and the bounds are at alpha / 2: so p < 1 - level exactly where 0 lies outside the interval. lo <= mean <=
    hi, with equality at an end of `bounds` only. p is never below `least_p`, so an interval needs 1 - level >= `least_p`.

    Args:
        y, size, times: as `hall_mean`.
        bounds: smallest and largest possible value of a unit; None (unknown): no guard, and NaN if all groups have the same mean.
        scatter: (...) variance of single units, 0 if all are equal.

    >>> found = two_sided([1.0], [4], [12], (-1, 1), 0.1875)  # twelve groups of four, in each one item better than the other judge's
    >>> round(float(found.lo), 3), round(float(found.hi), 3), round(float(found.p), 4)
    (0.124, 0.326, 0.0005)
    """
    sums, alpha = np.asarray(y, np.float64), (1 - level) / 2
    n_of, count = np.asarray(size, np.float64), np.asarray(times, np.float64)
    plain = hall_mean(sums, n_of, count)
    error = plain.deviation / np.sqrt(plain.groups)
    alike = _units_worth_one(plain, n_of, count, np.asarray(scatter, np.float64))
    below = hall_mean(sums, n_of, count, guard=bounds and bounds[0], units=alike)
    above = hall_mean(-sums, n_of, count, guard=bounds and -bounds[1], units=alike)
    lo, hi, p_above, p_below = below.lower_bound(alpha), -above.lower_bound(alpha), below.p_above(0), above.p_above(0)
    if bounds is None:
        varied = below.deviation > 0
        lo, hi, p = (np.where(varied, limit, math.nan) for limit in (lo, hi, _two_sided_p(p_above, p_below, plain.groups)))
        return TwoSided(lo, hi, p, error)
    low, high = bounds
    least, p_least = _exact(plain, n_of, count, bounds, alpha)
    most, p_most = _exact(plain._replace(mean=-plain.mean), n_of, count, (-high, -low), alpha)
    lo, hi = np.maximum(np.maximum(lo, least), low), np.minimum(np.minimum(hi, -most), high)
    return TwoSided(lo, hi, _two_sided_p(np.minimum(p_above, p_least), np.minimum(p_below, p_most), plain.groups), error)


def _units_worth_one(plain: HallMean, size: Floats, times: Floats, scatter: Floats) -> Floats:
    """The design effect: how many units of a group are worth one independent unit, from 1 to the average group's size.

    If all units are equal, it cannot be estimated and is the average size.
    """
    n, groups = np.vecdot(size, times), plain.groups
    variance = plain.deviation**2 / groups
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = np.where(scatter > 0, variance * n / scatter, math.inf)
    return np.asarray(np.clip(effect, 1.0, n / groups))


def _two_sided_p(p_above: Floats, p_below: Floats, groups: Floats) -> Floats:
    return np.asarray(np.clip(2 * np.minimum(p_above, p_below), least_p(groups), 1.0))


def _exact(hall: HallMean, size: Floats, times: Floats, bounds: tuple[float, float], alpha: float) -> tuple[Floats, Floats]:
    """A lower bound of the mean `hall` that holds whatever the distribution between `bounds`, and its one-sided p of 0.

    It is Clopper and Pearson's bound of the mean's position between the bounds, on the effective number of units: no distribution varies
    more than one with all its values at the two ends. It is tighter than Hall's bound if nearly all units are at the upper end. If all
    groups have the same mean, a share u of groups at the lower end stays unseen with the probability (1 - u)^G.

    Reference: Korn & Graubard (1998).
    """
    from scipy.special import betainc, betaincinv

    (low, high), groups = bounds, hall.groups
    if not high > low:  # a scale of one value
        return np.full_like(hall.mean, low), np.ones_like(hall.mean)
    n = np.vecdot(size, times)
    share = np.clip((hall.mean - low) / (high - low), 0.0, 1.0)
    null = min(1.0, max(0.0, -low / (high - low)))
    variance = (hall.deviation / (high - low)) ** 2 / groups
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = np.where(variance > 0, share * (1 - share) / variance, groups)
        unseen = np.clip(np.where(share > 0, (share - null) / share, 0.0), 0.0, 1.0)
    trials = np.clip(effective, n * n / np.vecdot(size**2, times), n)
    hits = share * trials
    some = hits > _ROUNDING
    a, b = np.where(some, hits, 1.0), trials - hits + 1
    lower = np.where(variance > 0, np.where(some, betaincinv(a, b, alpha), 0.0), share * power(alpha, 1 / groups))
    p = np.where(variance > 0, np.where(some, betainc(a, b, null), 1.0), power(1 - unseen, groups))
    return np.asarray(low + (high - low) * lower), np.asarray(p)
