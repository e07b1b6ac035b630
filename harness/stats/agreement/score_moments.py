"""Interval alpha and standard deviation of continuous scores, from sums over items."""

from __future__ import annotations

import numpy as np

from harness.stats.core.arrays import Floats
from harness.stats.core.statistic import ratio


def alpha_features(n: Floats, total: Floats, squares: Floats) -> Floats:
    """What interval alpha needs of every item: [used, scores, their sum, of their squares, (n squares - sum²) / (n - 1)].

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


def sd_of_sums(sums: Floats) -> Floats:
    """Standard deviation (n - 1) of sums (..., 3) of 1, scores and squares; NaN with fewer than two scores.

    >>> float(sd_of_sums(np.array([2.0, 4.0, 10.0])).round(4))
    1.4142
    """
    n, total, squares = np.moveaxis(sums, -1, 0)
    left = np.maximum(squares - total**2 / np.maximum(n, 1), 0.0)
    return np.sqrt(ratio(left, np.where(n > 1, n - 1, 0.0)))
