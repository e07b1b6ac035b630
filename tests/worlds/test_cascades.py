"""Cascades of judges: how often more than 10 % of the accepted answers are wrong, where delta is 10 %.

`python -m tests.worlds.test_cascades [R]` prints the table. It calls the statistic behind `harness accept --cascade`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.random import Generator

from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.acceptance import CascadePromise, Units, answered_by, split_cascade
from tests.worlds.rows import Row, table
from tests.worlds.worlds import group_sizes


@dataclass(frozen=True)
class Judges:
    """Judges of the given skill in beta-binomial groups: how hard a group is, is common to them; a confidence is a noisy vote of peers."""

    groups: int
    size: float
    spread: float
    skills: tuple[float, ...]

    def draw(self, rng: Generator, groups: int = 0) -> tuple[Floats, Floats, Ints]:
        """Draw confidences (judges, texts), agreement with people, and groups."""
        sizes = group_sizes(rng, groups or self.groups, self.size, self.spread)
        group = np.repeat(np.arange(len(sizes)), sizes)
        ease = rng.beta(6, 2, len(sizes))[group]  # a group's
        sure, right = [], []
        for skill in self.skills:
            chance = rng.beta(8 * skill * ease + 0.2, 8 * (1 - skill * ease))
            right.append(rng.random(len(group)) < chance)
            sure.append(rng.binomial(10, chance) / 10)
        return np.array(sure), np.array(right, np.float64), group


WORLDS: dict[str, tuple[Judges, Units, str]] = {
    "two judges, 80 groups of 5": (Judges(80, 5, 0, (0.85, 0.97)), "design_effect", "3.0"),
    "two judges, 80 unequal groups": (Judges(80, 5, 0.8, (0.85, 0.97)), "design_effect", "–"),
    "three judges, 60 unequal groups": (Judges(60, 6, 0.8, (0.7, 0.85, 0.97)), "design_effect", "3.3"),
    "two judges, 20 unequal groups": (Judges(20, 10, 0.8, (0.85, 0.97)), "design_effect", "–"),
    "two judges, 10 groups of 20": (Judges(10, 20, 0, (0.85, 0.97)), "design_effect", "–"),
    "two judges, 150 unequal groups, one text a group": (Judges(150, 4, 0.8, (0.85, 0.97)), "one_per_group", "–"),
}


def row(name: str, worlds: int) -> Row:
    """Return how often thresholds are certified that break the promise on 4,000 other groups."""
    world, units, before = WORLDS[name]
    rng = np.random.default_rng([37, list(WORLDS).index(name)])
    sure, right, group = world.draw(rng, 4000)
    weight = 1 / np.bincount(group)[group] if units == "one_per_group" else np.ones(len(group))
    broken = 0
    for seed in range(worlds):
        chosen = split_cascade(*world.draw(rng), promise=CascadePromise(0.1, 0.1, units), seed=seed).chosen
        if chosen is None:
            continue
        judge = answered_by(sure, chosen.thresholds)
        answered = judge >= 0
        wrong = right[judge[answered], np.flatnonzero(answered)] < 1
        broken += np.average(wrong, weights=weight[answered]) > 0.1
    return Row(name, before, int(broken), worlds, 10, False)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two judges, 80 unequal groups", "two judges, 10 groups of 20"])
def test_a_certified_cascade_breaks_its_promise_rarely(name: str) -> None:
    found = row(name, 150)
    assert found.holds, found


def main() -> None:
    print(table(row(name, int(sys.argv[1]) if len(sys.argv) > 1 else 500) for name in WORLDS))


if __name__ == "__main__":
    main()
