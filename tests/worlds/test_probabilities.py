"""Verdicts on probabilities: how often a grid of nine languages has a wrong one, in unequal groups, against three people who differ.

`python -m tests.worlds.test_probabilities [R]` prints the tables (refits are in test_refits.py). A judge sees each text through noise,
which groups share, and says how sure it is; people label the text with different strictness. What is true of a confidence is known from
300,000 texts of the same world.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from numpy.random import Generator

from harness.correction.correction_options import ProbabilityOptions
from harness.correction.probabilities import DO_NOT_HOLD, HOLD, ProbabilityTests, decide_probabilities
from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.probability_tests import calibration_tests
from tests.worlds.rows import Row, table
from tests.worlds.worlds import HIT, group_sizes

LANGUAGES = 9
MARGIN, ALPHA = ProbabilityOptions().margin, ProbabilityOptions().alpha
KNOWN_FROM = 300_000


class Answers(NamedTuple):
    """Answers of one language with a label: how far the judge leans to its answer, whether it is the commonest label, who agrees."""

    lean: Floats
    right: Floats
    person: Floats
    group: Ints


@dataclass(frozen=True)
class TwoClasses:
    """Texts of two classes with a beta-distributed share in each group, and a judge that takes the likelier class.

    Attributes:
        groups, size, spread: number, mean and spread of the groups' sizes.
        share: of the rarer class.
        skill: how far apart the judge sees the classes, in standard deviations; its errors are correlated in a group.
        unread: how often an answer on the rarer class cannot be read, and a third as often on the other one.
        missing: the share of texts that lose one label where the judge is wrong.
        worse: how much of its skill the judge loses in groups above the mean size.
    """

    groups: int
    size: float = 1
    spread: float = 0
    share: float = 0.3
    skill: float = 2.6
    unread: float = 0.0
    missing: float = 0.0
    worse: float = 0.0

    def draw(self, rng: Generator, groups: int | None = None) -> Answers:
        sizes = group_sizes(rng, groups or self.groups, self.size, self.spread)
        group = np.repeat(np.arange(len(sizes)), sizes)
        n = len(group)
        shares = rng.beta(self.share * 3, (1 - self.share) * 3, len(sizes))[group]
        true = rng.random(n) < shares
        skill = self.skill * np.where(sizes[group] > self.size, 1 - self.worse, 1.0)
        # Heavy-tailed noise, of which a third is the group's.
        noise = np.sqrt(1 / 3) * rng.laplace(0, 0.8, len(sizes))[group] + np.sqrt(2 / 3) * rng.laplace(0, 0.8, n)
        seen = np.where(true, 0.5, -0.5) * skill + noise + np.log(self.share / (1 - self.share)) / 2
        answer = seen > 0
        votes = rng.random((n, 3)) < np.where(true[:, None], HIT, 1 - HIT[::-1])
        given = np.ones((n, 3), bool)
        lost = (answer != true) & (rng.random(n) < self.missing)
        given[lost, rng.integers(0, 3, lost.sum())] = False
        agree = ((votes == answer[:, None]) & given).sum(1) / given.sum(1)
        read = rng.random(n) >= self.unread * np.where(true, 1, 1 / 3)
        used = read & (agree != 0.5)
        return Answers(np.abs(seen)[used], (agree > 0.5)[used] * 1.0, agree[used], group[used])


WORLDS = {
    "200 single texts": TwoClasses(200),
    "400 single texts, the judge is nearly always right": TwoClasses(400, skill=6.0, share=0.15),
    "80 unequal groups": TwoClasses(80, 4, 0.8),
    "30 unequal groups, the judge is nearly always right": TwoClasses(30, 8, 0.8, skill=6.0, share=0.15),
    "25 unequal groups, worse in large ones": TwoClasses(25, 12, 1.0, worse=0.4),
    "200 single texts, failures follow the class": TwoClasses(200, unread=0.4),
    "60 unequal groups, a label is missing where the judge is wrong": TwoClasses(60, 5, 0.8, missing=0.8),
}


@cache
def known(world: TwoClasses) -> Answers:
    """Return many answers of the world, from which its truth is taken."""
    return world.draw(np.random.default_rng(11), max(1, round(KNOWN_FROM / world.size)))


@cache
def truth(world: TwoClasses) -> tuple[Floats, Floats]:
    """Return leanings, rising, and how often an answer with each is the commonest label: what a calibrated judge says."""
    bins = np.array_split(np.argsort(known(world).lean), 40)
    lean = np.array([known(world).lean[one].mean() for one in bins])
    return lean, np.clip([known(world).right[one].mean() for one in bins], 0.001, 0.999)


def calibrated(world: TwoClasses, lean: Floats) -> Floats:
    """Return the chance of the commonest label at these leanings."""
    return np.asarray(np.interp(lean, *truth(world)))


@cache
def moved_by(world: TwoClasses, gap: float) -> float:
    """Return by how many log-odds a calibrated judge has to be surer, so that its mean confidence is `gap` above the share that is right.

    Infinite where there is no room: a judge that is right in 97 % of the texts cannot be 5 points too sure.
    """
    odds, wanted = logit(calibrated(world, known(world).lean)), float(known(world).right.mean()) + gap
    low, high = -8.0, 8.0
    if not 0 < wanted < 0.995:
        return float("inf")
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 / (1 + np.exp(-odds - middle))).mean() < wanted else (low, middle)
    return low


def logit(p: Floats) -> Floats:
    return np.asarray(np.log(p / (1 - p)))


Says = Callable[[TwoClasses, Answers], Floats]
"""How sure a judge says that it is of each of its answers."""


def shifted(gap: float) -> Says:
    """A judge whose mean confidence is `gap` above what is right, at all leanings."""
    return lambda world, found: 1 / (1 + np.exp(-logit(calibrated(world, found.lean)) - moved_by(world, gap)))


def verdicts(world: TwoClasses, says: Says, rng: Generator, cells: int = LANGUAGES) -> list[str]:
    """Draw a grid of languages, and return the verdict of each, without refits."""
    tests = []
    for _ in range(cells):
        found = world.draw(rng)
        confidence = says(world, found)
        sides = [calibration_tests(confidence, right, found.group, MARGIN) for right in (found.right, found.person)]
        tests.append(ProbabilityTests(sides[0], sides[1], None))
    return [decided.verdict for decided in decide_probabilities(tests, ALPHA)]


PROMISES: dict[str, tuple[Says, str, dict[str, str]]] = {  # what is said, the wrong verdict, and the nearest row of the first worlds
    "five points too sure: any *hold*": (shifted(MARGIN), HOLD, {"200 single texts": "0.0", "80 unequal groups": "0.0"}),
    "five points too timid: any *hold*": (shifted(-MARGIN), HOLD, {"200 single texts": "0.0", "80 unequal groups": "0.0"}),
    "calibrated: any *do not hold*": (shifted(0.0), DO_NOT_HOLD, {"200 single texts": "0.3", "80 unequal groups": "0.3"}),
}


def rows_of(promise: str, r: int) -> Iterator[Row]:
    """Yield one row for each world in which the promise can be broken."""
    says, wrong, before = PROMISES[promise]
    for number, (name, world) in enumerate(WORLDS.items()):
        if "five points" in promise and np.isinf(moved_by(world, MARGIN if "sure" in promise else -MARGIN)):
            continue
        rng = np.random.default_rng([71, list(PROMISES).index(promise), number])
        false = sum(wrong in verdicts(world, says, rng) for _ in range(r))
        yield Row(f"{promise}, {name}", before.get(name, "–"), false, r, 100 * ALPHA, False)


def power(r: int) -> Iterator[str]:
    """Yield how many languages of a grid with a calibrated judge get *hold*, and how many that are tested alone."""
    yield "| a calibrated judge | mean confidence, % | *hold*, of nine languages, % | of one, % |"
    yield "| --- | --- | --- | --- |"
    for number, (name, world) in enumerate(WORLDS.items()):
        rng = np.random.default_rng([72, number])
        lean = world.draw(rng, max(1, round(20_000 / world.size))).lean
        nine = np.mean([verdicts(world, shifted(0.0), rng).count(HOLD) for _ in range(r)]) / LANGUAGES
        one = np.mean([verdicts(world, shifted(0.0), rng, 1) == [HOLD] for _ in range(4 * r)])
        yield f"| {name} | " + " | ".join(f"{100 * value:.0f}" for value in (calibrated(world, lean).mean(), nine, one)) + " |"


@pytest.mark.slow
@pytest.mark.parametrize("promise", PROMISES)
def test_a_wrong_verdict_on_probabilities_is_rare(promise: str) -> None:
    for found in rows_of(promise, 40):
        assert found.holds, found


@pytest.mark.slow
def test_a_calibrated_judge_that_is_nearly_always_right_is_shown_to_be_one() -> None:
    world = WORLDS["400 single texts, the judge is nearly always right"]
    rng = np.random.default_rng(73)
    assert np.mean([verdicts(world, shifted(0.0), rng, 1) == [HOLD] for _ in range(20)]) > 0.7


def main() -> None:
    r = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    print(table(row for promise in PROMISES for row in rows_of(promise, r)))
    print()
    for line in power(max(1, r // 20)):
        print(line)


if __name__ == "__main__":
    main()
