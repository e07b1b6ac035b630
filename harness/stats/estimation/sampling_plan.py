"""Sampling plans: allocation of labels to strata."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, Ints, ShapeError

FLOOR = 2
"""Fewest labels of a stratum: a variance needs two."""
_NEGLIGIBLE = 1e-12


def neyman_allocation(sizes: ArrayLike, sds: ArrayLike, n: float, *, floor: ArrayLike = FLOOR) -> Floats:
    """Labels of each stratum that give the stratified mean the smallest variance, as real numbers that add up to n.

    n_h = n N_h S_h / sum N_h S_h, at least `floor` and at most N_h; strata at a bound are fixed there and the rest is allocated again.

    Args:
        sizes: (strata,) items N_h.
        sds: (strata,) standard deviation S_h within each, 0 or more; all equal gives proportional allocation.
        n: labels in all.
        floor: fewest labels of a stratum, one number or (strata,), or all of a stratum that is smaller.

    Returns:
        (strata,) numbers of labels; `whole_labels` rounds them.

    Raises:
        ShapeError: if sizes and sds are not of the same strata.
        ValueError: for a negative sd, or n below the floors or above the number of items.

    Reference: Neyman (1934); Cochran (1977), sections 5.5 and 5.8.

    >>> neyman_allocation([200, 60, 10], [0.1, 0.4, 0.9], 100).round(1).tolist()
    [40.9, 49.1, 10.0]
    """
    count, sd = np.asarray(sizes, np.float64), np.asarray(sds, np.float64)
    if count.ndim != 1 or count.shape != sd.shape:
        raise ShapeError(f"sizes {count.shape} and sds {sd.shape} must be of the same strata")
    if (sd < 0).any() or np.isnan(sd).any():
        raise ValueError(f"standard deviations are 0 or more; found {sd[~(sd >= 0)][0]}")
    return _proportional_within(count * sd, count, n, np.minimum(floor, count), count)


def proportional_allocation(sizes: ArrayLike, n: float, *, floor: ArrayLike = 0.0) -> Floats:
    """n N_h / sum N_h labels of each stratum, as real numbers; args and errors as `neyman_allocation`.

    >>> proportional_allocation([900, 400, 150, 50], 120).tolist()
    [72.0, 32.0, 12.0, 4.0]
    """
    count = np.asarray(sizes, np.float64)
    return neyman_allocation(count, np.ones_like(count), n, floor=floor)


def _proportional_within(weight: Floats, fallback: Floats, total: float, low: Floats, high: Floats) -> Floats:
    """Shares of `total` proportional to weight within [low, high]: clip(c weight, low, high) with the c that adds up.

    The sum is a piecewise linear function of c that bends where a share meets a bound, so c is found by interpolation. Shares without
    weight rise from `low`, in proportion to `fallback`, only after all others are at `high`.
    """
    if not low.sum() - 1e-9 <= total <= high.sum() + 1e-9:
        raise ValueError(f"{total:g} labels cannot be allocated: the strata take {low.sum():g} to {high.sum():g}")
    if not (weight > 0).any():
        return low if low.sum() == high.sum() else _proportional_within(fallback, fallback, total, low, high)
    w = np.where(weight > 0, weight, _NEGLIGIBLE * weight.max() * fallback / max(float(fallback.max()), _NEGLIGIBLE))
    used = w > 0
    bends = np.unique(np.concatenate([low[used] / w[used], high[used] / w[used], [0.0]]))
    sums = np.clip(bends[:, None] * w, low, high).sum(axis=1)
    return np.asarray(np.clip(np.interp(total, sums, bends) * w, low, high))


def whole_labels(allocation: ArrayLike) -> Ints:
    """Whole numbers with the same sum (rounded), by largest remainders; the first stratum wins a tie.

    >>> whole_labels([43.49, 45.1, 24.16, 7.25]).tolist()
    [44, 45, 24, 7]
    """
    share = np.asarray(allocation, np.float64)
    whole = np.floor(share + 1e-9).astype(np.int64)
    order = np.argsort(-(share - whole), kind="stable")
    whole[order[: round(float(share.sum())) - int(whole.sum())]] += 1
    return whole


def stratified_variance(sizes: ArrayLike, sds: ArrayLike, labels: ArrayLike, *, finite: bool = True) -> float:
    """Variance of the stratified mean that an allocation gives: sum W_h² S_h² / n_h, with W_h = N_h / N.

    Args:
        sizes, sds: as `neyman_allocation`.
        labels: (strata,) n_h, real or whole.
        finite: multiply each term by 1 - n_h / N_h, for a claim about these items only.

    Returns:
        NaN if a stratum has no labels.

    Raises ShapeError if the arrays are not of the same strata.

    >>> stratified_variance([100, 100], [0.5, 0.5], [10, 10], finite=False)
    0.0125
    """
    count, sd, n = (np.asarray(each, np.float64) for each in (sizes, sds, labels))
    if not count.shape == sd.shape == n.shape:
        raise ShapeError(f"sizes {count.shape}, sds {sd.shape} and labels {n.shape} must be of the same strata")
    if not (n > 0).all():
        return float("nan")
    terms = (count / count.sum()) ** 2 * sd**2 / n
    return float((terms * (1 - n / count)).sum() if finite else terms.sum())
