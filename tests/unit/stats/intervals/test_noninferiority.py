"""The guarded test and its bound; the gap of a judge item by item."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import stats as scipy_stats

from harness.stats.core.arrays import Floats, ShapeError
from harness.stats.core.rows import agreement_weights
from harness.stats.intervals.noninferiority import (
    AdvantageTest,
    AlternativeAnnotatorTest,
    AnnotatorDifferences,
    AnnotatorRule,
    LabelledByAnnotators,
    Scoring,
    advantage_tests,
    alternative_annotator_tests,
    gap_sums,
    guarded_mean,
    guarded_p,
    matched_gap,
    pair_agreement,
)

differences = st.lists(st.sampled_from([-1.0, -2 / 3, -1 / 3, 0.0, 1 / 3, 2 / 3]), min_size=2, max_size=60)


@given(differences, st.floats(0.01, 0.4))
def test_the_bound_is_where_the_p_equals_the_level(d: list[float], alpha: float) -> None:
    sums = gap_sums(d, range(len(d)))
    bound = float(guarded_mean(sums).bound(alpha))
    assert -1 <= bound <= 0
    if -1 < bound < 0:
        assert guarded_p(sums, -bound) == pytest.approx(alpha, rel=1e-6)


@given(differences, st.floats(0.02, 0.5))
def test_a_lost_item_more_never_makes_the_judge_look_better(d: list[float], margin: float) -> None:
    before, after = (guarded_p(gap_sums(rows, range(len(rows))), margin) for rows in (d, [*d, -1.0]))
    assert after >= before - 0.02  # the variance grows with the loss, so that p may fall by a little where it is near 1


def test_undefined_items_are_left_out_and_nothing_gives_nothing() -> None:
    sums = gap_sums([0.0, math.nan, -0.5], [1, 2, 3])
    assert sums.groups == 2 and sums.units == 2
    empty = gap_sums([], [])
    assert math.isnan(guarded_p(empty, 0.1))


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match="same items"):
        gap_sums([0.0, 1.0], [1])


def test_the_gap_is_the_judges_agreement_minus_peoples_on_the_same_people() -> None:
    rng = np.random.default_rng(0)
    labels, judge = rng.integers(0, 3, (40, 4)), rng.integers(-1, 3, 40)
    counts = np.stack([(labels == code).sum(axis=1) for code in range(3)], axis=1)
    pairs = [np.mean([row[a] == row[b] for a in range(4) for b in range(4) if a != b]) for row in labels]
    agreed = [(row == own).mean() for row, own in zip(labels, judge, strict=True)]
    assert pair_agreement(counts) == pytest.approx(pairs)
    assert matched_gap(counts, judge) == pytest.approx(np.subtract(agreed, pairs))


def test_by_distance_a_class_agrees_the_more_the_closer_it_is() -> None:
    weights = agreement_weights(3, "linear")
    assert matched_gap([[0, 0, 2]], [2], weights).tolist() == [0.0]
    assert matched_gap([[0, 0, 2]], [1], weights).tolist() == [-0.5]
    assert matched_gap([[0, 0, 2]], [-1], weights).tolist() == [-1.0]
    assert pair_agreement([[1, 0, 1]], weights).tolist() == [0.0]


def test_beyond_the_bound_p_is_never_above_the_level() -> None:
    """Few unequal groups: p passes small levels more than once."""
    rng, often = np.random.default_rng(0), 0
    margins = np.linspace(0, 1, 201)
    for _ in range(300):
        n = int(rng.integers(6, 40))
        found = guarded_mean(gap_sums(rng.choice([0, 0, 0, -1, 1 / 3, -1 / 3], n), np.r_[0, 1, rng.integers(0, n // 3, n - 2)]))
        bound = -found.bound(0.001)
        above = np.array([found.p(margin) for margin in margins]) > 0.001
        often += np.count_nonzero(np.diff(above)) > 1
        assert not above[margins > bound + 1 / 32].any()
        assert bound in (0.0, 1.0) or found.p(bound) == pytest.approx(0.001, rel=1e-6)
    assert often


NAN = math.nan


def alternative_annotator_test(
    labels: ArrayLike, judge: ArrayLike, groups: ArrayLike | None = None, rule: AnnotatorRule | None = None, **given: Any
) -> AlternativeAnnotatorTest:
    return alternative_annotator_tests([LabelledByAnnotators(labels, judge, groups, **given)], rule or AnnotatorRule())[0]


def advantage_test(d: ArrayLike, epsilon: float, groups: ArrayLike | None = None) -> AdvantageTest:
    return advantage_tests([AnnotatorDifferences(np.asarray(d, np.float64), groups, groups)], epsilon)[0]


def by_hand(labels: Floats, judge: Floats, scoring: Scoring) -> list[list[int]]:
    """d of every annotator, item by item, with scores as they are defined; labels are such that no tie depends on rounding."""
    found = []
    for h in range(labels.shape[1]):
        d = []
        for row, score in zip(labels, judge, strict=True):
            others = [x for o, x in enumerate(row) if o != h and not math.isnan(x)]
            if math.isnan(row[h]) or not others:
                continue
            s_human, s_judge = (_score(x, others, scoring) for x in (row[h], score))
            d.append(1 if math.isnan(score) else int(s_human >= s_judge) - int(s_judge >= s_human))
        found.append(d)
    return found


def _score(x: float, others: list[float], scoring: Scoring) -> float:
    if scoring == "accuracy":
        return sum(x == other for other in others) / len(others)
    return -math.sqrt(sum((x - other) ** 2 for other in others) / len(others))


@pytest.mark.parametrize("scoring", ["accuracy", "neg_rmse"])
def test_differences_by_hand(scoring: Scoring) -> None:
    rng = np.random.default_rng(4)
    labels, judge = rng.integers(0, 4, (80, 4)).astype(float), rng.integers(0, 4, 80).astype(float)
    labels[rng.random((80, 4)) < 0.2] = NAN
    judge[rng.random(80) < 0.1] = NAN
    found = alternative_annotator_test(labels, judge, rule=AnnotatorRule(min_items=1), scoring=scoring)
    for one, d in zip(found.annotators, by_hand(labels, judge, scoring), strict=True):
        assert one.test is not None
        assert (one.n, one.human_better, one.judge_better) == (len(d), d.count(1), d.count(-1))
        published = scipy_stats.ttest_1samp(d, 0.2, alternative="less")
        assert one.test.t == pytest.approx(published.statistic) and one.test.p_published == pytest.approx(published.pvalue)
        assert one.rho_judge == pytest.approx(np.mean([x <= 0 for x in d])) and one.rho_human == pytest.approx(np.mean([x >= 0 for x in d]))
    assert found.rho == pytest.approx(np.mean([one.rho_judge for one in found.annotators]))


def test_a_judge_that_refuses_loses() -> None:
    labels = np.tile([[0, 0, 1], [1, 1, 1], [1, 0, 1]], (20, 1))
    judge = np.tile([0.0, 1.0, NAN], 20)
    strict = alternative_annotator_test(labels, judge, rule=AnnotatorRule(epsilon=0.1))
    lenient = alternative_annotator_test(labels, judge, rule=AnnotatorRule(epsilon=0.1, failures_lose=False))
    assert [one.n for one in strict.annotators] == [60, 60, 60] and [one.n for one in lenient.annotators] == [40, 40, 40]
    assert all(one.human_better >= 20 for one in strict.annotators) and strict.rho < lenient.rho
    assert strict.omega < lenient.omega == 1 and lenient.passed and not strict.passed


def test_missing_class_codes_may_be_negative() -> None:
    labels = np.array([[0, -1, 0], [1, 1, -1], [0, 1, 1]] * 15)
    gaps = np.where(labels < 0, NAN, labels)
    judge = np.array([0, 1, -1] * 15)
    assert alternative_annotator_test(labels, judge) == alternative_annotator_test(gaps, np.where(judge < 0, NAN, judge))


def test_negative_numbers_are_numbers_where_scores_are_compared() -> None:
    labels, judge = np.tile([[-1.0, 0.0, 1.0]], (40, 1)), np.tile([-1.0, 0.0], 20)
    assert [one.n for one in alternative_annotator_test(labels, judge, scoring="neg_rmse").annotators] == [40, 40, 40]


def test_ties_of_thirds_are_ties() -> None:
    """Mean scores in thirds: the judge and the first annotator are equally far from the others, whatever rounding says."""
    labels = np.tile([[2 / 3, 1 / 3, 1.0]], (40, 1))
    found = alternative_annotator_test(labels, np.full(40, 1 - 1 / 3), scoring="neg_rmse")
    assert (found.annotators[0].human_better, found.annotators[0].judge_better) == (0, 0)


def test_annotators_with_few_items_are_not_tested() -> None:
    labels = np.full((60, 3), 1.0)
    labels[29:, 2] = NAN
    found = alternative_annotator_test(labels, np.r_[np.ones(50), np.zeros(10)])
    assert found.tested == 2 and found.annotators[2].test is None and found.annotators[2].reason == "fewer than 30 items"
    assert math.isnan(found.annotators[2].p_adjusted) and not found.annotators[2].rejected


def test_nobody_to_test() -> None:
    for labels, judge in (
        (np.empty((0, 3)), np.empty(0)),
        (np.full((50, 1), 1.0), np.ones(50)),
        (np.full((50, 2), NAN), np.ones(50)),
        (np.empty((50, 0)), np.ones(50)),
    ):
        found = alternative_annotator_test(labels, judge)
        assert math.isnan(found.omega) and math.isnan(found.rho) and found.passed is None and found.reason == "no annotator could be tested"


def test_shapes_and_ranges() -> None:
    with pytest.raises(ShapeError):
        alternative_annotator_test(np.ones((3, 2)), np.ones(4))
    with pytest.raises(ShapeError):
        alternative_annotator_test(np.ones(3), np.ones(3))
    with pytest.raises(ShapeError):
        alternative_annotator_test(np.ones((3, 2)), np.ones(3), groups=[1, 2])
    with pytest.raises(ValueError, match="epsilon"):
        advantage_test([0, 1], 1.0)


def test_one_group_says_nothing() -> None:
    found = alternative_annotator_test(np.ones((40, 3)), np.ones(40), groups=np.zeros(40))
    assert found.tested == 0 and found.annotators[0].reason == "fewer than two groups"


@pytest.mark.parametrize(("constant", "p"), [(0, 0.9**40), (-1, 0.9**40)])
def test_no_variation(constant: int, p: float) -> None:
    found = advantage_test([constant] * 40, 0.1)
    assert math.isnan(found.t) and math.isnan(found.p_published) and found.p == pytest.approx(p) and found.reason
    assert advantage_test([constant] * 40, 0.1, np.repeat(np.arange(10), 4)).p == pytest.approx(0.9**10)


def test_a_judge_that_always_loses_without_variation() -> None:
    found = advantage_test([1] * 40, 0.1)
    assert math.isnan(found.p_published) and found.p > 0.99
    balanced = advantage_test([1, -1] * 20, 0.1, np.repeat(np.arange(20), 2))  # items vary, groups do not
    assert math.isnan(balanced.p_published) and balanced.p == balanced.p_guarded


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=2, max_size=60), st.sampled_from([0.0, 0.1, 0.15, 0.2]))
def test_p_values(d: list[int], epsilon: float) -> None:
    found = advantage_test(d, epsilon)
    assert 0 <= found.p <= 1 and 0 <= found.p_guarded <= 1
    assert found.mean == pytest.approx(np.mean(d))
    reversed_order = advantage_test(d[::-1], epsilon)
    assert reversed_order.p == pytest.approx(found.p) and reversed_order.p_guarded == pytest.approx(found.p_guarded)


def rejection_rates(n: int, epsilon: float, judge_better: float) -> tuple[float, float]:
    """How often scipy's t-test and the guarded one reject at 5 % where the mean of d is epsilon: the sum over all pairs of counts."""
    p = (judge_better, epsilon + judge_better, 1 - epsilon - 2 * judge_better)
    published = guarded = 0.0
    for b in range(n + 1 if judge_better else 1):
        for c in range(n - b + 1):
            chance = scipy_stats.multinomial.pmf((b, c, n - b - c), n, p)
            if chance < 1e-9:
                continue
            found = advantage_test(np.repeat([-1, 1, 0], (b, c, n - b - c)), epsilon)
            published += chance * (math.isnan(found.t) or found.p_published <= 0.05)  # scipy's p is 0 where all d are 0
            guarded += chance * (found.p_guarded <= 0.05)
    return published, guarded


