from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_statsmodels

from harness.stats import (
    cohen_kappa,
    count_classes,
    estimate,
    fleiss_kappa,
    gwet_ac,
    human_all_agree,
    human_loo,
    human_pa,
    judge_loo,
    krippendorff_alpha,
    krippendorff_alpha_interval,
    pa,
    pa_failed_wrong,
    pa_pairwise,
    tabulate,
    weighted_f1,
)
from harness.stats.agreement.agreement import f1_of_pairs, fleiss_with_aggregate, gap, human_weighted_f1, share_left_out, share_of_pairs
from harness.stats.core.arrays import ShapeError
from harness.stats.core.statistic import estimate_judge
from tests.unit.stats import brute
from tests.unit.stats.simulate import Setting, draw

RNG = np.random.default_rng(7)


@pytest.mark.parametrize(("raters", "k"), [(2, 2), (3, 3), (4, 2), (5, 4)])
def test_definitions(raters: int, k: int) -> None:
    labels, judge = RNG.integers(-1, k, (120, raters)), RNG.integers(-1, k, 120)
    rows, scores = labels.tolist(), judge.tolist()
    assert human_pa(labels, k).value == pytest.approx(brute.human_pa(rows))
    assert human_all_agree(labels, k).value == pytest.approx(brute.all_agree(rows))
    assert human_loo(labels, k).value == pytest.approx(brute.loo(None, rows))
    assert judge_loo(judge, labels, k).value == pytest.approx(brute.loo(scores, rows))
    assert pa_pairwise(judge, labels, k).value == pytest.approx(brute.pa_pairwise(scores, rows))
    for rule in ("drop", "median", "strict"):
        assert pa(judge, labels, k, rule).value == pytest.approx(brute.pa(scores, rows, rule))  # type: ignore[arg-type]
        failed_wrong = pa_failed_wrong(judge, labels, k, rule).value  # type: ignore[arg-type]
        assert failed_wrong == pytest.approx(brute.pa(scores, rows, rule, failed_wrong=True))


def test_refusing_does_not_pay() -> None:
    labels = [[0, 0, 0]] * 4
    assert pa([0, -1, -1, 1], labels, 2) == (0.5, 2, None)
    assert pa_failed_wrong([0, -1, -1, 1], labels, 2) == (0.25, 4, None)


def test_strict_counts_items_without_majority_as_disagreement() -> None:
    labels = [[0, 1], [1, 1]]
    assert pa([0, 1], labels, 2) == (1.0, 1, None)
    assert pa([0, 1], labels, 2, "strict") == (0.5, 2, None)


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (pa([-1, -1], [[0, 0], [1, 1]], 2), "no overlap"),
        (pa_failed_wrong([0], [[0, 1]], 2), "no reference"),
        (human_pa([[0, -1], [1, -1]], 2), "no item with two annotators"),
        (human_loo([[0], [1]], 2), "no item with two annotators"),
        (human_all_agree(np.empty((0, 3)), 2), "no item with two annotators"),
        (pa_pairwise([-1], [[0, 1]], 2), "no item with two annotators and a readable score"),
        (judge_loo([0], [[0, -1]], 2), "no item with two annotators and a readable score"),
    ],
)
def test_undefined_is_nan_with_a_reason(found: tuple[float, int, str], reason: str) -> None:
    assert math.isnan(found[0]) and found[1] == 0 and found[2] == reason


def test_halves_of_a_pair_rest_on_the_same_items() -> None:
    labels, judge = [[0, 0], [0, 1], [1, 1]], [0, 0, -1]
    rows = tabulate(count_classes(labels, 2), judge)
    found = estimate([share_of_pairs("human", 0), share_of_pairs("judge", 0), gap("pairwise")], rows)
    assert [e.n[0] for e in found.values()] == [2, 2, 2]
    assert found["human_pa"].value[0] == 0.5 and found["pa_pairwise"].value[0] == 0.75
    assert found["pairwise_gap"].value[0] == 0.25
    assert human_pa(labels, 2).n == 3


