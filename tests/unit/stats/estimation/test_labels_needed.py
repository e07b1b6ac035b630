"""Resamples of groups of few sizes: the p of `use` is that of the tests made from each group.

About how many more labels: the plan reaches the power that it promises, and says why there is none.

`python -m tests.unit.stats.estimation.test_labels_needed` from the checkout prints the plans and the power that they reach.

The first plan of labels reaches the power that it promises, in worlds that are drawn text by text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from harness.stats.core.arrays import Floats, ShapeError
from harness.stats.core.groups import GroupSums
from harness.stats.estimation import labels_needed as plan
from harness.stats.estimation.labels_needed import (
    GROWTH,
    NO_ITEMS,
    NO_NUMBER,
    NOT_BETTER,
    TOO_MANY,
    CellToPlan,
    MoreLabels,
    Rule,
    about_more_each,
    first_labels,
    use_p,
)
from harness.stats.intervals.intervals import wilson
from harness.stats.intervals.judge_tests import JudgeSums, judge_sums, judge_tests


def resampled(rng: np.random.Generator, items: int, group: int, *, missing: float = 0.0) -> JudgeSums:
    """Sums of groups, drawn 80 times."""
    gap = rng.choice([-1, -2 / 3, -1 / 3, 0, 1 / 3, 2 / 3], items, p=[0.05, 0.05, 0.15, 0.5, 0.15, 0.1])
    better = rng.choice([-1.0, 0.0, 1.0], items, p=[0.1, 0.6, 0.3])
    better[rng.random(items) < missing] = np.nan
    sums = judge_sums(gap, better, np.arange(items) // group)
    share = sums.gap.times / sums.gap.times.sum()
    times = rng.multinomial(2 * len(share), share, 80).astype(np.float64)
    return JudgeSums(*(each._replace(times=times) for each in sums))


def one_by_one(sums: JudgeSums) -> Floats:
    cells = (JudgeSums(*(each._replace(times=times) for each in sums)) for times in sums.gap.times)
    return np.array([float(judge_tests(cell, 0.1).to_correct(0.05).use) for cell in cells])


@pytest.mark.parametrize(("items", "group", "missing"), [(60, 1, 0.0), (90, 3, 0.2), (100, 4, 0.1), (40, 5, 0.0)])
def test_the_p_is_that_of_the_tests(items: int, group: int, missing: float) -> None:
    """With 40 texts in groups of five, large groups are capped in some resamples."""
    sums = resampled(np.random.default_rng(items), items, group, missing=missing)
    assert use_p(sums, 0.1, 0.05) == pytest.approx(one_by_one(sums), rel=1e-10, abs=1e-14)


def test_sums_that_differ_from_resample_to_resample_give_the_same() -> None:
    sums = resampled(np.random.default_rng(5), 60, 3)
    shape = sums.gap.times.shape
    spread = JudgeSums(*(GroupSums(*(np.broadcast_to(part, shape) for part in each)) for each in sums))
    assert use_p(spread, 0.1, 0.05) == pytest.approx(use_p(sums, 0.1, 0.05), rel=1e-10, abs=1e-14)


def test_where_all_groups_say_the_same_nothing_varies() -> None:
    sums = judge_sums(np.zeros(60), np.ones(60), np.arange(60))
    times = np.full((3, 1), 60.0)
    same = JudgeSums(*(each._replace(times=times) for each in sums))
    assert use_p(same, 0.1, 0.05) == pytest.approx(one_by_one(same), rel=1e-10)


CELLS = 45


def usual(sums: JudgeSums) -> Floats:
    return use_p(sums, 0.1, 0.05)


def about_more(gap: ArrayLike, baseline: ArrayLike, groups: ArrayLike, rule: Rule = usual, cells: int = 1, **least: int) -> MoreLabels:
    """The plan of one cell, one of so many that share a level of 0.05."""
    return about_more_each([CellToPlan(judge_sums(gap, baseline, groups), 0.05 / cells, **least)], rule)[0]


@dataclass(frozen=True, slots=True)
class World:
    """Three annotators report an item's true class with probability `people`, else a class drawn from `shares`; the judge likewise."""

    shares: tuple[float, ...]
    people: float
    planned: int
    """Items that are known to reach 80 % among 45 cells."""

    def draw(self, rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        """Gaps, and differences from the best constant (NaN without a majority), of n items."""
        k = len(self.shares)
        true = rng.choice(k, n, p=self.shares)
        said = np.where(rng.random((4, n)) < self.people, true, rng.choice(k, (4, n), p=self.shares))
        judge, a, b, c = said
        gap = ((judge == a) * 1.0 + (judge == b) + (judge == c) - (a == b) - (a == c) - (b == c)) / 3
        majority = np.where((a == b) | (a == c), a, np.where(b == c, b, -1))
        constant = np.bincount(majority[majority >= 0], minlength=k).argmax()
        better = np.where(majority >= 0, (judge == majority) * 1.0 - (majority == constant), np.nan)
        return gap, better

    def power(self, rng: np.random.Generator, n: int, sets: int) -> float:
        shown = 0
        for _ in range(sets):
            gap, better = self.draw(rng, n)
            shown += bool(judge_tests(judge_sums(gap, better, np.arange(n)), 0.1).shown(0.05, 0.05 / CELLS))
        return shown / sets


WORLDS = {
    "balanced": World((1 / 3, 1 / 3, 1 / 3), 0.9, 208),
    "likert5": World((0.1, 0.1, 0.2, 0.3, 0.3), 0.7, 328),
    "skewed3": World((0.15, 0.25, 0.6), 0.7, 293),
}


def plans(world: World, rng: np.random.Generator, n: int, sets: int) -> list[int]:
    found = [about_more(*world.draw(rng, n), np.arange(n), cells=CELLS).planned for _ in range(sets)]
    return [planned for planned in found if planned]


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("n", [60, 120])
def test_the_plan_is_the_true_number_and_reaches_the_power(name: str, n: int) -> None:
    world, rng = WORLDS[name], np.random.default_rng(11)
    median = int(np.median(plans(world, rng, n, 150)))
    assert world.planned / GROWTH**1.5 <= median <= world.planned * GROWTH**1.5  # a step of the search more or less
    assert 0.75 <= world.power(rng, median, 1500) <= 0.9


def cell(n: int = 60) -> tuple[Floats, Floats]:
    return WORLDS["balanced"].draw(np.random.default_rng(1), n)


def test_the_plan_rounds_up_to_tens_and_is_the_same_again() -> None:
    gap, better = cell()
    first, again = (about_more(gap, better, np.arange(60), cells=CELLS) for _ in range(2))
    assert first == again and first.more is not None and first.planned is not None
    assert first.more % 10 == 0 and 0 <= first.more - (first.planned - 60) < 10
    assert first.power >= 0.8 and first.reason is None


def test_more_cells_need_more_labels() -> None:
    gap, better = cell()
    numbers = [about_more(gap, better, np.arange(60), cells=cells).more or 0 for cells in (1, 10, 100)]
    assert numbers == sorted(numbers) and numbers[0] < numbers[-1]


def test_only_the_shape_of_the_gaps_counts() -> None:
    """The gap that was seen is taken out, unless it is at the margin."""
    gap, better = cell()
    shifted = about_more(gap - gap.mean() - 0.05, better, np.arange(60), cells=CELLS)
    assert shifted.planned == about_more(gap - gap.mean(), better, np.arange(60), cells=CELLS).planned


def test_why_there_is_no_number() -> None:
    gap, better = cell()
    groups = np.arange(60)
    assert about_more(gap - gap.mean() - 0.1 - 1e-6, better, groups).reason == NO_NUMBER
    assert about_more(gap, -np.abs(better), groups).reason == NOT_BETTER
    assert about_more([], [], []).reason == NO_ITEMS
    assert about_more(np.full(60, np.nan), better, groups).reason == NO_ITEMS
    hardly = np.r_[1.0, np.zeros(29), -1.0, np.zeros(29), 0.01]
    assert about_more(np.zeros(61), hardly, np.arange(61), cells=1000).reason == TOO_MANY
    with pytest.raises(ShapeError):
        about_more(gap, better[1:], groups)


def test_enough_items_need_no_more() -> None:
    gap, better = cell(1000)
    found = about_more(gap, better, np.arange(1000), cells=CELLS)
    assert found.more == 0 and found.planned == 1000


def test_a_constant_gap_has_a_plan() -> None:
    """Nothing varies; the guard alone decides how many items are needed."""
    found = about_more(np.zeros(30), np.tile([1.0, 0.0], 15), np.arange(30), cells=1)
    assert found.more is not None and 0 < found.more < 100


def test_least_numbers_are_kept() -> None:
    gap, better = cell(40)
    found = about_more(gap, better, np.arange(40) // 10, least_groups=20)
    assert found.planned is not None and found.planned >= 200


def test_a_rule_of_ones_own() -> None:
    gap, better = cell()

    def from_100(sums: JudgeSums) -> Floats:
        return np.where(sums.gap.times.sum(axis=-1) >= 100, 0.0, 1.0)

    found = about_more(gap, better, np.arange(60), rule=from_100)
    assert found.planned is not None and 100 <= found.planned <= 100 * GROWTH + 1


def agreement(world: World) -> float:
    chance = sum(share * share for share in world.shares)
    return world.people**2 + (1 - world.people**2) * chance


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_it_finds_what_is_known_to_do(world: World) -> None:
    found = first_labels(world.shares, agreement(world), 3, level=0.05 / CELLS)
    assert found.texts is not None and found.power >= 0.8
    assert 0.9 * world.planned <= found.texts <= 1.1 * world.planned + 10


def test_texts_drawn_one_by_one_reach_its_power() -> None:
    world = WORLDS["skewed3"]
    found = first_labels(world.shares, agreement(world), 3, level=0.05 / CELLS)
    assert found.texts is not None
    assert 0.75 <= world.power(np.random.default_rng(5), found.texts, 300) <= 0.92  # rounded up, so more than 0.8


def test_its_facts_are_those_of_the_world() -> None:
    world = WORLDS["skewed3"]
    rng, n = np.random.default_rng(7), 200_000
    gap, better = world.draw(rng, n)
    known = ~np.isnan(better)
    found = first_labels(world.shares, agreement(world), 3)
    assert found.with_majority == pytest.approx(known.mean(), abs=0.005)
    assert found.right - found.constant == pytest.approx(better[known].mean(), abs=0.005)
    assert gap.mean() == pytest.approx(0, abs=0.005)


def test_more_cells_a_smaller_margin_and_rarer_classes_need_more() -> None:
    base = first_labels([1, 1, 1], 0.8).texts
    assert base is not None
    for harder in (
        first_labels([1, 1, 1], 0.8, level=0.05 / 20),
        first_labels([1, 1, 1], 0.8, rule=partial(use_p, margin=0.05, alpha=0.05)),
        first_labels([1, 1, 18], 0.85),
        first_labels([1, 1, 1], 0.6),
    ):
        assert harder.texts is None or harder.texts > base
    assert first_labels([1, 1, 1], 1.0, least=200).texts == 200
    narrow = partial(use_p, margin=0.005, alpha=0.05)
    assert first_labels([1, 1, 1], 0.5, rule=narrow) == first_labels([2, 2, 2], 0.5, rule=narrow)
    assert first_labels([1, 1, 1], 0.5, rule=narrow).texts is None


@pytest.mark.parametrize(
    ("shares", "agree", "people", "words"),
    [
        ([1.0], 0.7, 2, "two or more numbers"),
        ([1.0, 0.0], 0.7, 2, "at least two of them above 0"),
        ([1.0, -1.0, 3.0], 0.7, 2, "not negative"),
        ([0.5, 0.5], 0.4, 2, "people who guess with these shares reach 0.50"),
        ([0.5, 0.5], 1.2, 2, "outside 0.50 to 1"),
        ([0.5, 0.5], 0.7, 1, "at least two people"),
        ([0.1] * 11, 0.7, 5, "at most 200,000 patterns"),
    ],
)
def test_refuses_what_cannot_be(shares: list[float], agree: float, people: int, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        first_labels(shares, agree, people)


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


if __name__ == "__main__":
    print("world      n   median plan (known)   tenth and ninetieth percentile   power reached")
    for name, world in WORLDS.items():
        for n in (60, 120):
            rng = np.random.default_rng(11)
            found = plans(world, rng, n, 300)
            low, median, high = np.percentile(found, [10, 50, 90]).astype(int)
            print(f"{name:9} {n:3}   {median} ({world.planned})   {low} to {high}   {world.power(rng, median, 3000):.3f}")
