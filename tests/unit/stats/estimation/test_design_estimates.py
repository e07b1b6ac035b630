"""Estimates from labels drawn with known probabilities are unbiased over redraws, and their errors are those of the redraws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.stats.core.arrays import ShapeError
from harness.stats.estimation import design_estimates as design
from harness.stats.intervals.cluster_mean import cluster_mean

RNG = np.random.default_rng(6)
N = 300
Y = (RNG.random(N) < 0.7) * 1.0
JUDGE = np.where(RNG.random(N) < 0.85, Y, 1 - Y)
PI = RNG.uniform(0.15, 0.6, N)


def redraws(times: int) -> np.ndarray:
    return np.where(RNG.random((times, N)) < PI, Y, np.nan)


def test_horvitz_thompson_is_unbiased_with_the_right_error() -> None:
    found = [design.horvitz_thompson(y, PI) for y in redraws(2000)]
    values = np.array([each.value for each in found])
    assert abs(values.mean() - Y.mean()) < 4 * values.std() / math.sqrt(2000)
    assert np.mean([each.se for each in found]) == pytest.approx(values.std(), rel=0.06)


def test_hajek_is_narrower_with_the_right_error() -> None:
    drawn = redraws(2000)
    found = [design.hajek(y, PI) for y in drawn]
    values = np.array([each.value for each in found])
    assert values.std() < 0.8 * np.std([design.horvitz_thompson(y, PI).value for y in drawn])
    assert np.mean([each.se for each in found]) == pytest.approx(values.std(), rel=0.06)


@pytest.mark.parametrize("weight", [1.0, 0.5])
def test_active_inference_is_unbiased(weight: float) -> None:
    values = np.array([design.active_mean(y, JUDGE, PI, weight=weight).estimate.value for y in redraws(2000)])
    assert abs(values.mean() - Y.mean()) < 4 * values.std() / math.sqrt(2000)


def test_the_weight_0_is_horvitz_thompson_and_the_tuned_one_the_best() -> None:
    [y] = redraws(1)
    assert design.active_mean(y, JUDGE, PI, weight=0.0).estimate.value == pytest.approx(design.horvitz_thompson(y, PI).value)
    tuned = design.active_mean(y, JUDGE, PI, weight=None)
    for weight in (0.0, tuned.weight - 0.05, tuned.weight + 0.05, 1.0):
        assert tuned.estimate.se <= design.active_mean(y, JUDGE, PI, weight=weight).estimate.se


def test_groups_give_the_cluster_error() -> None:
    [y] = redraws(1)
    groups = np.arange(N) // 5
    found = design.active_mean(y, JUDGE, PI, groups=groups).estimate
    terms = JUDGE + (np.nan_to_num(y) - JUDGE) * ~np.isnan(y) / PI
    assert found.se == pytest.approx(cluster_mean(terms, groups).error) and found.df == 59
    single = design.active_mean(y, JUDGE, PI, groups=np.arange(N)).estimate
    assert single.se == pytest.approx(design.active_mean(y, JUDGE, PI).estimate.se)


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


def test_nothing_drawn_is_undefined() -> None:
    none = np.full(N, np.nan)
    for found in (design.horvitz_thompson(none, PI), design.hajek(none, PI), design.active_mean(none, JUDGE, PI).estimate):
        assert math.isnan(found.value) and found.reason == "no labels"


def test_input_is_checked() -> None:
    with pytest.raises(ValueError, match="inclusion probabilities"):
        design.horvitz_thompson([1.0, 0.0], [0.5, 0.0])
    with pytest.raises(ShapeError):
        design.hajek([1.0], [0.5, 0.5])
    with pytest.raises(ShapeError):
        design.active_mean([1.0, 0.0], [1.0], [0.5, 0.5])
    with pytest.raises(ShapeError):
        design.stratified_mean([1, 0], [0, 2], [5, 5])
