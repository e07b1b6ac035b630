"""Reliability curves, calibration errors and scores: against other libraries, at the edges, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression

from harness.stats.core.arrays import ShapeError
from harness.stats.estimation import calibration as cal
from harness.stats.estimation.number_map import isotonic_points

RNG = np.random.default_rng(3)
P = RNG.random(200)
Y = (RNG.random(200) < P**2) * 1


def test_the_curve_is_that_of_equal_mass_bins() -> None:
    share, mean = calibration_curve(Y, P, n_bins=10, strategy="quantile")
    curve = cal.reliability_curve(P, Y)
    assert curve.n.tolist() == [20] * 10
    assert curve.share == pytest.approx(share) and curve.confidence == pytest.approx(mean)


def test_scores_are_those_of_scikit_learn() -> None:
    assert cal.brier_score(P, Y) == pytest.approx(metrics.brier_score_loss(Y, P))
    assert cal.log_loss(P, Y) == pytest.approx(metrics.log_loss(Y, P))


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.2, 0.5, 0.5001, 0.9, 1.0]), st.integers(0, 1)), min_size=1, max_size=120))
def test_bins_hold_enough_and_keep_equal_confidences_together(answers: list[tuple[float, int]]) -> None:
    p, y = (np.array(column) for column in zip(*answers, strict=True))
    curve = cal.reliability_curve(p, y, 10)
    assert curve.n.sum() == len(p)
    assert len(curve.n) == 1 or curve.n.min() >= cal.MIN_BIN
    assert all(len(np.unique(curve.bin[p == value])) == 1 for value in np.unique(p))
    assert (np.diff(curve.confidence) > 0).all()
    error = cal.calibration_error(p, y)
    assert error.ece**2 <= error.squared + 1e-12
    assert error.debiased <= error.squared + 1e-12 if len(p) > 1 else np.isnan(error.debiased)


def test_distinct_values_are_bins_of_their_own() -> None:
    assert cal.reliability_curve([0.2, 0.8, 0.2], [0, 1, 1], None).n.tolist() == [2, 1]
    error = cal.calibration_error([0.2, 0.8, 0.2], [0, 1, 1], None)
    assert np.isnan(error.debiased) and error.reason and error.ece == pytest.approx(2 / 3 * 0.3 + 0.2 / 3)


def test_without_answers_nothing_is_defined() -> None:
    error = cal.calibration_error([], [])
    assert np.isnan([error.ece, error.squared, error.debiased, error.root, error.debiased_root]).all() and error.reason == "no answers"
    assert np.isnan(cal.brier_score([], [])) and np.isnan(cal.log_loss([], []))
    assert cal.debiased_interval([], [], []).reason == "no units" and np.isnan(cal.corp_decomposition([], []).score)


def test_a_constant_judge_has_one_bin() -> None:
    error = cal.calibration_error(np.full(40, 0.9), [1, 0] * 20)
    assert error.bins == 1 and error.ece == pytest.approx(0.4)


def test_input_is_checked() -> None:
    with pytest.raises(ShapeError):
        cal.brier_score([0.1, 0.2], [1])
    with pytest.raises(ValueError, match="confidence must lie"):
        cal.log_loss([1.2], [1])


def test_the_debiased_square_of_a_calibrated_judge_is_0_on_average() -> None:
    rng, errors = np.random.default_rng(5), []
    for _ in range(300):
        p = rng.beta(3, 1.5, 200)
        errors.append(cal.calibration_error(p, rng.random(200) < p))
    debiased = np.array([error.debiased for error in errors])
    assert abs(debiased.mean()) < 3 * debiased.std() / np.sqrt(300)
    assert np.mean([error.ece for error in errors]) == pytest.approx(0.076, abs=0.01)  # the plain error is not


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 4])
def test_the_interval_covers(size: int) -> None:
    rng, covered = np.random.default_rng(7), 0
    for seed in range(100):
        p = rng.beta(3, 1.5, 200)
        right = p**3
        curve = cal.reliability_curve(p, y := rng.random(200) < right)
        truth = curve.n / 200 @ (np.bincount(curve.bin, p - right) / curve.n) ** 2
        interval = cal.debiased_interval(p, y, np.arange(200) // size, resamples=300, seed=seed)
        covered += interval.lo <= truth <= interval.hi
    assert covered >= 88


def test_few_groups_have_no_interval() -> None:
    assert np.isnan(cal.debiased_interval(P, Y, np.arange(200) % 7).lo)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), min_size=1, max_size=60))
def test_corp_adds_up_and_its_parts_are_not_negative(cell: list[tuple[float, int]]) -> None:
    p, y = (np.array(column) for column in zip(*cell, strict=True))
    found = cal.corp_decomposition(p, y)
    assert found.miscalibration - found.discrimination + found.uncertainty == pytest.approx(cal.brier_score(p, y))
    assert min(found.miscalibration, found.discrimination, found.uncertainty) >= -1e-12


def test_isotonic_values_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(2)
    p, y = np.round(rng.random(150), 2), rng.integers(0, 2, 150)
    oracle = IsotonicRegression(out_of_bounds="clip").fit(p, y)
    assert isotonic_points(p, y)[1] == pytest.approx(oracle.predict(np.unique(p)))


def test_a_constant_confidence_does_not_discriminate() -> None:
    found = cal.corp_decomposition(np.full(20, 0.75), [1, 0, 1, 1] * 5)
    assert found.discrimination == pytest.approx(0) and found.miscalibration == pytest.approx(0)
