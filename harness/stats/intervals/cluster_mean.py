"""A mean of items that share groups, with the cluster variance CR2 and degrees of freedom that allow for groups of different sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, Ints, ShapeError, as_index, power
from harness.stats.core.groups import ClusterVariance, GroupSums, bell_mccaffrey, freedom_of_tests, leverage, relative_weights
from harness.stats.core.many_cells import batch_by_shape
from harness.stats.intervals.intervals import t_quantile

_ROUNDING = 1e-12
LEAST_CORRELATION = 0.1
"""Of texts in one group, for the degrees of freedom of an interval: an estimate from few groups may be 0 by chance."""


class MeanTest(NamedTuple):
    """Means over groups, their standard errors and degrees of freedom, for tests; of any one shape (...).

    `error` is NaN with fewer than two groups and exactly 0 where groups do not vary.
    """

    mean: Floats
    error: Floats
    freedom: Floats

    def p_above(self, value: ArrayLike) -> Floats:
        """One-sided p, in [0, 1], of the hypothesis that the mean is `value` or less, by Student's t.

        Where all groups say the same there is no error to measure by: 2^-(freedom + 1) above `value`, that of the sign test, else 1.
        """
        return self._p(self.mean - np.asarray(value, np.float64))

    def p_below(self, value: ArrayLike) -> Floats:
        """One-sided p of the hypothesis that the mean is `value` or more."""
        return self._p(np.asarray(value, np.float64) - self.mean)

    def lower_bound(self, alpha: ArrayLike) -> Floats:
        """The `value` at which `p_above` is `alpha` (...); the mean itself where all groups say the same."""
        from scipy.special import stdtrit

        return np.asarray(self.mean - stdtrit(self.freedom, 1 - np.asarray(alpha)) * self.error)

    def _p(self, distance: Floats) -> Floats:
        from scipy.special import stdtr

        with np.errstate(divide="ignore", invalid="ignore"):
            alike = np.where(distance > _ROUNDING, 0.5 ** (self.freedom + 1), 1.0)
            p = np.where(self.error > 0, stdtr(self.freedom, -distance / self.error), alike)
        return np.asarray(np.where(np.isnan(self.error), math.nan, p))


class ClusterMean(NamedTuple):
    """A mean of `n` items in `groups` groups and its standard error `error`; NaN where undefined, exactly 0 where groups do not vary.

    `freedom` are the degrees of freedom of tests, which depend on the sizes of groups alone; `interval_freedom` those of intervals, at the
    correlation within groups that the items have. Both are G - 1 if all groups have one size.
    """

    mean: float
    error: float
    n: int
    groups: int
    freedom: float
    interval_freedom: float

    @property
    def effective_groups(self) -> float:
        """Return the number of equal groups for which the groups stand; NaN with fewer than two."""
        return self.freedom + 1

    @property
    def test(self) -> MeanTest:
        """Return the degrees of freedom of the mean."""
        return MeanTest(np.asarray(self.mean), np.asarray(self.error), np.asarray(self.freedom))

    def p_above(self, value: float) -> float:
        """One-sided p, in [0, 1], of the hypothesis that the mean is `value` or less, by Student's t.

        Where all groups say the same there is no error to measure by: 2^-G above `value` for G equal groups, that of the sign test, else
        1. NaN with fewer than two groups.

        >>> round(cluster_mean([1, 1, 0, 0, 1, 0]).p_above(0.0), 4), cluster_mean([1] * 10).p_above(0.0) == 2**-10
        (0.0378, True)
        """
        return float(self.test.p_above(value))

    def p_below(self, value: float) -> float:
        """One-sided p, in [0, 1], of the hypothesis that the mean is `value` or more; edges as `p_above`."""
        return float(self.test.p_below(value))

    def lower_bound(self, alpha: float) -> float:
        """The `value` at which `p_above` is `alpha`; the mean itself where all groups say the same, NaN with fewer than two groups.

        >>> found = cluster_mean([1, 1, 0, 0, 1, 0])
        >>> round(found.p_above(found.lower_bound(0.05)), 4)
        0.05
        """
        return float(self.test.lower_bound(alpha))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """mean ± t error, Student's t with the degrees of freedom of intervals; NaN where the error is undefined.

        >>> [round(end, 2) for end in ClusterMean(1.0, 0.5, 12, 5, 4.0, 4.0).interval()]
        [-0.39, 2.39]
        """
        reach = self.error * t_quantile(level, self.interval_freedom) if self.error >= 0 else math.nan
        return self.mean - reach, self.mean + reach


def cluster_mean(
    values: ArrayLike, groups: ArrayLike | None = None, weights: ArrayLike | None = None, *, variance: ClusterVariance = "cr2"
) -> ClusterMean:
    """Mean of items and its standard error over groups.

    variance = sum_g (sum_{i in g} (x_i - mean))² / (1 - h_g) / n², h_g = n_g / n (CR2). With equal groups this is the plain cluster
    variance, with the factor G / (G - 1); if every item is a group of its own, the usual s² / n.

    Args:
        values: (items,) numbers without gaps.
        weights: (items,) 1 / inclusion probability of items that were drawn with different ones. The mean is then sum(w x) / sum(w),
            deviations are w (x - mean), and n_g is a group's sum of weights, relative to their mean.

    Returns:
        `ClusterMean`; mean NaN without items, error and degrees of freedom NaN with fewer than two groups.

    Reference: Bell & McCaffrey (2002), CR2 and its degrees of freedom; Pustejovsky & Tipton (2018). With equal groups equal to statsmodels'
    OLS on a constant with cov_type="cluster" (Cameron & Miller 2015). Weights: the ratio estimator of Hájek (1971).

    >>> found = cluster_mean([1, 1, 0, 0, 1, 0], groups=[1, 1, 2, 2, 3, 3])
    >>> found.mean, round(found.error, 4), found.groups, found.freedom
    (0.5, 0.2887, 3, 2.0)
    """
    return cluster_mean_each([SampleOfGroups(values, groups, weights)], variance=variance)[0]


class SampleOfGroups(NamedTuple):
    """The arguments of `cluster_mean`."""

    values: ArrayLike
    groups: ArrayLike | None = None
    weights: ArrayLike | None = None


def cluster_mean_each(samples: Sequence[SampleOfGroups], *, variance: ClusterVariance = "cr2") -> list[ClusterMean]:
    """`cluster_mean` of many samples: the same numbers, made at once for samples of as many items and groups."""
    return batch_by_shape(partial(_of_alike, variance=variance), [_sample(*sample) for sample in samples], lambda arrays: arrays.shape)


class _Sample(NamedTuple):
    """Values (items,), their group codes 0 … groups - 1, and weights of the mean 1."""

    x: Floats
    codes: Ints
    groups: int
    weights: Floats
    weighted: bool

    @property
    def shape(self) -> tuple[int, int, bool]:
        """Samples of one shape are computed at once."""
        return len(self.x), self.groups, self.weighted


def _sample(values: ArrayLike, groups: ArrayLike | None, weights: ArrayLike | None) -> _Sample:
    x = np.asarray(values, np.float64)
    if x.ndim != 1:
        raise ShapeError(f"values must be one-dimensional, found shape {x.shape}")
    index = np.arange(len(x)) if groups is None else as_index(groups, len(x), "groups")
    w = np.ones(len(x)) if weights is None else np.asarray(weights, np.float64)
    if w.shape != x.shape:
        raise ShapeError(f"values {x.shape} and weights {w.shape} must be of the same items")
    return _Sample(x, index, int(index.max(initial=-1)) + 1, w if weights is None else relative_weights(w), weights is not None)


def _of_alike(samples: Sequence[_Sample], variance: ClusterVariance) -> list[ClusterMean]:
    """The means of samples of one shape."""
    items, groups, weighted = samples[0].shape
    if not items:
        return [ClusterMean(math.nan, math.nan, 0, 0, math.nan, math.nan)] * len(samples)
    x, index, w = (np.stack(part) for part in zip(*((sample.x, sample.codes, sample.weights) for sample in samples), strict=True))
    group_index = index + np.arange(len(samples))[:, None] * groups  # of an item's group among the groups of all samples
    mean = np.vecdot(w, x) / w.sum(axis=-1) if weighted else x.mean(axis=-1)
    residual = w * (x - mean[:, None])
    size, total = (np.asarray(np.bincount(group_index.ravel(), values.ravel()), np.float64).reshape(-1, groups) for values in (w, residual))
    sums = _without_rounding(total, np.vecdot(w, np.abs(x))[:, None])
    errors = [math.nan] * len(samples)  # with fewer than two groups
    if groups > 1:
        errors = np.sqrt(np.vecdot(sums**2, leverage(size, variance=variance)) / power(size.sum(axis=-1), 2)).tolist()
    free = freedom_of_tests(size, variance=variance).tolist()
    correlated = [_freedom_as_correlated(x[n][:, None], index[n], w[n], size[n], free[n]) for n in range(len(samples))]
    rows = zip(mean.tolist(), errors, free, correlated, strict=True)
    return [ClusterMean(value, error, items, groups, *freedom) for value, error, *freedom in rows]


def mean_of_sums(sums: GroupSums, variance: ClusterVariance = "cr2") -> MeanTest:
    """The tests of the same mean from sums of groups, of shape (..., groups), for many samples at once.

    >>> found = mean_of_sums(GroupSums(np.array([2.0, 0.0, 1.0]), np.full(3, 2.0), np.ones(3)))
    >>> float(found.mean), round(float(found.error), 4), float(found.freedom)
    (0.5, 0.2887, 2.0)
    """
    y, size, times = sums.y, sums.size, sums.times * (sums.size > 0)
    n, groups = np.vecdot(size, times), times.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.vecdot(y, times) / n
        residual = y - mean[..., None] * size
        residual = np.where(np.abs(residual) <= _ROUNDING * np.maximum(1.0, np.vecdot(np.abs(y), times))[..., None], 0.0, residual)
        squares = np.vecdot(np.where(times > 0, residual**2 * leverage(size, times, variance), 0.0), times) / n**2
    return MeanTest(mean, np.sqrt(np.where(groups > 1, squares, math.nan)), freedom_of_tests(size, times, variance))


def deviation_sums(values: Floats, index: ArrayLike) -> Floats:
    """Sums over groups of the items' deviations from the mean: (groups,) for `index` codes 0 … groups - 1 of (items,) values.

    Sums that differ from 0 only by rounding are exactly 0.

    >>> deviation_sums(np.array([3.0, 1.0, 2.0]), [0, 1, 1]).tolist()
    [1.0, -1.0]
    """
    sums = np.asarray(np.bincount(np.asarray(index), values - values.mean()), np.float64)
    return _without_rounding(sums, float(np.abs(values).sum()))


def _without_rounding(sums: Floats, total: ArrayLike) -> Floats:
    """Sums of deviations, exactly 0 where they differ from it only by the rounding of numbers that add up to `total`."""
    return np.where(np.abs(sums) <= _ROUNDING * np.maximum(1.0, total), 0.0, sums)


def interval_freedom(values: ArrayLike, index: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Degrees of freedom of the interval of a mean: `bell_mccaffrey` at the correlation of items in a group, at least 0.1.

    Args:
        values: (items,) or (items, d) numbers; the correlation of several dimensions is that of their sums of squares.
        index: (items,) group codes 0 … groups - 1, each used.
        weights: (items,) relative weights, of the mean 1; default all 1.

    Returns:
        From 1 to G - 1; NaN with fewer than two groups.

    >>> interval_freedom([1.0, 2.0, 4.0, 3.0], [0, 0, 1, 1])
    1.0
    """
    x, codes = np.asarray(values, np.float64), np.asarray(index)
    w = None if weights is None else np.asarray(weights, np.float64)
    size = np.bincount(codes, w).astype(np.float64)
    free = float(bell_mccaffrey(size))
    return _freedom_as_correlated(x.reshape(len(x), -1), codes, w, size, free)


