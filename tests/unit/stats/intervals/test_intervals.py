"""

Welch's t-test equals that of scipy and of statsmodels, and says why it is undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import ttest_ind as statsmodels_test

from harness.stats import TOO_FEW, clopper_pearson, mean_interval, proportion_interval, wilson
from harness.stats.core.arrays import ShapeError
from harness.stats.intervals.intervals import CONSTANT, NO_VARIATION, welch_test

RNG = np.random.default_rng(24)


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (8, 10), (10, 10), (150, 200)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_wilson_is_statsmodels(successes: int, n: int, level: float) -> None:
    assert wilson(successes, n, level) == pytest.approx(proportion_confint(successes, n, 1 - level, "wilson"), abs=1e-12)


def test_wilson_of_nothing_and_of_nonsense() -> None:
    assert all(math.isnan(x) for x in wilson(0, 0))
    with pytest.raises(ValueError, match="successes"):
        wilson(3, 2)


def test_single_groups_have_wilsons_interval() -> None:
    hits = (RNG.random(50) < 0.8).astype(float)
    found = proportion_interval(hits, np.array([f"text {i}" for i in range(50)]))
    assert (found.lo, found.hi) == wilson(hits.sum(), 50)
    assert (found.method, found.groups, found.design_effect, found.reason) == ("wilson", 50, 1.0, None)


def test_items_that_go_together_count_less() -> None:
    hits = np.repeat((RNG.random(40) < 0.7).astype(float), 5)  # every text five times the same
    found = proportion_interval(hits, np.repeat(np.arange(40), 5))
    single = proportion_interval(hits, np.arange(200))
    assert found.design_effect == pytest.approx(5, rel=0.15)
    assert found.hi - found.lo > 2 * (single.hi - single.lo)
    assert found.groups == 40 and found.method == "cluster bootstrap (wilson on effective n)"


def test_seven_texts_are_too_few() -> None:
    for find in (proportion_interval, mean_interval):
        found = find(np.tile([0.0, 1.0], 35), np.repeat(np.arange(7), 10))
        assert math.isnan(found.lo) and math.isnan(found.hi)
        assert (found.method, found.groups, found.reason) == ("none", 7, TOO_FEW)
        assert find(np.tile([0.0, 1.0], 35), np.repeat(np.arange(14), 5)).reason is None
        assert find(np.array([]), np.array([])).reason == "no units"
        assert find(np.array([np.nan, 1.0]), np.array([1, 2])).groups == 1


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("size", [1, 10])
def test_degenerate_cells_have_an_interval_of_some_width(share: float, size: int) -> None:
    found = proportion_interval(np.full(20 * size, share), np.repeat(np.arange(20), size))
    assert found.hi - found.lo > 0.1 and found.lo <= share <= found.hi
    mean = mean_interval(np.full(20 * size, share), np.repeat(np.arange(20), size), bounds=(-1, 1))
    assert mean.hi - mean.lo > 0.1 and -1 <= mean.lo <= share <= mean.hi <= 1


def test_a_constant_without_bounds_has_no_interval() -> None:
    assert mean_interval(np.full(20, 0.3), np.arange(20)).reason == CONSTANT
    balanced = mean_interval(np.tile([0.0, 1.0], 20), np.repeat(np.arange(20), 2))
    assert balanced.reason == NO_VARIATION


def test_means_have_students_interval() -> None:
    values = RNG.normal(3, 1, 4000)
    found = mean_interval(values, np.arange(4000))
    half = 1.9605 * values.std(ddof=1) / np.sqrt(4000)
    assert (found.lo, found.hi) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.003)
    assert found.design_effect == pytest.approx(1, abs=0.1)


def test_same_seed_same_interval() -> None:
    hits, text = (RNG.random(100) < 0.5).astype(float), RNG.integers(0, 20, 100)
    shuffled = RNG.permutation(100)
    first, again = proportion_interval(hits, text, seed=4), proportion_interval(hits[shuffled], text[shuffled], seed=4)
    assert (first.lo, first.hi) == pytest.approx((again.lo, again.hi))
    assert first == proportion_interval(hits, text, seed=4) != proportion_interval(hits, text, seed=5)


def test_bad_input() -> None:
    with pytest.raises(ShapeError):
        proportion_interval(np.ones(3), np.ones(2))
    with pytest.raises(ValueError, match="between 0 and 1"):
        proportion_interval(np.array([2.0]), np.array([0]))


@pytest.mark.slow
@pytest.mark.parametrize(("texts", "size", "together"), [(20, 10, 0.0), (20, 10, 0.1), (40, 6, 0.0), (40, 6, 0.1), (200, 1, 0.0)])
@pytest.mark.parametrize("share", [0.6, 0.85, 0.925])
def test_shares_are_covered(texts: int, size: int, together: float, share: float) -> None:
    """n >= 200, 15 misses expected or more; intra-text correlation 0 and .1."""
    rng, held = np.random.default_rng(25), 0
    for _ in range(4000):
        sizes = rng.integers(1, 2 * size, texts) if size > 1 else np.ones(texts, int)
        c = 1 / together - 1 if together else 0
        p = rng.beta(share * c, (1 - share) * c, texts) if together else np.full(texts, share)
        text = np.repeat(np.arange(texts), sizes)
        found = proportion_interval((rng.random(len(text)) < p[text]).astype(float), text, resamples=400)
        held += found.lo <= share <= found.hi
    assert 0.93 <= held / 4000 <= 0.97


@given(st.integers(1, 300), st.floats(0, 1), st.sampled_from([0.025, 0.05, 0.1, 0.2]))
def test_exact_limits_are_those_of_statsmodels(n: int, share: float, tail: float) -> None:
    hits = round(share * n)
    assert clopper_pearson(hits, n, tail) == pytest.approx(proportion_confint(hits, n, 2 * tail, method="beta"), abs=1e-9)


def test_it_equals_two_other_programs() -> None:
    rng = np.random.default_rng(3)
    for sizes in ((5, 9), (30, 12), (2, 2)):
        a, b = (rng.normal(loc, 1 + loc, size) for loc, size in zip((0.3, 1.0), sizes, strict=True))
        found, scipys = welch_test(a, b), ttest_ind(a, b, equal_var=False)
        t, p, freedom = statsmodels_test(a, b, usevar="unequal")
        assert (found.t, found.p, found.freedom) == pytest.approx((t, p, freedom))
        assert (found.t, found.p) == pytest.approx((scipys.statistic, scipys.pvalue))


def test_gaps_are_left_out() -> None:
    assert welch_test([1, 2, math.nan, 4], [5, 6, 7]) == welch_test([1, 2, 4], [5, 6, 7])


@pytest.mark.parametrize(
    ("a", "b", "reason"), [([1], [1, 2], "fewer than two texts"), ([2, 2], [3, 3], "no score differs"), ([], [], "fewer")]
)
def test_what_cannot_be_tested_has_a_reason(a: list[float], b: list[float], reason: str) -> None:
    found = welch_test(a, b)
    assert math.isnan(found.p) and found.reason and reason in found.reason


def test_a_table_is_no_sample() -> None:
    with pytest.raises(ShapeError):
        welch_test([[1, 2]], [1, 2])
