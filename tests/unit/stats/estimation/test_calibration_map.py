"""Maps recover what made the labels, show falling languages, and show no gain where scores carry nothing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from harness.stats.estimation.calibration_map import (
    _Fit,
    brier_losses,
    brier_parts,
    cross_fitted_map,
    fit_ordinal_map,
    gain_test,
    gap_best_worst,
)
from harness.stats.estimation.recalibration import group_folds


def _labels(rng: np.random.Generator, slopes: list[float], n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    language = np.repeat(np.arange(len(slopes)), n)
    x = rng.normal(size=len(language))
    noise = rng.logistic(size=len(language))
    return x, np.digitize(np.asarray(slopes)[language] * x + noise, [-1.0, 1.0]), language


def test_the_gradient_is_that_of_the_loss() -> None:
    x, y, language = _labels(np.random.default_rng(1), [1.0, 0.5], 30)
    fit = _Fit(x, y, language, np.ones(60, np.int64), 3, 2, True)
    at = fit.start + np.random.default_rng(2).normal(size=len(fit.start)) * 0.3
    assert optimize.check_grad(lambda t: fit._loss(t, 0.7, 0.3)[0], lambda t: fit._loss(t, 0.7, 0.3)[1], at) < 1e-4


def test_a_falling_language_is_named_and_a_rising_one_recovered() -> None:
    x, y, language = _labels(np.random.default_rng(3), [1.5, 1.5, -1.0], 400)
    found = fit_ordinal_map(x, y, language, 3)
    assert found.falls() == [2]
    assert (found.slope + found.slopes)[:2] == pytest.approx([1.5, 1.5], abs=0.4)


def test_separated_labels_and_missing_classes_give_finite_probabilities() -> None:
    found = fit_ordinal_map([0, 0, 1, 1], [1, 1, 2, 2], [0] * 4, 4)
    p = found.probabilities([0.0, 1.0], 0)
    assert np.isfinite(p).all() and p.sum(axis=1) == pytest.approx([1, 1])
    assert p.argmax(axis=1).tolist() == [1, 2]


def test_parts_add_up_to_the_score() -> None:
    rng = np.random.default_rng(4)
    p, y = rng.dirichlet(np.ones(3), 80), rng.integers(0, 3, 80)
    parts = brier_parts(p, y)
    whole = parts["miscalibration"] - parts["discrimination"] + parts["uncertainty"]
    assert whole == pytest.approx(brier_losses(p, y).mean(), abs=1e-9)


def test_bad_input_is_refused_with_the_reason() -> None:
    with pytest.raises(ValueError, match="classes 0 to 2"):
        fit_ordinal_map([1.0], [3], [0], 3)
    with pytest.raises(ValueError, match="standard error"):
        gap_best_worst([0.5, 0.6], [0.1, 0.0])


@pytest.mark.slow
def test_no_gain_over_the_map_without_the_score_where_scores_carry_nothing() -> None:
    rng, repetitions = np.random.default_rng(7), 60
    shown = []
    for _ in range(repetitions):
        x, y, language = _labels(rng, [0.0] * 4, 30)
        group = np.arange(len(y)) // 2
        fold = group_folds(group, 5)
        losses = [brier_losses(cross_fitted_map(x, y, language, 3, fold, sds=(0.5, 0.3 * on), with_score=on), y) for on in (False, True)]
        shown.append(gain_test(losses[0], losses[1], group).p_above(0) <= 0.05)
    assert np.mean(shown) <= 0.05
