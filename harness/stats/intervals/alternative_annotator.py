"""The alternative annotator test: does a judge represent the other annotators at least as well as each annotator does?

It is shown beside a verdict and never replaces the comparison with a baseline: where one class is frequent, a judge that gives this class
to every item passes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, ShapeError, as_index
from harness.stats.core.groups import ClusterVariance, GroupSums
from harness.stats.intervals.cluster_mean import ClusterMean, SampleOfGroups, cluster_mean_each
from harness.stats.intervals.multiplicity import benjamini_yekutieli
from harness.stats.intervals.noninferiority import gap_sums, guarded_p, guarded_p_each

Scoring = Literal["accuracy", "neg_rmse"]
MIN_ITEMS = 30
"""Fewer items of an annotator are not tested: the t-test needs them, and the Wilcoxon test that is used elsewhere tests no mean."""
PASSING_RATE = 0.5
_TIE = 1e-9  # sums of squares that differ by no more, relatively, are a tie


@dataclass(frozen=True, slots=True)
class AnnotatorRule:
    """The settings of an alternative annotator test.

    Attributes:
        epsilon: in [0, 1), what the judge is allowed to be worse; the authors advise 0.2 against experts, 0.15 against skilled annotators
            and 0.1 against crowds.
        failures_lose: an item without a judge's score counts as lost by the judge. False leaves it out, as the published code does, which
            favours a judge that refuses difficult items.
        q: false discovery rate over the annotators.
        min_items: an annotator with fewer items is not tested.
        min_annotators: items with fewer annotators are left out.
        variance: over groups; `cr1` takes them as equal.
    """

    epsilon: float = 0.2
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


class LabelledByAnnotators(NamedTuple):
    """One cell.

    Attributes:
        labels: (items, annotators) numbers, NaN where missing. With "accuracy" they are class codes and negative codes are missing too.
        judge: (items,) likewise.
        groups: (items,) any sortable codes of what items share; None if items are independent, as in the published test.
        guarded_groups: (items,) the groups of the guarded p; default `groups`. The published test, whose items are independent, and the
            guarded one over groups are then made at once.
        scoring: "accuracy" for nominal, "neg_rmse" for ordered scales.
    """

    labels: ArrayLike
    judge: ArrayLike
    groups: ArrayLike | None = None
    guarded_groups: ArrayLike | None = None
    scoring: Scoring = "accuracy"


def alternative_annotator_tests(cells: Sequence[LabelledByAnnotators], rule: AnnotatorRule) -> list[AlternativeAnnotatorTest]:
    """Alternative annotator test of each cell: leave each annotator out and compare him with the judge on the labels of the others.

    On each item of annotator h with other annotators, S(x) = mean of [x = label] over the others ("accuracy"), or -sqrt(mean (x - label)²)
    ("neg_rmse"). d = [S(h) >= S(judge)] - [S(judge) >= S(h)]. For each h, `advantage_tests` test H0: mean d >= epsilon; the p-values are
    adjusted by Benjamini and Yekutieli. omega is the share of annotators for whom H0 is rejected, NaN with a reason if nobody was tested.

    Raises:
        ValueError: for epsilon outside [0, 1).

    Reference: Calderon, Reichart & Dror (2025), The alternative annotator test for LLM-as-a-judge.

    >>> labels = [[0, 0, 0], [1, 1, 0], [1, 0, 1], [2, 2, 2]] * 25
    >>> [found] = alternative_annotator_tests([LabelledByAnnotators(labels, [0, 1, 1, 2] * 25)], AnnotatorRule(epsilon=0.1))
    >>> found.omega, round(found.rho, 3), found.passed, [one.judge_better for one in found.annotators]
    (1.0, 1.0, True, [0, 25, 25])
    """
    compared = [_compared_with_annotators(cell, rule) for cell in cells]
    least = max(1, rule.min_items)
    tests = iter(
        advantage_tests(
            [differences for of_cell in compared for differences in of_cell if len(differences.d) >= least], rule.epsilon, rule.variance
        )
    )
    tested = [[(differences.d, next(tests) if len(differences.d) >= least else None) for differences in of_cell] for of_cell in compared]
    return [_summary(of_cell, rule.q, rule.min_items) for of_cell in tested]


class AnnotatorDifferences(NamedTuple):
    """The d of one annotator's items: -1 (the judge is strictly better), 0 or 1 (the person is); their groups, and those of `p_guarded`."""

    d: Floats
    groups: ArrayLike | None = None
    guarded_groups: ArrayLike | None = None


def _compared_with_annotators(cell: LabelledByAnnotators, rule: AnnotatorRule) -> list[AnnotatorDifferences]:
    values, scores = _as_values(cell.labels, cell.scoring), _as_values(cell.judge, cell.scoring)
    if values.ndim != 2 or scores.shape != values.shape[:1]:
        raise ShapeError(f"labels {values.shape} must be (items, annotators) and judge {scores.shape} of the same items")
    guarding = cell.groups if cell.guarded_groups is None else cell.guarded_groups
    codes = [None if group_codes is None else as_index(group_codes, len(values), "groups") for group_codes in (cell.groups, guarding)]
    rated = ~np.isnan(values)
    usable = (rated.sum(axis=1) >= max(2, rule.min_annotators)) & (rule.failures_lose | ~np.isnan(scores))
    compared = []
    for annotator in range(values.shape[1]):
        rows = usable & rated[:, annotator]
        # D of the (items,) that `annotator` labelled: 1 where he represents the other columns better than the judge, else 0 or -1. A
        # missing score of the judge is lost. Losses are numbers of labels or sums of squares, so that ties are not decided by rounding.
        labels = values[rows]
        judge = scores[rows]
        other_labels = np.delete(labels, annotator, axis=1)
        human, machine = (_loss(rating, other_labels, cell.scoring) for rating in (labels[:, annotator], judge))
        machine = np.where(np.isnan(judge), math.inf, machine)
        tie = _TIE * np.maximum(1.0, human)
        d = np.where(machine > human + tie, 1.0, np.where(machine < human - tie, -1.0, 0.0))
        compared.append(AnnotatorDifferences(d, *(None if group_codes is None else group_codes[rows] for group_codes in codes)))
    return compared


