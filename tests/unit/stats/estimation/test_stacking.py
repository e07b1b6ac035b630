"""The stack is scikit-learn's ridge logistic regression, cross-fitted, and beats a majority that a strong judge loses in."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from harness.stats.core.arrays import ShapeError
from harness.stats.estimation.panel import panel_majority
from harness.stats.estimation.stacking import class_indicators, cross_fitted_stack

RNG = np.random.default_rng(7)
TRUE = RNG.integers(0, 3, 150)
JUDGES = np.where(RNG.random((150, 3)) < [0.9, 0.6, 0.6], TRUE[:, None], RNG.integers(0, 3, (150, 3)))
FOLD = np.arange(150) % 3


def test_it_is_that_of_scikit_learn() -> None:
    found, x = cross_fitted_stack(JUDGES, TRUE, 3, FOLD), class_indicators(JUDGES, 3)
    for fold in range(3):
        for c in range(3):
            oracle = LogisticRegression(tol=1e-10, max_iter=1000).fit(x[fold != FOLD], TRUE[fold != FOLD] == c)
            assert found[fold == FOLD, c] == pytest.approx(oracle.predict_proba(x[fold == FOLD])[:, 1], abs=1e-5)


def test_two_classes_add_up() -> None:
    found = cross_fitted_stack(JUDGES > 0, TRUE > 0, 2, FOLD)
    assert found.sum(axis=1) == pytest.approx(1)


def test_a_strong_judge_among_weak_ones() -> None:
    rng = np.random.default_rng(3)
    true = rng.integers(0, 2, 400)
    draw = np.where(rng.random((400, 1)) < 0.6, rng.random((400, 1)), rng.random((400, 5)))
    judges = np.where(draw < [0.85, 0.7, 0.7, 0.7, 0.7], true[:, None], 1 - true[:, None])
    stack = cross_fitted_stack(judges, true, 2, np.arange(400) % 5).argmax(axis=1)
    assert (stack == true).mean() > (panel_majority(judges, 2) == true).mean() + 0.03


def test_an_item_does_not_learn_from_its_own_fold() -> None:
    other = TRUE.copy()
    other[FOLD == 1] = 0
    assert cross_fitted_stack(JUDGES, other, 3, FOLD)[FOLD == 1] == pytest.approx(cross_fitted_stack(JUDGES, TRUE, 3, FOLD)[FOLD == 1])


def test_edges() -> None:
    only = cross_fitted_stack([[0], [1], [0], [1]], [1, 1, 1, 1], 2, [0, 0, 1, 1])
    assert only.tolist() == [[0.0, 1.0]] * 4
    unlabelled = cross_fitted_stack(JUDGES, np.where(FOLD == 0, TRUE, -1), 3, FOLD)
    assert np.isnan(unlabelled[FOLD == 0]).all() and not np.isnan(unlabelled[FOLD != 0]).any()
    with pytest.raises(ValueError, match="two folds"):
        cross_fitted_stack(JUDGES, TRUE, 3, np.zeros(150))
    with pytest.raises(ShapeError):
        cross_fitted_stack(JUDGES, TRUE[1:], 3, FOLD)
