"""Bounds of many cells at once, and the p of `use` alone, against those of one cell with all its tests."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.stats.intervals.judge_tests import JudgeSums, judge_sums, judge_tests, lower_bounds, stacked
from harness.stats.intervals.resampled_tests import use_p


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
