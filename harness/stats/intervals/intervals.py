"""Intervals for shares and means of units that may share a text.

Shares of single units have Wilson's interval; other shares have Wilson's interval on the effective n of a cluster bootstrap. Differences
have Hall's skewness-corrected t over groups, which also gives their p (`skewness`). Levels, which are not tested, have the cluster
bootstrap's error with Student's t. Fewer than 8 groups have no interval.
All were chosen by simulation. All use degrees of freedom that fall with the kurtosis of the groups' contributions, because the number of
groups overstates the information if a few groups hold all the errors. Two independent groups of measurements have Welch's t-test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.core.arrays import Floats, ShapeError, power, same_shape
from harness.stats.core.groups import GroupSums, error_of_mean, freedom_of_moments, group_sums, resampled_means, spread_of
from harness.stats.core.many_cells import batch_by_shape

MIN_GROUPS = 8
"""With fewer independent texts than this there is no interval."""
TOO_FEW = "too few independent texts"
CONSTANT = "constant values"
NO_VARIATION = "no variation between texts"
HALL = "cluster t (Hall, skewness-corrected)"


@dataclass(frozen=True, slots=True)
class Interval:
    """One confidence interval. If it is undefined, `lo` and `hi` are NaN and `reason` says why.

    `method` is "wilson", "cluster bootstrap (…)", the method of means, or "none". `groups` counts the independent texts. `design_effect`
    is the variance divided by that of as many independent units; None if it cannot be estimated.
    """

    lo: float
    hi: float
    method: str
    groups: int
    design_effect: float | None
    reason: str | None


def no_interval(groups: int, reason: str | None = None) -> Interval:
    """An undefined interval, with its reason.

    >>> no_interval(5).reason
    'too few independent texts'
    """
    return Interval(math.nan, math.nan, "none", groups, None, reason or (TOO_FEW if groups else "no units"))


def wilson(successes: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a proportion.

    (p + z²/2n ± z sqrt(p (1-p) / n + z²/4n²)) / (1 + z²/n).

    Args:
        successes, n: need not be whole numbers.

    Returns:
        (lo, hi) in [0, 1]; (NaN, NaN) for n = 0.

    Raises:
        ValueError: if not 0 <= successes <= n.

    Reference: Wilson (1927); Brown, Cai & DasGupta (2001).

    >>> [round(x, 4) for x in wilson(8, 10)]
    [0.4902, 0.9433]
    """
    if not 0 <= successes <= n:
        raise ValueError(f"successes must be between 0 and n = {n}, got {successes}")
    return score_interval(successes / n, n, NormalDist().inv_cdf(0.5 + level / 2)) if n > 0 else (math.nan, math.nan)


def clopper_pearson(hits: float, n: float, tail: float) -> tuple[float, float]:
    """Exact limits of a share, `hits` of `n` independent units, each of which is wrong with a probability of at most `tail`.

    The `tail` quantile of Beta(hits, n - hits + 1) and the 1 - `tail` quantile of Beta(hits + 1, n - hits); 0 without hits, 1 without
    misses. Numbers need not be whole, 0 <= hits <= n.

    Reference: Clopper & Pearson (1934).

    >>> [round(end, 3) for end in clopper_pearson(0, 20, 0.025)], [round(end, 3) for end in clopper_pearson(10, 20, 0.025)]
    ([0.0, 0.168], [0.272, 0.728])
    """
    from scipy.special import betaincinv

    low = float(betaincinv(hits, n - hits + 1, tail)) if hits > 0 else 0.0
    return low, float(betaincinv(hits + 1, n - hits, 1 - tail)) if hits < n else 1.0


def proportion_interval(hits: NDArray[Any], groups: NDArray[Any], *, level: float = 0.95, seed: int = 0, resamples: int = 1000) -> Interval:
    """Interval of a share: Wilson if every group is single, else Wilson on the cluster bootstrap's effective n.

    Args:
        hits: (n,) in [0, 1], mostly 0 or 1; NaN where missing.

    Returns:
        An `Interval` in [0, 1], never of zero width: if all values are equal, n is the number of groups.

    Raises:
        ValueError: for hits outside [0, 1].

    Reference: Wilson (1927) on the effective n of Kish (1965), as Korn & Graubard (1998) and Dean & Pagano (2015) do.

    >>> proportion_interval(np.array([1.0] * 8 + [0.0] * 2), np.arange(10)).method
    'wilson'
    >>> proportion_interval(np.ones(6), np.arange(6)).reason
    'too few independent texts'
    """
    values, codes = _rated(hits, groups)
    if len(values) and not (values.min() >= 0 and values.max() <= 1):
        raise ValueError(f"hits lie between 0 and 1; found {values.min()} to {values.max()}")
    sums, scatter = group_sums(values, codes), scatter_of(values)
    return share_of_sums(sums, scatter, lambda: float(spread_of(resampled_means(sums, seed, resamples))), level=level)


