"""Estimates of several languages that help each other: each shrinks towards what all have in common, as far as the languages are alike.

Its intervals hold whatever the shape of the differences between languages. They cover with their level on average over the languages.
`within` says how far from the others a single language may lie and is still covered, with twice the error of the average; `apart` says how
far each one lies.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, ShapeError, same_shape
from harness.stats.intervals.intervals import t_quantile

PSEUDO_LABELS = 10
"""A language's own variance per label is mixed with the pooled one as if this many labels had the pooled one."""
LIMIT_OF_TAU2 = 0.8
"""Confidence of the upper limit of the variance between languages, which bounds how far a single language may lie from the others."""


@dataclass(frozen=True, slots=True)
class BetweenVariance:
    """Common parameters of the estimates: the variance `tau2` between them, its `floor`, the regression and its errors.

    `fitted` and `fitted_error` (n,) are the value that the others predict for each estimate, and its standard error.
    """

    tau2: float
    floor: float
    coefficients: Floats
    coefficient_errors: Floats
    fitted: Floats
    fitted_error: Floats


@dataclass(frozen=True, slots=True)
class Borrowed:
    """Shrunken estimates `value` with their `half_width`; `weight` is that of the own labels, `critical` the robust critical value.

    `apart` is the distance of each estimate from the mean of the others, in standard errors of a new language; all (n,).
    """

    value: Floats
    half_width: Floats
    weight: Floats
    critical: Floats
    apart: Floats


def paule_mandel(estimate: ArrayLike, error: ArrayLike, x: ArrayLike | None = None, *, tau2: float | None = None) -> BetweenVariance:
    """Variance between estimates that have known standard errors: the tau² with sum (y - x b)² / (s² + tau²) = n - p, else 0.

    Args:
        estimate, error: (n,) values y and their standard errors s > 0.
        x: (n, p) covariates; None is a mean only.
        tau2: the variance where it is given. Its floor is 2 / sum(1 / s²).

    Raises:
        ShapeError: for other shapes, errors that are not positive, and no more estimates than coefficients.

    Reference: Paule & Mandel (1982); the floor is that of Armstrong, Kolesár & Plagborg-Møller (2022).

    >>> found = paule_mandel([0.1, 0.4, -0.2, 0.3], [0.1, 0.1, 0.1, 0.1])
    >>> round(found.tau2, 4), round(float(found.fitted[0]), 3), round(found.floor, 4)
    (0.06, 0.15, 0.005)
    """
    from scipy import optimize

    y, s = np.asarray(estimate, np.float64), np.asarray(error, np.float64)
    design = np.ones((len(y), 1)) if x is None else np.asarray(x, np.float64)
    if y.shape != s.shape or y.ndim != 1 or len(design) != len(y) or len(y) <= design.shape[1] or not (s > 0).all():
        raise ShapeError(f"estimates {y.shape} and errors {s.shape} must be of the same languages, more than coefficients, with errors > 0")

    def excess(variance: float) -> float:
        return _spread(y, s**2 + variance, design) - float(len(y) - design.shape[1])

    if tau2 is None:
        tau2 = float(optimize.brentq(excess, 0, 10 * len(y) * np.ptp(y) ** 2, xtol=1e-15)) if excess(0) > 0 else 0.0
    coefficients, covariance = _fit(y, s**2 + tau2, design)
    errors = np.sqrt(np.einsum("ij,jk,ik->i", design, covariance, design))
    return BetweenVariance(tau2, 2 / float((s**-2).sum()), coefficients, np.sqrt(np.diag(covariance)), design @ coefficients, errors)


def _fit(y: Floats, variance: Floats, design: Floats) -> tuple[Floats, Floats]:
    covariance: Floats = np.asarray(np.linalg.inv(design.T @ (design / variance[:, None])), np.float64)
    return covariance @ design.T @ (y / variance), covariance


def _spread(y: Floats, variance: Floats, design: Floats) -> float:
    """Cochran's Q: the sum of squared distances from the fit, each divided by its variance."""
    coefficients, _ = _fit(y, variance, design)
    return float(((y - design @ coefficients) ** 2 / variance).sum())


