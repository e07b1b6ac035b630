"""Pairwise accuracy with tie calibration, against all pairs and all thresholds."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.stats.agreement.tie_calibration import tie_calibrated_accuracy
from harness.stats.core.arrays import ShapeError


def accuracy(x: list[int], y: list[int], segment: list[int], epsilon: float) -> float:
    """The mean over source texts of the share of correct pairs, pair by pair."""
    shares = []
    for text in sorted(set(segment)):
        pairs = list(combinations([i for i, s in enumerate(segment) if s == text], 2))
        right = [
            (x[i] == x[j]) if abs(y[i] - y[j]) <= epsilon else np.sign(x[i] - x[j]) == np.sign(y[i] - y[j]) and x[i] != x[j]
            for i, j in pairs
        ]
        shares += [np.mean(right)] if pairs else []
    return float(np.mean(shares)) if shares else math.nan


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 2)), min_size=1, max_size=14))
def test_it_is_the_best_of_all_thresholds(items: list[tuple[int, int, int]]) -> None:
    x, y, segment = (list(column) for column in zip(*items, strict=True))
    found = tie_calibrated_accuracy(x, y, segment, segment)
    every = [accuracy(x, y, segment, epsilon) for epsilon in range(10)]
    if math.isnan(every[0]):
        assert found.reason and math.isnan(found.value)
    else:
        assert found.value == pytest.approx(max(every))
        assert found.value == pytest.approx(every[int(found.epsilon)])
        assert all(one < max(every) - 1e-12 for one in every[: int(found.epsilon)])


def test_by_hand() -> None:
    """People tie b and c. The judge has them 2 apart and the others at least 8 apart: from 2 on all three pairs are right."""
    found = tie_calibrated_accuracy([1, 5, 5], [10, 18, 20], [0, 0, 0], [0, 0, 0])
    assert (found.value, found.epsilon, found.pairs, found.segments) == (1.0, 2.0, 3, 1)


def test_a_constant_judge_gets_the_share_of_ties() -> None:
    found = tie_calibrated_accuracy([1, 1, 2, 3], [7, 7, 7, 7], [0, 0, 0, 0], [0, 0, 0, 0])
    assert found.value == pytest.approx(1 / 6) and found.epsilon == 0


def test_the_interval_chooses_epsilon_in_every_resample() -> None:
    rng = np.random.default_rng(0)
    segment = np.repeat(np.arange(60), 8)
    truth = rng.normal(size=480)
    people, judge = np.round(truth + rng.normal(size=480)), truth + rng.normal(size=480)
    found = tie_calibrated_accuracy(people, judge, segment, segment // 2)
    assert found.interval.lo < found.value < found.interval.hi and found.interval.groups == 30
    assert found.epsilon_interval.lo < found.epsilon < found.epsilon_interval.hi
    assert found == tie_calibrated_accuracy(people, judge, segment, segment // 2)


def test_nothing_to_pair() -> None:
    assert tie_calibrated_accuracy([1, 2], [1, 2], [0, 1], [0, 1]).reason
    assert tie_calibrated_accuracy([1, math.nan], [1, 2], [0, 0], [0, 1]).pairs == 0
    with pytest.raises(ShapeError):
        tie_calibrated_accuracy([1], [1], [0, 1], [0])
