"""Numbers of labels: against statsmodels and scipy, and what they promise by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from harness.stats.estimation import label_budget as budget
from harness.stats.intervals.intervals import wilson


@pytest.mark.parametrize(("share", "half_width"), [(0.5, 0.05), (0.95, 0.02), (0.02, 0.1), (0.0, 0.1), (0.7, 0.4)])
def test_wilson_is_just_narrow_enough(share: float, half_width: float) -> None:
    def half(n: float) -> float:
        lo, hi = wilson(share * n, n)
        return (hi - lo) / 2

    n = budget.items_for_wilson(share, half_width)
    assert half(n) <= half_width and (n == 1 or half(n - 1) > half_width)


def test_items_for_a_mean() -> None:
    n = budget.items_for_mean(0.45, 0.05)
    assert stats.t.ppf(0.975, n - 1) * 0.45 / math.sqrt(n) <= 0.05 < stats.t.ppf(0.975, n - 2) * 0.45 / math.sqrt(n - 1)
    assert budget.items_for_mean(0.0, 0.05) == 2


@pytest.mark.parametrize("sd", [0.13, 0.4, 1.2])
@pytest.mark.parametrize("alpha", [0.05, 0.05 / 45])
def test_items_for_a_margin_reach_the_power(sd: float, alpha: float) -> None:
    n, size = budget.items_for_margin(sd, 0.1, alpha=alpha), 0.1 / sd
    power = TTestPower().power
    assert power(size, n, alpha, alternative="larger") >= 0.8 > power(size, n - 1, alpha, alternative="larger")


def test_the_edges_of_a_margin() -> None:
    assert budget.items_for_margin(0.4, 0.1, gap=-0.1) == math.inf == budget.items_for_margin_normal(0.4, 0.1, gap=-0.2)
    assert budget.items_for_margin(0.0, 0.1) == 2
    assert budget.items_for_margin(0.01, 0.9) == 2  # a very large effect
    assert budget.items_for_margin(0.4, 0.1, effect=1.8) == math.ceil(1.8 * 101)
    assert budget.more_for_margin(0.1, 500, 0.1) == 0
    assert math.isnan(budget.more_for_margin(0.4, 1, 0.1)) and math.isnan(budget.sd_upper_limit(0.4, 1))
    assert budget.more_for_margin(0.4, 60, 0.1, gap=-0.1) == math.inf


def test_the_upper_limit_of_a_standard_deviation() -> None:
    assert budget.sd_upper_limit(2.0, 30) == pytest.approx(2 * math.sqrt(29 / stats.chi2.ppf(0.2, 29)))


def test_one_look_is_no_correction() -> None:
    assert budget.pocock(1, 0.025).p == pytest.approx(0.025)


@pytest.mark.parametrize(
    ("looks", "alpha"),
    [(2, 0.05), (5, 0.05), pytest.param(3, 0.01, marks=pytest.mark.slow), pytest.param(10, 0.05, marks=pytest.mark.slow)],
)
def test_looks_keep_the_level(looks: int, alpha: float) -> None:
    z = budget.pocock(looks, alpha).z
    steps = np.random.default_rng(0).normal(size=(50_000, looks)).cumsum(axis=1) / np.sqrt(np.arange(1, looks + 1))
    assert (steps >= z).any(axis=1).mean() == pytest.approx(alpha, abs=4 * math.sqrt(alpha / 50_000))
    assert alpha / looks <= budget.pocock(looks, alpha).p <= alpha


def test_input_is_checked() -> None:
    with pytest.raises(ValueError, match="half-width"):
        budget.items_for_share(0.5, 0)
    with pytest.raises(ValueError, match="1 look"):
        budget.pocock(0)
