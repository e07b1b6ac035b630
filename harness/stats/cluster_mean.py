"""A mean of items that share groups, with the plain cluster variance."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.arrays import Floats, Ints, ShapeError, as_index

_ROUNDING = 1e-12


class ClusterMean(NamedTuple):
    """A mean of `n` items in `groups` groups and its standard error `error`; NaN where undefined, exactly 0 where groups do not vary."""

    mean: float
    error: float
    n: int
    groups: int

    def p_above(self, value: float) -> float:
        """One-sided p, in [0, 1], of the hypothesis that the mean is `value` or less, by Student's t with G - 1 degrees of freedom.

        Where all groups say the same there is no error to measure by: 2^-G above `value`, that of the sign test, else 1. NaN with fewer
        than two groups.

        >>> round(cluster_mean([1, 1, 0, 0, 1, 0]).p_above(0.0), 4), cluster_mean([1] * 10).p_above(0.0) == 2**-10
        (0.0378, True)
        """
        return self._p(self.mean - value)

    def p_below(self, value: float) -> float:
        """One-sided p, in [0, 1], of the hypothesis that the mean is `value` or more; edges as `p_above`."""
        return self._p(value - self.mean)

    def lower_bound(self, alpha: float) -> float:
        """The `value` at which `p_above` is `alpha`; the mean itself where all groups say the same, NaN with fewer than two groups.

        >>> found = cluster_mean([1, 1, 0, 0, 1, 0])
        >>> round(found.p_above(found.lower_bound(0.05)), 4)
        0.05
        """
        from scipy.special import stdtrit

        return self.mean - float(stdtrit(self.groups - 1, 1 - alpha)) * self.error if self.groups > 1 else math.nan

    def _p(self, apart: float) -> float:
        from scipy.special import stdtr

        if self.groups < 2:
            return math.nan
        if self.error > 0:
            return float(stdtr(self.groups - 1, -apart / self.error))
        return 0.5**self.groups if apart > _ROUNDING else 1.0


def cluster_mean(values: ArrayLike, groups: ArrayLike | None = None, weights: ArrayLike | None = None) -> ClusterMean:
    """Mean of items and its standard error over groups.

    variance = G / (G - 1) sum_g (sum_{i in g} (x_i - mean))² / n², with G - 1 degrees of freedom for Student's t. If every item is a
    group of its own, this is the usual s² / n.

    Args:
        values: (items,) numbers without gaps.
        groups: (items,) any sortable codes of what items share; None if items are independent.
        weights: (items,) 1 / inclusion probability of items that were drawn with different ones. The mean is then sum(w x) / sum(w), and
            the deviations w (x - mean); the variance is that of groups drawn with replacement.

    Returns:
        `ClusterMean`; mean NaN without items, error NaN with fewer than two groups.

    Raises:
        ShapeError: if the arrays are not of one length.

    Reference: Cameron & Miller (2015); equal to statsmodels' OLS on a constant with cov_type="cluster", and with weights to its WLS; the
    ratio estimator of Hájek (1971) with the variance of Särndal, Swensson & Wretman (1992), section 5.7.

    >>> found = cluster_mean([1, 1, 0, 0, 1, 0], groups=[1, 1, 2, 2, 3, 3])
    >>> found.mean, round(found.error, 4), found.groups
    (0.5, 0.2887, 3)
    """
    x = np.asarray(values, np.float64)
    if x.ndim != 1:
        raise ShapeError(f"values must be one-dimensional, found shape {x.shape}")
    if not len(x):
        return ClusterMean(math.nan, math.nan, 0, 0)
    index = as_index(np.arange(len(x)) if groups is None else groups, len(x), "groups")
    if weights is not None:
        return _weighted_mean(x, index, np.asarray(weights, np.float64))
    sums = deviation_sums(x, index)
    return ClusterMean(float(x.mean()), math.sqrt(variance_of_sums(sums)) / len(x), len(x), len(sums))


def _weighted_mean(x: Floats, index: Ints, weights: Floats) -> ClusterMean:
    if weights.shape != x.shape:
        raise ShapeError(f"values {x.shape} and weights {weights.shape} must be of the same items")
    mean, total = float(weights @ x / weights.sum()), float(weights.sum())
    sums = np.asarray(np.bincount(index, weights * (x - mean)), np.float64)
    sums = np.where(np.abs(sums) <= _ROUNDING * max(1.0, float(weights @ np.abs(x))), 0.0, sums)
    return ClusterMean(mean, math.sqrt(variance_of_sums(sums)) / total, len(x), len(sums))


def deviation_sums(values: Floats, index: ArrayLike) -> Floats:
    """Sums over groups of the items' deviations from the mean: (groups,) for `index` codes 0 … groups - 1 of (items,) values.

    Sums that differ from 0 only by rounding are exactly 0.

    >>> deviation_sums(np.array([3.0, 1.0, 2.0]), [0, 1, 1]).tolist()
    [1.0, -1.0]
    """
    sums = np.asarray(np.bincount(np.asarray(index), values - values.mean()), np.float64)
    size = float(np.abs(values).sum())
    return np.where(np.abs(sums) <= _ROUNDING * max(1.0, size), 0.0, sums)


def variance_of_sums(sums: Floats) -> float:
    """G / (G - 1) times the sum of squares of (groups,) sums whose mean is 0; NaN with fewer than two groups.

    >>> variance_of_sums(np.array([1.0, -1.0]))
    4.0
    """
    groups = len(sums)
    return float(sums @ sums) * groups / (groups - 1) if groups > 1 else math.nan
