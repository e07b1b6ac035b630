"""Random-effects summary of an estimate over languages: mean, heterogeneity, prediction interval.

Languages are no random sample of all languages. With fewer than five, show the single estimates only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, same_shape
from harness.stats.intervals.intervals import t_quantile

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
