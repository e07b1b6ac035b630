"""A stratified mean is that of its strata, and the gain of a design is the variance of a simple sample over its own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.stats.core.arrays import ShapeError
from harness.stats.estimation import design_estimates as design

RNG = np.random.default_rng(6)
N = 300
Y = (RNG.random(N) < 0.7) * 1.0


def test_one_stratum_is_a_simple_random_sample() -> None:
    y = Y[:40]
    found = design.stratified_mean(y, np.zeros(40, int), [300])
    assert (
        found.value == pytest.approx(y.mean())
        and found.se == pytest.approx(y.std(ddof=1) / math.sqrt(40))
        and found.df == pytest.approx(39)
    )
    finite = design.stratified_mean(y, np.zeros(40, int), [300], finite=True)
    assert finite.se == pytest.approx(found.se * math.sqrt(1 - 40 / 300))


def test_strata_without_labels_or_with_one() -> None:
    assert design.stratified_mean([1, 0], [0, 0], [5, 5]).reason == "a stratum has no labels"
    single = design.stratified_mean([1, 0, 1], [0, 0, 1], [5, 5])
    assert single.value == pytest.approx(0.75) and math.isnan(single.se) and single.reason == "a stratum has a single label"
    whole = design.stratified_mean([1, 0, 1], [0, 0, 1], [5, 1], finite=True)
    assert whole.se > 0 and whole.reason is None
    assert math.isnan(single.interval()[0]) and design.stratified_mean([1, 1], [0, 0], [4]).se == 0


def test_gain_is_the_variance_of_a_simple_sample_over_the_stratified_one() -> None:
    """Against `stratified_mean` of a proportional sample, in which all weights are equal."""
    y, stratum = np.array([1, 1, 0, 1, 0, 0, 0, 1, 0, 0], float), np.repeat([0, 1], 5)
    drawn = design.stratified_mean(y, stratum, [50, 50])
    assert design.gain_over_simple_sample(y, np.full(10, 10.0), stratum) == pytest.approx(y.var(ddof=1) / 10 / drawn.se**2)
    assert design.gain_over_simple_sample(y, np.ones(10)) == pytest.approx(1)


def test_gain_of_weights_that_say_nothing_is_a_loss() -> None:
    """Kish: with weights that are unrelated to the values, the variance grows by n sum w² / (sum w)²."""
    rng = np.random.default_rng(3)
    y, weight = rng.normal(size=20_000), rng.choice([1.0, 5.0], 20_000)
    assert design.gain_over_simple_sample(y, weight) == pytest.approx(weight.mean() ** 2 / (weight**2).mean(), rel=0.02)


def test_gain_takes_single_strata_together_and_may_be_undefined() -> None:
    y = [1.0, 0.0, 1.0, 0.0, float("nan")]
    assert design.gain_over_simple_sample(y, np.ones(5), [0, 0, 1, 2, 3]) == design.gain_over_simple_sample(y, np.ones(5), [0, 0, 1, 1, 1])
    for values, strata in (([1.0, 1.0], [0, 0]), ([1.0], [0]), ([1.0, 0.0, 1.0], [0, 0, 1]), ([1.0, 1.0, 0.0, 0.0], [0, 0, 1, 1])):
        assert math.isnan(design.gain_over_simple_sample(values, np.ones(len(values)), strata))
    with pytest.raises(ShapeError):
        design.gain_over_simple_sample([1.0, 0.0], [1.0])


def test_input_is_checked() -> None:
    with pytest.raises(ShapeError):
        design.stratified_mean([1, 0], [0, 2], [5, 5])
