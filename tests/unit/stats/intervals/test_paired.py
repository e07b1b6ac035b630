from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from harness.stats import (
    aggregate,
    commonest,
    hits,
    paired_difference,
)
from harness.stats.core.arrays import ShapeError

RNG = np.random.default_rng(27)


def test_difference_is_students_paired_test() -> None:
    a, b = RNG.normal(0.2, 1, 300), RNG.normal(0, 1, 300)
    found = paired_difference(a, b, np.arange(300), bounds=None)
    oracle = stats.ttest_rel(a, b)
    assert found.diff == pytest.approx(np.mean(a - b))
    assert found.p == pytest.approx(oracle.pvalue, rel=0.1)
    interval = oracle.confidence_interval()
    assert (found.interval.lo, found.interval.hi) == pytest.approx((interval.low, interval.high), abs=0.01)


def test_p_and_interval_agree() -> None:
    for shift in np.linspace(0, 0.3, 20):
        a, b = (RNG.random(120) < 0.5 + shift).astype(float), (RNG.random(120) < 0.5).astype(float)
        found = paired_difference(a, b, np.repeat(np.arange(24), 5))
        assert (found.p < 0.05) == (not found.interval.lo <= 0 <= found.interval.hi)


def test_only_common_items_count() -> None:
    found = paired_difference([1, 1, math.nan, 0] * 10, [0, math.nan, 1, 0] * 10, range(40))
    assert found.diff == 0.5 and found.n == 20


def test_nothing_varies() -> None:
    same = paired_difference([1] * 20, [1] * 20, range(20))
    assert same.diff == 0 and same.p == 1 and same.interval.lo < 0 < same.interval.hi
    better = paired_difference([1] * 20, [0] * 20, range(20))
    assert better.p == 2.0**-19 and better.interval.hi == 1 and better.interval.lo < 1


def test_undefined() -> None:
    none = paired_difference([math.nan], [1], [0])
    assert math.isnan(none.diff) and math.isnan(none.p) and none.reason == "no overlap"
    few = paired_difference([1, 0, 1], [0, 0, 1], range(3))
    assert few.diff == pytest.approx(1 / 3) and math.isnan(few.p)
    assert few.interval.reason == "too few independent texts"
    with pytest.raises(ShapeError):
        paired_difference([1], [1, 2], [0])


def test_hits() -> None:
    assert hits([0, 1, -1], [0, 0, 1], 2, failed_wrong=True).tolist() == [1.0, 0.0, 0.0]
    assert np.isnan(hits([0], [-2], 2, failed_wrong=True)).all()
    with pytest.raises(ShapeError):
        hits([0], [0, 1], 2)


def test_the_baseline_is_the_commonest_reference_of_the_cell() -> None:
    reference, cell = RNG.integers(-2, 3, 90), RNG.integers(0, 2, 90)
    found = commonest(reference, 3, cell)
    for i in range(90):
        own = reference[(cell == cell[i]) & (reference >= 0)]
        assert found[i] == np.argmax(np.bincount(own, minlength=3))
    assert commonest([-1, -2], 2).tolist() == [-1, -1]
    assert commonest([], 2).tolist() == []


@pytest.mark.parametrize("judge", [0, 1])
def test_no_constant_beats_the_baseline(judge: int) -> None:
    """On balanced references a baseline that leaves the item out would be wrong every time, and each constant half as often."""
    balanced = np.repeat([0, 1], 50)
    ours, theirs = (hits(given, balanced, 2) for given in (np.full(100, judge), commonest(balanced, 2)))
    assert paired_difference(ours, theirs, range(100)).diff == 0


def test_judge_and_baseline() -> None:
    labels = RNG.choice(3, (200, 3), p=[0.1, 0.2, 0.7])
    reference, text = aggregate(labels, 3), np.repeat(np.arange(40), 5)
    judge = np.where(RNG.random(200) < 0.98, np.maximum(reference, 0), 1)
    judge[:10] = -1
    baseline = commonest(reference, 3)
    theirs = hits(baseline, reference, 3, failed_wrong=True)
    found = paired_difference(hits(judge, reference, 3), theirs, text)
    used = (judge >= 0) & (reference >= 0)
    assert found.n == used.sum()
    assert found.diff == pytest.approx(np.mean((judge == reference)[used]) - np.mean((baseline == reference)[used]))
    assert found.interval.lo > 0 and found.p < 0.05
    assert paired_difference(hits(judge, reference, 3, failed_wrong=True), theirs, text).n == (reference >= 0).sum()


@pytest.mark.slow
@pytest.mark.parametrize(("texts", "size"), [(200, 1), (25, 10)])
def test_equal_judges_differ_at_the_stated_rate(texts: int, size: int) -> None:
    rng, held, rejected = np.random.default_rng(28), 0, 0
    text = np.repeat(np.arange(texts), size)
    for _ in range(1000):
        p = rng.beta(4, 1.5, texts)[text]
        a, b = ((rng.random(len(text)) < p).astype(float) for _ in range(2))
        found = paired_difference(a, b, text)
        held += found.interval.lo <= 0 <= found.interval.hi
        rejected += found.p < 0.05
    assert 0.93 <= held / 1000 <= 0.97 and rejected == 1000 - held