def upper_between(y: Floats, s: Floats, level: float = LIMIT_OF_TAU2) -> BetweenVariance:
    """`paule_mandel` with the upper confidence limit of the variance: the tau² at which Q is the lower quantile of chi² with n - 1.

    Estimates that lie closer together than their errors let expect count as being as far apart as these: few languages are alike by chance.

    Reference: Viechtbauer (2007), the Q-profile interval.

    >>> [round(upper_between(np.tile([0.1, 0.3], n), np.full(2 * n, 0.05)).tau2, 3) for n in (2, 3, 6)]
    [0.037, 0.023, 0.015]
    >>> round(upper_between(np.full(4, 0.1), np.full(4, 0.05)).tau2, 4)
    0.005
    """
    from scipy import optimize, stats

    design, freedom = np.ones((len(y), 1)), len(y) - 1
    quantile = float(stats.chi2.ppf(1 - level, freedom))
    alike = _spread(y, s**2, design) <= freedom

    def excess(variance: float) -> float:
        spread = freedom * (s**2 / (s**2 + variance)).mean() if alike else _spread(y, s**2 + variance, design)
        return float(spread - quantile)

    most = len(y) * max(np.ptp(y) ** 2, float((s**2).mean())) / quantile
    return paule_mandel(y, s, tau2=float(optimize.brentq(excess, 0, most, xtol=1e-15)))


def shrink(
    estimate: ArrayLike, error: ArrayLike, *, freedom: ArrayLike | None = None, within: float = 0.0, level: float = 0.95
) -> Borrowed:
    """Shrink each estimate towards the common mean: mean + w (y - mean), w = tau² / (tau² + s²), where tau² has a floor.

    The half-width is sqrt((c w s)² + (z (1 - w) e)²): c is `robust_critical_value` at the mean squared bias ((1 - w) / w)² tau² / s², e the
    standard error of the mean. Where the errors s are estimated, c is multiplied by t / z with their degrees of freedom, and z is the
    quantile of t with n - 1: tau² comes from n values only.

    A language that lies as far from the others as `within` allows, b, is covered with 1 - 2 (1 - level): the half-width is at least
    (1 - w) b + t w s, with the one-sided quantile t; and w is so large that this is no more than the half-width without the others.

    Args:
        estimate, error: (n,) at least three values and their standard errors > 0.
        freedom: (n,) degrees of freedom of the errors, as `mixed_freedom` gives them; None: they are known.
        within: distance from the mean of the others, in standard deviations of a new language, at which a single language is still
            covered. Their tau² is its upper limit (`upper_between`). 0 promises the average alone.
        level: confidence in (0, 1), on average over the estimates.

    Raises:
        ShapeError: as `paule_mandel`.

    Reference: Armstrong, Kolesár & Plagborg-Møller (2022), robust empirical Bayes confidence intervals; the bound on one language is that
    of intervals with a bounded bias (Donoho 1994).

    >>> found = shrink([0.1, 0.4, -0.2, 0.3, 0.2], [0.2] * 5)
    >>> found.value.round(3).tolist(), found.half_width.round(3).tolist()[0], found.apart.round(2).tolist()[2]
    ([0.143, 0.229, 0.057, 0.2, 0.171], 0.347, -1.64)
    >>> found = shrink([0.1, 0.4, -0.2, 0.3, 0.2], [0.2] * 5, within=3)
    >>> found.weight.round(2).tolist()[0], found.half_width.round(3).tolist()[0], round(1.96 * 0.2, 3)
    (0.88, 0.392, 0.392)
    """
    y, s = np.asarray(estimate, np.float64), np.asarray(error, np.float64)
    large_sample, common = freedom is None, floored_between(y, s)
    degrees = np.full(len(y), math.inf) if freedom is None else np.asarray(freedom, np.float64)
    # The distance of each estimate from the others, in standard errors of a new language, and how far it may lie.
    distance, reach = np.empty(len(y)), np.zeros(len(y))
    for index in range(len(y)):
        other_estimates, errors = np.delete(y, index), np.delete(s, index)
        rest = floored_between(other_estimates, errors)
        distance[index] = (y[index] - rest.fitted[0]) / math.sqrt(s[index] ** 2 + rest.tau2 + rest.fitted_error[0] ** 2)
        reach[index] = farthest(upper_between(other_estimates, errors), within) if within else 0.0
    shrinkage = _shrinkage(
        s, common.tau2, common.fitted_error, reach, degrees, t_quantile(level, math.inf if large_sample else len(y) - 1), level
    )
    return Borrowed(common.fitted + shrinkage.weight * (y - common.fitted), shrinkage.half, shrinkage.weight, shrinkage.critical, distance)


@dataclass(frozen=True, slots=True)
class _Shrinkage:
    weight: Floats
    critical: Floats
    half: Floats


