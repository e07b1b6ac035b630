"""The first plan of labels reaches the power that it promises, in worlds that are drawn text by text."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from harness.stats.core.arrays import ShapeError
from harness.stats.estimation.first_labels import first_labels
from harness.stats.intervals.resampled_tests import use_p
from tests.unit.stats.estimation.test_more_labels import CELLS, WORLDS, World


def agreement(world: World) -> float:
    chance = sum(share * share for share in world.shares)
    return world.people**2 + (1 - world.people**2) * chance


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_it_finds_what_is_known_to_do(world: World) -> None:
    found = first_labels(world.shares, agreement(world), 3, level=0.05 / CELLS)
    assert found.texts is not None and found.power >= 0.8
    assert 0.9 * world.planned <= found.texts <= 1.1 * world.planned + 10


def test_texts_drawn_one_by_one_reach_its_power() -> None:
    world = WORLDS["skewed3"]
    found = first_labels(world.shares, agreement(world), 3, level=0.05 / CELLS)
    assert found.texts is not None
    assert 0.75 <= world.power(np.random.default_rng(5), found.texts, 300) <= 0.92  # rounded up, so more than 0.8


def test_its_facts_are_those_of_the_world() -> None:
    world = WORLDS["skewed3"]
    rng, n = np.random.default_rng(7), 200_000
    gap, better = world.draw(rng, n)
    known = ~np.isnan(better)
    found = first_labels(world.shares, agreement(world), 3)
    assert found.with_majority == pytest.approx(known.mean(), abs=0.005)
    assert found.right - found.constant == pytest.approx(better[known].mean(), abs=0.005)
    assert gap.mean() == pytest.approx(0, abs=0.005)


def test_more_cells_a_smaller_margin_and_rarer_classes_need_more() -> None:
    base = first_labels([1, 1, 1], 0.8).texts
    assert base is not None
    for harder in (
        first_labels([1, 1, 1], 0.8, level=0.05 / 20),
        first_labels([1, 1, 1], 0.8, rule=partial(use_p, margin=0.05, alpha=0.05)),
        first_labels([1, 1, 18], 0.85),
        first_labels([1, 1, 1], 0.6),
    ):
        assert harder.texts is None or harder.texts > base
    assert first_labels([1, 1, 1], 1.0, least=200).texts == 200
    narrow = partial(use_p, margin=0.005, alpha=0.05)
    assert first_labels([1, 1, 1], 0.5, rule=narrow) == first_labels([2, 2, 2], 0.5, rule=narrow)
    assert first_labels([1, 1, 1], 0.5, rule=narrow).texts is None


@pytest.mark.parametrize(
    ("shares", "agree", "people", "words"),
    [
        ([1.0], 0.7, 2, "two or more numbers"),
        ([1.0, 0.0], 0.7, 2, "at least two of them above 0"),
        ([1.0, -1.0, 3.0], 0.7, 2, "not negative"),
        ([0.5, 0.5], 0.4, 2, "people who guess with these shares reach 0.50"),
        ([0.5, 0.5], 1.2, 2, "outside 0.50 to 1"),
        ([0.5, 0.5], 0.7, 1, "at least two people"),
        ([0.1] * 11, 0.7, 5, "at most 200,000 patterns"),
    ],
)
def test_refuses_what_cannot_be(shares: list[float], agree: float, people: int, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        first_labels(shares, agree, people)
