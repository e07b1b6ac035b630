"""Strengths are recovered, a tie is half a win, and what no finite strength fits is undefined with its reason."""

from __future__ import annotations

import numpy as np
import pytest

from harness.stats import bradley_terry
from harness.stats.ranking.bradley_terry import NO_COMPARISON, NO_POSITION, NOT_CONNECTED, SEPARATED


def simulated(strengths: list[float], place: float, n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, len(strengths), n)
    second = (first + rng.integers(1, len(strengths), n)) % len(strengths)
    odds = np.take(strengths, first) - np.take(strengths, second) + place
    return first, second, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(float)


def test_strengths_and_the_place_are_recovered_within_their_intervals() -> None:
    true = [0.8, 0.1, -0.9]
    first, second, won = simulated(true, 0.5, 4000)
    found = bradley_terry(first, second, won, 3, np.arange(4000) // 4)
    assert found.strengths == pytest.approx(true, abs=0.15) and found.strengths.sum() == pytest.approx(0)
    assert (found.low <= true).all() and (true <= found.high).all()
    assert found.position[1] < 0.5 < found.position[2] and found.groups == 1000


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    covered = []
    for seed in range(60):
        first, second, won = simulated([0.5, -0.5], 0.3, 300, seed)
        found = bradley_terry(first, second, won, 2, np.arange(300))
        covered.append(found.low[0] <= 0.5 <= found.high[0])
    assert np.mean(covered) > 0.88


def test_a_tie_is_half_a_win_of_each() -> None:
    ties = bradley_terry([0, 1] * 20, [1, 0] * 20, [0.5] * 40, 2, range(40))
    assert ties.strengths == pytest.approx([0, 0]) and ties.position[0] == pytest.approx(0)


@pytest.mark.parametrize(
    ("first", "second", "share", "systems", "reason"),
    [
        ([0, 1], [1, 0], [1, 0], 2, SEPARATED),
        ([0, 1], [1, 0], [1, 1], 2, SEPARATED),
        ([0, 1, 0, 1], [1, 0, 1, 0], [1, 0, 1, 1], 2, SEPARATED),
        ([0, 1, 2, 3], [1, 0, 3, 2], [1, 1, 0, 0], 4, NOT_CONNECTED),
        ([0], [0], [1], 2, NO_COMPARISON),
        ([0, 1], [1, 0], [np.nan, np.nan], 2, NO_COMPARISON),
    ],
    ids=["one always wins", "the first place always wins", "quasi-separation", "two islands", "with itself", "no choice"],
)
def test_what_no_finite_strength_fits_is_undefined(
    first: list[int], second: list[int], share: list[float], systems: int, reason: str
) -> None:
    found = bradley_terry(first, second, share, systems, range(len(first)))
    assert np.isnan(found.strengths).all() and found.reason == reason


def test_without_an_exchange_of_places_the_place_is_unknown_and_strengths_are_not() -> None:
    found = bradley_terry([0] * 40, [1] * 40, [1, 0, 1, 1] * 10, 2, range(40))
    assert found.position_reason == NO_POSITION and found.strengths[0] == pytest.approx(np.log(3) / 2)


def test_few_source_texts_have_no_interval() -> None:
    found = bradley_terry([0, 1] * 10, [1, 0] * 10, [1, 0, 0, 1] * 5, 2, [0, 1] * 10)
    assert not np.isnan(found.strengths).any() and np.isnan(found.low).all() and found.interval_reason
