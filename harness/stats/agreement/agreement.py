"""Percentage agreement: each figure of a judge with the human figure that it may be compared with.

`pa` (judge with the aggregate) has no human figure. `pa_pairwise` and `human_pa` are a pair, and so are `judge_loo` and
`human_loo`: a judge that is exchangeable with the annotators has the same expectation in both halves of a pair. Only these
halves may be compared; `pairwise_gap` and `loo_gap` are their differences on the same items. Fractions, never percent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.core.arrays import MISSING, Estimate, Floats, Ints
from harness.stats.core.rows import Rows
from harness.stats.core.statistic import Statistic, estimate_judge, mean_of, of_labels
from harness.stats.core.tables import Rule, aggregate_counts

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
