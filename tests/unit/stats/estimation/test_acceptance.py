"""Automatic acceptance: bounds against statsmodels and scipy, edges, and the guarantee by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from harness.stats.core.arrays import ShapeError
from harness.stats.estimation.acceptance import (
    NOTHING,
    acceptance_threshold,
    effective_n,
    hoeffding_bentkus_p,
    items_needed,
)


@given(st.integers(0, 6), st.sampled_from([0.05, 0.1, 0.15]), st.sampled_from([0.05, 0.1]), st.booleans())
def test_items_needed_is_the_smallest_number(errors: int, alpha: float, delta: float, fractional: bool) -> None:
    def p(n: int) -> float:
        return hoeffding_bentkus_p(errors / n, n, alpha) if fractional else float(scipy_stats.binom.cdf(errors, n, alpha))

    n = items_needed(errors, alpha, delta, fractional=fractional)
    assert p(n) <= delta < p(n - 1)


def test_losses_of_0_and_1_may_be_given_as_credits_too() -> None:
    """Hoeffding and Bentkus' p is valid for them and less sharp than the exact one."""
    for errors, n in ((0, 50), (3, 80), (9, 150)):
        exact = float(scipy_stats.binom.cdf(errors, n, 0.1))
        assert exact - 1e-12 <= hoeffding_bentkus_p(errors / n, n, 0.1) <= 1
    assert hoeffding_bentkus_p(0.1, 1000, 0.1) == 1 and hoeffding_bentkus_p(0.0, 0.5, 0.1) == 1


def test_candidates_depend_on_confidences_only() -> None:
    rng = np.random.default_rng(31)
    confidence = rng.integers(50, 100, 260) / 100
    paths = [acceptance_threshold(confidence, rng.random(260) < share, alpha=0.1).path for share in (0.99, 0.6)]
    assert [one.threshold for one in paths[0]] == [one.threshold for one in paths[1]]
    for candidate in paths[0]:
        assert candidate.accepted == (confidence >= candidate.threshold).sum() >= 52
    assert paths[0][-1].accepted == 260


@given(st.integers(0, 60))
def test_the_last_that_passes_before_the_first_that_fails(seed: int) -> None:
    rng = np.random.default_rng(seed)
    confidence = rng.random(200)
    found = acceptance_threshold(confidence, rng.random(200) < 0.6 + 0.4 * confidence, alpha=0.2)
    bounds = [candidate.upper <= 0.2 for candidate in found.path]
    passed = bounds.index(False) if False in bounds else len(bounds)
    if passed:
        chosen = found.path[passed - 1]
        assert (found.threshold, found.coverage) == (chosen.threshold, chosen.accepted / 200)
        assert found.agreement_lower == 1 - chosen.upper >= 0.8 and found.reason is None
    else:
        assert math.isnan(found.threshold) and found.coverage == 0 and found.reason == NOTHING
    for candidate in found.path:
        assert (candidate.p <= 0.1) == (candidate.upper <= 0.2)


def test_nothing_is_an_answer() -> None:
    confidence = np.linspace(0, 1, 100)
    poor = acceptance_threshold(confidence, np.tile([1, 0], 50))
    assert poor.reason == NOTHING and math.isnan(poor.agreement) and poor.path[0].accepted == 52
    for confidence in (np.empty(0), np.full(80, np.nan), np.ones(51)):
        few = acceptance_threshold(confidence, np.ones(len(confidence)))
        assert few.path == () and few.coverage == 0 and few.reason and "52" in few.reason


def test_failures_are_never_accepted_and_items_without_label_do_not_count() -> None:
    confidence, agrees = np.r_[np.full(20, np.nan), np.ones(80), np.ones(30)], np.r_[np.zeros(20), np.ones(80), np.full(30, np.nan)]
    found = acceptance_threshold(confidence, agrees)
    assert found.n == 100 and found.coverage == 0.8 and found.agreement == 1 and found.path[-1].accepted == 80


def test_constant_confidence_is_one_threshold() -> None:
    found = acceptance_threshold(np.full(200, 0.5), np.r_[np.zeros(4), np.ones(196)])
    assert len(found.path) == 1 and found.coverage == 1 and found.agreement == 0.98


def test_credits() -> None:
    rng = np.random.default_rng(32)
    credits = rng.choice([1.0, 1.0, 1.0, 2 / 3], 300)
    found = acceptance_threshold(rng.random(300), credits, alpha=0.2)
    assert found.reason is None and found.coverage == 1 and found.n_start > items_needed(2, 0.2, 0.1)
    last = found.path[-1]
    assert hoeffding_bentkus_p(last.errors / 300, 300, last.upper) == pytest.approx(0.1, abs=1e-6)
    assert found.agreement == pytest.approx(credits.mean()) and found.agreement_lower < found.agreement


