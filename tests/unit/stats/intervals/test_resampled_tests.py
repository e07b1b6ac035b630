"""Resamples of groups of few sizes: the p of `use` is that of the tests made from each group."""

from __future__ import annotations

import numpy as np
import pytest

from harness.stats.core.arrays import Floats
from harness.stats.core.groups import GroupSums
from harness.stats.intervals.judge_tests import JudgeSums, judge_sums, judge_tests
from harness.stats.intervals.resampled_tests import use_p


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