def test_matched_pairs_have_one_expectation_for_an_exchangeable_judge() -> None:
    setting = Setting("exchangeable", 400, 5, concentration=6.0, exchangeable=True, missing=0.2)
    labels, judge, _, _ = draw(setting, 100, seed=11)
    rows = tabulate(count_classes(labels, 3), judge)
    pairs = [
        share_of_pairs("human", 0),
        share_of_pairs("judge", 0),
        share_left_out("human", 0),
        share_left_out("judge", 0),
    ]
    found = estimate(pairs, rows)
    assert found["pa_pairwise"].value[0] == pytest.approx(found["human_pa"].value[0], abs=0.003)
    assert found["judge_loo"].value[0] == pytest.approx(found["human_loo"].value[0], abs=0.003)


COEFFICIENTS_RNG = np.random.default_rng(9)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("weights", ["identity", "linear", "quadratic"])
def test_cohen_is_scikit_learns(k: int, weights: str) -> None:
    a, b = COEFFICIENTS_RNG.integers(0, k, 80), COEFFICIENTS_RNG.integers(0, k, 80)
    b = np.where(COEFFICIENTS_RNG.random(80) < 0.5, a, b)
    oracle = cohen_kappa_score(a, b, labels=range(k), weights=None if weights == "identity" else weights)
    assert cohen_kappa(a, b, k, weights).value == pytest.approx(oracle)  # type: ignore[arg-type]


def test_weights_are_of_the_scale_not_of_what_was_used() -> None:
    a, b = np.array([0, 4, 4, 0, 1]), np.array([0, 4, 1, 0, 1])  # classes 2 and 3 are never used
    assert cohen_kappa(a, b, 5, "quadratic").value == pytest.approx(cohen_kappa_score(a, b, labels=range(5), weights="quadratic"))
    assert cohen_kappa(a, b, 5, "quadratic").value != pytest.approx(cohen_kappa_score(a, b, weights="quadratic"))


def test_fleiss_is_statsmodels() -> None:
    labels = COEFFICIENTS_RNG.integers(0, 4, (90, 5))
    assert fleiss_kappa(labels, 4).value == pytest.approx(fleiss_of_statsmodels(count_classes(labels, 4)))


def test_fleiss_takes_each_items_own_number_of_raters() -> None:
    labels = COEFFICIENTS_RNG.integers(-1, 3, (90, 4))
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
    reference = COEFFICIENTS_RNG.integers(0, k, 120)
    judge = np.where(COEFFICIENTS_RNG.random(120) < 0.5, reference, COEFFICIENTS_RNG.integers(0, k, 120))
    found = estimate_judge(fleiss_with_aggregate(), judge, np.stack([reference] * 3, axis=1), k)
    assert found.n == 120 and found.value == pytest.approx(fleiss_of_statsmodels(count_classes(np.stack([reference, judge], axis=1), k)))


def test_fleiss_with_the_aggregate_is_undefined_where_both_are_constant() -> None:
    assert estimate_judge(fleiss_with_aggregate(), [0, 0], [[0, 0], [0, 0]], 2).reason == "constant raters"
    assert estimate_judge(fleiss_with_aggregate(), [-1, 0], [[0, 0], [0, 1]], 2).reason == "no overlap"


def test_ac1_by_hand() -> None:
    # two raters: pa = .75, pi_1 = 5/8, pe = 2 (5/8)(3/8) = .46875
    assert gwet_ac([[0, 0], [0, 0], [0, 1], [1, 1]], 2).value == pytest.approx((0.75 - 0.46875) / (1 - 0.46875))


def test_a_class_nobody_used_counts() -> None:
    labels = COEFFICIENTS_RNG.integers(0, 2, (50, 3))
    assert gwet_ac(labels, 2).value != gwet_ac(labels, 3).value
    assert gwet_ac(labels, 2, "quadratic").value == pytest.approx(gwet_ac(labels, 2).value)


