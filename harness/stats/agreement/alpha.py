"""Krippendorff's alpha: nominal, ordinal and interval, with gaps; of classes, and of numbers from sums over items."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Estimate, Floats, Kind, ShapeError, as_values, undefined
from harness.stats.core.statistic import LEAST_UNCOMMON, Statistic, of_labels, ratio
from harness.stats.core.tables import Joint, Rule, coincidences, square

_BOUNDS = (-np.inf, 1.0)  # where distances depend on the totals, alpha can be below -1


def distances(kind: Kind, totals: Floats, values: ArrayLike | None = None) -> Floats:
    """Squared distances of classes, (..., k, k); those of the ordinal kind depend on the totals (..., k).

    nominal: 1 if c != d.  interval: (v_c - v_d)².  ordinal: (sum of totals from c to d - (n_c + n_d) / 2)².
    """
    k = totals.shape[-1]
    if kind == "nominal":
        return 1 - np.eye(k)
    if kind == "interval":
        v = as_values(values, k)
        return np.asarray((v[:, None] - v) ** 2)
    middle = np.cumsum(totals, axis=-1) - totals / 2  # distance c to d is a difference of mid-ranks
    return np.asarray((middle[..., :, None] - middle[..., None, :]) ** 2)


def alpha_of(coincidences: Floats, kind: Kind, values: ArrayLike | None = None) -> Floats:
    """Alpha of coincidence tables (..., k, k)."""
    totals = coincidences.sum(axis=-1)
    n = totals.sum(axis=-1)
    distance = distances(kind, totals, values)
    observed = (coincidences * distance).sum(axis=(-2, -1))
    expected = (totals[..., :, None] * totals[..., None, :] * distance).sum(axis=(-2, -1))
    # both are divided by the largest possible distance, so that one tolerance fits all scales
    largest = np.maximum(np.broadcast_to(distance, coincidences.shape).max(axis=(-2, -1)), 1e-300) * np.maximum(n, 1)
    return 1 - ratio((n - 1) * observed / largest, expected / largest)


def alpha_of_judge(kind: Kind, values: ArrayLike | None = None, *, rule: Rule = "drop", judge: int = 0) -> Statistic:
    """Alpha of judge and aggregate as two raters, as a statistic of many cells."""

    def value(sums: Floats) -> Floats:
        table = square(sums)
        return alpha_of(table + np.swapaxes(table, -1, -2), kind, values)

    return Statistic(f"alpha_{kind}", Joint(rule, judge), value, bounds=_BOUNDS)


def alpha_of_humans(kind: Kind, values: ArrayLike | None = None) -> Statistic:
    """Alpha of the annotators among themselves, as a statistic of many cells."""

    def value(sums: Floats) -> Floats:
        return alpha_of(square(sums), kind, values)

    empty = "no item with two annotators"
    return Statistic(f"human_alpha_{kind}", coincidences, value, bounds=_BOUNDS, empty=empty, least_uncommon=LEAST_UNCOMMON)


def krippendorff_alpha(labels: ArrayLike, k: int, kind: Kind, values: ArrayLike | None = None) -> Estimate:
    """Krippendorff's alpha of any number of raters, with missing labels.

    alpha = 1 - (n - 1) sum o_cd delta²_cd / sum n_c n_d delta²_cd, with the coincidences o_cd of values within an item
    (each of its pairs counted 1 / (n_i - 1)), their margins n_c and their sum n.

    Args:
        labels: (items, raters) class codes 0 … k-1, NaN or -1 where missing.
        kind: the metric of distances: `nominal`, `ordinal` or `interval`.
        values: (k,) rising numbers that the classes stand for, for `interval`; default their positions.

    Returns:
        value and n, the items with two labels or more; NaN if there is none, or if all labels are one class.

    Reference: Krippendorff (2011), Computing Krippendorff's alpha-reliability; (2019), Content Analysis, ch. 12.

    >>> round(krippendorff_alpha([[0, 0], [1, 1], [2, 1], [2, -1]], k=3, kind="ordinal").value, 6)
    0.777778
    """
    return of_labels(alpha_of_humans(kind, values), labels, k)


def krippendorff_alpha_interval(scores: ArrayLike) -> Estimate:
    """Krippendorff's interval alpha of real numbers, for scales without classes.

    Args:
        scores: (items, raters) numbers, NaN where missing.

    Returns:
        value and n, the items with two scores or more; NaN if there is none, or if all scores are equal.

    >>> round(krippendorff_alpha_interval([[1.0, 1.0], [2.5, 2.0], [4.0, 4.5], [3.0, float("nan")]]).value, 6)
    0.962121
    """
    table = np.asarray(scores, np.float64)
    if table.ndim != 2:
        raise ShapeError(f"scores must be items x raters, got shape {table.shape}")
    rated = ~np.isnan(table)
    several = rated.sum(axis=1) >= 2
    table, rated = table[several], rated[several]
    m = rated.sum(axis=1)
    if not len(m):
        return undefined(0, "no item with two annotators")
    x = np.where(rated, table - table[rated].mean(), 0.0)
    n = m.sum()
    # sums over ordered pairs of (x - y)² are 2 (m sum x² - (sum x)²)
    observed = (2 * (m * (x**2).sum(axis=1) - x.sum(axis=1) ** 2) / (m - 1)).sum() / n
    expected = 2 * (n * (x**2).sum() - x.sum() ** 2) / (n * (n - 1))
    if np.ptp(table[rated]) == 0:
        return undefined(len(m), "constant raters")
    return Estimate(float(1 - observed / expected), len(m))


def alpha_features(n: Floats, total: Floats, squares: Floats) -> Floats:
    """Return the features for interval alpha of every item: [used, scores, their sum, of their squares, (n squares - sum²) / (n - 1)].

    Args:
        n, total, squares: (items,) number of scores, their sum, the sum of their squares; from any centre.

    Returns:
        (items, 5); 0 for items with fewer than two scores.

    >>> alpha_features(np.array([2.0, 1.0]), np.array([3.0, 1.0]), np.array([5.0, 1.0])).tolist()
    [[1.0, 2.0, 3.0, 5.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0]]
    """
    used = (n >= 2).astype(np.float64)
    within = (n * squares - total**2) / np.maximum(n - 1, 1)
    return np.stack([np.ones(len(n)), n, total, squares, within], axis=1) * used[:, None]


def alpha_of_sums(sums: Floats) -> Floats:
    """Krippendorff's interval alpha of sums of `alpha_features` (..., 5).

    alpha = 1 - observed / expected, the mean squared differences within items and between all scores; NaN if all scores are equal.

    >>> float(alpha_of_sums(np.array([1.0, 2.0, 0.0, 0.0, 0.0])))
    nan
    """
    _, n, total, squares, within = np.moveaxis(sums, -1, 0)
    observed = ratio(2 * within, n)
    expected = ratio(2 * (n * squares - total**2), n * (n - 1))
    return 1 - ratio(observed, np.where(expected > 1e-9 * ratio(squares, n), expected, 0.0))