@pytest.mark.parametrize(
    ("epsilon", "n", "size"), [(0.1, 30, 0.184), (0.1, 100, 0.117), (0.1, 200, 0.093), (0.2, 30, 0.123), (0.2, 100, 0.080)]
)
def test_size_where_the_judge_never_wins(epsilon: float, n: int, size: float) -> None:
    """The t-test rejects too easily there; sizes as enumerated elsewhere."""
    published, guarded = rejection_rates(n, epsilon, 0.0)
    assert published == pytest.approx(size, abs=6e-4) and guarded <= 0.05


@pytest.mark.parametrize(("judge_better", "size"), [(0.05, 0.075), (0.15, 0.050)])
def test_size_where_the_judge_sometimes_wins(judge_better: float, size: float) -> None:
    published, guarded = rejection_rates(30, 0.1, judge_better)
    assert published == pytest.approx(size, abs=6e-4) and guarded <= 0.05


def test_a_constant_judge_passes_where_one_class_is_frequent() -> None:
    """Three annotators report the true class with .8 and else draw from the shares .1 and .9: 86 % passed elsewhere (1,000 runs)."""
    rng, shares = np.random.default_rng(11), (0.1, 0.9)
    passed = []
    for _ in range(150):
        truth, guess = rng.choice(2, (200, 1), p=shares), rng.choice(2, (200, 3), p=shares)
        labels = np.where(rng.random((200, 3)) < 0.8, truth, guess)
        passed.append(bool(alternative_annotator_test(labels, np.ones(200), rule=AnnotatorRule(epsilon=0.1)).passed))
    assert abs(np.mean(passed) - 0.86) < 3 * math.sqrt(0.86 * 0.14 / 150)


