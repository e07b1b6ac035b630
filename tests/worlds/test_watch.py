"""Watching: how often 500 quiet days with unequal, beta-distributed group means give a false alarm, looked at after each day.

`python -m tests.worlds.test_watch [R]` prints the table. It calls the statistics that `harness watch check` calls each day.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

from harness.stats.estimation.betting import log_factors, mixed_wealth, reference_limits
from tests.worlds.rows import Row, table
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


def main() -> None:
    print(table(row(name, int(sys.argv[1]) if len(sys.argv) > 1 else 500) for name in WORLDS))


if __name__ == "__main__":
    main()
