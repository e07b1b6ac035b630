"""Recalibration maps: against other libraries, at the edges, and the order of their errors by simulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import _sigmoid_calibration

from harness.stats.core.arrays import ShapeError
from harness.stats.estimation import recalibration as rec
from harness.stats.intervals.logistic import logistic


def answers(n: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Confidences, the true share right at each, and what was right."""
    rng = np.random.default_rng(seed)
    p = rng.beta(3, 1.5, n)
    truth = logistic(0.5 * rec.logit(p) - 0.3)
    return p, truth, (rng.random(n) < truth) * 1


def test_softened_targets_are_those_of_scikit_learn() -> None:
    p, _, y = answers(150)
    a, b = _sigmoid_calibration(rec.logit(p), y)
    found = rec.fit_platt(p, y, softened=True)
    assert (found.slope, found.intercept) == pytest.approx((-a, -b), abs=1e-4)


@pytest.mark.parametrize(("p", "y"), [([0.2, 0.4, 0.9], [0, 0, 1]), ([0.2, 0.4, 0.9], [1, 1, 1]), ([0.9] * 4, [0, 1, 1, 1])])
def test_platt_is_finite_where_likelihood_has_no_maximum(p: list[float], y: list[int]) -> None:
    found = rec.fit_platt(p, y)
    assert np.isfinite([found.intercept, found.slope]).all()
    assert ((found(p) > 0) & (found(p) < 1)).all()


@given(st.lists(st.integers(0, 12), min_size=20, max_size=80), st.integers(2, 3))
def test_folds_keep_groups_together(groups: list[int], folds: int) -> None:
    if len(set(groups)) < folds:
        with pytest.raises(ValueError, match="folds"):
            rec.group_folds(groups, folds)
        return
    fold = rec.group_folds(groups, folds)
    assert set(fold.tolist()) == set(range(folds))
    assert all(len(set(fold[np.array(groups) == group].tolist())) == 1 for group in set(groups))


def test_the_answer_itself_is_not_learnt_from() -> None:
    p, _, y = answers(100)
    fold = np.arange(100) % 5
    other = y.copy()
    other[fold == 2] = 1 - other[fold == 2]
    assert rec.cross_fitted(p, y, fold)[fold == 2] == pytest.approx(rec.cross_fitted(p, other, fold)[fold == 2])


def test_isotonic_regression_is_chosen_for_a_curve_that_is_no_sigmoid() -> None:
    rng = np.random.default_rng(1)
    p = rng.random(3000)
    steps = rng.random(3000) < np.where(p < 0.8, 0.5, 0.95)
    assert rec.recalibrated(p, steps, np.arange(3000) % 5)[1] == "isotonic"
    assert rec.recalibrated(p[:400], steps[:400], np.arange(400) % 5)[1] == "platt"


def test_platt_needs_the_fewest_labels() -> None:
    """The known mean squared distances from the true probability at 120 answers: raw .0242, isotonic .0107, Platt .0037."""
    fits: list[Callable[..., Any]] = [lambda *_: lambda p: p, rec.fit_isotonic, rec.fit_platt]
    errors = np.zeros(3)
    new, truth, _ = answers(2000, seed=99)
    for seed in range(60):
        p, _, y = answers(120, seed)
        errors += [np.mean((fit(p, y)(new) - truth) ** 2) / 60 for fit in fits]
    assert errors == pytest.approx([0.0242, 0.0107, 0.0037], rel=0.3)


def test_input_is_checked() -> None:
    with pytest.raises(ValueError, match="no answers"):
        rec.fit_platt([], [])
    with pytest.raises(ValueError, match="two folds"):
        rec.cross_fitted([0.5, 0.6], [0, 1], [0, 0])
    with pytest.raises(ShapeError):
        rec.cross_fitted([0.5, 0.6], [0, 1], [0])
