"""Logistic regression against statsmodels and scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.linear_model import LogisticRegression

from harness.stats import logit_rise, wilson
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


def test_by_hand_without_correlation() -> None:
    """5 of 20 and 15 of 20; who sees the one is as likely to see the other, so both distances are added by squares."""
    first, second = [1] * 5 + [0] * 15, [1, 1, 1, 1, 0] + [1] * 11 + [0] * 4
    found = logit_rise(first, second, range(20))
    (low, high), (below, above) = (tuple(math.log(end / (1 - end)) for end in wilson(hits, 20)) for hits in (5, 15))
    assert found.value == pytest.approx(2 * math.log(3)) and found.n == 20
    one, other = -math.log(3), math.log(3)
    assert found.interval.lo == pytest.approx(found.value - math.hypot(other - below, high - one))
    assert found.interval.hi == pytest.approx(found.value + math.hypot(above - other, one - low))


def test_what_rises_together_is_known_better() -> None:
    first = np.repeat([1, 0], [10, 20])
    together = logit_rise(first, np.repeat([1, 0], [20, 10]), range(30)).interval
    apart = logit_rise(first, np.repeat([0, 1], [10, 20]), range(30)).interval
    assert together.hi - together.lo < 0.75 * (apart.hi - apart.lo)


def test_conditions_are_exchangeable() -> None:
    rng = np.random.default_rng(3)
    first, second, groups = rng.random(60) < 0.4, rng.random(60) < 0.7, np.repeat(range(20), 3)
    up, down = logit_rise(first, second, groups), logit_rise(second, first, groups)
    assert up.value == pytest.approx(-down.value)
    assert (up.interval.lo, up.interval.hi) == pytest.approx((-down.interval.hi, -down.interval.lo))


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ([0] * 9, [1] * 8 + [0], "one condition is never seen"),
        ([1] * 8 + [0], [1] * 9, "one condition is always seen"),
        ([math.nan], [1], "no overlap"),
        ([], [], "no overlap"),
    ],
)
def test_undefined(first: list[float], second: list[float], reason: str) -> None:
    found = logit_rise(first, second, range(len(first)))
    assert math.isnan(found.value) and found.reason == reason and math.isnan(found.interval.lo) and found.interval.reason


def test_missing_items_and_few_groups() -> None:
    found = logit_rise([1, 0, 1, math.nan], [1, 0, math.nan, 1], range(4))
    assert (found.value, found.n, found.interval.reason) == (0.0, 2, "too few independent texts")


def test_malformed() -> None:
    with pytest.raises(ShapeError, match="of the same items"):
        logit_rise([1, 0], [1], [0, 1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("groups", "each", "subtle", "plain", "spread"),
    [(18, 1, -1.0, 1.0, 0.0), (18, 1, -1.0, 1.0, 2.0), (12, 2, -1.0, 1.0, 1.0), (12, 2, 0.0, 0.0, 1.0), (108, 2, -1.0, 0.0, 1.0)],
)
def test_coverage(groups: int, each: int, subtle: float, plain: float, spread: float) -> None:
    """Texts differ in how easy their flaws are; the truth is that of all texts. The sizes are those of the board controls-models."""
    rng, codes = np.random.default_rng(7), np.repeat(range(groups), each)

    def seen(middle: float, ease: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-middle - ease))

    everywhere = rng.normal(0, spread, 200_000)
    truth = np.subtract(*(math.log(share / (1 - share)) for share in (seen(plain, everywhere).mean(), seen(subtle, everywhere).mean())))
    held = []
    for _ in range(800):
        ease = np.repeat(rng.normal(0, spread, groups), each)
        found = logit_rise(*(rng.random(groups * each) < seen(middle, ease) for middle in (subtle, plain)), codes, resamples=200)
        if not found.reason:
            held.append(found.interval.lo <= truth <= found.interval.hi)
    assert len(held) > 750 and 0.92 <= np.mean(held) <= 0.99
