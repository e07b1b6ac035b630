"""Intraclass correlation: the reliability of one person's score of an item, and of the mean of all people's."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.agreement.generalizability import mean_squares
from harness.stats.core.arrays import Estimate, Floats, ShapeError, as_index, undefined
from harness.stats.core.jackknife import of_group_sums, sums_by_group
from harness.stats.core.statistic import ratio
from harness.stats.core.sums import Estimated

NO_PAIR = "no item with two annotators"
NOT_CROSSED = "annotators are not crossed: not everybody scored every item"
CONSTANT = "constant raters"


class OneWay(NamedTuple):
    """ICC(1,1) `single` and ICC(1,k) `mean`, with k the (effective) number of `annotators` of an item."""

    single: Estimated
    mean: Estimated
    annotators: float


def one_way_features(n: Floats, total: Floats, squares: Floats) -> Floats:
    """What ICC(1,·) needs of every item: [used, n, n², sum, sum² / n, squares], 0 for items with fewer than two scores.

    >>> one_way_features(np.array([2.0, 1.0]), np.array([5.0, 1.0]), np.array([13.0, 1.0])).tolist()
    [[1.0, 2.0, 4.0, 5.0, 12.5, 13.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    """
    used = (n >= 2).astype(np.float64)
    return np.stack([np.ones(len(n)), n, n * n, total, total**2 / np.maximum(n, 1), squares], axis=1) * used[:, None]


def _parts(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean squares between and within items, and the effective number of annotators, of sums (..., 6)."""
    items, n, n2, total, between, squares = np.moveaxis(sums, -1, 0)
    k = ratio(n - ratio(n2, n), items - 1)
    within = ratio(np.maximum(squares - between, 0), n - items)
    return ratio(between - ratio(total**2, n), items - 1), within, k


def single_of_sums(sums: Floats) -> Floats:
    """ICC(1,1) of sums of `one_way_features` (..., 6)."""
    between, within, k = _parts(sums)
    return ratio(between - within, between + (k - 1) * within)


def mean_of_items(sums: Floats) -> Floats:
    """ICC(1,k) of sums of `one_way_features` (..., 6)."""
    between, within, _ = _parts(sums)
    return ratio(between - within, between)


def one_way_icc(scores: ArrayLike, groups: ArrayLike | None = None, *, level: float = 0.95) -> OneWay:
    """ICC(1,1) and ICC(1,k): reliability where the annotators of an item are anybody.

    With the mean squares between items MS_b and within items MS_w of items with two scores or more, and the effective number of annotators
    k = (N - sum n_i² / N) / (items - 1): ICC(1,1) = (MS_b - MS_w) / (MS_b + (k - 1) MS_w), ICC(1,k) = (MS_b - MS_w) / MS_b. Both are
    negative if people differ more within items than between them.

    Args:
        scores: (items, annotators) numbers, NaN where missing.
        groups: (items,) any sortable codes of what items share; default every item its own.
        level: of the interval, which leaves one group out at a time.

    Returns:
        `OneWay`; NaN without two items with two scores ("no item with two annotators" or "constant raters").

    Reference: Shrout & Fleiss (1979), case 1; Donner (1986), unequal numbers of annotators.

    >>> found = one_way_icc([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])
    >>> round(found.single.value, 2), round(found.mean.value, 2)
    (0.17, 0.44)
    """
    given = np.asarray(scores, np.float64)
    if given.ndim != 2:
        raise ShapeError(f"scores must be items x annotators, got shape {given.shape}")
    rated = ~np.isnan(given)
    filled = np.where(rated, given - (given[rated].mean() if rated.any() else 0.0), 0.0)
    features = one_way_features(rated.sum(axis=1).astype(np.float64), filled.sum(axis=1), (filled**2).sum(axis=1))
    group = as_index(np.arange(len(given)) if groups is None else groups, len(given), "groups")
    return one_way_of_sums(sums_by_group(features, group), level)


def one_way_of_sums(sums: Floats, level: float = 0.95) -> OneWay:
    """`one_way_icc` of the groups' sums (groups, 6) of `one_way_features`."""
    single, mean = (
        of_group_sums(sums, value, (-math.inf, 1.0), empty=NO_PAIR, constant=CONSTANT, level=level)
        for value in (single_of_sums, mean_of_items)
    )
    return OneWay(single, mean, float(_parts(sums.sum(axis=0))[2]) if len(sums) else math.nan)


def two_way_icc(scores: ArrayLike) -> tuple[Estimate, Estimate]:
    """ICC(2,1) and ICC(2,k): reliability where the same people scored every item, and their severity counts as error.

    With mean squares of items B, annotators J and residual E, n items and k annotators:
    ICC(2,1) = (B - E) / (B + (k - 1) E + k (J - E) / n), ICC(2,k) = (B - E) / (B + (J - E) / n).
    The annotators have to be persons who can be followed: a place in a list is none.

    Args:
        scores: (items, annotators) numbers, NaN where missing.

    Returns:
        Two `Estimate`, n being the items; NaN with fewer than two items or annotators, with a gap in the table, and if all scores are
        equal.

    Reference: Shrout & Fleiss (1979), case 2.

    >>> found = two_way_icc([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])
    >>> [round(one.value, 2) for one in found]
    [0.29, 0.62]
    """
    given = np.asarray(scores, np.float64)
    if given.ndim != 2:
        raise ShapeError(f"scores must be items x annotators, got shape {given.shape}")
    items, k = given.shape
    if items < 2 or k < 2:
        return (undefined(items, NO_PAIR),) * 2
    if np.isnan(given).any():
        return (undefined(items, NOT_CROSSED),) * 2
    of = mean_squares(given)
    severity = (of.annotator - of.residual) / items
    bottoms = np.array([of.item + (k - 1) * of.residual + k * severity, of.item + severity])
    values = ratio(np.full(2, of.item - of.residual), bottoms)
    single, mean = (undefined(items, CONSTANT) if math.isnan(v) else Estimate(float(v), items) for v in values)
    return single, mean
