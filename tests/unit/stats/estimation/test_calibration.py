"""Reliability curves, calibration errors and scores: against other libraries, at the edges, and by simulation.

Recalibration maps: against other libraries, at the edges, and the order of their errors by simulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.calibration import _sigmoid_calibration, calibration_curve
from sklearn.isotonic import IsotonicRegression

from harness.stats.core.arrays import ShapeError
from harness.stats.estimation import calibration as cal
from harness.stats.estimation.score_maps import isotonic_points
from harness.stats.intervals.regression import logistic

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


def test_isotonic_values_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(2)
    p, y = np.round(rng.random(150), 2), rng.integers(0, 2, 150)
    oracle = IsotonicRegression(out_of_bounds="clip").fit(p, y)
    assert isotonic_points(p, y)[1] == pytest.approx(oracle.predict(np.unique(p)))


def answers(n: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Confidences, the true share right at each, and what was right."""
    rng = np.random.default_rng(seed)
    p = rng.beta(3, 1.5, n)
    truth = logistic(0.5 * cal.logit(p) - 0.3)
    return p, truth, (rng.random(n) < truth) * 1


def test_softened_targets_are_those_of_scikit_learn() -> None:
    p, _, y = answers(150)
    a, b = _sigmoid_calibration(cal.logit(p), y)
    found = cal.fit_platt(p, y, softened=True)
    assert (found.slope, found.intercept) == pytest.approx((-a, -b), abs=1e-4)


@pytest.mark.parametrize(("p", "y"), [([0.2, 0.4, 0.9], [0, 0, 1]), ([0.2, 0.4, 0.9], [1, 1, 1]), ([0.9] * 4, [0, 1, 1, 1])])
def test_platt_is_finite_where_likelihood_has_no_maximum(p: list[float], y: list[int]) -> None:
    found = cal.fit_platt(p, y)
    assert np.isfinite([found.intercept, found.slope]).all()
    assert ((found(p) > 0) & (found(p) < 1)).all()


@given(st.lists(st.integers(0, 12), min_size=20, max_size=80), st.integers(2, 3))
def test_folds_keep_groups_together(groups: list[int], folds: int) -> None:
    if len(set(groups)) < folds:
        with pytest.raises(ValueError, match="folds"):
            cal.group_folds(groups, folds)
        return
    fold = cal.group_folds(groups, folds)
    assert set(fold.tolist()) == set(range(folds))
    assert all(len(set(fold[np.array(groups) == group].tolist())) == 1 for group in set(groups))


def test_the_answer_itself_is_not_learnt_from() -> None:
    p, _, y = answers(100)
    fold = np.arange(100) % 5
    other = y.copy()
    other[fold == 2] = 1 - other[fold == 2]
    assert cal.cross_fitted(p, y, fold)[fold == 2] == pytest.approx(cal.cross_fitted(p, other, fold)[fold == 2])


def test_platt_needs_the_fewest_labels() -> None:
    """The known mean squared distances from the true probability at 120 answers: raw .0242, isotonic .0107, Platt .0037."""
    fits: list[Callable[..., Any]] = [
        lambda *_: lambda p: p,
        lambda *fitted: lambda p: np.interp(p, *isotonic_points(*fitted)),
        cal.fit_platt,
    ]
    errors = np.zeros(3)
    new, truth, _ = answers(2000, seed=99)
    for seed in range(60):
        p, _, y = answers(120, seed)
        errors += [np.mean((fit(p, y)(new) - truth) ** 2) / 60 for fit in fits]
    assert errors == pytest.approx([0.0242, 0.0107, 0.0037], rel=0.3)


def test_input_of_recalibration_is_checked() -> None:
    with pytest.raises(ValueError, match="no answers"):
        cal.fit_platt([], [])
    with pytest.raises(ValueError, match="two folds"):
        cal.cross_fitted([0.5, 0.6], [0, 1], [0, 0])
    with pytest.raises(ShapeError):
        cal.cross_fitted([0.5, 0.6], [0, 1], [0])
