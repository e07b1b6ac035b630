"""Bounds of many cells at once, and the p of `use` alone, against those of one cell with all its tests.

A judge that varies less than people do: by enumeration, by published cases, and judges like people in made worlds."""

from __future__ import annotations

import json
import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from harness.stats.core.arrays import ShapeError
from harness.stats.estimation.labels_needed import use_p
from harness.stats.intervals import judge_tests as module_of_tests
from harness.stats.intervals.judge_tests import JudgeSums, OneClass, judge_sums, judge_tests, lower_bounds, one_class_tests, stacked
from harness.stats.intervals.multiplicity import holm
from tests.conftest import SHARED_DATA


def _cells() -> list[JudgeSums]:
    """Of 5 to 30 groups; in half of them one group has most of the texts."""
    rng = np.random.default_rng(1)
    found = []
    for cell in range(12):
        groups = np.r_[rng.integers(0, 5 + 2 * cell, 60), np.zeros(90 * (cell % 2), np.int64)]
        found.append(judge_sums(rng.choice([0, 0, 1 / 3, -1], len(groups)), rng.choice([-1, 0, 0, 1, 1], len(groups)), groups))
    return [*found, judge_sums([0.0], [1.0], [0])]


def test_bounds_of_many_cells_are_those_of_each() -> None:
    cells = _cells()
    caps = np.array([float(judge_tests(one, 0.1).cap) for one in cells])
    assert 0 < np.isfinite(caps).sum() < len(cells)
    levels = np.linspace(0.001, 0.05, len(cells))
    many = lower_bounds(stacked(cells), caps, 0.05, levels)
    for place, one in enumerate(cells):
        alone = lower_bounds(one, caps[place], 0.05, levels[place])
        assert [each[place] for each in many] == pytest.approx(list(map(float, alone)), abs=1e-11, nan_ok=True)
    assert math.isnan(many.gap[-1]) and math.isnan(many.base[-1])


def test_the_p_of_use_is_that_of_all_tests() -> None:
    for one in _cells()[:-1]:
        every = judge_tests(one, 0.1).to_correct(0.05).use
        assert float(use_p(one, 0.1, 0.05)) == pytest.approx(float(every), abs=1e-14)


CASES = SHARED_DATA / "decision_fixtures/unequal.json"
CELLS = 15


def one_class_test(counts: Any, judge: Any, groups: Any) -> OneClass:
    return one_class_tests([(counts, judge, groups)])[0]


def test_the_chance_by_enumeration() -> None:
    """Every item is its own group: each of its labels and its answer may be the judge's."""
    counts, judge = np.array([[2, 1], [3, 0], [1, 2], [0, 3], [2, 1]]), np.array([0, 0, 0, 0, 1])
    chances = [(row[1] + own) / 4 for row, own in zip(counts.tolist(), judge.tolist(), strict=True)]
    few = sum(
        np.prod([chance if hit else 1 - chance for hit, chance in zip(hits, chances, strict=True)])
        for hits in product((0, 1), repeat=5)
        if sum(hits) <= 1
    )
    assert one_class_test(counts, judge, range(5)).p_by_class[0] == pytest.approx(few, abs=1e-12)


def test_a_group_has_the_largest_chance_of_its_items() -> None:
    counts, judge = [[2, 1], [0, 3], [1, 2], [3, 0]], [0, 0, 0, 0]
    found = one_class_test(counts, judge, ["a", "a", "b", "b"])
    assert found.p_by_class[0] == pytest.approx((1 - 3 / 4) * (1 - 2 / 4))


def test_items_without_an_answer_or_a_label_are_left_out() -> None:
    whole = one_class_test([[2, 1], [1, 2], [2, 1]], [0, 0, 0], range(3))
    more = one_class_test([[2, 1], [1, 2], [2, 1], [0, 0], [3, 0]], [0, 0, 0, 1, -1], range(5))
    assert (more.p, more.n, more.others) == (whole.p, 3, 0)
    assert np.isnan(one_class_test([[1, 0]], [-1], [0]).p)


def test_shapes_are_checked() -> None:
    with pytest.raises(ShapeError):
        one_class_test([1, 2], [0, 1], range(2))
    with pytest.raises(ShapeError):
        one_class_test([[1, 2]], [0, 1], range(2))


@pytest.mark.skipif(not CASES.exists(), reason="the cases of others are not here")
@pytest.mark.parametrize("name", ["unequal/one-class-constant", "unequal/one-class-chance"])
def test_cases_of_others(name: str) -> None:
    [case] = [case for case in json.loads(CASES.read_text("utf-8"))["cases"] if case["id"] == name]
    expected: dict[str, Any] = case["expected"]
    found = one_class_test(**case["inputs"])
    assert found.p == pytest.approx(expected["p"], rel=1e-8) and found.others == expected["others"]
    assert found.p_by_class == pytest.approx(expected["p_by_class"], abs=1e-8)
    shares = 1 - found.others / found.n, found.usual / found.labels
    assert shares == pytest.approx((expected["judge_share"], expected["people_share"]))


def grids(share: float, n: int, times: int, seed: int, *, constant: bool = False) -> tuple[float, float, float]:
    """Share of grids with a cell that the thresholds alone call one class, the same with the test, and the share of cells with it.

    Three people and the judge report a class with probability .85 as it is, else at random; the judge like them, or always the first.
    """
    rng, before, after, cells = np.random.default_rng(seed), 0, 0, 0
    for _ in range(times):
        true = rng.random((CELLS, n, 1)) > share
        said = np.where(rng.random((CELLS, n, 4)) < 0.85, true, rng.random((CELLS, n, 4)) > share) * 1
        if constant:
            said[..., 3] = 0
        found = one_class_tests([(np.stack([3 - own[:, :3].sum(1), own[:, :3].sum(1)], 1), own[:, 3], range(n)) for own in said])
        alone = np.array([1 - one.others / one.n >= 0.99 and one.usual / one.labels < 0.95 for one in found])
        shown = alone & (holm(np.array([one.p for one in found])) <= 0.05)
        before, after, cells = before + alone.any(), after + shown.any(), cells + shown.sum()
    return before / times, after / times, cells / times / CELLS


WORLDS = ((0.9, 30), (0.85, 40), (0.95, 60))


@pytest.mark.slow
@pytest.mark.parametrize(("share", "n"), WORLDS)
def test_a_judge_like_people_is_not_called_constant(share: float, n: int) -> None:
    assert grids(share, n, 100, 1)[1] <= 0.05


@pytest.mark.slow
def test_a_constant_judge_is_found() -> None:
    assert grids(0.9, 60, 20, 2, constant=True)[2] >= 0.7 and grids(0.8, 60, 20, 3, constant=True)[2] >= 0.98


def test_many_equal_chances_give_the_probabilities_of_adding_them_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    chances = rng.choice([0.0, 0.5, 1.0], size=(3, 2, 700), p=[0.5, 0.3, 0.2])
    x = [140, 260, 699]
    shown = module_of_tests._at_most(x, chances)
    monkeypatch.setattr(module_of_tests, "_MANY_TRIALS", 10_000)
    np.testing.assert_allclose(shown, module_of_tests._at_most(x, chances), rtol=1e-9, atol=1e-300)
