"""Allocations are within their bounds and optimal; probabilities add up."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from harness.stats.core.arrays import ShapeError
from harness.stats.estimation import sampling_plan as plan
from harness.stats.intervals.intervals import wilson

strata = st.lists(st.tuples(st.integers(1, 400), st.sampled_from([0.0, 0.1, 0.35, 0.9])), min_size=1, max_size=6)


@given(strata, st.floats(0, 1))
def test_an_allocation_adds_up_within_its_bounds(cells: list[tuple[int, float]], share: float) -> None:
    sizes, sds = (np.array(column, float) for column in zip(*cells, strict=True))
    low = np.minimum(plan.FLOOR, sizes)
    n = low.sum() + share * (sizes.sum() - low.sum())
    found = plan.neyman_allocation(sizes, sds, n)
    assert found.sum() == pytest.approx(n, rel=1e-6)
    assert (found >= low - 1e-9).all() and (found <= sizes + 1e-9).all()
    whole = plan.whole_labels(found)
    assert abs(whole.sum() - n) <= 0.5 + 1e-6 and (whole <= sizes).all() and (np.abs(whole - found) <= 1).all()


def test_no_allocation_has_a_smaller_variance() -> None:
    sizes, sds, n = np.array([900.0, 60, 20, 300]), np.array([0.02, 0.5, 0.45, 0.3]), 110
    found = plan.neyman_allocation(sizes, sds, n)
    oracle = minimize(
        lambda x: plan.stratified_variance(sizes, sds, x) * 1e4,
        np.array([55.0, 20, 10, 25]),
        bounds=[(2.0, size) for size in sizes],
        constraints={"type": "eq", "fun": lambda x: x.sum() - n},
    )
    assert plan.stratified_variance(sizes, sds, found) * 1e4 == pytest.approx(oracle.fun, rel=1e-5)


def test_strata_without_variation_get_the_least() -> None:
    assert plan.neyman_allocation([100, 100], [0.0, 0.4], 50).tolist() == pytest.approx([2, 48])
    assert plan.neyman_allocation([100, 20], [0.0, 0.4], 50).tolist() == pytest.approx([30, 20])
    assert plan.neyman_allocation([100, 300], [0.0, 0.0], 40).tolist() == pytest.approx([10, 30])


def test_too_many_or_too_few_labels_are_refused() -> None:
    for n in (3, 31):
        with pytest.raises(ValueError, match="cannot be allocated"):
            plan.neyman_allocation([10, 20], [0.1, 0.1], n)
    with pytest.raises(ValueError, match="0 or more"):
        plan.neyman_allocation([10, 20], [0.1, -0.1], 10)
    with pytest.raises(ShapeError):
        plan.neyman_allocation([10, 20], [0.1], 10)
    assert np.isnan(plan.stratified_variance([10, 20], [0.1, 0.1], [0, 4]))


@pytest.mark.parametrize(("share", "half_width"), [(0.5, 0.05), (0.95, 0.02), (0.02, 0.1), (0.0, 0.1), (0.7, 0.4)])
def test_wilson_is_just_narrow_enough(share: float, half_width: float) -> None:
    def half(n: float) -> float:
        lo, hi = wilson(share * n, n)
        return (hi - lo) / 2

    n = plan.items_for_wilson(share, half_width)
    assert half(n) <= half_width and (n == 1 or half(n - 1) > half_width)


def test_gain_is_the_variance_of_a_simple_sample_over_the_stratified_one() -> None:
    """Of a proportional sample, in which all weights are equal."""
    y, stratum = np.array([1, 1, 0, 1, 0, 0, 0, 1, 0, 0], float), np.repeat([0, 1], 5)
    drawn = plan.stratified_variance([50, 50], [y[:5].std(ddof=1), y[5:].std(ddof=1)], [5, 5], finite=False)
    assert plan.gain_over_simple_sample(y, np.full(10, 10.0), stratum) == pytest.approx(y.var(ddof=1) / 10 / drawn)
    assert plan.gain_over_simple_sample(y, np.ones(10)) == pytest.approx(1)


def test_gain_of_weights_that_say_nothing_is_a_loss() -> None:
    """Kish: with weights that are unrelated to the values, the variance grows by n sum w² / (sum w)²."""
    rng = np.random.default_rng(3)
    y, weight = rng.normal(size=20_000), rng.choice([1.0, 5.0], 20_000)
    assert plan.gain_over_simple_sample(y, weight) == pytest.approx(weight.mean() ** 2 / (weight**2).mean(), rel=0.02)


def test_gain_takes_single_strata_together_and_may_be_undefined() -> None:
    y = [1.0, 0.0, 1.0, 0.0, float("nan")]
    assert plan.gain_over_simple_sample(y, np.ones(5), [0, 0, 1, 2, 3]) == plan.gain_over_simple_sample(y, np.ones(5), [0, 0, 1, 1, 1])
    for values, strata in (([1.0, 1.0], [0, 0]), ([1.0], [0]), ([1.0, 0.0, 1.0], [0, 0, 1]), ([1.0, 1.0, 0.0, 0.0], [0, 0, 1, 1])):
        assert math.isnan(plan.gain_over_simple_sample(values, np.ones(len(values)), strata))
    with pytest.raises(ShapeError):
        plan.gain_over_simple_sample([1.0, 0.0], [1.0])


def test_a_half_width_is_above_0() -> None:
    with pytest.raises(ValueError, match="half-width"):
        plan.items_for_wilson(0.5, 0)
