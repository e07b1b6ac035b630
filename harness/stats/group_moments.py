"""One-sided tests of a mean over groups, for many resamples at once: the guarded test of a margin, and the cluster t-test.

Both tests depend on a sample only through a few sums over its groups. With these sums a resample of the groups is one row of counts, so
that thousands of resamples cost one matrix product.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.arrays import Floats


class GroupMoments(NamedTuple):
    """Sums over the groups that hold items: their number, n, y, y², y n, n², y³, y² n, y n², n³; each of one shape (...).

    y is the sum of a group's items, n their number.
    """

    groups: Floats
    n: Floats
    y: Floats
    yy: Floats
    yn: Floats
    nn: Floats
    yyy: Floats
    yyn: Floats
    ynn: Floats
    nnn: Floats

    @property
    def mean(self) -> Floats:
        """sum(y) / sum(n), NaN without items."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.y / self.n)

    def plus(self, y: float, n: float) -> GroupMoments:
        """With one further group."""
        further = (1.0, n, y, y * y, y * n, n * n, y**3, y * y * n, y * n * n, n**3)
        return GroupMoments(*(np.asarray(old + new) for old, new in zip(self, further, strict=True)))


def group_features(y: ArrayLike, size: ArrayLike) -> Floats:
    """The terms of each group's `GroupMoments`: (groups, 10).

    >>> group_features([2.0], [3.0]).tolist()
    [[1.0, 3.0, 2.0, 4.0, 6.0, 9.0, 8.0, 12.0, 18.0, 27.0]]
    """
    s, n = np.asarray(y, np.float64), np.asarray(size, np.float64)
    return np.stack([(n > 0) * 1.0, n, s, s * s, s * n, n * n, s**3, s * s * n, s * n * n, n**3], axis=-1)


def group_moments(features: Floats, times: ArrayLike) -> GroupMoments:
    """Moments of samples of groups.

    Args:
        features: (groups, 10) from `group_features`.
        times: (..., groups) how often each group is in the sample.

    >>> group_moments(group_features([1.0, -1.0], [1, 1]), [[1, 1], [2, 0]]).mean.tolist()
    [0.0, 1.0]
    """
    sums = np.asarray(times, np.float64) @ features
    return GroupMoments(*np.moveaxis(sums, -1, 0))


def guarded_p_values(moments: GroupMoments, margin: float, *, worst: float = -1.0) -> Floats:
    """One-sided p of H0: mean <= -margin, by the guarded skewness-corrected test.

    One group with one item at the `worst` value is added: G' = G + 1 groups, n' items, mean mu. With x_g = (y_g - mu n_g) G' / n',
    s² = max(sum x² / (G' - 1), m (1 - m) G' / n'), k = (sum x³ / G') / s³ and S = (mu + m) / s,
    T = sqrt(G') (S + k S² / 3 + k² S³ / 27 + k / (6 G')) and p = P(t_(G' - 1) >= T). It equals `skewness.hall_mean` with guard = -1,
    weight = 1, floor = m (1 - m), no leverage and G' - 1 degrees of freedom.

    Args:
        moments: of differences in [-1, 1].
        margin: m in [0, 1).
        worst: value of the guard.

    Returns:
        p (...); 1 without items.

    Reference: Hall (1992), removal of skewness by transformation.

    >>> p = guarded_p_values(group_moments(group_features(np.zeros(70), np.ones(70)), np.ones(70)), 0.1)
    >>> round(float(p), 4)
    0.0125
    """
    from scipy.special import stdtr

    with_guard = moments.plus(worst, 1.0)
    groups, n, mu = with_guard.groups, with_guard.n, with_guard.mean
    scale = groups / n
    second, third = _central(with_guard, scale)
    with np.errstate(divide="ignore", invalid="ignore"):
        s = np.sqrt(np.maximum(second / (groups - 1), margin * (1 - margin) * scale))
        k = third / groups / s**3
        apart = (mu + margin) / s
        t = np.sqrt(groups) * (apart + k * apart**2 / 3 + k**2 * apart**3 / 27 + k / (6 * groups))
        p = stdtr(groups - 1, -t)
    return np.asarray(np.where((moments.groups > 0) & (s > 0), p, 1.0))


def cluster_t_p_values(moments: GroupMoments, value: float = 0.0) -> Floats:
    """One-sided p of H0: mean <= value, Student's t over groups with G - 1 df.

    t = (mean - value) / se, se² = G / (G - 1) sum_g (y_g - mean n_g)² / n². Where all groups say the same, p is 0 above the value and 1
    at it or below.

    Returns:
        p (...); 1 with fewer than two groups.

    >>> round(float(cluster_t_p_values(group_moments(group_features([1.0, 2.0, 3.0], [1, 1, 1]), np.ones(3)))), 4)
    0.0371
    """
    from scipy.special import stdtr

    groups, n, mean = moments.groups, moments.n, moments.mean
    second = _central(moments, np.ones_like(n))[0]
    second = np.where(second > 1e-12 * np.maximum(1.0, moments.yy), second, 0.0)  # what is left by rounding is no variation
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (mean - value) * n / np.sqrt(groups / (groups - 1) * second)
        p = np.where(second > 0, stdtr(groups - 1, -t), np.where(mean > value, 0.0, 1.0))
    return np.asarray(np.where(groups > 1, p, 1.0))


def _central(m: GroupMoments, scale: Floats) -> tuple[Floats, Floats]:
    """Sums of squares and of cubes of (y - mean n) * scale."""
    mu = m.mean
    second = m.yy - 2 * mu * m.yn + mu**2 * m.nn
    third = m.yyy - 3 * mu * m.yyn + 3 * mu**2 * m.ynn - mu**3 * m.nnn
    return np.maximum(second, 0.0) * scale**2, third * scale**3