def _shrinkage(s: Floats, tau2: float, mean_error: Floats, reach: Floats, degrees: Floats, shared: float, level: float) -> _Shrinkage:
    """Weights and half-widths as `shrink` says; `shared` is the quantile for the error of the mean."""
    quantiles = np.array([t_quantile(level, degree) for degree in degrees])
    single = np.array([t_quantile(1 - 4 * (1 - level), degree) for degree in degrees])  # one-sided, with twice the error
    least = np.where(reach > quantiles * s, (reach - quantiles * s) / (reach - single * s), 0.0)
    weight = np.maximum(tau2 / (tau2 + s**2), least)
    bias = ((1 - weight) / weight) ** 2 * tau2 / s**2
    critical = np.array([robust_critical_value(float(m2), 1 - level) for m2 in bias])
    average = np.hypot(quantiles / t_quantile(level, math.inf) * critical * weight * s, shared * (1 - weight) * mean_error)
    return _Shrinkage(weight, critical, np.maximum(average, (1 - weight) * reach + single * weight * s))


def floored_between(y: Floats, s: Floats) -> BetweenVariance:
    """`paule_mandel` with a variance that is not below its floor, as `shrink` uses it.

    >>> round(floored_between(np.array([0.1, 0.1, 0.1]), np.ones(3)).tau2, 3)
    0.667
    """
    between = paule_mandel(y, s)
    return between if between.tau2 >= between.floor else paule_mandel(y, s, tau2=between.floor)


def farthest(between: BetweenVariance, within: float) -> float:
    """Return the largest distance of a new language from the mean, if it lies within so many of its standard deviations.

    >>> round(farthest(upper_between(np.array([0.1, 0.4, -0.2, 0.3]), np.full(4, 0.2)), 3), 2)
    1.41
    """
    return within * math.sqrt(between.tau2 + float(between.fitted_error[0]) ** 2)


def mixed_errors(error: ArrayLike, labels: ArrayLike) -> Floats:
    """Standard errors of few labels, each language's variance per label mixed with the pooled one (ten pseudo-labels).

    Args:
        error: (n,) standard errors of means.
        labels: (n,) number of independent labels of each, at least 2.

    >>> mixed_errors([0.1, 0.3], [20, 20]).round(3).tolist()
    [0.153, 0.277]
    """
    s, n = np.asarray(error, np.float64), np.asarray(labels, np.float64)
    variance = s**2 * n
    pooled = np.average(variance, weights=n - 1)
    return np.asarray(np.sqrt((n * variance + PSEUDO_LABELS * pooled) / (n + PSEUDO_LABELS) / n))


def mixed_freedom(labels: ArrayLike, kurtosis: float) -> Floats:
    """Degrees of freedom of `mixed_errors`, by Satterthwaite: 2 v² / Var(v), with the variance of sample variances that kurtosis gives.

    Variances of skewed errors scatter more than those of normal ones, so that intervals from few labels need a wider quantile.

    Args:
        labels: (n,) number of independent labels of each, at least 2.
        kurtosis: of one label's error, pooled over languages; below 3, that of normal errors, it counts as 3.

    Reference: Satterthwaite (1946); Var(v) = (kurtosis - 1) v² / n approximately.

    >>> mixed_freedom([15, 50], 3).round(1).tolist(), mixed_freedom([15, 50], 9).round(1).tolist()
    ([27.9, 52.6], [7.0, 13.1])
    """
    n = np.asarray(labels, np.float64)
    share = n / (n + PSEUDO_LABELS)  # the share of the own variance; the pooled one holds the own labels too
    return np.asarray(2 / (max(kurtosis, 3.0) - 1) / (share**2 / (n - 1) + (1 - share**2) / (n - 1).sum()))


def borrowed_half_width(labels: int, sd: float, tau2: float, *, mean_error: float = 0.0, reach: float = 0.0, level: float = 0.95) -> float:
    """Half-width of the interval of a new language with so many labels, beside others that differ by the variance `tau2`.

    Args:
        labels: independent labels of the new language.
        sd: standard deviation of one label (of the judge's error), above 0.
        tau2: variance between languages, above 0.
        mean_error: standard error of what the others have in common.
        reach: how far the language may lie from the others (`farthest`) and is still covered, as `shrink` says; 0 promises the average.
        level: confidence, on average over languages.

    >>> round(borrowed_half_width(30, 0.6, 0.01), 3), round(1.96 * 0.6 / 30**0.5, 3)
    (0.179, 0.215)
    """
    s, no_freedom = np.array([sd / math.sqrt(labels)]), np.array([math.inf])
    shrunk = _shrinkage(s, tau2, np.array([mean_error]), np.array([reach]), no_freedom, t_quantile(level, math.inf), level)
    return float(shrunk.half[0])


