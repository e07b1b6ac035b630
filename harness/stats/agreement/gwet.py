"""Gwet's AC1 and AC2: chance-corrected agreement that does not collapse on skewed margins."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.aggregate import Rule
from harness.stats.core.arrays import Estimate, Floats, Weights
from harness.stats.core.statistic import Statistic, of_labels, ratio
from harness.stats.core.tables import Joint, agreement_weights, annotator_pairs, split_pairs, square


def gwet_of(pairs: Floats, margins: Floats, weights: Weights, values: ArrayLike | None) -> Floats:
    """AC of mean pair shares (..., k, k) and class probabilities (..., k)."""
    k = margins.shape[-1]
    if k < 2:
        return np.full(margins.shape[:-1], np.nan)
    w = agreement_weights(k, weights, values)
    chance = w.sum() / (k * (k - 1)) * (margins * (1 - margins)).sum(axis=-1)
    agreed, any_pair = (pairs * w).sum(axis=(-2, -1)), pairs.sum(axis=(-2, -1)) > 0
    return np.where(any_pair, ratio(agreed - chance, 1 - chance), np.nan)


def gwet_of_judge(weights: Weights = "identity", values: ArrayLike | None = None, *, rule: Rule = "drop", judge: int = 0) -> Statistic:
    """AC1 (identity) or AC2 of judge and aggregate as two raters, as a statistic of many cells."""

    def value(sums: Floats) -> Floats:
        table = square(sums) / np.maximum(sums[..., 0], 1)[..., None, None]
        both = (table + np.swapaxes(table, -1, -2)) / 2
        return gwet_of(both, both.sum(axis=-1), weights, values)

    return Statistic(_name(weights), Joint(rule, judge), value, bounds=_bounds(weights))


def gwet_of_humans(weights: Weights = "identity", values: ArrayLike | None = None) -> Statistic:
    """AC1 (identity) or AC2 of the annotators, as a statistic of many cells."""

    def value(sums: Floats) -> Floats:
        pairs, _, margins = split_pairs(sums)
        return gwet_of(pairs, margins, weights, values)

    bounds, empty = _bounds(weights), "no item with two annotators"
    return Statistic(f"human_{_name(weights)}", annotator_pairs, value, bounds=bounds, empty=empty)


def gwet_ac(labels: ArrayLike, k: int, weights: Weights = "identity", values: ArrayLike | None = None) -> Estimate:
    """Gwet's AC1 (identity weights) or AC2 (linear, quadratic) of any number of raters, with missing labels.

    AC = (pa - pe) / (1 - pe); pa = mean over items with n_i >= 2 of the weighted share of agreeing pairs;
    pe = T / (k (k - 1)) sum_c pi_c (1 - pi_c), with T the sum of all weights over the scale's classes and pi_c the mean
    over items with n_i >= 1 of the share of an item's labels that are c.

    Args:
        labels: (items, raters) class codes 0 … k-1, NaN or -1 where missing.
        k: number of classes of the *scale*, used or not: it enters pe.
        weights, values: see `agreement_weights`; AC2 needs an ordered scale.

    Returns:
        value and n, the items with two labels or more. Constant raters agree: 1. NaN without such an item.

    Reference: Gwet (2008); Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed.

    >>> round(gwet_ac([[0, 0], [0, 0], [0, 1], [1, -1]], k=2).value, 6)
    0.372549
    """
    return of_labels(gwet_of_humans(weights, values), labels, k)


def _bounds(weights: Weights) -> tuple[float, float]:
    """With weights, chance agreement can exceed one half, and AC can then be below -1."""
    return (-1.0 if weights == "identity" else -np.inf), 1.0


def _name(weights: Weights) -> str:
    return {"identity": "ac1", "linear": "ac2_linear", "quadratic": "ac2"}[weights]
