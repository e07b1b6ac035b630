from __future__ import annotations

import numpy as np
import pytest

from harness.stats.core.groups import degrees_of_freedom, error_of_mean, group_sums, resampled_means

RNG = np.random.default_rng(23)


def test_equal_sums_are_put_together() -> None:
    sums = group_sums(np.array([1.0, 0.0, 1.0, 0.0, 1.0]), ["a", "a", "b", "b", "c"])
    assert sums.y.tolist() == [1.0, 1.0] and sums.size.tolist() == [1.0, 2.0] and sums.times.tolist() == [1.0, 2.0]
    assert (sums.groups, sums.units, sums.mean) == (3, 5.0, 0.6)


@pytest.mark.parametrize("equal", [True, False])
def test_error_is_that_of_the_jackknife(equal: bool) -> None:
    text = np.repeat(np.arange(40), 5) if equal else RNG.integers(0, 40, 200)
    values = RNG.normal(size=40)[text] + RNG.normal(size=200)
    sums = group_sums(values, text)
    error, _ = error_of_mean(sums, lambda: float(resampled_means(sums, 0, 20_000).std()))
    without = np.array([values[text != t].mean() for t in np.unique(text)])
    jackknife = np.sqrt((len(without) - 1) * np.var(without))
    assert error == pytest.approx(jackknife, rel=0.03)


def test_degrees_of_freedom_fall_where_few_groups_hold_everything() -> None:
    even, uneven = np.ones(40), np.r_[np.zeros(38), 1.0, -1.0]
    assert degrees_of_freedom(even, np.ones(40)) == 39
    assert degrees_of_freedom(uneven, np.ones(40)) == pytest.approx(2 / (19 / 40))
    assert degrees_of_freedom(np.r_[np.zeros(39), 1.0], np.ones(40)) == 3
    assert degrees_of_freedom(np.zeros(10), np.ones(10)) == 9
