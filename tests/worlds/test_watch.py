"""Watching: how often 500 quiet days with unequal, beta-distributed group means give a false alarm, and how soon a drop is shown.

`python -m tests.worlds.test_watch [R]` prints the tables. It calls the statistics that `harness watch check` calls each day.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

from harness.stats.estimation.betting import log_factors, mixed_wealth, reference_limits
from tests.worlds.rows import Row, median_with_limits, table
from tests.worlds.worlds import group_sizes

ALIKE = 0.5
"""The strength of the beta distribution where the texts of a group are mostly all readable, or all not."""
WORLDS = {  # the level, the mean number of groups on a day, whether the level comes from 300 labels (or groups), and the strength
    "level .8, known": ((0.8, 30, False, 5), "1.9"),
    "level .8, by its lower limit of 300 labels": ((0.8, 30, True, 5), "0.6"),
    "level .97, known, 4 groups a day": ((0.97, 4, False, 5), "–"),
    "level .97, by its lower limit of 300 labels": ((0.97, 30, True, 5), "–"),
    "90 % readable, by its lower limit of 300 groups": ((0.9, 30, True, ALIKE), "–"),
    "98 % readable, by its lower limit of 300 groups": ((0.98, 30, True, ALIKE), "–"),
    "60 % readable, by its lower limit of 300 groups, 4 groups a day": ((0.6, 4, True, ALIKE), "–"),
}


def row(name: str, worlds: int, days: int = 500) -> Row:
    """Return how often the evidence that the level is lower passes 1 / alpha on any day; 2 / alpha where the level is estimated."""
    (level, mean, estimated, strength), before = WORLDS[name]
    rng = np.random.default_rng([29, list(WORLDS).index(name)])
    alarms = 0
    for _ in range(worlds):
        counts = group_sizes(rng, days, mean, 0.8)
        present = np.arange(counts.max()) < counts[:, None]
        sizes = group_sizes(rng, present.size, 4, 0.8).reshape(present.shape)
        means = rng.binomial(sizes, rng.beta(level * strength, (1 - level) * strength, present.shape)) / sizes
        null = level
        if estimated and strength == ALIKE:
            units = group_sizes(rng, 300, 4, 0.8)
            shares = rng.binomial(units, rng.beta(level * strength, (1 - level) * strength, 300)) / units
            null = reference_limits(float(shares.mean()), 300, 0.025).lower
        elif estimated:
            null = reference_limits(rng.binomial(300, level) / 300, 300, 0.025).lower
        alarms += mixed_wealth(log_factors(means, null, present)).log_e.max() > np.log(2 / 0.05 if estimated else 1 / 0.05)
    return Row(name, before, int(alarms), worlds, 5, False)


@pytest.mark.slow
def test_quiet_days_rarely_give_an_alarm() -> None:
    found = row("level .8, known", 200, days=200)
    assert found.holds, found


DROP, QUIET, AFTER = 0.1, (0, 50, 200, 450), 150
DELAYS = {  # groups a day on average, texts of a group, whether the level comes from 300 labels, and the median delays of the first worlds
    "30 single texts a day, level .8 known": (30, 1, False, ("6", "12", "16.5", "19")),
    "30 single texts a day, level .8 from 300 labels": (30, 1, True, ("26", "55", "65", "88")),
    "30 unequal groups a day, level .8 known": (30, 4, False, ("–",) * 4),
    "30 unequal groups a day, level .8 from 300 labels": (30, 4, True, ("–",) * 4),
    "8 unequal groups a day, level .8 known": (8, 4, False, ("–",) * 4),
}


def delays(name: str, quiet: int, worlds: int) -> list[float]:
    """Return the days from a drop of 10 points to the alarm, infinite for none in time; worlds with an alarm before are left out."""
    mean, size, estimated, _ = DELAYS[name]
    rng, found = np.random.default_rng([30, list(DELAYS).index(name), quiet]), []
    for _ in range(worlds):
        counts = group_sizes(rng, quiet + AFTER, mean, 0.5)
        present = np.arange(counts.max()) < counts[:, None]
        sizes = group_sizes(rng, present.size, size, 0.8 if size > 1 else 0).reshape(present.shape)
        level = np.where(np.arange(quiet + AFTER) < quiet, 0.8, 0.8 - DROP)[:, None]
        means = rng.binomial(sizes, rng.beta(level * 5, (1 - level) * 5, present.shape)) / sizes
        null = reference_limits(rng.binomial(300, 0.8) / 300, 300, 0.025).lower if estimated else 0.8
        alarms = mixed_wealth(log_factors(means, null, present)).log_e > np.log((2 if estimated else 1) / 0.05)
        if not alarms[:quiet].any():
            found.append(float(alarms.argmax()) + 1 - quiet if alarms.any() else np.inf)
    return found


@pytest.mark.slow
def test_a_drop_is_shown_as_soon_as_in_the_first_worlds() -> None:
    for quiet, before in ((0, 6), (50, 12)):
        assert median_with_limits(delays("30 single texts a day, level .8 known", quiet, 100))[1] <= before


def main() -> None:
    r = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    print(table(row(name, r) for name in WORLDS))
    print(
        "\n| days until a drop of 10 points is shown, after quiet days | old worlds | new worlds, median [95 %] | not within 150 days, % |"
    )
    print("| --- | --- | --- | --- |")
    for name, (*_, before) in DELAYS.items():
        for quiet, old in zip(QUIET, before, strict=True):
            found = delays(name, quiet, r)
            median, low, high = median_with_limits(found)
            late = 100 * np.mean(np.isinf(found))
            print(f"| {name}, after {quiet} | {old} | {median:g} [{low:g} to {high:g}] | {late:.0f} |")


if __name__ == "__main__":
    main()
