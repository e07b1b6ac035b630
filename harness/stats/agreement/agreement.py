"""Percentage agreement: each figure of a judge with the human figure that it may be compared with.

`pa` (judge with the aggregate) has no human figure. `pa_pairwise` and `human_pa` are a pair, and so are `judge_loo` and
`human_loo`: a judge that is exchangeable with the annotators has the same expectation in both halves of a pair. Only these
halves may be compared; `pairwise_gap` and `loo_gap` are their differences on the same items. Fractions, never percent.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.core.arrays import (
    MISSING,
    Estimate,
    Floats,
    Ints,
    Kind,
    ShapeError,
    Weights,
    as_codes,
    as_labels,
    as_values,
    same_shape,
    undefined,
)
from harness.stats.core.rows import (
    Joint,
    Rows,
    Rule,
    aggregate_counts,
    agreement_weights,
    annotator_pairs,
    coincidences,
    split_pairs,
    square,
)
from harness.stats.core.statistic import LEAST_UNCOMMON, Statistic, estimate_judge, mean_of, of_labels, ratio

NO_PAIR = "no item with two annotators"
NO_JUDGED_PAIR = "no item with two annotators and a readable score"


@dataclass(frozen=True, slots=True)
class Hits:
    """[used, judge chose the aggregate]; `failed_wrong` uses items without a readable score too."""

    rule: Rule
    failed_wrong: bool = False
    judge: int = 0

    def __call__(self, rows: Rows, /) -> Floats:
        reference, score = aggregate_counts(rows.counts, self.rule), rows.judge(self.judge)
        used = reference != MISSING if self.rule == "strict" else reference >= 0
        used = used if self.failed_wrong else used & (score >= 0)
        return _columns(used, (reference == score) & (score >= 0))


def all_agree(rows: Rows, /) -> Floats:
    """[two annotators or more, all chose one class]."""
    return _columns(rows.raters >= 2, rows.counts.max(axis=1, initial=0) == rows.raters)


@dataclass(frozen=True, slots=True)
class Pairwise:
    """[used, share of agreeing pairs]: of annotators, of the judge with each annotator, or the latter minus the former.

    Items need two annotators; with `judge` set, a readable score as well.
    """

    who: Literal["human", "judge", "gap"]
    judge: int | None = None

    def __call__(self, rows: Rows, /) -> Floats:
        n, used = rows.raters, rows.raters >= 2
        human = (rows.counts * (rows.counts - 1)).sum(axis=1) / np.maximum(n * (n - 1), 1)
        if self.judge is None:
            return _columns(used, human)
        score = rows.judge(self.judge)
        judge = _at(rows.counts, score) / np.maximum(n, 1)
        return _columns(used & (score >= 0), _half(self.who, human, judge))


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """[used, credit against the remaining annotators, mean over the one left out]; ties give 1/t to each tied class."""

    who: Literal["human", "judge", "gap"]
    judge: int | None = None

    def __call__(self, rows: Rows, /) -> Floats:
        n, used = rows.raters, rows.raters >= 2
        human, judge = np.zeros(len(n)), np.zeros(len(n))
        score = np.full(len(n), MISSING) if self.judge is None else rows.judge(self.judge)
        for left_out_class in range(rows.k):
            rest = rows.counts.copy()
            rest[:, left_out_class] -= 1  # a class that nobody chose has the weight 0
            modes = rest == rest.max(axis=1, keepdims=True)
            share = rows.counts[:, left_out_class] / np.maximum(n, 1) / modes.sum(axis=1)
            human += share * modes[:, left_out_class]
            judge += share * _at(modes, score)
        return _columns(used if self.judge is None else used & (score >= 0), _half(self.who, human, judge))


def _columns(used: NDArray[np.bool_], y: NDArray[np.bool_] | Floats) -> Floats:
    return np.stack([used.astype(np.float64), np.where(used, y, 0.0)], axis=1)


def _at(table: Ints | NDArray[np.bool_], column: Ints) -> Floats:
    """table[i, column[i]], and 0 where the column is missing."""
    taken = np.take_along_axis(table, np.maximum(column, 0)[:, None], axis=1)[:, 0]
    return np.where(column >= 0, taken, 0).astype(np.float64)


def _half(who: str, human: Floats, judge: Floats) -> Floats:
    return human if who == "human" else judge if who == "judge" else judge - human


def share_of_hits(rule: Rule = "drop", *, failed_wrong: bool = False, judge: int = 0) -> Statistic:
    """`pa` (or `pa_failed_wrong`) as a statistic of many cells."""
    name = "pa_failed_wrong" if failed_wrong else "pa"
    empty = "no reference" if failed_wrong else "no overlap"
    return Statistic(name, Hits(rule, failed_wrong, judge), mean_of, "share", (0.0, 1.0), empty)


def share_of_pairs(who: Literal["human", "judge"], judge: int | None = None) -> Statistic:
    """`human_pa` or `pa_pairwise` as a statistic of many cells; with `judge`, on the items that it scored."""
    name, empty = ("human_pa" if who == "human" else "pa_pairwise"), NO_PAIR if judge is None else NO_JUDGED_PAIR
    return Statistic(name, Pairwise(who, judge), mean_of, "share", (0.0, 1.0), empty)


def share_left_out(who: Literal["human", "judge"], judge: int | None = None) -> Statistic:
    """`human_loo` or `judge_loo` as a statistic of many cells; with `judge`, on the items that it scored."""
    name, empty = ("human_loo" if who == "human" else "judge_loo"), NO_PAIR if judge is None else NO_JUDGED_PAIR
    return Statistic(name, LeaveOneOut(who, judge), mean_of, "share", (0.0, 1.0), empty)


def gap(pair: Literal["pairwise", "loo"], judge: int = 0) -> Statistic:
    """`pairwise_gap` = pa_pairwise - human_pa, or `loo_gap` = judge_loo - human_loo, on the same items."""
    features = Pairwise("gap", judge) if pair == "pairwise" else LeaveOneOut("gap", judge)
    return Statistic(f"{pair}_gap", features, mean_of, "difference", (-1.0, 1.0), NO_JUDGED_PAIR)


ALL_AGREE = Statistic("human_all_agree", all_agree, mean_of, "share", (0.0, 1.0), NO_PAIR)


def pa(judge: ArrayLike, labels: ArrayLike, k: int, rule: Rule = "drop") -> Estimate:
    """Percentage agreement of a judge with the annotators' aggregate.

    PA = share of items where the judge chose the aggregate, over the n items that have one and a readable score.
    Never compare it with `human_pa`: voting alone changes it.

    Args:
        judge: (items,) class codes 0 … k-1; NaN or -1 where there is no readable score.
        labels: (items, raters) class codes; NaN or -1 where missing.
        rule: of the aggregate, see `aggregate`; under `strict` an item without a majority is a disagreement.

    Returns:
        value in [0, 1] and n. With n == 0, NaN and "no overlap".

    Reference: Artstein & Poesio (2008), observed agreement; Hada et al. (2023).

    >>> pa([2, 0, 1, -1], [[2, 2, 1], [0, 1, 2], [0, 0, 1], [1, 1, 1]], k=3)
    Estimate(value=0.5, n=2, reason=None)
    """
    return estimate_judge(share_of_hits(rule), judge, labels, k)


def pa_failed_wrong(judge: ArrayLike, labels: ArrayLike, k: int, rule: Rule = "drop") -> Estimate:
    """`pa` over all n_ref items with a reference. An unreadable answer counts as wrong, so that a judge cannot gain by refusing.

    Args, errors and reference as `pa`. n is n_ref; without any, NaN and "no reference".

    >>> pa_failed_wrong([2, 0, 1, -1], [[2, 2, 1], [0, 1, 2], [0, 0, 1], [1, 1, 1]], k=3).n
    3
    """
    return estimate_judge(share_of_hits(rule, failed_wrong=True), judge, labels, k)


def pa_pairwise(judge: ArrayLike, labels: ArrayLike, k: int) -> Estimate:
    """Mean over an item's annotators of judge-annotator agreement, mean over items. Compare with `human_pa`.

    mean_i (annotators of i who chose the judge's class) / n_i, over items with n_i >= 2 and a readable score, so that
    every item weighs the same and an exchangeable judge has the expectation of `human_pa`.

    Args and errors as `pa`. Without such an item, NaN and the reason.

    >>> pa_pairwise([2, 0], [[2, 2, 1], [1, 0, 2]], k=3)
    Estimate(value=0.5, n=2, reason=None)
    """
    return estimate_judge(share_of_pairs("judge", 0), judge, labels, k)


def human_pa(labels: ArrayLike, k: int) -> Estimate:
    """Mean pairwise agreement of annotators: share of agreeing pairs of an item, mean over items with n_i >= 2.

    mean_i sum_c n_ic (n_ic - 1) / (n_i (n_i - 1)): the observed agreement of Fleiss (1971) with per-item n.

    Args and errors as `pa`. Without an item of two annotators, NaN and the reason. Beside a judge, use
    `share_of_pairs("human", judge=0)`, which uses the items that the judge scored.

    >>> human_pa([[2, 2, 1], [1, 0, 2], [1, -1, -1]], k=3)
    Estimate(value=0.16666666666666666, n=2, reason=None)
    """
    return of_labels(share_of_pairs("human"), labels, k)


def judge_loo(judge: ArrayLike, labels: ArrayLike, k: int) -> Estimate:
    """The judge against each item's remaining annotators, one left out at a time. Compare with `human_loo`.

    For item i and annotator a, M = the modes of the other annotators, t = |M|; credit is 1/t if the judge's class is in
    M, else 0; mean over a, then over items with n_i >= 2 and a readable score.

    Args and errors as `pa`. Reference: Calderon, Reichart & Dror (2025), the same remaining annotators for both.

    >>> judge_loo([2, 0], [[2, 2, 1], [0, 1, 2]], k=3)
    Estimate(value=0.5, n=2, reason=None)
    """
    return estimate_judge(share_left_out("judge", 0), judge, labels, k)


def human_loo(labels: ArrayLike, k: int) -> Estimate:
    """Each annotator against the remaining ones, ties giving 1/t; the annotators' half of `judge_loo`.

    Args and errors as `human_pa`.

    >>> human_loo([[2, 2, 1], [0, 0, 0]], k=3)
    Estimate(value=0.6666666666666666, n=2, reason=None)
    """
    return of_labels(share_left_out("human"), labels, k)


def human_all_agree(labels: ArrayLike, k: int) -> Estimate:
    """Share of items on which all annotators chose one class, among the items with two annotators or more.

    Args and errors as `human_pa`.

    >>> human_all_agree([[2, 2, 2], [0, 0, 1], [1, -1, -1]], k=3)
    Estimate(value=0.5, n=2, reason=None)
    """
    return of_labels(ALL_AGREE, labels, k)


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
    first, second = as_codes(a, k, "a"), as_codes(b, k, "b")
    same_shape(a=first, b=second)
    both = (first >= 0) & (second >= 0)
    n, table = int(both.sum()), np.bincount(first[both] * k + second[both], minlength=k * k)
    value = float(cohen_value(weights, values)(np.r_[n, table].astype(np.float64)))
    return Estimate(value, n, None if not math.isnan(value) else "constant raters" if n else "no overlap")


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