def test_groups_that_agree_or_not_as_one() -> None:
    """Every group says one thing: n_eff is about the number of groups, and what 200 independent items certify, 20 groups do not."""
    groups = np.repeat(np.arange(20), 10)
    confidence, agrees = np.tile(np.linspace(0.5, 1, 10), 20), np.repeat(np.r_[np.zeros(1), np.ones(19)], 10)
    alone, grouped = acceptance_threshold(confidence, agrees, alpha=0.12), acceptance_threshold(confidence, agrees, groups, alpha=0.12)
    assert alone.coverage == 1 and grouped.reason == NOTHING
    published = acceptance_threshold(confidence, agrees, groups, alpha=0.12, variance="cr1")
    assert published.path[-1].effective_n == pytest.approx(19) and alone.path[-1].effective_n == 200
    # the variance of 20 groups is estimated: Korn and Graubard's ratio of quantiles
    ratio = (scipy_stats.t.ppf(0.9, 199) / scipy_stats.t.ppf(0.9, 19)) ** 2
    assert grouped.path[-1].effective_n == pytest.approx(19 * ratio)
    right = acceptance_threshold(confidence, np.ones(200), groups, alpha=0.12)
    assert {candidate.effective_n for candidate in right.path} == {20.0} and right.coverage == 1


def test_unequal_groups_without_an_error_count_as_the_equal_ones_that_they_stand_for() -> None:
    groups = np.repeat(np.arange(10), [91, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    assert effective_n(np.zeros(100), groups, 0.1) == pytest.approx(100**2 / (91**2 + 9))
    assert effective_n(np.zeros(100), groups, 0.1, "cr1") == 10


def test_too_few_groups_certify_nothing() -> None:
    confidence, agrees = np.tile(np.linspace(0.5, 1, 10), 20), np.arange(200) > 0
    found = acceptance_threshold(confidence, agrees, np.arange(200) // 11)
    assert found.reason == "the labelled texts are of 19 independent groups, and 20 are needed" and math.isnan(found.threshold)
    assert acceptance_threshold(confidence, agrees, np.arange(200) // 10).reason in (None, NOTHING), "20 groups are tested"
    unequal = acceptance_threshold(confidence, agrees, np.r_[np.zeros(60), np.arange(140) // 4 + 1])
    assert unequal.reason and "36 independent groups of different sizes, which weigh as 9.6 equal ones" in unequal.reason
    assert acceptance_threshold(confidence, agrees, np.arange(200) // 3).reason is None


def test_shapes_and_ranges() -> None:
    with pytest.raises(ShapeError):
        acceptance_threshold([0.1, 0.2], [1])
    with pytest.raises(ShapeError):
        acceptance_threshold([0.1, 0.2], [1, 1], groups=[1])
    with pytest.raises(ValueError, match="between 0 and 1"):
        acceptance_threshold([0.1, 0.2], [1, 2])
    with pytest.raises(ValueError, match="alpha"):
        acceptance_threshold([0.1, 0.2], [1, 1], alpha=1.0)
    with pytest.raises(ValueError, match="errors"):
        items_needed(-1, 0.1, 0.1)


def test_the_guarantee_at_the_boundary() -> None:
    """Every threshold has a risk just above alpha, so that any certificate is wrong: at most delta, 9.3 % elsewhere."""
    rng, runs = np.random.default_rng(33), 500
    wrong = [acceptance_threshold(rng.random(400), rng.random(400) < 0.88, alpha=0.1199).reason is None for _ in range(runs)]
    assert np.mean(wrong) < 0.1 + 3 * math.sqrt(0.1 * 0.9 / runs) and abs(np.mean(wrong) - 0.093) < 3 * math.sqrt(0.093 * 0.907 / runs)


@pytest.mark.slow
def test_the_guarantee_where_confidence_tells_something() -> None:
    """P(agree) rises with the confidence and 75 % can be accepted at risk .1: violated in 3.9 %, nothing in 9 %, coverage .50 elsewhere."""
    rng, runs = np.random.default_rng(34), 1500
    population = np.sort(1 - rng.beta(1.2, 4, 400_000))[::-1]
    risk_above = np.cumsum(1 - _agreement(population)) / np.arange(1, len(population) + 1)
    violated, nothing, coverage = 0, 0, 0.0
    for _ in range(runs):
        confidence = 1 - rng.beta(1.2, 4, 200)
        found = acceptance_threshold(confidence, rng.random(200) < _agreement(confidence))
        nothing += found.reason is not None
        if found.reason is None:
            place = int(np.searchsorted(-population, -found.threshold, side="right")) - 1
            violated += risk_above[place] > 0.1
            coverage += (place + 1) / len(population)
    assert violated / runs < 0.06 and abs(nothing / runs - 0.09) < 0.03 and coverage / runs == pytest.approx(0.5, abs=0.03)


def _agreement(confidence: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 + 0.5 / (1 + np.exp(-14 * (confidence - 0.72))))


@pytest.mark.slow
def test_the_guarantee_with_groups() -> None:
    """Groups of ten share half of their errors: 16.9 % wrong certificates by items; 11.8 % by the design effect alone."""
    rng, runs = np.random.default_rng(35), 1500
    groups = np.repeat(np.arange(40), 10)
    wrong = np.zeros(2)
    for _ in range(runs):
        shared, own = (rng.random(40) < 0.88)[groups], rng.random(400) < 0.88
        agrees = np.where(rng.random(400) < 0.5, shared, own)
        confidence = rng.random(400)
        wrong += [acceptance_threshold(confidence, agrees, by, alpha=0.1199).reason is None for by in (None, groups)]
    by_items, by_groups = wrong / runs
    assert by_groups < by_items and by_groups < 0.1 + 2 * math.sqrt(0.1 * 0.9 / runs)
