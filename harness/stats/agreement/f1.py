"""Weighted F1 of a judge against the aggregate, and of annotators against each other."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.aggregate import Rule
from harness.stats.core.arrays import Estimate, Floats, as_labels, same_shape
from harness.stats.core.statistic import Statistic, estimate_judge, ratio
from harness.stats.core.tables import Joint, square

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