def _freedom_as_correlated(columns: Floats, index: Ints, weights: Floats | None, size: Floats, free: float) -> float:
    if not free < len(size) - 1:  # groups of one size, or a single one
        return free
    between, within = (float(np.trace(part)) for part in sums_of_squares(columns, index, weights))
    return freedom_at(_correlation(between, within, size, np.ones(len(size)), len(columns)), size)


def freedom_of_squares(between: float, within: float, size: Floats, times: Floats, items: int) -> float:
    """`interval_freedom` from sums of squares between and within groups; `times` groups have the sum of relative weights `size`.

    >>> freedom_of_squares(2.25, 2.75, np.array([2.0]), np.array([2.0]), 4)
    1.0
    """
    free = float(bell_mccaffrey(size, times))
    return freedom_at(_correlation(between, within, size, times, items), size, times) if free < times.sum() - 1 else free


def freedom_at(correlation: float, size: ArrayLike, times: ArrayLike = 1.0) -> float:
    """Degrees of freedom of an interval: `bell_mccaffrey` at this correlation of items in a group, at least 0.1.

    >>> round(freedom_at(0.0, [100.0, 4.0], [1, 40]), 3)
    1.639
    """
    return float(bell_mccaffrey(size, times, max(LEAST_CORRELATION, correlation)))


