"""Welch's t-test: do two independent groups of measurements have the same mean, whatever their variances?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import ShapeError


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
    a, b = (_known(sample) for sample in (first, second))
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


def _known(sample: ArrayLike) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    values = np.asarray(sample, np.float64)
    if values.ndim != 1:
        raise ShapeError(f"a sample should be one-dimensional, got {values.shape}")
    return values[~np.isnan(values)]
