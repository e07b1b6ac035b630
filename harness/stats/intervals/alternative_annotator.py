"""The alternative annotator test: does a judge represent the other annotators at least as well as each annotator does?

It is shown beside a verdict and never replaces the comparison with a baseline: where one class is frequent, a judge that gives this class
to every item passes.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, Ints, ShapeError, as_index
from harness.stats.core.at_once import in_step
from harness.stats.core.groups import GroupSums
from harness.stats.intervals.cluster_mean import cluster_mean
from harness.stats.intervals.multiplicity import benjamini_yekutieli
from harness.stats.intervals.noninferiority import gap_sums, guarded_p_each
from harness.stats.intervals.unequal_groups import ClusterVariance

T = TypeVar("T")
Guarded = Generator[GroupSums, float, T]
"""Work that asks for the guarded p of sums of groups."""
Scoring = Literal["accuracy", "neg_rmse"]
MIN_ITEMS = 30
"""Fewer items of an annotator are not tested: the t-test needs them, and the Wilcoxon test that is used elsewhere tests no mean."""
PASSING_RATE = 0.5
_TIE = 1e-9  # sums of squares that differ by no more, relatively, are a tie


@dataclass(frozen=True, slots=True)
class AnnotatorRule:
    """What counts in an alternative annotator test.

    Attributes:
        epsilon: in [0, 1), what the judge is allowed to be worse; the authors advise 0.2 against experts, 0.15 against skilled annotators
            and 0.1 against crowds.
        scoring: "accuracy" for nominal, "neg_rmse" for ordered scales.
        failures_lose: an item without a judge's score counts as lost by the judge. False leaves it out, as the published code does, which
            favours a judge that refuses difficult items.
        q: false discovery rate over the annotators.
        min_items: an annotator with fewer items is not tested.
        min_annotators: items with fewer annotators are left out.
        variance: over groups; `cr1` takes them as equal.
    """

    epsilon: float = 0.2
    scoring: Scoring = "accuracy"
    failures_lose: bool = True
    q: float = 0.05
    min_items: int = MIN_ITEMS
    min_annotators: int = 2
    variance: ClusterVariance = "cr2"


@dataclass(frozen=True, slots=True)
class AdvantageTest:
    """Test of H0: the mean of d is `epsilon` or more, where d = -1, 0 or 1 says who is strictly better: the judge, nobody, the person.

    `mean`, its standard `error` over groups, `t` and `p_published` are those of the one-sided t-test, NaN if d does not vary over groups.
    `p` is `p_published` where it is defined. Otherwise `reason` says why not, and `p` is a valid replacement. `p_guarded` is Hall's
    skewness-corrected p with one more item that the judge lost; it holds its level where the t-test rejects too easily.
    """

    n: int
    groups: int
    mean: float
    error: float
    t: float
    p_published: float
    p: float
    p_guarded: float
    reason: str | None


@dataclass(frozen=True, slots=True)
class AnnotatorResult:
    """One annotator against the judge on `n` common items.

    `annotator` is the column of the labels. `human_better` and `judge_better` count the items on which one of them is strictly better;
    `rho_judge` and `rho_human` are the shares of items on which each is at least as good as the other. `test` is None if the annotator
    has too few items. `p_adjusted` and `p_guarded_adjusted` are Benjamini-Yekutieli's over the tested annotators; `rejected` means that
    `p_adjusted` is at most q: the judge represents the others as well as this annotator does, less epsilon.
    """

    annotator: int
    n: int
    human_better: int
    judge_better: int
    rho_judge: float
    rho_human: float
    test: AdvantageTest | None
    p_adjusted: float
    p_guarded_adjusted: float
    rejected: bool
    reason: str | None


@dataclass(frozen=True, slots=True)
class AlternativeAnnotatorTest:
    """Result of the alternative annotator test.

    `omega`: share of the tested annotators with `rejected`; `omega_guarded`: the same with the guarded p; `rho`: mean of `rho_judge` over
    them; `passed`: omega is at least 0.5, None if nobody was tested; `annotators`: one result for each column of the labels.
    """

    omega: float
    omega_guarded: float
    rho: float
    passed: bool | None
    tested: int
    annotators: tuple[AnnotatorResult, ...]
    reason: str | None


def alternative_annotator_test(
    labels: ArrayLike,
    judge: ArrayLike,
    groups: ArrayLike | None = None,
    rule: AnnotatorRule = AnnotatorRule(),
    *,
    guarded_groups: ArrayLike | None = None,
) -> AlternativeAnnotatorTest:
    """Alternative annotator test: leave each annotator out and compare him with the judge on the labels of the others.

    On each item of annotator h with other annotators, S(x) = mean of [x = label] over the others ("accuracy"), or -sqrt(mean (x - label)²)
    ("neg_rmse"). d = [S(h) >= S(judge)] - [S(judge) >= S(h)]. For each h, `advantage_test` tests H0: mean d >= epsilon; the p-values are
    adjusted by Benjamini and Yekutieli. omega is the share of annotators for whom H0 is rejected.

    Args:
        labels: (items, annotators) numbers, NaN where missing. With "accuracy" they are class codes and negative codes are missing too.
        judge: (items,) likewise.
        groups: (items,) any sortable codes of what items share; None if items are independent, as in the published test.
        guarded_groups: (items,) the groups of the guarded p; default `groups`. The published test, whose items are independent, and the
            guarded one over groups are then made at once.
        rule: what counts, and when somebody is beaten.

    Returns:
        `AlternativeAnnotatorTest`; omega and rho NaN with a reason if nobody was tested.

    Raises:
        ShapeError: if the arrays are not of the same items.  ValueError: for epsilon outside [0, 1).

    Reference: Calderon, Reichart & Dror (2025), The alternative annotator test for LLM-as-a-judge.

    >>> labels = [[0, 0, 0], [1, 1, 0], [1, 0, 1], [2, 2, 2]] * 25
    >>> found = alternative_annotator_test(labels, judge=[0, 1, 1, 2] * 25, rule=AnnotatorRule(epsilon=0.1))
    >>> found.omega, round(found.rho, 3), found.passed, [one.judge_better for one in found.annotators]
    (1.0, 1.0, True, [0, 25, 25])
    """
    comparison = compared_with_annotators(labels, judge, groups, rule, guarded_groups=guarded_groups)
    return in_step([comparison], partial(guarded_p_each, margin=rule.epsilon, variance=rule.variance))[0]


def compared_with_annotators(
    labels: ArrayLike,
    judge: ArrayLike,
    groups: ArrayLike | None = None,
    rule: AnnotatorRule = AnnotatorRule(),
    *,
    guarded_groups: ArrayLike | None = None,
) -> Guarded[AlternativeAnnotatorTest]:
    """`alternative_annotator_test` for `in_step`: it asks for the guarded p of sums of groups, which is made for many cells at once."""
    values, scores = _as_values(labels, rule.scoring), _as_values(judge, rule.scoring)
    if values.ndim != 2 or scores.shape != values.shape[:1]:
        raise ShapeError(f"labels {values.shape} must be (items, annotators) and judge {scores.shape} of the same items")
    codes, guarding = (None if of is None else as_index(of, len(values), "groups") for of in (groups, guarded_groups))
    known = ~np.isnan(values)
    kept = (known.sum(axis=1) >= max(2, rule.min_annotators)) & (rule.failures_lose | ~np.isnan(scores))
    compared = []
    for annotator in range(values.shape[1]):
        rows = kept & known[:, annotator]
        d = _differences(values[rows], scores[rows], annotator, rule.scoring)
        own, guard = (None if of is None else of[rows] for of in (codes, guarding))
        enough = len(d) >= max(1, rule.min_items)
        compared.append(
            (d, (yield from _advantage(d, rule.epsilon, own, own if guard is None else guard, rule.variance)) if enough else None)
        )
    return _summary(compared, rule.q, rule.min_items)


def advantage_test(
    differences: ArrayLike,
    epsilon: float,
    groups: ArrayLike | None = None,
    *,
    guarded_groups: ArrayLike | None = None,
    variance: ClusterVariance = "cr2",
) -> AdvantageTest:
    """One-sided test that people are strictly better than the judge less often, by more than epsilon, than the judge is.

    t = (mean d - epsilon) / error with the cluster variance and the degrees of freedom of `cluster_mean`; p = P(t(freedom) <= t). If no
    group varies, t is undefined. If then no item was lost, p = (1 - epsilon)^G of G effective groups: under H0 a group has a lost item with
    a chance of epsilon or more. Otherwise p is the guarded one.

    Args:
        differences: (items,) d = -1 (the judge is strictly better), 0 or 1 (the person is).
        epsilon: in [0, 1).
        groups: (items,) any sortable codes of what items share; None if items are independent.
        guarded_groups: (items,) the groups of `p_guarded`; default `groups`.
        variance: over groups; `cr1` takes them as equal.

    Returns:
        `AdvantageTest`; all p NaN with fewer than two groups.

    Raises:
        ShapeError: if the arrays are not of one length.  ValueError: for epsilon outside [0, 1).

    Reference: Calderon, Reichart & Dror (2025); Hall (1992) for the guarded p.

    >>> found = advantage_test([0] * 40, epsilon=0.1)
    >>> found.p_published, round(found.p, 4), found.reason
    (nan, 0.0148, 'no variation between groups')
    >>> found = advantage_test([1] * 6 + [-1] * 10 + [0] * 44, epsilon=0.1)
    >>> round(found.mean, 4), round(found.p_published, 4), round(found.p_guarded, 4)
    (-0.0667, 0.0076, 0.0154)
    """
    test = _advantage(differences, epsilon, groups, groups if guarded_groups is None else guarded_groups, variance)
    return in_step([test], partial(guarded_p_each, margin=epsilon, variance=variance))[0]


def _advantage(
    differences: ArrayLike, epsilon: float, groups: ArrayLike | None, guarded_groups: ArrayLike | None, variance: ClusterVariance
) -> Guarded[AdvantageTest]:
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon must be at least 0 and below 1, got {epsilon}")
    from scipy.special import stdtr

    d = np.asarray(differences, np.float64)
    found = cluster_mean(d, groups, variance=variance)
    if found.groups < 2:
        reason = "fewer than two groups" if len(d) else "no items"
        return AdvantageTest(len(d), found.groups, found.mean, math.nan, math.nan, math.nan, math.nan, math.nan, reason)
    guarded = yield _lost(d, guarded_groups)
    if not found.error > 0:
        p = (1 - epsilon) ** found.effective_groups if d.max() <= 0 else (yield _lost(d, groups))
        reason = "no variation between groups"
        return AdvantageTest(len(d), found.groups, found.mean, 0.0, math.nan, math.nan, p, guarded, reason)
    t = (found.mean - epsilon) / found.error
    p = float(stdtr(found.freedom, t))
    return AdvantageTest(len(d), found.groups, found.mean, found.error, t, p, p, guarded, None)


def _lost(d: Floats, groups: ArrayLike | None) -> GroupSums:
    return gap_sums(-d, np.arange(len(d)) if groups is None else groups)


def _as_values(given: ArrayLike, scoring: Scoring) -> Floats:
    values = np.asarray(given, np.float64)
    return np.where(values < 0, np.nan, values) if scoring == "accuracy" else values


def _differences(labels: Floats, judge: Floats, annotator: int, scoring: Scoring) -> Ints:
    """d of the (items,) that `annotator` labelled: 1 where he represents the other columns better than the judge, else 0 or -1.

    A missing score of the judge is lost. Losses are numbers of labels or sums of squares, so that ties are not decided by rounding.
    """
    others = np.delete(labels, annotator, axis=1)
    human, machine = (_loss(one, others, scoring) for one in (labels[:, annotator], judge))
    machine = np.where(np.isnan(judge), math.inf, machine)
    tie = _TIE * np.maximum(1.0, human)
    return np.where(machine > human + tie, 1, np.where(machine < human - tie, -1, 0))


def _loss(value: Floats, others: Floats, scoring: Scoring) -> Floats:
    apart = value[:, None] - others
    return np.asarray(np.nansum((apart != 0) & ~np.isnan(apart) if scoring == "accuracy" else apart**2, axis=1), np.float64)


def _summary(compared: list[tuple[Ints, AdvantageTest | None]], q: float, min_items: int) -> AlternativeAnnotatorTest:
    adjusted = benjamini_yekutieli([test.p if test else math.nan for _, test in compared])
    guarded = benjamini_yekutieli([test.p_guarded if test else math.nan for _, test in compared])
    results = tuple(
        AnnotatorResult(
            annotator,
            len(d),
            int((d > 0).sum()),
            int((d < 0).sum()),
            float((d <= 0).mean()) if len(d) else math.nan,
            float((d >= 0).mean()) if len(d) else math.nan,
            test,
            float(adjusted[annotator]),
            float(guarded[annotator]),
            bool(adjusted[annotator] <= q),
            test.reason if test else f"fewer than {min_items} items",
        )
        for annotator, (d, test) in enumerate(compared)
    )
    tested = [one for one in results if not math.isnan(one.p_adjusted)]
    if not tested:
        return AlternativeAnnotatorTest(math.nan, math.nan, math.nan, None, 0, results, "no annotator could be tested")
    omega = float(np.mean([one.rejected for one in tested]))
    guarding = [one.p_guarded_adjusted <= q for one in tested if not math.isnan(one.p_guarded_adjusted)]
    omega_guarded = float(np.mean(guarding)) if guarding else math.nan
    rho = float(np.mean([one.rho_judge for one in tested]))
    return AlternativeAnnotatorTest(omega, omega_guarded, rho, omega >= PASSING_RATE, len(tested), results, None)
