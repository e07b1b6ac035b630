"""Groups of units that share a text: sums per group, the equivalent number of equal groups, and a cap on large ones.

The standard error of a mean over such units depends on the sums alone. A mean over one group of a hundred texts and forty groups of four
rests mostly on the one. Student's t with G - 1 degrees of freedom does not know that. Bell and McCaffrey's degrees of freedom do: they are
those of a chi-square with the mean and the variance that the cluster variance CR2 has if texts of one group are correlated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.options import LEAST_EFFECTIVE
from harness.stats.core.arrays import Floats, as_index, power


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
    defined = ~np.isnan(replicates)
    if defined.all():
        return np.asarray(np.std(replicates, axis=-1))
    rows = zip(replicates.reshape(-1, replicates.shape[-1]), defined.reshape(-1, replicates.shape[-1]), strict=True)
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


ClusterVariance = Literal["cr2", "cr1"]
"""`cr2` allows for groups of different sizes; `cr1` is the plain cluster variance with the factor G / (G - 1) and G - 1 degrees of freedom,
which takes groups as equal: that of most programs, to compare with them. With equal groups they are the same."""
_STEPS = 50  # of the bisection
_ALIKE = 1e-12


def bell_mccaffrey(size: ArrayLike, times: ArrayLike = 1.0, correlation: float = 1.0) -> Floats:
    """Degrees of freedom of the CR2 variance of a mean over groups, if texts of one group have this correlation.

    With shares h = n_g / n, w = r + (1 - r) / n_g, a² = h² / (1 - h), u = h w, q = sum h u and A_k = sum a² u^k:
    freedom = (sum a² (w - 2 u + q))² / (sum a⁴ (w² + 2 w (q - 2 u)) + q² A_0² + 2 A_0 A_2 + 2 A_1² - 4 q A_0 A_1).

    Args:
        size: (..., groups) texts of each group, or sums of their relative weights; groups of size 0 do not count.
        times: (..., groups) how many such groups there are.
        correlation: r in [0, 1]; with 1 only the sizes of groups count.

    Returns:
        (...), from 1 to G - 1, and exactly G - 1 if all groups have one size; NaN with fewer than two groups.

    Reference: Bell & McCaffrey (2002); Pustejovsky & Tipton (2018).

    >>> float(bell_mccaffrey([10.0], [25.0])), [round(float(bell_mccaffrey([100.0, 4.0], [1, 40], r)), 3) for r in (1.0, 0.1, 0.0)]
    (24.0, [1.207, 1.639, 6.169])
    """
    sizes = np.asarray(size, np.float64)
    counted = sizes > 0
    if (of_one := sizes[counted]).size and (of_one == of_one[0]).all():
        groups = np.vecdot(*np.broadcast_arrays(np.asarray(times, np.float64), counted.astype(np.float64)))
        return np.asarray(np.where(groups < 2, math.nan, groups - 1))
    n, m = _by_size(sizes, times)
    m = np.where(n > 0, m, 0.0)
    groups, used = m.sum(axis=-1), m > 0
    smallest = np.where(used, n, math.inf).min(axis=-1, initial=math.inf)
    largest = np.where(used, n, 0.0).max(axis=-1, initial=0.0)
    alike = largest - smallest <= _ALIKE * largest
    unequal = groups if alike.all() else _unequal_freedom(n, m, correlation)
    return np.asarray(np.where(groups < 2, math.nan, np.where(alike, groups - 1, unequal)))


def _unequal_freedom(n: Floats, m: Floats, correlation: float) -> Floats:
    """Return the formula of `bell_mccaffrey`, (...), for groups (..., groups) that are not all of one size; m is 0 where n is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        h = n / np.vecdot(n, m)[..., None]
        w = correlation + (1 - correlation) / np.where(n > 0, n, 1.0) if correlation < 1 else np.ones(1)
        u = h * w
        a = np.where(m > 0, h * h / (1 - h), 0.0)
        q = np.vecdot(h * u, m)[..., None]
        ma = m * a
        a0, a1, a2 = ma.sum(axis=-1), np.vecdot(ma, u), np.vecdot(ma, u * u)
        expected = np.vecdot(ma, w - 2 * u + q)
        diagonal = np.vecdot(ma * a, w * (w + 2 * (q - 2 * u)))
        q = q[..., 0]
        return np.asarray(power(expected, 2) / (diagonal + q * q * a0 * a0 + 2 * a0 * a2 + 2 * a1 * a1 - 4 * q * a0 * a1))