def sums_of_squares(columns: Floats, index: Ints, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """Sums of squares and products (d, d) of (items, d) numbers: between groups, and within them.

    >>> [part.tolist() for part in sums_of_squares(np.array([[1.0], [3.0], [5.0]]), np.array([0, 0, 1]))]
    [[[6.0]], [[2.0]]]
    """
    w = np.ones(len(columns)) if weights is None else weights
    size = np.bincount(index, w)
    of_group = np.stack([np.bincount(index, w * x) for x in columns.T], axis=1) / size[:, None]
    between, within = of_group - w @ columns / w.sum(), columns - of_group[index]
    return np.asarray((size[:, None] * between).T @ between), np.asarray((w[:, None] * within).T @ within)


def _correlation(between: float, within: float, size: Floats, times: Floats, items: int) -> float:
    """The intra-class correlation by analysis of variance over groups of different sizes; 1 where no group has two items."""
    n, groups = float(size @ times), float(times.sum())
    if items <= groups:
        return 1.0
    of_groups, of_items = between / (groups - 1), within / (items - groups)
    typical = (n - float(size**2 @ times) / n) / (groups - 1)
    shared = max(0.0, (of_groups - of_items) / typical)
    return shared / (shared + of_items) if shared + of_items > 0 else 1.0
