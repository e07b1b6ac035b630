"""Gap, Cox's line, losses and skill: against other packages and by construction; undefined cases have no number."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from sklearn.metrics import brier_score_loss
from sklearn.metrics import log_loss as log_loss_of_sklearn

from harness.stats.core.arrays import ShapeError
from harness.stats.estimation.calibration import (
    frequencies_elsewhere,
    least_brier,
    log_losses,
    next_person,
    skill,
    squared_calibration_error,
)
from harness.stats.estimation.map_quality import brier_losses
from harness.stats.estimation.probability_tests import calibration_tests, confidence_gap, cox_line, refit, texts_needed


def answers(n: int = 600, seed: int = 0, power: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Confidences, rightness with the probability confidence ** power, and groups of three."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.4, 0.99, n)
    return p, (rng.random(n) < p**power).astype(float), np.arange(n) // 3


def test_the_gap_of_single_answers_has_the_exact_binomial_test() -> None:
    right = np.r_[np.ones(180), np.zeros(20)]
    found = confidence_gap(np.full(200, 0.93), right, np.arange(200))
    assert found.gap == pytest.approx(0.03)
    assert found.p_below(0.05) == pytest.approx(stats.binomtest(180, 200, 0.88, alternative="greater").pvalue, abs=1e-6)
    assert found.p_above(-0.05) == pytest.approx(stats.binomtest(180, 200, 0.98, alternative="less").pvalue, abs=1e-6)
    assert found.p_within(0.05) == max(found.p_below(0.05), found.p_above(-0.05))


def test_groups_that_are_right_together_count_for_less() -> None:
    right = np.repeat(np.r_[np.ones(36), np.zeros(4)], 5)
    single = confidence_gap(np.full(200, 0.9), right, np.arange(200))
    grouped = confidence_gap(np.full(200, 0.9), right, np.arange(200) // 5)
    assert grouped.gap == single.gap and grouped.p_within(0.05) > 4 * single.p_within(0.05)
    assert grouped.mean.error > 2 * single.mean.error


def test_a_large_group_does_not_decide_alone() -> None:
    groups = np.r_[np.zeros(150), np.arange(1, 51)]
    right = np.r_[np.ones(150), np.ones(40), np.zeros(10)]
    found = confidence_gap(np.full(200, 0.95), right, groups)
    assert found.gap == pytest.approx(0) and len(found.samples) == 2 and found.p_within(0.05) > 0.5


def test_a_judge_without_a_wrong_answer_is_not_certain() -> None:
    found = confidence_gap(np.full(30, 0.97), np.ones(30), np.arange(30))
    assert found.p_below(0.05) == pytest.approx(0.92**30, rel=1e-6)


def test_no_answers_have_no_gap() -> None:
    found = confidence_gap([], [], [])
    assert math.isnan(found.gap) and math.isnan(found.p_within(0.05)) and found.samples == ()
    assert math.isnan(cox_line([], [], []).slope)


@pytest.mark.parametrize("power", [1.0, 3.0])
def test_coxs_line_is_the_logistic_regression_with_errors_by_group(power: float) -> None:
    p, y, groups = answers(power=power)
    model = sm.GLM(y, sm.add_constant(np.log(p / (1 - p))), family=sm.families.Binomial())
    other = model.fit(cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False})
    found = cox_line(p, y, groups)
    assert [found.intercept, found.slope] == pytest.approx(other.params.tolist(), abs=1e-6)
    assert found.error == pytest.approx(float(other.bse[1]) * math.sqrt(200 / 199), rel=1e-6)
    assert found.freedom == 199


def test_a_slope_far_from_one_is_shown_and_one_is_not() -> None:
    p, y, groups = answers(1500)
    rng = np.random.default_rng(1)
    extreme = (rng.random(len(p)) < 0.7).astype(float)
    assert cox_line(p, y, groups).p_outside > 0.1 and cox_line(p, extreme, groups).p_outside < 1e-6
    timid = (rng.random(len(p)) < 1 / (1 + ((1 - p) / p) ** 3)).astype(float)
    assert cox_line(p, timid, groups).p_outside < 1e-6


@pytest.mark.parametrize(("p", "y"), [([0.9] * 20, [1, 0] * 10), ([0.6, 0.9] * 10, [1] * 20), ([0.6, 0.9] * 10, [0, 1] * 10)])
def test_a_line_that_cannot_be_fitted_has_a_reason(p: list[float], y: list[int]) -> None:
    found = cox_line(p, y, range(20))
    assert math.isnan(found.slope) and math.isnan(found.p_outside) and found.reason and math.isnan(found.interval()[0])


def test_the_squared_error_of_single_answers_is_the_mean_product_of_pairs() -> None:
    p, y, _ = answers(60)
    found = squared_calibration_error(p, y, np.arange(60), bins=1)
    e = p - y
    pairs = [e[i] * e[j] for i in range(60) for j in range(60) if i != j]
    assert found.squared == pytest.approx(np.mean(pairs)) and found.bins == 1
    assert found.root == pytest.approx(math.copysign(math.sqrt(abs(found.squared)), found.squared))


def test_the_squared_error_leaves_out_pairs_of_one_group() -> None:
    p, y, groups = answers(60)
    found = squared_calibration_error(p, y, groups, bins=1)
    e = p - y
    pairs = [e[i] * e[j] for i in range(60) for j in range(60) if groups[i] != groups[j]]
    assert found.squared == pytest.approx(np.mean(pairs))
    assert found.ci[0] < found.squared < found.ci[1]


def test_a_calibrated_judge_has_no_error_on_average() -> None:
    rng = np.random.default_rng(0)
    squared, roots = [], []
    for _ in range(600):
        groups = rng.integers(0, 40, 100)
        p = rng.beta(6, 2, 100)
        found = squared_calibration_error(p, (rng.random(100) < p) * 1.0, groups)
        squared.append(found.squared)
        roots.append(found.root)
    assert abs(np.mean(squared)) < 0.001 and abs(np.mean(roots)) < 0.015


def test_few_groups_have_no_interval_and_one_group_no_error() -> None:
    p, y, _ = answers(30)
    assert math.isnan(squared_calibration_error(p, y, np.arange(30) % 5).ci[0])
    assert math.isnan(squared_calibration_error(p, y, np.zeros(30)).squared)
    assert squared_calibration_error([], [], []).bins == 0


def test_losses_are_those_of_scikit_learn() -> None:
    p, y, _ = answers(200)
    both, counts = np.column_stack([1 - p, p]), np.column_stack([1 - y, y])
    assert brier_losses(both, counts).mean() == pytest.approx(2 * brier_score_loss(y, p))
    assert log_losses(both, counts).mean() == pytest.approx(log_loss_of_sklearn(y, p))


def test_the_least_brier_is_that_of_the_true_shares() -> None:
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([1, 1, 1], 4000)
    counts = np.array([rng.multinomial(3, row) for row in shares])
    assert least_brier(counts).mean() == pytest.approx(brier_losses(shares, counts).mean(), abs=0.01)
    people, _ = next_person(counts, frequencies_elsewhere(counts, range(4000)))
    assert people.mean() > least_brier(counts).mean()


def test_frequencies_never_look_at_their_own_group() -> None:
    counts = np.array([[5, 0], [5, 0], [0, 5]])
    found = frequencies_elsewhere(counts, [0, 0, 1])
    assert found[0].tolist() == found[1].tolist() == pytest.approx([0.5 / 6, 5.5 / 6]) and found[2, 0] > 0.9


def test_frequencies_have_no_skill() -> None:
    rng = np.random.default_rng(0)
    counts = np.eye(2)[rng.integers(0, 2, 300)]
    base = frequencies_elsewhere(counts, np.arange(300) // 2)
    found = skill(brier_losses(base, counts), brier_losses(base, counts), np.arange(300) // 2)
    assert found.skill == pytest.approx(0) and found.ci == pytest.approx((0, 0))
    assert math.isnan(skill([], [], []).skill) and math.isnan(skill([0.0], [0.0], [0]).skill)
    with pytest.raises(ShapeError):
        skill([0.1], [0.1, 0.2], [0])


def test_a_refit_helps_where_confidence_says_something_and_not_where_it_says_nothing() -> None:
    p, y, groups = answers(900, power=4.0)
    folds = groups % 5
    found = refit(p, y, groups, folds, 0.05)
    assert found.tests.within < 0.01 and found.gain < 0.01 and found.reason is None and found.promising
    noise = (np.random.default_rng(1).random(900) < 0.6).astype(float)
    useless = refit(p, noise, groups, folds, 0.05)
    assert useless.tests.within < 0.05 and useless.gain > 0.05
    falling = refit(p, (np.random.default_rng(1).random(900) > p).astype(float), groups, folds, 0.05)
    assert falling.reason is not None and not falling.promising


def test_a_calibrated_judge_is_within_and_an_overconfident_one_beyond() -> None:
    p, y, groups = answers(2400)
    assert calibration_tests(p, y, groups, 0.05).within < 0.01 < calibration_tests(p, y, groups, 0.05).over
    wrong = (np.random.default_rng(1).random(2400) < p - 0.15).astype(float)
    found = calibration_tests(p, wrong, groups, 0.05)
    assert found.over < 1e-6 and found.within > 0.99 and found.under > 0.99


def test_more_labels_are_needed_the_nearer_the_gap_is_to_the_margin() -> None:
    near, far = texts_needed(100, 0.03, 0.02, 0.05, 0.05), texts_needed(100, 0.03, 0.0, 0.05, 0.05)
    assert near and far and near > 2 * far and texts_needed(100, math.nan, 0.0, 0.05, 0.05) is None
