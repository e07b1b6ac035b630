"""Corrected shares: identities, refusals, and the coverage of the intervals by simulation with known truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from harness.stats.core.arrays import ShapeError
from harness.stats.estimation.misclassification import (
    INDISTINCT,
    corrected_shares,
    nearest_shares,
    rogan_gladen,
)


def test_a_perfect_judge_needs_no_correction() -> None:
    found = rogan_gladen(300, 1000, 50, 50, 40, 40)
    assert found.value == pytest.approx(found.apparent) and found.refusal is None and found.youden_error == 0
    assert found.error == pytest.approx(math.sqrt(0.3 * 0.7 / 1000))
    shares = corrected_shares(np.diag([30, 30, 40]), [100, 200, 300])
    assert shares.value == pytest.approx([1 / 6, 1 / 3, 1 / 2]) and shares.condition == 1 and shares.refusal is None


@given(st.integers(0, 500), st.integers(0, 40), st.integers(0, 60))
def test_intervals_lie_in_range(judged: int, right_0: int, right_1: int) -> None:
    found = rogan_gladen(judged, 500, right_0, 40, right_1, 60)
    for lo, hi in (found.fieller, found.lee):
        assert 0 <= lo <= hi <= 1
    assert (found.refusal is None) == (found.youden > 0 and found.youden >= 1.96 * found.youden_error)
    if found.reason is None:
        assert 0 <= found.value <= 1


@given(st.integers(1, 499), st.integers(25, 40), st.integers(35, 60))
def test_two_classes_are_rogan_and_gladen(judged: int, right_0: int, right_1: int) -> None:
    one = rogan_gladen(judged, 500, right_0, 40, right_1, 60)
    both = corrected_shares([[right_0, 40 - right_0], [60 - right_1, right_1]], [500 - judged, judged], resamples=20)
    assert both.value[1] == pytest.approx(one.value_raw) and both.error[1] == pytest.approx(one.error)
    assert both.projected == pytest.approx([1 - one.value, one.value])


def test_exchanging_the_classes_mirrors_the_intervals() -> None:
    one, other = rogan_gladen(120, 500, 30, 40, 50, 60), rogan_gladen(380, 500, 50, 60, 30, 40)
    assert other.value == pytest.approx(1 - one.value) and other.error == pytest.approx(one.error)
    assert other.fieller == pytest.approx((1 - one.fieller[1], 1 - one.fieller[0]))
    assert other.lee == pytest.approx((1 - one.lee[1], 1 - one.lee[0]))


def test_refusals() -> None:
    useless = rogan_gladen(200, 400, 30, 50, 28, 50)
    assert useless.refusal == INDISTINCT and useless.warning and useless.fieller == (0.0, 1.0)
    guessing = rogan_gladen(200, 400, 25, 50, 25, 50)
    assert guessing.refusal == INDISTINCT and guessing.reason == "Youden's index is 0" and math.isnan(guessing.value)
    worse = rogan_gladen(200, 400, 5, 50, 5, 50)
    assert worse.refusal == INDISTINCT and worse.fieller == worse.lee == (0.0, 1.0)
    weak = rogan_gladen(2000, 4000, 600, 1000, 650, 1000)
    assert weak.refusal is None and weak.warning


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ((0, 0, 5, 10, 5, 10), "no judged"),
        ((1, 2, 0, 0, 5, 10), "no labels of the negative"),
        ((1, 2, 1, 2, 0, 0), "no labels of the positive"),
    ],
)
def test_undefined(counts: tuple[int, ...], reason: str) -> None:
    found = rogan_gladen(*counts)
    assert math.isnan(found.value) and all(map(math.isnan, found.fieller)) and found.reason is not None and reason in found.reason


def test_impossible_counts() -> None:
    with pytest.raises(ValueError, match="judged"):
        rogan_gladen(5, 4, 1, 2, 1, 2)
    with pytest.raises(ValueError, match="0 or more"):
        corrected_shares([[1, -1], [0, 1]], [1, 1])
    with pytest.raises(ShapeError):
        corrected_shares([[1, 1, 1], [0, 1, 1]], [1, 1])


def test_classes_that_the_judge_confuses() -> None:
    """Classes 1 and 2 get the same answers: the matrix is singular in truth, and the sample hides it."""
    refused = corrected_shares([[30, 2, 3], [3, 14, 13], [2, 13, 15]], [300, 200, 250])
    assert refused.refusal == INDISTINCT and not np.isnan(refused.value).any()
    singular = corrected_shares([[30, 0, 0], [0, 10, 10], [0, 10, 10]], [300, 200, 250])
    assert np.isnan(singular.value).all() and singular.reason and singular.refusal == INDISTINCT
    missing = corrected_shares([[30, 1, 2], [0, 0, 0], [1, 2, 30]], [300, 200, 250])
    assert np.isnan(missing.value).all() and missing.reason == "no labels of class 1"
    assert corrected_shares(np.eye(2) * 9, [0, 0]).reason == "no judged items"


def test_the_bootstrap_is_seeded() -> None:
    counts, judged = [[30, 5, 3], [3, 24, 8], [2, 6, 25]], [300, 200, 250]
    assert corrected_shares(counts, judged).singular_error == corrected_shares(counts, judged).singular_error
    assert corrected_shares(counts, judged).singular_error != corrected_shares(counts, judged, seed=1).singular_error


@given(st.lists(st.floats(-2, 2), min_size=2, max_size=5))
def test_projection(value: list[float]) -> None:
    found = nearest_shares(value)
    assert found.min() >= 0 and found.sum() == pytest.approx(1)
    given_shares = np.array(value)
    corners = np.eye(len(value))
    assert ((found - given_shares) @ (corners - found).T >= -1e-9).all()  # no corner lies nearer in direction


def test_projection_by_search() -> None:
    value = np.array([0.9, 0.35, -0.25])
    bounds, total = [(0, 1)] * 3, {"type": "eq", "fun": lambda x: x.sum() - 1}
    wanted = minimize(lambda x: ((x - value) ** 2).sum(), [1 / 3] * 3, bounds=bounds, constraints=total).x
    assert nearest_shares(value) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(("calibration", "target", "n", "total"), [(0.7, 0.7, 60, 600), (0.7, 0.4, 200, 2000), (0.5, 0.9, 60, 600)])
def test_coverage_under_a_shift_of_prevalence(calibration: float, target: float, n: int, total: int) -> None:
    """Specificity .8, sensitivity .9: Fieller's and Lee's intervals keep 95 to 97 %, whatever the prevalence of the target."""
    rng, runs = np.random.default_rng(21), 2000
    covered = []
    for _ in range(runs):
        m1 = int(rng.binomial(n, calibration))
        judged = int(rng.binomial(total, 0.9 * target + 0.2 * (1 - target)))
        found = rogan_gladen(judged, total, int(rng.binomial(n - m1, 0.8)), n - m1, int(rng.binomial(m1, 0.9)), m1)
        covered.append([lo <= target <= hi for lo, hi in (found.fieller, found.lee)])
    fieller, lee = np.mean(covered, axis=0)
    error = 3 * math.sqrt(0.05 * 0.95 / runs)
    assert 0.95 - error < fieller < 0.97 + error and 0.95 - error < lee < 0.97 + error


def test_few_labels_of_a_class_are_refused() -> None:
    found = corrected_shares([[28, 1, 1], [1, 40, 1], [2, 2, 25]], [300, 200, 250])
    assert found.refusal == "each class needs 30 labels, and there are 29 of '2'" and found.reason is None


@pytest.mark.slow
@pytest.mark.parametrize(("right", "shares"), [(0.9, (0.1, 0.2, 0.7)), (0.8, (0.15, 0.25, 0.6)), (0.7, (1 / 3, 1 / 3, 1 / 3))])
def test_intervals_of_three_classes_hold_the_truth_from_thirty_labels_each(right: float, shares: tuple[float, ...]) -> None:
    assert coverage(right, shares, 30, 400) > 0.93 > 0.92 > coverage(0.9, (0.1, 0.2, 0.7), 30, 400, published=True)


def coverage(right: float, shares: tuple[float, ...], labels: int, times: int, *, published: bool = False) -> float:
    """Of the share that the 95 % intervals hold least often; 500 judged items. `published`: with the error of the delta method."""
    rng, k = np.random.default_rng(1), len(shares)
    matrix = np.full((k, k), (1 - right) / (k - 1)) + np.eye(k) * (right - (1 - right) / (k - 1))
    held = []
    for _ in range(times):
        counts = np.stack([rng.multinomial(labels, row) for row in matrix])
        found = corrected_shares(counts, rng.multinomial(500, np.array(shares) @ matrix), resamples=20)
        if found.reason is None and (found.refusal is None or found.refusal.startswith("each class")):
            error = found.error if published else np.sqrt(np.diag(found.interval_covariance))
            held.append(np.abs(found.value - shares) <= 1.96 * error)
    return float(np.mean(held, axis=0).min())


def test_an_empty_cell_makes_an_interval_wider_than_the_delta_method() -> None:
    found = corrected_shares([[30, 0, 0], [0, 30, 0], [0, 0, 30]], [100, 200, 700])
    assert np.all(np.diag(found.interval_covariance) > 1.5 * found.error**2) and found.value.tolist() == pytest.approx([0.1, 0.2, 0.7])
    many = corrected_shares(np.array([[2700, 200, 100], [200, 2600, 200], [100, 300, 2600]]), [100, 200, 700])
    assert np.diag(many.interval_covariance) == pytest.approx(many.error**2, rel=0.02)
    level = corrected_shares([[1, 2], [3, 5]], [10, 10])  # one more label in every cell makes its rows proportional
    assert np.isnan(level.interval_covariance).all() and level.refusal is not None