def mean_interval(
    values: NDArray[Any], groups: NDArray[Any], *, level: float = 0.95, bounds: tuple[float, float] | None = None
) -> Interval:
    """Interval of a mean of real values (differences, leniency): Hall's skewness-corrected t over groups (see `skewness`).

    Args:
        values: (n,) numbers, NaN where missing.
        bounds: smallest and largest possible value. With bounds, the interval is guarded against unseen values, and constant values
            have an interval, too; without bounds they have none ("constant values").

    Returns:
        An `Interval` within the bounds; undefined with fewer than 8 groups, or if 1 - level is below 2^(1 - groups).

    Reference: Hall (1992); Cameron & Miller (2015), few clusters; Satterthwaite (1946), degrees of freedom.

    >>> mean_interval(np.zeros(50), np.arange(50), bounds=(-1, 1)).hi.__round__(3)
    0.071
    >>> mean_interval(np.zeros(50), np.arange(50)).reason
    'constant values'
    """
    rated, codes = _rated(values, groups)
    return tested_mean(group_sums(rated, codes), scatter_of(rated), bounds, level=level)[0]


def share_of_sums(sums: GroupSums, scatter: float, spread: Callable[[], float], *, level: float) -> Interval:
    """`proportion_interval` of group sums.

    `scatter` is the variance of single units; `spread` gives the standard deviation of the share in resamples and is called only if needed.
    """
    if sums.groups < MIN_GROUPS:
        return no_interval(sums.groups)
    share, n = sums.mean, sums.units
    single = bool((sums.size == 1).all())
    if single and bool(((sums.y == 0) | (sums.y == 1)).all()):
        return Interval(*wilson(float(sums.times @ sums.y), n, level), "wilson", sums.groups, 1.0, None)
    method = "cluster bootstrap (wilson on effective n)"
    error, freedom = error_of_mean(sums, spread)
    independent = share * (1 - share) / n
    if not (error > 0 and independent > 0):  # all values are equal: only the groups are known to be independent
        lo, hi = score_interval(share, sums.groups, t_quantile(level, sums.groups - 1))
        return Interval(lo, hi, method, sums.groups, None, None)
    lo, hi = score_interval(share, n * independent / error**2, t_quantile(level, freedom))
    return Interval(lo, hi, method, sums.groups, _design_effect(error, n, scatter), None)


class MeanToTest(NamedTuple):
    """The input of the test of a mean: sums of groups, the variance of single units, and smallest and largest possible value."""

    sums: GroupSums
    scatter: float
    bounds: tuple[float, float] | None


def tested_mean(sums: GroupSums, scatter: float, bounds: tuple[float, float] | None, *, level: float) -> tuple[Interval, float]:
    """`mean_interval` of group sums, and the two-sided p that the mean is 0: NaN exactly where there is no interval.

    `scatter` is the variance of single units.
    """
    return tested_means([MeanToTest(sums, scatter, bounds)], level=level)[0]


def tested_means(means: Sequence[MeanToTest], *, level: float) -> list[tuple[Interval, float]]:
    """`tested_mean` of many means: the same numbers."""
    return batch_by_shape(partial(_tested_alike, level=level), means, lambda mean: (len(mean.sums.y), mean.bounds))


def _tested_alike(means: Sequence[MeanToTest], *, level: float) -> list[tuple[Interval, float]]:
    """Test means of equally many distinct groups, between the same bounds."""
    count = [mean.sums.groups for mean in means]
    enough = [index for index, groups in enumerate(count) if groups >= MIN_GROUPS and 1 - level >= least_p(groups)]
    results = [(no_interval(groups), math.nan) for groups in count]
    if not enough:
        return results
    y, size, times = (np.stack(part) for part in zip(*(means[index].sums for index in enough), strict=True))
    tested = two_sided(y, size, times, means[0].bounds, [means[index].scatter for index in enough], level=level)
    for index, lo, hi, p, error in zip(enough, *(part.tolist() for part in tested), strict=True):
        mean, groups = means[index], count[index]
        if math.isnan(p):
            results[index] = no_interval(groups, NO_VARIATION if mean.scatter > 0 else CONSTANT), math.nan
        else:
            effect = _design_effect(error, mean.sums.units, mean.scatter) if error > 0 else None
            results[index] = Interval(lo, hi, HALL, groups, effect, None), p
    return results