def labels_with_others(
    sd: float, tau2: float, half_width: float, *, least: int = 2, mean_error: float = 0.0, reach: float = 0.0
) -> int | None:
    """The least number of labels, from `least` on, with which a new language has an interval of this half-width at 95 %.

    Args as `borrowed_half_width`; None where 100,000 labels do not suffice.

    >>> labels_with_others(0.6, 0.01, 0.15), math.ceil((1.96 * 0.6 / 0.15) ** 2)
    (43, 62)
    """

    def enough(labels: int) -> bool:
        return borrowed_half_width(labels, sd, tau2, mean_error=mean_error, reach=reach) <= half_width

    numbers = range(least, 100_001)
    index = bisect_left(numbers, True, key=enough)
    return numbers[index] if index < len(numbers) else None


@lru_cache(maxsize=4096)
def robust_critical_value(m2: float, alpha: float, kurtosis: float = math.inf) -> float:
    """Critical value that covers with 1 - alpha on average, whatever the shape of squared biases with mean m2.

    It solves sup E r(T, c) = alpha over T >= 0 with E T = m2 and E T² <= kurtosis m2², r(t, c) = Φ(-√t - c) + Φ(√t - c).

    Args:
        m2: mean squared bias in units of the variance, >= 0.
        alpha: 1 - level.
        kurtosis: at least 1; infinite is no bound.

    >>> round(robust_critical_value(4, 0.05), 3), round(robust_critical_value(4, 0.05, 3), 3)
    (7.216, 4.62)
    """
    from scipy import optimize, stats

    high = math.sqrt(m2 + 1) * (stats.norm.isf(alpha / 2) + 1 / math.sqrt(alpha))
    return float(optimize.brentq(lambda c: _worst_miss(m2, c, kurtosis) - alpha, 0.1, high, xtol=1e-11))


def _miss(t: float, c: float) -> float:
    root = math.sqrt(t)
    return (math.erfc((root + c) / math.sqrt(2)) + math.erfc((c - root) / math.sqrt(2))) / 2


def _worst_miss(m2: float, c: float, kurtosis: float) -> float:
    if m2 == 0:
        return _miss(0, c)
    base = _miss(0, c)
    touch, slope = _largest(lambda t: (_miss(t, c) - base) / t, m2, max(m2, c**2) + 20 * (c + 1))
    if kurtosis * m2 >= touch:
        return base + m2 * slope

    def two_points(low: float) -> float:
        high = (kurtosis * m2**2 - low * m2) / (m2 - low)
        share = (m2 - low) / (high - low)
        return (1 - share) * _miss(low, c) + share * _miss(high, c)

    return _largest(two_points, 0.0, m2 * (1 - 1e-9))[1] if kurtosis > 1 else _miss(m2, c)


