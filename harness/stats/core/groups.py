"""Sums per group: the standard error of a mean over units that share texts depends on nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.core.arrays import Floats, as_index


class GroupSums(NamedTuple):
    """The distinct pairs (sum, number of units) of groups, and how many groups have each pair."""

    y: Floats
    size: Floats
    times: Floats

    @property
    def groups(self) -> int:
        return int(self.times.sum())

    @property
    def units(self) -> float:
        return float(self.times @ self.size)

    @property
    def mean(self) -> float:
        return float(self.times @ self.y) / self.units


def group_sums(values: Floats, groups: ArrayLike, weights: Floats | None = None) -> GroupSums:
    """Distinct (sum, units) of the groups of rated values; with weights (of the mean 1), both are weighted."""
    code = as_index(groups, len(values), "groups")
    size = np.bincount(code, weights).astype(np.float64)
    weighted = values if weights is None else values * weights
    return distinct_sums(np.asarray(np.bincount(code, weighted), np.float64), size, np.ones(len(size)))


def relative_weights(weights: Floats) -> Floats:
    """The weights divided by their mean, so that they add up to the number of items.

    >>> relative_weights(np.array([2.0, 6.0])).tolist()
    [0.5, 1.5]
    """
    return np.asarray(weights / weights.mean()) if len(weights) else weights


def distinct_sums(y: Floats, size: Floats, times: Floats) -> GroupSums:
    """Merge groups with equal sums, and leave out groups without units."""
    used = (size > 0) & (times > 0)
    return GroupSums(*_merged(times[used], y[used], size[used]))


def distinct_sums_each(y: Floats, size: Floats, times: Floats) -> list[GroupSums]:
    """`distinct_sums` of many cells, from arrays (cells, groups).

    >>> [found.y.tolist() for found in distinct_sums_each(np.array([[1.0, 1.0], [2.0, 0.0]]), np.ones((2, 2)), np.ones((2, 2)))]
    [[1.0], [0.0, 2.0]]
    """
    used = (size > 0) & (times > 0)
    y, size, cell, times = _merged(times[used], y[used], size[used], np.nonzero(used)[0])
    ends = np.searchsorted(cell, np.arange(len(used) + 1)).tolist()
    return [GroupSums(y[first:last], size[first:last], times[first:last]) for first, last in pairwise(ends)]


def _merged(times: Floats, *columns: NDArray[Any]) -> list[NDArray[Any]]:
    """The distinct rows of columns, sorted by the last of them first, and the sum of the times of each."""
    if not len(times):
        return [*columns, times]
    order = np.lexsort(columns)
    columns = tuple(column[order] for column in columns)
    new = np.ones(len(times), bool)
    new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    first = np.flatnonzero(new)
    return [*(column[first] for column in columns), np.add.reduceat(times[order], first)]


def spread_of(replicates: Floats) -> Floats:
    """The standard deviation of values in resamples (..., resamples), without those that are undefined.

    >>> spread_of(np.array([[1.0, 3.0], [2.0, float("nan")]])).tolist()
    [1.0, 0.0]
    """
    known = ~np.isnan(replicates)
    if known.all():
        return np.asarray(np.std(replicates, axis=-1))
    rows = zip(replicates.reshape(-1, replicates.shape[-1]), known.reshape(-1, replicates.shape[-1]), strict=True)
    return np.array([np.std(row[which]) for row, which in rows]).reshape(replicates.shape[:-1])


def error_of_mean(sums: GroupSums, spread: Callable[[], float]) -> tuple[float, float]:
    """Standard error of sum(y) / sum(size), bootstrapped over groups, and its degrees of freedom.

    `spread` gives the standard deviation of the mean in resamples of the groups; it is called only if groups vary.

    A group of share h of the units pulls the mean towards itself, by a factor 1 - h in its deviation d: the bootstrap
    variance is multiplied by (G - 1) / G sum (d / (1 - h))² / sum d², which is G / (G - 1) for groups of one size.

    Reference: MacKinnon & Webb (2018), CR3 by the jackknife.
    """
    groups = sums.groups
    deviation = sums.y - sums.mean * sums.size
    if np.abs(deviation).max() <= 1e-12 * max(1.0, float(np.abs(sums.y).max())):
        return 0.0, groups - 1.0
    pulled = float(sums.times @ (deviation / (1 - sums.size / sums.units)) ** 2) / float(sums.times @ deviation**2)
    error = spread() * math.sqrt(pulled * (groups - 1) / groups)
    return error, degrees_of_freedom(deviation, sums.times)


def resampled_means(sums: GroupSums, seed: int, resamples: int) -> Floats:
    """sum(y) / sum(size) in resamples of the groups: a multinomial draw of the distinct sums, shape (resamples,)."""
    draws = np.random.default_rng(seed).multinomial(sums.groups, sums.times / sums.groups, resamples)
    y, size = draws.astype(np.float64) @ np.stack([sums.y, sums.size], axis=1).T[..., None]
    return np.asarray(y / size)[:, 0]


def degrees_of_freedom(deviation: Floats, times: Floats) -> float:
    """Satterthwaite's degrees of freedom of a variance that is a sum of G groups' squared deviations.

    2 / CV², CV being the coefficient of variation of their mean; at most G - 1, at least 3.

    >>> degrees_of_freedom(np.array([1.0, -1.0]), np.array([10.0, 10.0]))
    19.0
    """
    groups = float(times.sum())
    return float(freedom_of_moments(float(times @ deviation**2) / groups, float(times @ deviation**4) / groups, groups))


def freedom_of_moments(second: ArrayLike, fourth: ArrayLike, groups: ArrayLike) -> Floats:
    """`degrees_of_freedom` from the deviations' mean squares and mean fourth powers, of any shape.

    >>> freedom_of_moments([1.0, 0.0], [1.0, 0.0], 20).tolist()
    [19.0, 19.0]
    """
    squares, count = np.asarray(second, np.float64), np.asarray(groups, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        variation = np.where(squares > 0, (np.asarray(fourth, np.float64) / squares**2 - 1) / count, 0.0)
        free = np.where(variation > 0, 2 / variation, math.inf)
    return np.asarray(np.maximum(3.0, np.minimum(count - 1, free)))
