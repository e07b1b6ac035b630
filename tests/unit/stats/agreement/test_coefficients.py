""" """

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_statsmodels

from harness.stats import cohen_kappa, count_classes, fleiss_kappa, gwet_ac, weighted_f1
from harness.stats.agreement.coefficients import f1_of_pairs, fleiss_with_aggregate, human_weighted_f1
from harness.stats.core.arrays import ShapeError
from harness.stats.core.statistic import estimate_judge
from tests.unit.stats import brute

RNG = np.random.default_rng(9)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("weights", ["identity", "linear", "quadratic"])
def test_cohen_is_scikit_learns(k: int, weights: str) -> None:
    a, b = RNG.integers(0, k, 80), RNG.integers(0, k, 80)
    b = np.where(RNG.random(80) < 0.5, a, b)
    oracle = cohen_kappa_score(a, b, labels=range(k), weights=None if weights == "identity" else weights)
    assert cohen_kappa(a, b, k, weights).value == pytest.approx(oracle)  # type: ignore[arg-type]


def test_weights_are_of_the_scale_not_of_what_was_used() -> None:
    a, b = np.array([0, 4, 4, 0, 1]), np.array([0, 4, 1, 0, 1])  # classes 2 and 3 are never used
    assert cohen_kappa(a, b, 5, "quadratic").value == pytest.approx(cohen_kappa_score(a, b, labels=range(5), weights="quadratic"))
    assert cohen_kappa(a, b, 5, "quadratic").value != pytest.approx(cohen_kappa_score(a, b, weights="quadratic"))


def test_fleiss_is_statsmodels() -> None:
    labels = RNG.integers(0, 4, (90, 5))
    assert fleiss_kappa(labels, 4).value == pytest.approx(fleiss_of_statsmodels(count_classes(labels, 4)))


def test_fleiss_takes_each_items_own_number_of_raters() -> None:
    labels = RNG.integers(-1, 3, (90, 4))
    found = fleiss_kappa(labels, 3)
    assert found.value == pytest.approx(brute.fleiss(labels.tolist(), 3))
    assert found.n == ((labels >= 0).sum(axis=1) >= 2).sum()


def test_missing_labels_leave_the_item_out() -> None:
    assert cohen_kappa([0, 1, 1, -1, 0], [0, 1, 0, 1, math.nan], 2) == cohen_kappa([0, 1, 1], [0, 1, 0], 2)


def test_constant_raters_have_no_kappa_but_one_constant_rater_has_zero() -> None:
    both = cohen_kappa([1, 1, 1], [1, 1, 1], 3)
    assert math.isnan(both.value) and both.n == 3 and both.reason == "constant raters"
    assert cohen_kappa([1, 1, 1], [1, 0, 1], 3) == (0.0, 3, None)
    assert cohen_kappa([1, 1], [0, 0], 3).value == 0.0
    assert fleiss_kappa([[2, 2], [2, 2]], 3).reason == "constant raters"
    assert cohen_kappa([], [], 3).reason == "no overlap"


@pytest.mark.parametrize("k", [2, 4])
def test_fleiss_with_the_aggregate_is_statsmodels_of_two_raters(k: int) -> None:
    reference = RNG.integers(0, k, 120)
    judge = np.where(RNG.random(120) < 0.5, reference, RNG.integers(0, k, 120))
    found = estimate_judge(fleiss_with_aggregate(), judge, np.stack([reference] * 3, axis=1), k)
    assert found.n == 120 and found.value == pytest.approx(fleiss_of_statsmodels(count_classes(np.stack([reference, judge], axis=1), k)))


def test_fleiss_with_the_aggregate_is_undefined_where_both_are_constant() -> None:
    assert estimate_judge(fleiss_with_aggregate(), [0, 0], [[0, 0], [0, 0]], 2).reason == "constant raters"
    assert estimate_judge(fleiss_with_aggregate(), [-1, 0], [[0, 0], [0, 1]], 2).reason == "no overlap"


def test_ac1_by_hand() -> None:
    # two raters: pa = .75, pi_1 = 5/8, pe = 2 (5/8)(3/8) = .46875
    assert gwet_ac([[0, 0], [0, 0], [0, 1], [1, 1]], 2).value == pytest.approx((0.75 - 0.46875) / (1 - 0.46875))


def test_a_class_nobody_used_counts() -> None:
    labels = RNG.integers(0, 2, (50, 3))
    assert gwet_ac(labels, 2).value != gwet_ac(labels, 3).value
    assert gwet_ac(labels, 2, "quadratic").value == pytest.approx(gwet_ac(labels, 2).value)


def test_constant_raters_agree() -> None:
    assert gwet_ac([[1, 1], [1, 1]], 3) == (1.0, 2, None)


def test_gwet_undefined() -> None:
    assert gwet_ac([[1, -1]], 3).reason == "no item with two annotators"
    assert gwet_ac([[0, 0]], 1).reason == "constant raters"


@pytest.mark.parametrize("k", [2, 4])
def test_f1_is_scikit_learns(k: int) -> None:
    reference, judge = RNG.integers(0, k, 70), RNG.integers(0, k - 1, 70)  # the judge never says the last class
    oracle = f1_score(reference, judge, labels=range(k), average="weighted", zero_division=0)
    assert weighted_f1(judge, reference[:, None], k).value == pytest.approx(oracle)


def test_weighted_f1_undefined() -> None:
    assert weighted_f1([-1], [[0]], 2).reason == "no overlap"
    assert weighted_f1([0, 0], [[1], [1]], 2) == (0.0, 2, None)


def test_f1_of_people_is_the_mean_of_scikit_learns_over_ordered_pairs() -> None:
    labels = RNG.integers(0, 3, (60, 4))
    labels[RNG.random((60, 4)) < 0.3] = -1
    oracle = []
    for a in range(4):
        for b in range(4):
            both = (labels[:, a] >= 0) & (labels[:, b] >= 0)
            if a != b:
                oracle.append(f1_score(labels[both, a], labels[both, b], labels=range(3), average="weighted", zero_division=0))
    found = human_weighted_f1(labels, 3)
    assert found.value == pytest.approx(np.mean(oracle)) and found.n == ((labels >= 0).sum(axis=1) >= 2).sum()


def test_people_that_share_no_item_have_no_f1() -> None:
    assert human_weighted_f1([[0, -1], [-1, 1]], 2).reason == human_weighted_f1(np.empty((0, 2)), 2).reason == "no item with two annotators"
    with pytest.raises(ShapeError):
        f1_of_pairs([0, 0], [0], [1, 1])
