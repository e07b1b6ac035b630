"""Kendall's tau-b, Spearman's rho and Pearson's r of items, from tables, and of systems (see `systems`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Estimate, Floats, as_values, same_shape, undefined
from harness.stats.core.rows import Rows
from harness.stats.core.statistic import Statistic, ratio

Correlation = Literal["kendall", "spearman", "pearson"]
NAMES: dict[Correlation, str] = {"kendall": "kendall_tau", "spearman": "spearman", "pearson": "pearson"}
_TABLE = 1 << 21  # tables of distinct x by distinct y up to this size are counted


@dataclass(frozen=True, slots=True)
class MeanByJudge:
    """[used, L x k cells]: items by the mean of their annotators (L distinct ones, rising) and the judge's class."""

    values: tuple[float, ...]
    judge: int = 0

    def __call__(self, rows: Rows, /) -> Floats:
        score = rows.judge(self.judge)
        used = np.flatnonzero((rows.raters >= 1) & (score >= 0))
        means = rows.counts[used] @ np.asarray(self.values) / rows.raters[used]
        levels, level = np.unique(np.round(means, 9), return_inverse=True)
        out = np.zeros((len(score), 1 + len(levels) * rows.k))
        out[used, 0] = 1.0
        out[used, 1 + level * rows.k + score[used]] = 1.0
        return out


@dataclass(frozen=True, slots=True)
class Moments:
    """[used, x, y, xx, yy, xy] of the mean of the annotators x and the judge's value y, from the scale's middle."""

    values: tuple[float, ...]
    judge: int = 0

    def __call__(self, rows: Rows, /) -> Floats:
        score, v = rows.judge(self.judge), np.asarray(self.values)
        v = v - (v[0] + v[-1]) / 2
        used = (rows.raters >= 1) & (score >= 0)
        x, y = rows.counts @ v / np.maximum(rows.raters, 1), v[np.maximum(score, 0)]
        return np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y], axis=1) * used[:, None]


def correlation_with_humans(method: Correlation, k: int, values: ArrayLike | None = None, *, judge: int = 0) -> Statistic:
    """Correlation over items of the judge with the annotators' mean, as a statistic of many cells."""
    numbers = tuple(as_values(values, k).tolist())
    if method == "pearson":
        return Statistic(NAMES[method], Moments(numbers, judge), pearson_of_moments)
    of_table = tau_b_of_table if method == "kendall" else spearman_of_table

    def value(sums: Floats) -> Floats:
        return of_table(sums[..., 1:].reshape(*sums.shape[:-1], -1, k))

    return Statistic(NAMES[method], MeanByJudge(numbers, judge), value)


def tau_b_of_table(table: Floats) -> Floats:
    """Tau-b of contingency tables (..., x, y), both rising."""
    after = _running(table[..., ::-1, :], -2)[..., ::-1, :] - table  # same y, later x
    below = _running(after, -1) - after
    above = after.sum(axis=-1, keepdims=True) - below - after
    n = table.sum(axis=(-2, -1))
    untied = [(n * n - (table.sum(axis=axis) ** 2).sum(axis=-1)) / 2 for axis in (-1, -2)]
    return np.clip(ratio((table * (above - below)).sum(axis=(-2, -1)), np.sqrt(untied[0] * untied[1])), -1, 1)


def _running(table: Floats, axis: int) -> Floats:
    """`np.cumsum` over a short axis; it is faster where another axis is the long one in memory."""
    sums = table.copy(order="K")
    along = np.moveaxis(sums, axis, 0)
    for index in range(1, len(along)):
        along[index] += along[index - 1]
    return sums


def spearman_of_table(table: Floats) -> Floats:
    """Pearson's r of mid-ranks of contingency tables (..., x, y)."""
    n = table.sum(axis=(-2, -1))[..., None]
    x, y = table.sum(axis=-1), table.sum(axis=-2)
    rank_x, rank_y = _running(x, -1) - (x + n) / 2, _running(y, -1) - (y + n) / 2
    cross = np.einsum("...x,...xy,...y->...", rank_x, table, rank_y)
    return np.clip(ratio(cross, np.sqrt((x * rank_x**2).sum(axis=-1) * (y * rank_y**2).sum(axis=-1))), -1, 1)


def pearson_of_moments(sums: Floats) -> Floats:
    """Pearson's r of sums (..., 6) of 1, x, y, xx, yy, xy."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    n = np.maximum(n, 1)
    spread = np.maximum(xx / n - (x / n) ** 2, 0) * np.maximum(yy / n - (y / n) ** 2, 0)
    return np.clip(ratio(xy / n - x * y / n**2, np.where(spread > 1e-20, np.sqrt(spread), 0.0)), -1, 1)


def kendall_tau(x: ArrayLike, y: ArrayLike) -> Estimate:
    """Kendall's tau-b.

    (C - D) / sqrt((n0 - n1) (n0 - n2)): concordant minus discordant pairs, over the pairs that are not tied in x and in y.

    Args:
        x, y: (n,) numbers in the same order, NaN where missing (such units are left out).

    Returns:
        value in [-1, 1] and the n compared; NaN for none ("no overlap") or if x or y is constant ("constant raters").

    Reference: Kendall (1945).

    >>> round(kendall_tau([1, 2, 2, 3], [1, 3, 2, 3]).value, 6)
    0.8
    """
    a, b = _both(x, y)
    u, i = np.unique(a, return_inverse=True)
    v, j = np.unique(b, return_inverse=True)
    if len(u) * len(v) > _TABLE:
        from scipy.stats import kendalltau

        return Estimate(float(kendalltau(a, b).statistic), len(a))
    table = np.bincount(i * len(v) + j, minlength=len(u) * len(v)).reshape(len(u), len(v)).astype(np.float64)
    return _known(tau_b_of_table(table), len(a))


def spearman(x: ArrayLike, y: ArrayLike) -> Estimate:
    """Spearman's rho: Pearson's r of mid-ranks. Args and result as `kendall_tau`. Reference: Spearman (1904).

    >>> round(spearman([1, 2, 3, 4], [1, 3, 2, 4]).value, 6)
    0.8
    """
    return pearson(*(_midranks(v) for v in _both(x, y)))


def pearson(x: ArrayLike, y: ArrayLike) -> Estimate:
    """Pearson's product-moment correlation. Args and result as `kendall_tau`.

    >>> round(pearson([1, 2, 3, 4], [1, 3, 2, 4]).value, 6)
    0.8
    """
    a, b = _both(x, y)
    if len(a) and np.ptp(a) > 0 and np.ptp(b) > 0:
        a, b = (a - a.mean()) / np.abs(a - a.mean()).max(), (b - b.mean()) / np.abs(b - b.mean()).max()
        return Estimate(float(np.clip((a @ b) / np.sqrt((a @ a) * (b @ b)), -1, 1)), len(a))
    return _known(np.asarray(np.nan), len(a))


def _both(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    same_shape("one-dimensional and of one length", x=a, y=b)
    used = ~(np.isnan(a) | np.isnan(b))
    return a[used], b[used]


def _midranks(v: Floats) -> Floats:
    _, index, count = np.unique(v, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[index]


def _known(value: Floats, n: int) -> Estimate:
    if np.isnan(value):
        return undefined(n, "constant raters" if n else "no overlap")
    return Estimate(float(value), n)
