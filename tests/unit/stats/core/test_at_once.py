"""What is computed for many cells at once is what each cell alone has, to the last digit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.stats import cell_statistics, count_classes, intervals, tabulate
from harness.stats.core.at_once import at_once, in_step, windows
from harness.stats.core.groups import group_sums
from harness.stats.estimation.more_labels import CellToPlan, about_more_each
from harness.stats.intervals.intervals import MeanToTest, scatter_of
from harness.stats.intervals.intervals import tested_mean as mean_alone
from harness.stats.intervals.intervals import tested_means as means_at_once
from harness.stats.intervals.judge_tests import judge_sums, judge_tests, judge_tests_each
from harness.stats.intervals.noninferiority import gap_sums, guarded_p, guarded_p_each
from harness.stats.intervals.one_class import one_class_tests
from harness.stats.intervals.resampled_tests import use_p
from tests.unit.stats.estimation.test_more_labels import about_more

CELLS = 12


def cells(text: int, seed: int = 0) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Gaps, differences from a baseline and groups of cells of 30 to 60 items, some of which have no aggregate."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice([30, 60], CELLS)
    gaps = ([0.0, 1 / 3, -1 / 3, -2 / 3], [0.6, 0.2, 0.15, 0.05])
    return [
        (rng.choice(gaps[0], n, p=gaps[1]), rng.choice([0.0, 1.0, -1.0, math.nan], n, p=[0.5, 0.3, 0.1, 0.1]), np.arange(n) // text)
        for n in sizes
    ]


@pytest.mark.parametrize("text", [1, 3])
def test_tests_of_many_cells_are_those_of_each(text: int) -> None:
    sums = [judge_sums(*cell) for cell in cells(text)]
    assert judge_tests_each(sums, 0.1) == [judge_tests(one, 0.1) for one in sums]
    gaps = [gap_sums(gap, group) for gap, _, group in cells(text)]
    assert guarded_p_each(gaps, 0.1) == [guarded_p(one, 0.1) for one in gaps]


@pytest.mark.parametrize("bounds", [(-1.0, 1.0), None])
def test_means_of_many_cells_are_those_of_each(bounds: tuple[float, float] | None) -> None:
    asked = [MeanToTest(group_sums(gap, group), scatter_of(gap), bounds) for gap, _, group in cells(3)]
    few = MeanToTest(group_sums(np.ones(4), np.arange(4)), 0.0, bounds)
    found = means_at_once([*asked, few], level=0.95)
    assert found[:-1] == [mean_alone(*one, level=0.95) for one in asked]
    assert found[-1][0].reason == "too few independent texts"


@pytest.mark.parametrize("text", [1, 3])
def test_plans_of_many_cells_are_those_of_each(text: int) -> None:
    def rule(sums: object) -> np.ndarray:
        return use_p(sums, 0.1, 0.05)  # type: ignore[arg-type]

    some = cells(text)
    found = about_more_each([CellToPlan(judge_sums(*cell), 0.05 / 10) for cell in some], rule)
    alone = [about_more(*cell, cells=10) for cell in some]
    assert list(map(repr, found)) == list(map(repr, alone))  # NaN is equal to NaN there
    assert len({one.more for one in found}) > 3


def test_one_class_of_many_cells_is_that_of_each() -> None:
    rng = np.random.default_rng(1)
    asked = [(rng.integers(0, 3, (n, 3)), rng.choice(3, n, p=[0.9, 0.05, 0.05]), np.arange(n) // 2) for n in (30, 40, 30, 40, 30)]
    for one, alone in zip(one_class_tests(asked), (one_class_tests([each])[0] for each in asked), strict=True):
        assert (one.p, one.others, one.n, one.usual) == (alone.p, alone.others, alone.n, alone.usual)


@pytest.mark.parametrize("text", [1, 3])
def test_intervals_of_a_cell_do_not_depend_on_the_other_cells(text: int) -> None:
    rng = np.random.default_rng(2)
    counts, judge = count_classes(rng.integers(0, 3, (CELLS * 30, 3)), 3), rng.integers(-1, 3, CELLS * 30)
    cell, group = np.repeat(np.arange(CELLS), 30), np.arange(CELLS * 30) // text
    together = intervals(cell_statistics(3, "ordinal"), tabulate(counts, judge, cell=cell, group=group), resamples=200)
    for number in range(CELLS):
        own = cell == number
        alone = intervals(cell_statistics(3, "ordinal"), tabulate(counts[own], judge[own], group=group[own]), resamples=200)
        assert {name: found[number] for name, found in together.items()} == {name: found[0] for name, found in alone.items()}


def test_values_that_are_alike_are_computed_together_and_come_back_in_order() -> None:
    asked: list[list[int]] = []

    def doubled(values: list[int]) -> list[int]:
        asked.append(values)
        return [2 * value for value in values]

    assert at_once(doubled, [5, 2, 3, 4, 7], lambda value: value % 2, most=2) == [10, 4, 6, 8, 14]
    assert asked == [[5, 3], [7], [2, 4]]
    assert in_step([], lambda asked: asked) == [] and [*windows([], size=int, most=1)] == []
