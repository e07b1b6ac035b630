"""Welch's t-test equals that of scipy and of statsmodels, and says why it is undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import ttest_ind
from statsmodels.stats.weightstats import ttest_ind as statsmodels_test

from harness.stats.core.arrays import ShapeError
from harness.stats.intervals.welch import welch_test


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
