"""Equivalence against statsmodels, and leniency."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.weightstats import DescrStatsW

from harness.stats.agreement.describe import leniency
from harness.stats.core.arrays import ShapeError
from harness.stats.intervals.equivalence import PointScale, equivalence, leniency_equivalence

RNG = np.random.default_rng(12)


def test_of_independent_items_it_is_that_of_statsmodels() -> None:
    x = RNG.normal(0.05, 0.5, 60)
    oracle = DescrStatsW(x).ttost_mean(-0.2, 0.2)[0]
    assert equivalence(x, range(60), 0.2).p == pytest.approx(oracle)


@given(st.lists(st.tuples(st.sampled_from([-1.0, 0.0, 0.5]), st.integers(0, 9)), min_size=2, max_size=40), st.sampled_from([0.1, 0.5]))
def test_it_is_shown_where_the_90_percent_interval_lies_within_the_margin(cell: list[tuple[float, int]], margin: float) -> None:
    values, groups = zip(*cell, strict=True)
    found = equivalence(values, groups, margin)
    lo, hi = found.interval(0.9)
    if not math.isnan(found.p) and min(abs(lo + margin), abs(hi - margin)) > 1e-9:
        assert found.shown(0.05) == (-margin < lo and hi < margin)


def test_the_level_of_the_boundary() -> None:
    shown = [equivalence(RNG.normal(0.2, 0.5, 100), np.arange(100) // 2, 0.2).shown() for _ in range(1000)]
    assert 0.03 < np.mean(shown) < 0.075


def test_leniency_is_the_one_described_elsewhere() -> None:
    judge, labels = RNG.integers(-1, 4, 50), RNG.integers(-1, 4, (50, 3))
    found = leniency_equivalence(judge, labels, PointScale(4, -1, [1, 2, 4, 5]), np.arange(50) // 3)
    assert found.mean == pytest.approx(leniency(judge, labels, 4, -1, [1, 2, 4, 5]).value)
    assert found.n == leniency(judge, labels, 4, -1).n and found.margin == pytest.approx(0.4)


def test_edges() -> None:
    assert equivalence([], [], 0.1).reason == "no overlap"
    one = equivalence([0.1, 0.2], [5, 5], 0.1)
    assert math.isnan(one.p) and one.reason and math.isnan(one.interval()[0]) and not one.shown()
    same = equivalence([0.05] * 6, range(6), 0.1)
    assert same.p == 0 and same.reason and same.interval() == pytest.approx((0.05, 0.05))
    assert equivalence([0.2] * 6, range(6), 0.1).p == 1
    assert equivalence([0.1, math.nan, -0.1], range(3), 0.1).n == 2
    with pytest.raises(ValueError, match="margin"):
        equivalence([0.1], [0], 0)
    with pytest.raises(ShapeError):
        leniency_equivalence([0, 1], [[0, 1]], PointScale(2, 1), [0, 1])