def _largest(function: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Return the maximum of a function with few peaks, and its value: the best of a grid, made exact between its neighbours."""
    from scipy import optimize

    grid = np.linspace(low, high, 60)
    best = int(np.argmax([function(point) for point in grid]))
    inner = optimize.minimize_scalar(
        lambda t: -function(t), bounds=(grid[max(best - 1, 0)], grid[min(best + 1, 59)]), method="bounded", options={"xatol": 1e-10}
    )
    return max(((grid[best], function(grid[best])), (float(inner.x), -float(inner.fun))), key=lambda pair: pair[1])


_STEPS, _PRECISION = 100, 1e-13


@dataclass(frozen=True, slots=True)
class MetaAnalysis:
    """Summary of k estimates.

    `mean` with its classical `se` and Hartung-Knapp-Sidik-Jonkman's `se_hksj`; `interval` mean ± t(k - 1) se_hksj; `prediction` mean ±
    t(k - 2) sqrt(tau² + se²), where a further language would lie. `tau2` is the variance between languages with the Q-profile's
    `tau2_interval`, exact where estimates are normal and their variances known, and (0, 0) where they are closer together than chance
    brings them; `q` Cochran's Q with its `q_p`, `i2` = max(0, 1 - (k - 1) / Q). `weights` add up to 1, with a place for each language, NaN
    where it has no estimate. NaN with a `reason`.
    """

    k: int
    mean: float
    se: float
    se_hksj: float
    interval: tuple[float, float]
    prediction: tuple[float, float]
    tau2: float
    tau2_interval: tuple[float, float]
    q: float
    q_p: float
    i2: float
    weights: Floats
    reason: str | None


def meta_analysis(estimate: ArrayLike, variance: ArrayLike, *, level: float = 0.95) -> MetaAnalysis:
    """Random-effects mean of one estimate a language, with weights 1 / (v_i + tau²).

    tau² is Paule & Mandel's, 0 where Q <= k - 1; everything else is computed with it. It is own code and not
    `statsmodels.stats.meta_analysis.combine_effects`: every comparison has this summary, and that import takes 0.8 s. Tests hold the two
    equal.

    Args:
        estimate: (k,) such as the gap of each language; NaN where undefined.
        variance: (k,) squared standard errors, above 0.

    Returns:
        `MetaAnalysis`; NaN with fewer than two estimates, no prediction interval with fewer than three.

    Raises:
        ValueError: for a variance of 0 or less.

    Reference: Paule & Mandel (1982); Hartung & Knapp (2001); Viechtbauer (2007), the
    Q-profile; Higgins, Thompson & Spiegelhalter (2009).

    >>> found = meta_analysis([-0.05, 0.0, 0.1, 0.02], [0.0004, 0.0009, 0.0016, 0.0009])
    >>> round(found.mean, 4), round(found.i2, 2), [round(x, 2) for x in found.prediction]
    (0.0116, 0.76, [-0.25, 0.28])
    """
    x, v = np.asarray(estimate, np.float64), np.asarray(variance, np.float64)
    same_shape("of the same languages", estimate=x, variance=v)
    if (v <= 0).any():
        raise ValueError("variances must be above 0")
    present = ~(np.isnan(x) | np.isnan(v))
    x, v, k = x[present], v[present], int(present.sum())
    weights = np.full(len(present), math.nan)
    none = (math.nan, math.nan)
    if k < 2:
        nan = math.nan
        return MetaAnalysis(k, nan, nan, nan, none, none, nan, none, nan, nan, nan, weights, "fewer than two estimates")
    from scipy.special import chdtrc, chdtri

    fixed = 1 / v
    q = float(fixed @ (x - float(fixed @ x / fixed.sum())) ** 2)
    if q > k - 1:
        # Tau² above 0 for Q > k - 1, at which the weighted sum of squares is k - 1, by Newton steps.
        tau2 = 0.0  # from below every step stays below: the sum of squares is convex in tau²
        for _ in range(_STEPS):
            w = 1 / (v + tau2)
            centred = x - w @ x / w.sum()
            step = float((w @ centred**2 - len(x) + 1) / (w**2 @ centred**2))
            tau2 += step
            if step <= _PRECISION * tau2:
                break
    else:
        tau2 = 0.0
    w = 1 / (v + tau2)
    mean, se = float(w @ x / w.sum()), math.sqrt(1 / float(w.sum()))
    se_hksj = math.sqrt(float(w @ (x - mean) ** 2) / (k - 1) / float(w.sum()))
    weights[present] = w / w.sum()
    return MetaAnalysis(
        k,
        mean,
        se,
        se_hksj,
        _around(mean, se_hksj, level, k - 1),
        _around(mean, math.sqrt(tau2 + se**2), level, k - 2) if k > 2 else none,
        tau2,
        (_tau2_at(x, v, float(chdtri(k - 1, (1 - level) / 2))), _tau2_at(x, v, float(chdtri(k - 1, (1 + level) / 2)))),
        q,
        float(chdtrc(k - 1, q)),
        max(0.0, 1 - (k - 1) / q) if q > 0 else 0.0,
        weights,
        None,
    )


def _tau2_at(x: Floats, v: Floats, q: float) -> float:
    """The tau² at which the weighted sum of squares is `q`, by halving; 0 where the sum is below `q` already."""

    def above(tau2: float) -> bool:
        w = 1 / (v + tau2)
        return bool(w @ (x - w @ x / w.sum()) ** 2 > q)

    if not above(0.0):
        return 0.0
    low, high = 0.0, float(v.max())
    while above(high):
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle) else (low, middle)
    return high


def _around(mean: float, se: float, level: float, df: int) -> tuple[float, float]:
    reach = se * t_quantile(level, df)
    return mean - reach, mean + reach