def advantage_tests(cells: Sequence[AnnotatorDifferences], epsilon: float, variance: ClusterVariance = "cr2") -> list[AdvantageTest]:
    """One-sided tests that people are strictly better than the judge less often, by more than epsilon, than the judge is.

    t = (mean d - epsilon) / error with the cluster variance and the degrees of freedom of `cluster_mean`; p = P(t(freedom) <= t). If no
    group varies, t is undefined. If then no item was lost, p = (1 - epsilon)^G of G effective groups: under H0 a group has a lost item with
    a chance of epsilon or more. Otherwise p is the guarded one. All p are NaN with fewer than two groups.

    Raises:
        ValueError: for epsilon outside [0, 1).

    Reference: Calderon, Reichart & Dror (2025); Hall (1992) for the guarded p.

    >>> samples = [AnnotatorDifferences(np.array(d)) for d in ([0.0] * 40, [1.0] * 6 + [-1.0] * 10 + [0.0] * 44)]
    >>> alike, varied = advantage_tests(samples, epsilon=0.1)
    >>> alike.p_published, round(alike.p, 4), alike.reason
    (nan, 0.0148, 'no variation between groups')
    >>> round(varied.mean, 4), round(varied.p_published, 4), round(varied.p_guarded, 4)
    (-0.0667, 0.0076, 0.0154)
    """
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon must be at least 0 and below 1, got {epsilon}")
    means = cluster_mean_each([SampleOfGroups(cell.d, cell.groups) for cell in cells], variance=variance)
    guarded = guarded_p_each([_lost(cell.d, cell.guarded_groups) for cell in cells], epsilon, variance)
    return [_advantage(*parts, epsilon, variance) for parts in zip(cells, means, guarded, strict=True)]


def _advantage(
    cell: AnnotatorDifferences, advantage: ClusterMean, guarded: float, epsilon: float, variance: ClusterVariance
) -> AdvantageTest:
    from scipy.special import stdtr

    n, groups, mean = advantage.n, advantage.groups, advantage.mean
    if groups < 2:
        reason = "fewer than two groups" if n else "no items"
        return AdvantageTest(n, groups, mean, math.nan, math.nan, math.nan, math.nan, math.nan, reason)
    if advantage.error > 0:
        t = (mean - epsilon) / advantage.error
        p = float(stdtr(advantage.freedom, t))
        return AdvantageTest(n, groups, mean, advantage.error, t, p, p, guarded, None)
    p = guarded_p(_lost(cell.d, cell.groups), epsilon, variance) if cell.d.max() > 0 else (1 - epsilon) ** advantage.effective_groups
    return AdvantageTest(n, groups, mean, 0.0, math.nan, math.nan, p, guarded, "no variation between groups")


def _lost(d: Floats, groups: ArrayLike | None) -> GroupSums:
    return gap_sums(-d, np.arange(len(d)) if groups is None else groups)


def _as_values(labels: ArrayLike, scoring: Scoring) -> Floats:
    values = np.asarray(labels, np.float64)
    return np.where(values < 0, np.nan, values) if scoring == "accuracy" else values


def _loss(value: Floats, other_labels: Floats, scoring: Scoring) -> Floats:
    distance = value[:, None] - other_labels
    return np.asarray(np.nansum((distance != 0) & ~np.isnan(distance) if scoring == "accuracy" else distance**2, axis=1), np.float64)


def _summary(compared: list[tuple[Floats, AdvantageTest | None]], q: float, min_items: int) -> AlternativeAnnotatorTest:
    adjusted = benjamini_yekutieli([test.p if test else math.nan for _, test in compared]).tolist()
    guarded = benjamini_yekutieli([test.p_guarded if test else math.nan for _, test in compared]).tolist()
    results = []
    for annotator, (d, test) in enumerate(compared):
        n, human, judge = len(d), int(np.count_nonzero(d > 0)), int(np.count_nonzero(d < 0))
        rhos = ((n - human) / n, (n - judge) / n) if n else (math.nan, math.nan)
        reason = test.reason if test else f"fewer than {min_items} items"
        p = adjusted[annotator]
        results.append(AnnotatorResult(annotator, n, human, judge, *rhos, test, p, guarded[annotator], p <= q, reason))
    tested = [result for result in results if not math.isnan(result.p_adjusted)]
    if not tested:
        return AlternativeAnnotatorTest(math.nan, math.nan, math.nan, None, 0, tuple(results), "no annotator could be tested")
    omega = float(np.mean([result.rejected for result in tested]))
    guarding = [result.p_guarded_adjusted <= q for result in tested if not math.isnan(result.p_guarded_adjusted)]
    omega_guarded = float(np.mean(guarding)) if guarding else math.nan
    rho = float(np.mean([result.rho_judge for result in tested]))
    return AlternativeAnnotatorTest(omega, omega_guarded, rho, omega >= PASSING_RATE, len(tested), tuple(results), None)
