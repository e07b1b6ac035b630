"""Coefficients of agreement on classes: Cohen's and Fleiss' kappa, Gwet's AC1 and AC2, and weighted F1.

Kappa takes the margins as chance. AC1 and AC2 do not collapse on skewed margins. F1 is of a judge against the aggregate, and of annotators
against each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Estimate, Floats, Weights, as_labels, same_shape
from harness.stats.core.statistic import LEAST_UNCOMMON, Statistic, estimate_judge, estimate_pair, of_labels, ratio
from harness.stats.core.tables import Joint, Rule, agreement_weights, annotator_pairs, split_pairs, square


def cohen_value(weights: Weights = "identity", values: ArrayLike | None = None) -> Callable[[Floats], Floats]:
    """Kappa of sums of `Joint`: 1 - observed / expected weighted disagreement."""

    def value(sums: Floats) -> Floats:
        table = square(sums)
        disagreement = 1 - agreement_weights(table.shape[-1], weights, values)
        n = np.maximum(sums[..., 0], 1)
        expected = np.einsum("...i,ij,...j", table.sum(axis=-1), disagreement, table.sum(axis=-2)) / n**2
        return 1 - ratio((table * disagreement).sum(axis=(-2, -1)) / n, expected)

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
        disagreement = 1 - agreement_weights(margins.shape[-1], weights, values)
        expected = np.einsum("...i,ij,...j", margins, disagreement, margins)
        return 1 - ratio((pairs * disagreement).sum(axis=(-2, -1)), expected)

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
        symmetric = (table + np.swapaxes(table, -1, -2)) / 2
        return gwet_of(symmetric, symmetric.sum(axis=-1), weights, values)

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


NO_PAIR = "no item with two annotators"


def f1_of_judge(*, rule: Rule = "drop", judge: int = 0) -> Statistic:
    """Weighted F1 of judge against aggregate as a statistic of many cells."""

    def value(sums: Floats) -> Floats:
        table = square(sums)
        hits, support = np.diagonal(table, axis1=-2, axis2=-1), table.sum(axis=-1)
        f1 = 2 * hits / np.maximum(support + table.sum(axis=-2), 1)
        return ratio((f1 * support).sum(axis=-1), sums[..., 0])

    return Statistic("weighted_f1", Joint(rule, judge), value, bounds=(0.0, 1.0))


def weighted_f1(judge: ArrayLike, labels: ArrayLike, k: int, rule: Rule = "drop") -> Estimate:
    """F1 of every class, weighted with the class's share among the aggregates.

    F1_c = 2 hits_c / (n_c + judged_c); sum_c n_c F1_c / n. A class that the judge never gives has F1 0; a class that is
    no item's aggregate has weight 0.

    Args:
        judge: (items,) class codes 0 … k-1, NaN or -1 where there is no readable score.
        labels: (items, raters) class codes, NaN or -1 where missing.
        rule: of the aggregate (`strict` leaves items without a majority out, as `drop` does).

    Returns:
        value in [0, 1] and n, the items with aggregate and score; NaN and "no overlap" without any.

    Reference: van Rijsbergen (1979); support-weighted as in scikit-learn's `average="weighted"`.

    >>> round(weighted_f1([0, 1, 1, 0], [[0], [1], [0], [0]], k=2).value, 6)
    0.766667
    """
    return estimate_judge(f1_of_judge(rule=rule), judge, labels, k)


def human_weighted_f1(labels: ArrayLike, k: int) -> Estimate:
    """Weighted F1 of every annotator against every other one as the reference, mean over ordered pairs; see `f1_of_pairs`.

    Args:
        labels: (items, annotators) class codes 0 … k-1, NaN or -1 where missing; column r is one person throughout.

    >>> human_weighted_f1([[0, 0, 1], [1, 1, 1], [1, 0, -1]], k=2).value
    0.5555555555555555
    """
    codes = as_labels(labels, k)
    item, annotator = np.nonzero(codes >= 0)
    return f1_of_pairs(item, annotator, codes[item, annotator])


def f1_of_pairs(item: ArrayLike, annotator: ArrayLike, code: ArrayLike, weights: Floats | None = None) -> Estimate:
    """`human_weighted_f1` of labels one a row.

    F1_c = 2 hits_c / (n_c + m_c) for the class counts n and m of two annotators on the items of both. Weighted with n, and with m where
    the other one is the reference, its mean is sum_c hits_c / n: the share of items on which the two agree. The mean over ordered pairs
    is therefore the mean over pairs of that share. Unlike `human_pa`, every pair weighs the same, however many items it shares.

    Args:
        item, annotator, code: (labels,) integers, rising in `item`; one label of an annotator an item.
        weights: (labels,) how much the item of each counts; default all the same.

    Returns:
        value in [0, 1] and n, the items with two labels or more; NaN with a reason without any.

    Reference: support-weighted as in scikit-learn's `average="weighted"`; by pairs of annotators as in Hada et al. (2023).

    >>> f1_of_pairs([0, 0, 1, 1], [0, 1, 0, 1], [2, 2, 0, 1])
    Estimate(value=0.5, n=2, reason=None)
    """
    where, who, what = np.asarray(item, np.int64), np.asarray(annotator, np.int64), np.asarray(code, np.int64)
    same_shape("of the same labels", item=where, annotator=who, code=what)
    people = int(who.max(initial=0)) + 1
    pairs, agreed, paired, counts = [], [], [], []
    for shift in range(1, int(np.bincount(where).max(initial=0))):
        first = np.flatnonzero(where[shift:] == where[:-shift])
        second = first + shift
        pairs.append(np.minimum(who[first], who[second]) * people + np.maximum(who[first], who[second]))
        agreed.append(what[first] == what[second])
        paired.append(where[first])
        counts.append(np.ones(len(first)) if weights is None else weights[first])
    if not pairs:
        return Estimate(math.nan, 0, NO_PAIR)
    _, pair = np.unique(np.concatenate(pairs), return_inverse=True)
    count = np.concatenate(counts)
    shares = np.bincount(pair, np.concatenate(agreed) * count) / np.bincount(pair, count)
    return Estimate(float(shares.mean()), len(np.unique(np.concatenate(paired))), None)