def test_constant_raters_agree() -> None:
    assert gwet_ac([[1, 1], [1, 1]], 3) == (1.0, 2, None)


def test_gwet_undefined() -> None:
    assert gwet_ac([[1, -1]], 3).reason == "no item with two annotators"
    assert gwet_ac([[0, 0]], 1).reason == "constant raters"


@pytest.mark.parametrize("k", [2, 4])
def test_f1_is_scikit_learns(k: int) -> None:
    reference, judge = COEFFICIENTS_RNG.integers(0, k, 70), COEFFICIENTS_RNG.integers(0, k - 1, 70)  # the judge never says the last class
    oracle = f1_score(reference, judge, labels=range(k), average="weighted", zero_division=0)
    assert weighted_f1(judge, reference[:, None], k).value == pytest.approx(oracle)


def test_weighted_f1_undefined() -> None:
    assert weighted_f1([-1], [[0]], 2).reason == "no overlap"
    assert weighted_f1([0, 0], [[1], [1]], 2) == (0.0, 2, None)


def test_f1_of_people_is_the_mean_of_scikit_learns_over_ordered_pairs() -> None:
    labels = COEFFICIENTS_RNG.integers(0, 3, (60, 4))
    labels[COEFFICIENTS_RNG.random((60, 4)) < 0.3] = -1
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


ALPHA_RNG = np.random.default_rng(10)


def by_pairs(labels: np.ndarray, distance: object) -> float:
    """Alpha from all pairs of values: within items, and among all pairable values."""
    items = [row[row >= 0] for row in labels if (row >= 0).sum() >= 2]
    values = np.concatenate(items)
    n = len(values)
    within = sum(
        distance(a, b) / (len(item) - 1)  # type: ignore[operator]
        for item in items
        for i, a in enumerate(item)
        for j, b in enumerate(item)
        if i != j
    )
    among = sum(distance(a, b) for i, a in enumerate(values) for j, b in enumerate(values) if i != j)  # type: ignore[operator]
    return 1 - (within / n) / (among / (n * (n - 1)))


@pytest.mark.parametrize("kind", ["nominal", "ordinal", "interval"])
def test_alpha_is_a_ratio_of_pairs(kind: str) -> None:
    labels = ALPHA_RNG.integers(-1, 4, (25, 4))
    values = np.array([0.0, 1.0, 3.0, 4.0])
    used = labels[(labels >= 0).sum(axis=1) >= 2]
    n = np.array([(used == c).sum() for c in range(4)])

    def ordinal(a: int, b: int) -> float:
        low, high = min(a, b), max(a, b)
        return float((n[low : high + 1].sum() - (n[a] + n[b]) / 2) ** 2)

    distance = {
        "nominal": lambda a, b: float(a != b),
        "interval": lambda a, b: (values[a] - values[b]) ** 2,
        "ordinal": ordinal,
    }[kind]
    found = krippendorff_alpha(labels, 4, kind, values)  # type: ignore[arg-type]
    assert found.value == pytest.approx(by_pairs(labels, distance))
    assert found.n == len(used)


def test_real_numbers_have_the_interval_alpha_of_their_classes() -> None:
    labels = ALPHA_RNG.integers(-1, 5, (40, 3))
    scores = np.where(labels < 0, np.nan, labels * 2.5 + 1e6)
    assert krippendorff_alpha_interval(scores).value == pytest.approx(krippendorff_alpha(labels, 5, "interval").value)


def test_undefined() -> None:
    assert krippendorff_alpha([[1, 1], [1, 1]], 3, "ordinal").reason == "constant raters"
    assert krippendorff_alpha([[1, -1], [-1, 0]], 3, "nominal").reason == "no item with two annotators"
    assert krippendorff_alpha_interval([[1.5, 1.5], [1.5, 1.5]]).reason == "constant raters"
    assert math.isnan(krippendorff_alpha_interval([[1.5, math.nan]]).value)
    with pytest.raises(ShapeError):
        krippendorff_alpha_interval([1.0, 2.0])
