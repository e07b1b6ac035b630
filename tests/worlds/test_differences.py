"""Intervals of differences: of two judges, of a judge and people, and of a judge and the commonest class, in unequal groups.

`python -m tests.worlds.test_differences [R]` prints the table. The statistics are those that `harness compare --versus` and its cells call;
the truth of a world is the mean of 400,000 texts of its kind.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from numpy.random import Generator

from harness.stats import commonest, hits, mean_interval, paired_difference
from harness.stats.agreement.correlation import correlation_difference
from harness.stats.core.arrays import Floats, Ints
from tests.worlds.rows import Row, table
from tests.worlds.worlds import group_sizes

KNOWN_FROM = 400_000
PEOPLE = np.array([0.93, 0.85, 0.72])
"""How often each of three people gives the true class; else the third of them always takes the class below, the others either neighbour."""


@dataclass(frozen=True)
class TwoJudges:
    """Ordered classes with the given shares, which are Dirichlet-distributed over groups, and two judges that find the same texts hard.

    Attributes:
        shares: of the classes, lowest first.
        groups, size, spread: number, mean and spread of the groups' sizes.
        skills: how often each judge is right on a text of mean difficulty.
        hard: how much harder than that the texts of a group are together: the strength of a beta distribution, small is much.
        unread: how often the first judge's answer on the lowest class cannot be read, and a third as often on the others.
        missing: how often a text loses one label where the first judge is wrong.
        low: how often each judge's error is to the class below.
    """

    shares: tuple[float, ...]
    groups: int
    size: float = 1
    spread: float = 0
    skills: tuple[float, float] = (0.85, 0.75)
    hard: float = 4.0
    unread: float = 0.0
    missing: float = 0.0
    low: tuple[float, float] = (0.5, 0.7)

    def draw(self, rng: Generator) -> Drawn:
        sizes = group_sizes(rng, self.groups, self.size, self.spread)
        group, top = np.repeat(np.arange(len(sizes)), sizes), len(self.shares) - 1
        n = len(group)
        of_group = rng.dirichlet(np.array(self.shares) * 5, len(sizes))[group]
        true = (rng.random((n, 1)) > np.cumsum(of_group, axis=1)[:, :-1]).sum(axis=1)
        ease = 1.5 * rng.beta(2 / 3 * self.hard, self.hard / 3, len(sizes))[group]  # its mean is 1

        def wrong(count: int, lower: Floats) -> Ints:
            step = np.where(rng.random((n, count)) < lower, -1, 1)
            other = true[:, None] + step
            return np.where((other < 0) | (other > top), true[:, None] - step, other)

        people = np.where(rng.random((n, 3)) < PEOPLE, true[:, None], wrong(3, np.array([0.3, 0.5, 1.0])))
        right = rng.random((n, 1)) < np.clip(ease[:, None] * self.skills, 0, 1)  # one number for both judges, as they find the same hard
        right = np.where(rng.random((n, 2)) < 0.5, right, rng.random((n, 2)) < np.clip(ease[:, None] * self.skills, 0, 1))
        judges = np.where(right, true[:, None], wrong(2, np.array(self.low))).astype(float)
        given = people.astype(float)
        lost = ~right[:, 0] & (rng.random(n) < self.missing)
        given[lost, rng.integers(0, 3, lost.sum())] = np.nan
        judges[rng.random(n) < self.unread * np.where(true == 0, 1, 1 / 3), 0] = np.nan
        return Drawn(given, judges[:, 0], judges[:, 1], group)


class Drawn(NamedTuple):
    """Labels (texts, 3), NaN where missing; the answers of two judges; groups."""

    people: Floats
    first: Floats
    second: Floats
    group: Ints


BALANCED, SKEWED, RARE = (0.35, 0.35, 0.3), (0.08, 0.22, 0.7), (0.04, 0.96)
WORLDS = {
    "200 single texts": TwoJudges(BALANCED, 200),
    "60 single texts, skewed": TwoJudges(SKEWED, 60),
    "30 single texts, skewed": TwoJudges(SKEWED, 30),
    "200 single texts, a rare class": TwoJudges(RARE, 200, skills=(0.97, 0.95)),
    "20 unequal groups": TwoJudges(BALANCED, 20, 8, 0.8),
    "20 unequal groups, skewed, much harder in some": TwoJudges(SKEWED, 20, 8, 0.8, hard=2.0),
    "40 unequal groups, a rare class": TwoJudges(RARE, 40, 5, 0.8, skills=(0.97, 0.95)),
    "12 unequal groups": TwoJudges(BALANCED, 12, 10, 0.6),
    "200 single texts, failures follow the class": TwoJudges(BALANCED, 200, unread=0.3),
    "60 unequal groups, a label is missing where the judge is wrong": TwoJudges(BALANCED, 60, 4, 0.8, missing=0.7),
}
PAIRS = ("the other judge", "people", "the commonest class", "the other judge, correlation")
BEFORE = {  # the least coverage of the nearest design of the first worlds
    "30 single texts, skewed": "97.1",
    "200 single texts, a rare class": "96.7",
    "20 unequal groups": "94.8",
    "40 unequal groups, a rare class": "96.2",
}


def values_of(world: TwoJudges, drawn: Drawn) -> dict[str, tuple[Floats, Floats]]:
    """Return two measurements of each text, of which a pair of `PAIRS` is the difference; failures are wrong."""
    k = len(world.shares)
    counts = np.stack([(drawn.people == code).sum(axis=1) for code in range(k)], axis=1)
    n = counts.sum(axis=1)
    top = counts.max(axis=1)
    reference = np.where((counts == top[:, None]).sum(axis=1) == 1, counts.argmax(axis=1), -2)
    first, second = (hits(judge, reference, k, failed_wrong=True) for judge in (drawn.first, drawn.second))
    constant = hits(commonest(reference, k), reference, k)
    read = ~np.isnan(drawn.first)
    chosen = counts[np.arange(len(n)), np.where(read, drawn.first, 0).astype(int)]
    agree = np.where(read & (n >= 2), chosen / n, np.nan)
    among = (counts * (counts - 1)).sum(axis=1) / np.maximum(n * (n - 1), 1)
    return {"the other judge": (first, second), "people": (agree, among), "the commonest class": (first, constant)}


@cache
def truth(world: TwoJudges) -> dict[str, float]:
    """Return the true difference of each pair. The commonest class is that of all texts."""
    many = replace(world, groups=round(KNOWN_FROM / world.size))
    drawn = many.draw(np.random.default_rng(81))
    found = {name: float(np.nanmean(a - b)) for name, (a, b) in values_of(world, drawn).items()}
    mean, read = np.nanmean(drawn.people, axis=1), ~np.isnan(drawn.first)
    correlations = [np.corrcoef(mean[read], judge[read])[0, 1] for judge in (drawn.first, drawn.second)]
    return found | {PAIRS[3]: float(correlations[0] - correlations[1])}


def rows_of(name: str, r: int) -> Iterator[Row]:
    """Yield the coverage of the interval of each difference; `r` draws, less those without an interval."""
    world, true = WORLDS[name], truth(WORLDS[name])
    rng = np.random.default_rng([82, list(WORLDS).index(name)])
    held = dict.fromkeys(PAIRS, 0)
    stated = dict.fromkeys(PAIRS, 0)
    for _ in range(r):
        drawn = world.draw(rng)
        intervals = {
            pair: paired_difference(a, b, drawn.group).interval for pair, (a, b) in values_of(world, drawn).items() if pair != "people"
        }
        a, b = values_of(world, drawn)["people"]
        intervals["people"] = mean_interval(a - b, drawn.group, bounds=(-1.0, 1.0))
        mean = np.nanmean(drawn.people, axis=1)
        intervals[PAIRS[3]] = correlation_difference("pearson", mean, drawn.first, drawn.second, drawn.group).interval
        for pair, interval in intervals.items():
            if interval.reason is None:
                stated[pair] += 1
                held[pair] += interval.lo <= true[pair] <= interval.hi
    for pair in PAIRS:
        yield Row(f"{name}: minus {pair}", BEFORE.get(name, "–") if pair != PAIRS[3] else "–", held[pair], stated[pair], 95, True)


def false_differences(name: str, r: int) -> Row:
    """Return how often two judges that are equally good have a p of .05 or less."""
    world = replace(WORLDS[name], skills=(0.8, 0.8), low=(0.6, 0.6), unread=0.0)
    rng = np.random.default_rng([83, list(WORLDS).index(name)])
    false = 0
    for _ in range(r):
        drawn = world.draw(rng)
        first, second = values_of(world, drawn)["the other judge"]
        false += paired_difference(first, second, drawn.group).p <= 0.05
    return Row(f"{name}: two judges that are equally good have p ≤ .05", "–", int(false), r, 5, False)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["60 single texts, skewed", "20 unequal groups", "200 single texts, failures follow the class"])
def test_an_interval_of_a_difference_holds_the_truth(name: str) -> None:
    for found in rows_of(name, 300):
        if "correlation" not in found.promise:
            assert found.holds, found
    assert false_differences(name, 300).holds


def main() -> None:
    r = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(table(row for name in WORLDS for row in rows_of(name, r)))
    print()
    print(table(false_differences(name, r) for name in list(WORLDS)[:8] if "rare" not in name))


if __name__ == "__main__":
    main()
