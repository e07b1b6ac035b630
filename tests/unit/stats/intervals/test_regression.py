"""Logistic regression against statsmodels and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.linear_model import LogisticRegression

from harness.stats.core.arrays import ShapeError
from harness.stats.intervals.regression import fit_logistic, logistic

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
Y = (RNG.random(150) < logistic(X @ [1.0, -0.5, 0.0] + 0.3)) * 1.0


def test_without_penalty_it_is_maximum_likelihood() -> None:
    assert fit_logistic(X, Y) == pytest.approx(sm.Logit(Y, sm.add_constant(X)).fit(disp=False).params, abs=1e-6)


def test_fractional_targets_are_those_of_a_binomial_model() -> None:
    target = 0.1 + 0.7 * Y
    oracle = sm.GLM(target, sm.add_constant(X), family=sm.families.Binomial()).fit()
    assert fit_logistic(X, target) == pytest.approx(oracle.params, abs=1e-6)


def test_the_penalty_is_that_of_scikit_learn() -> None:
    oracle = LogisticRegression(C=0.5, tol=1e-10, max_iter=1000).fit(X, Y)
    assert fit_logistic(X, Y, penalty=2.0) == pytest.approx(np.r_[oracle.intercept_, oracle.coef_[0]], abs=1e-5)


def test_separated_targets_have_no_maximum_likelihood() -> None:
    with pytest.raises(ValueError, match="no finite solution"):
        fit_logistic([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="no finite solution"):
        fit_logistic([[0.0], [1.0], [1.0], [1.0]], [0, 1, 0, 1])  # separated but for ties
    assert np.isfinite(fit_logistic([[0.0], [1.0]], [0, 1], penalty=1.0)).all()
    with pytest.raises(ShapeError):
        fit_logistic([[0.0], [1.0]], [0])