def _by_size(size: ArrayLike, times: ArrayLike) -> tuple[Floats, Floats]:
    """Sizes and times of one shape; many samples of the same groups have those of one size together."""
    n, m = np.asarray(size, np.float64), np.asarray(times, np.float64)
    if n.ndim == 1 and m.ndim > 1:
        n, size_index = np.unique(n, return_inverse=True)
        m = m @ (size_index[:, None] == np.arange(len(n))).astype(np.float64)
    n, m = np.broadcast_arrays(n, m)
    return n, m


def freedom_of_tests(size: ArrayLike, times: ArrayLike = 1.0, variance: ClusterVariance = "cr2") -> Floats:
    """`bell_mccaffrey` of these groups; with `cr1` G - 1 whatever their sizes.

    >>> freedom_of_tests([100.0, 4.0], [1, 40], "cr1")
    array(40.)
    """
    return bell_mccaffrey(np.asarray(np.asarray(size) > 0) * 1.0 if variance == "cr1" else size, times)


def effective_groups(size: ArrayLike, times: ArrayLike = 1.0) -> Floats:
    """Return the number of equal groups for which these groups stand, if texts of one group say the same: `bell_mccaffrey` + 1.

    Args and edges as there. Reference: Carter, Schnepel & Steigerwald (2017) for the idea.

    >>> round(float(effective_groups([100.0, 4.0], [1, 40])), 2)
    2.21
    """
    return bell_mccaffrey(size, times) + 1


def group_cap(size: ArrayLike, times: ArrayLike = 1.0, least: float = LEAST_EFFECTIVE) -> Floats:
    """The most texts that a group may count for, so that groups stand for at least `least` equal ones.

    Args:
        size, times: as `bell_mccaffrey`.
        least: wanted effective groups.

    Returns:
        (...): the largest such number; infinity where no cap is needed, and the smallest size where none suffices.

    >>> round(float(group_cap([100.0, 4.0], [1, 40])), 3), float(group_cap([10.0], [25]))
    (14.386, inf)
    """
    n, m = _by_size(size, times)
    counted = (m > 0) & (n > 0)
    large = np.asarray(effective_groups(n, m) < least)
    caps = np.full(large.shape, math.inf)
    if large.any():  # by bisection; where no more groups than `least` count, it is the smallest size: then all are alike
        n, m = n[large], np.where(counted, m, 0.0)[large]
        low, high = np.where(m > 0, n, math.inf).min(axis=-1), np.where(m > 0, n, 0.0).max(axis=-1)
        high = np.where(m.sum(axis=-1) > least, high, low)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            enough = _unequal_freedom(np.minimum(n, middle[..., None]), m, 1.0) + 1 >= least
            low, high = np.where(enough, middle, low), np.where(enough, high, middle)
        caps[large] = low
    return caps


def leverage(size: ArrayLike, times: ArrayLike = 1.0, variance: ClusterVariance = "cr2") -> Floats:
    """1 / (1 - h_g), (..., groups), of groups with the shares h_g of the texts: how far CR2 raises a group's squared deviation.

    It is G / (G - 1) if all groups have one size or with `cr1`, and infinity for a single group.

    >>> leverage([2.0, 1.0], [1, 2]).tolist()
    [2.0, 1.3333333333333333]
    """
    n, m = np.asarray(size, np.float64), np.asarray(times, np.float64)
    if variance == "cr1":
        n = np.asarray((n > 0) * 1.0)
    total = np.asarray((n * m).sum(axis=-1))[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(total / (total - n))
