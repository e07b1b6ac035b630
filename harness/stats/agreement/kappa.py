"""Chance-corrected agreement with margins as chance: Cohen's kappa of two raters, Fleiss' kappa of many."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.aggregate import Rule
from harness.stats.core.arrays import Estimate, Floats, Weights
from harness.stats.core.statistic import LEAST_UNCOMMON, Statistic, estimate_pair, of_labels, ratio
from harness.stats.core.tables import Joint, agreement_weights, annotator_pairs, split_pairs, square


def cohen_value(weights: Weights = "identity", values: ArrayLike | None = None) -> Callable[[Floats], Floats]:
    """Kappa of sums of `Joint`: 1 - observed / expected weighted disagreement."""

    def value(sums: Floats) -> Floats:
        table = square(sums)
        apart = 1 - agreement_weights(table.shape[-1], weights, values)
        n = np.maximum(sums[..., 0], 1)
        expected = np.einsum("...i,ij,...j", table.sum(axis=-1), apart, table.sum(axis=-2)) / n**2
        return 1 - ratio((table * apart).sum(axis=(-2, -1)) / n, expected)

    return value


def cohen(
    weights: Weights = "identity",
    values: ArrayLike | None = None,
    *,
    rule: Rule = "drop",
    judge: int = 0,
    name: str = "cohen_kappa",
) -> Statistic:
    """Cohen's kappa of judge and aggregate as a statistic of many cells."""
    return Statistic(name, Joint(rule, judge), cohen_value(weights, values))


def fleiss(weights: Weights = "identity", values: ArrayLike | None = None) -> Statistic:
    """Fleiss' kappa of the annotators as a statistic of many cells."""

    def value(sums: Floats) -> Floats:
        pairs, margins, _ = split_pairs(sums)
        apart = 1 - agreement_weights(margins.shape[-1], weights, values)
        expected = np.einsum("...i,ij,...j", margins, apart, margins)
        return 1 - ratio((pairs * apart).sum(axis=(-2, -1)), expected)

    return Statistic("human_fleiss", annotator_pairs, value, empty="no item with two annotators", least_uncommon=LEAST_UNCOMMON)


def fleiss_with_aggregate(*, rule: Rule = "drop", judge: int = 0) -> Statistic:
    """Fleiss' kappa of two raters, judge and aggregate, as a statistic of many cells; with two raters it is Scott's pi.

    (P - Pe) / (1 - Pe) with P the share of items on which both agree and Pe = sum_c ((p_c + q_c) / 2)² by their margins p and q.
    """

    def value(sums: Floats) -> Floats:
        n = sums[..., 0]
        table = square(sums) / np.maximum(n, 1)[..., None, None]
        shares = (table.sum(axis=-1) + table.sum(axis=-2)) / 2
        expected = (shares**2).sum(axis=-1)
        kappa = ratio(np.trace(table, axis1=-2, axis2=-1) - expected, 1 - expected)
        return np.where(n > 0, kappa, np.nan)

    return Statistic("fleiss_with_aggregate", Joint(rule, judge), value)


def cohen_kappa(a: ArrayLike, b: ArrayLike, k: int, weights: Weights = "identity", values: ArrayLike | None = None) -> Estimate:
    """Cohen's kappa of two raters, unweighted, linear or quadratic.

    kappa = 1 - sum d_cd o_cd / sum d_cd p_c q_d, with disagreement weights d = 1 - w over the classes of the scale,
    observed shares o and each rater's own margins p, q.

    Args:
        a, b: (items,) class codes 0 … k-1 of two single raters, NaN or -1 where missing.
        k: number of classes of the scale; unused classes change only the weights of `values`.
        weights, values: see `agreement_weights`. Linear and quadratic weights need an ordered scale.

    Returns:
        value in [-1, 1] and n, the items rated by both. NaN if n == 0 ("no overlap") or if both are constant on one
        class ("constant raters"); 0 if only one of them is constant.

    Reference: Cohen (1960, 1968).

    >>> cohen_kappa([0, 1, 2, 2], [0, 1, 1, 2], k=3).value
    0.6363636363636364
    >>> cohen_kappa([0, 0], [0, 0], k=2)
    Estimate(value=nan, n=2, reason='constant raters')
    """
    return estimate_pair(cohen(weights, values), a, b, k)


def fleiss_kappa(labels: ArrayLike, k: int, weights: Weights = "identity", values: ArrayLike | None = None) -> Estimate:
    """Fleiss' kappa of any number of annotators, with per-item n >= 2.

    kappa = (P - Pe) / (1 - Pe); P = mean over items of the (weighted) share of agreeing pairs, n_i (n_i - 1) of them;
    Pe = sum w_cd p_c p_d with p_c the share of all labels of these items that are c. Items with one label are left out.

    Args:
        labels: (items, raters) class codes 0 … k-1, NaN or -1 where missing; raters need not be the same people.
        weights, values: see `agreement_weights`.

    Returns:
        value and n, the items with two labels or more; NaN if there is none, or if all labels are one class.

    Reference: Fleiss (1971); Fleiss, Levin & Paik (2003), unequal numbers of raters.

    >>> fleiss_kappa([[0, 0, 1], [1, 1, 1], [2, 2, 2], [0, -1, -1]], k=3)
    Estimate(value=0.6538461538461539, n=3, reason=None)
    """
    return of_labels(fleiss(weights, values), labels, k)