def test_published_and_guarded_test_at_once() -> None:
    rng = np.random.default_rng(5)
    labels, judge, groups = rng.integers(0, 3, (90, 3)), rng.integers(0, 3, 90), rng.integers(0, 30, 90)
    both = alternative_annotator_test(labels, judge, guarded_groups=groups)
    published, guarded = alternative_annotator_test(labels, judge), alternative_annotator_test(labels, judge, groups)
    assert (both.omega, both.omega_guarded) == (published.omega, guarded.omega_guarded)
    assert [one.p_adjusted for one in both.annotators] == [one.p_adjusted for one in published.annotators]
    assert [one.p_guarded_adjusted for one in both.annotators] == [one.p_guarded_adjusted for one in guarded.annotators]


def test_one_group_has_no_guarded_share() -> None:
    found = alternative_annotator_test([[0, 0, 1], [1, 1, 1]] * 20, [0, 1] * 20, guarded_groups=[0] * 40)
    assert not math.isnan(found.omega)
    assert math.isnan(found.omega_guarded)


def test_a_cell_does_not_depend_on_those_tested_at_once() -> None:
    rng = np.random.default_rng(0)
    scorings: tuple[Scoring, ...] = ("accuracy", "neg_rmse")
    cells = []
    for people in (2, 3, 4, 1) * 3:
        labels, judge = rng.integers(0, 3, (80, people)).astype(float), rng.integers(0, 3, 80).astype(float)
        labels[rng.random(labels.shape) < 0.4], judge[rng.random(80) < 0.1] = math.nan, math.nan  # some have fewer than 30 items
        cells.append(LabelledByAnnotators(labels, judge, None, np.arange(80) // 2, scorings[people % 2]))
    alone = [alternative_annotator_tests([one], AnnotatorRule())[0] for one in cells]
    assert repr(alternative_annotator_tests(cells, AnnotatorRule())) == repr(alone)
    assert len({found.tested for found in alone}) > 2
