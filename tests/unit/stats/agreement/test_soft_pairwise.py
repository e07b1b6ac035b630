"""Soft pairwise accuracy, against a permutation test written out pair by pair."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.stats.agreement.soft_pairwise import soft_pairwise_accuracy
from harness.stats.core.arrays import ShapeError

SYSTEM, SEGMENT = (each.ravel() for each in np.meshgrid(np.arange(4), np.arange(25), indexing="ij"))


def scores(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    people = SYSTEM * 0.3 + rng.normal(size=100)
    return people, people + rng.normal(size=100)


@pytest.mark.slow
def test_it_is_near_a_test_written_out() -> None:
    people, judge = scores()
    rng, apart = np.random.default_rng(9), []
    for i in range(4):
        for j in range(i + 1, 4):
            ps = []
            for of in (people, judge):
                d = of[i == SYSTEM] - of[j == SYSTEM]
                ps.append(np.mean([(d * rng.choice([-1, 1], 25)).mean() >= d.mean() for _ in range(4000)]))
            apart.append(abs(ps[0] - ps[1]))
    found = soft_pairwise_accuracy(people, judge, SYSTEM, SEGMENT, permutations=4000)
    assert found.value == pytest.approx(1 - np.mean(apart), abs=0.02) and found.n == 4


def test_bounds_and_invariance() -> None:
    people, judge = scores()
    assert soft_pairwise_accuracy(people, people, SYSTEM, SEGMENT).value == 1
    assert soft_pairwise_accuracy(SYSTEM, -SYSTEM, SYSTEM, SEGMENT).value == pytest.approx(0, abs=1e-6)
    renamed = soft_pairwise_accuracy(people, judge, 3 - SYSTEM, SEGMENT).value
    assert soft_pairwise_accuracy(people, judge, SYSTEM, SEGMENT).value == pytest.approx(renamed, abs=1e-12)
    assert soft_pairwise_accuracy(people, 2 * judge + 5, SYSTEM, SEGMENT).value == pytest.approx(renamed, abs=1e-12)


def test_undefined_without_pairs() -> None:
    assert soft_pairwise_accuracy([1, 2], [1, 2], ["a", "a"], [0, 1]).reason == "fewer than two systems"
    assert soft_pairwise_accuracy([], [], [], []).reason == "fewer than two systems"
    assert soft_pairwise_accuracy([1, 2], [1, 2], ["a", "b"], [0, 1]).reason == "no two systems share a scored source text"
    assert soft_pairwise_accuracy([1, math.nan], [1, 2], ["a", "b"], [0, 0]).reason == "fewer than two systems"
    with pytest.raises(ShapeError):
        soft_pairwise_accuracy([1], [1, 2], ["a"], [0])