def mean_of_sums(sums: GroupSums, scatter: float, bounds: tuple[float, float], spread: Callable[[], float], *, level: float) -> Interval:
    """Interval of a level (the mean label, the mean score), which is not tested: Student's t on the cluster bootstrap's error.

    `scatter` and `spread` as in `share_of_sums`. Levels are not as skewed as differences of agreement, and in few texts the plain t
    covers them better than Hall's transformation does.
    """
    if sums.groups < MIN_GROUPS:
        return no_interval(sums.groups)
    (low, high), method, mean = bounds, "cluster bootstrap (t)", sums.mean
    error, freedom = error_of_mean(sums, spread)
    if not error > 0:
        away = score_interval(0.0, sums.groups, t_quantile(level, sums.groups - 1))[1]
        return Interval(mean - away * (mean - low), mean + away * (high - mean), method, sums.groups, None, None)
    half = t_quantile(level, freedom) * error
    effect = _design_effect(error, sums.units, scatter)
    return Interval(max(low, mean - half), min(high, mean + half), method, sums.groups, effect, None)


def t_quantile(level: float, freedom: float) -> float:
    """Two-sided critical value of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + level / 2))


def _design_effect(error: float, units: float, scatter: float) -> float | None:
    return error**2 * units / scatter if scatter > 0 else None


def scatter_of(values: Floats, weights: Floats | None = None) -> float:
    """Variance of single units, weighted or not; exactly 0 where all are equal, and for none."""
    if weights is not None and len(values) and np.ptp(values) > 0:
        return float(np.average((values - np.average(values, weights=weights)) ** 2, weights=weights))
    return float(np.var(np.sort(values))) if len(values) and np.ptp(values) > 0 else 0.0  # sorted: their order does not matter


def score_interval(share: float, n: float, z: float) -> tuple[float, float]:
    """Wilson's interval of a share of `n` units (n > 0, any number) for a critical value z of the normal distribution or of Student's t.

    >>> [round(x, 4) for x in score_interval(0.8, 10, 1.96)]
    [0.4902, 0.9433]
    """
    centre, half = share + z * z / (2 * n), z * math.sqrt(max(share * (1 - share), 0) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    lo, hi = max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)
    return (0.0 if share <= 0 else lo), (1.0 if share >= 1 else hi)


def _rated(values: NDArray[Any], groups: NDArray[Any]) -> tuple[Floats, NDArray[Any]]:
    scores, codes = np.asarray(values, np.float64), np.asarray(groups)
    same_shape("one-dimensional and of one length", values=scores, groups=codes)
    rated = ~np.isnan(scores)
    return scores[rated], codes[rated]


@dataclass(frozen=True, slots=True)
class Welch:
    """First minus second mean (`value`), the statistic, its degrees of freedom and the two-sided p; NaN with a reason if undefined."""

    value: float
    t: float
    freedom: float
    p: float
    reason: str | None = None


def welch_test(first: ArrayLike, second: ArrayLike) -> Welch:
    """Welch's t-test of two independent samples.

    t = (mean1 - mean2) / sqrt(v1 / n1 + v2 / n2), with Satterthwaite's degrees of freedom. The samples should be independent: texts of
    one prompt are not, for which `paired_difference` is the test.

    Args:
        first, second: (n,) numbers, NaN where missing.

    Returns:
        `Welch`; t and p are undefined with fewer than two numbers in a sample, or if neither sample varies.

    Reference: Welch (1947), Biometrika 34; as `ttest_ind(usevar="unequal")` of statsmodels.

    >>> found = welch_test([5, 4, 4, 3], [2, 3, 1, 2])
    >>> found.value, round(found.t, 4), round(found.freedom, 2), round(found.p, 4)
    (2.0, 3.4641, 6.0, 0.0134)
    """
    a, b = (np.asarray(sample, np.float64) for sample in (first, second))
    for values in (a, b):
        if values.ndim != 1:
            raise ShapeError(f"a sample should be one-dimensional, got {values.shape}")
    a, b = a[~np.isnan(a)], b[~np.isnan(b)]
    if min(len(a), len(b)) < 2:
        value = float(a.mean() - b.mean()) if len(a) and len(b) else math.nan
        return Welch(value, math.nan, math.nan, math.nan, "fewer than two texts of a system")
    value = float(a.mean() - b.mean())
    parts = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    variance = float(sum(parts))
    if variance <= 1e-24:
        return Welch(value, math.nan, math.nan, math.nan, "no score differs within a system")
    freedom = variance**2 / float(parts[0] ** 2 / (len(a) - 1) + parts[1] ** 2 / (len(b) - 1))
    t = value / math.sqrt(variance)
    from scipy.special import stdtr  # late: scipy takes time

    return Welch(value, t, freedom, float(2 * stdtr(freedom, -abs(t))))


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
    # The design effect: how many units of a group are worth one independent unit, from 1 to the average group's size. If all units are
    # equal, it cannot be estimated and is the average size.
    n, single = np.vecdot(n_of, count), np.asarray(scatter, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = np.where(single > 0, plain.deviation**2 / plain.groups * n / single, math.inf)
    alike = np.asarray(np.clip(effect, 1.0, n / plain.groups))
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
