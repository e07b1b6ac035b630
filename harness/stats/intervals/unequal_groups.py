"""Groups of different sizes: the equivalent number of equal groups, and a cap on large ones.

A mean over one group of a hundred texts and forty groups of four rests mostly on the one. Student's t with G - 1 degrees of freedom does
not know that. Bell and McCaffrey's degrees of freedom do: they are those of a chi-square with the mean and the variance that the cluster
variance CR2 has if texts of one group are correlated.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, power

LEAST_EFFECTIVE = 15.0
"""Where groups stand for fewer equal groups, large ones are capped until they stand for so many."""
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
    if not alike.all():
        with np.errstate(divide="ignore", invalid="ignore"):
            unequal = _freedom_of_sizes(n, m, correlation)
    else:
        unequal = groups
    return np.asarray(np.where(groups < 2, math.nan, np.where(alike, groups - 1, unequal)))


def _by_size(size: ArrayLike, times: ArrayLike) -> tuple[Floats, Floats]:
    """Sizes and times of one shape; many samples of the same groups have those of one size together."""
    n, m = np.asarray(size, np.float64), np.asarray(times, np.float64)
    if n.ndim == 1 and m.ndim > 1:
        n, place = np.unique(n, return_inverse=True)
        m = m @ (place[:, None] == np.arange(len(n))).astype(np.float64)
    n, m = np.broadcast_arrays(n, m)
    return n, m


def _freedom_of_sizes(n: Floats, m: Floats, r: float) -> Floats:
    h = n / np.vecdot(n, m)[..., None]
    w = r + (1 - r) / np.where(n > 0, n, 1.0)
    a, u = h * h / (1 - h), h * w
    a = np.where(m > 0, a, 0.0)
    q = np.vecdot(h * u, m)[..., None]
    ma = m * a
    a0, a1, a2 = ma.sum(axis=-1), np.vecdot(ma, u), np.vecdot(ma, u * u)
    expected = np.vecdot(ma, w - 2 * u + q)
    own = np.vecdot(ma * a, w * (w + 2 * (q - 2 * u)))
    q = q[..., 0]
    return np.asarray(power(expected, 2) / (own + q * q * a0 * a0 + 2 * a0 * a2 + 2 * a1 * a1 - 4 * q * a0 * a1))


def freedom_of_tests(size: ArrayLike, times: ArrayLike = 1.0, variance: ClusterVariance = "cr2") -> Floats:
    """`bell_mccaffrey` of these groups; with `cr1` G - 1 whatever their sizes.

    >>> freedom_of_tests([100.0, 4.0], [1, 40], "cr1")
    array(40.)
    """
    return bell_mccaffrey(np.asarray(np.asarray(size) > 0) * 1.0 if variance == "cr1" else size, times)


def effective_groups(size: ArrayLike, times: ArrayLike = 1.0) -> Floats:
    """For how many equal groups these groups stand, if texts of one group say the same: `bell_mccaffrey` + 1.

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
    found = np.full(large.shape, math.inf)
    if large.any():
        found[large] = _largest_cap(n[large], np.where(counted, m, 0.0)[large], least)
    return found


def _largest_cap(n: Floats, m: Floats, least: float) -> Floats:
    """By bisection, of (samples, groups)."""
    low = np.where(m > 0, n, math.inf).min(axis=-1)
    high = np.where(m > 0, n, 0.0).max(axis=-1)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        enough = effective_groups(np.minimum(n, middle[..., None]), m) >= least
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    return np.asarray(low)


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
