"""Label sets at 90 %: how often the set holds the label of a random text of one new group, over draws of labels and of the new group.

`python -m tests.worlds.test_label_sets [R]` prints the table. It calls the statistic itself, `threshold_by_group`; the map from scores to
classes is left out.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
from numpy.random import Generator

from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.map_quality import threshold_by_group
from tests.worlds.rows import Row, table
from tests.worlds.worlds import group_sizes

WORLDS = {  # the labelled groups, their mean size and its spread, whether large groups are harder
    "100 groups of 2": ((100, 2, 0, False), "94.0"),
    "30 groups of 2": ((30, 2, 0, False), "96.1"),
    "100 unequal groups, large ones harder": ((100, 4, 0.8, True), "93.9"),
    "30 unequal groups, large ones harder": ((30, 4, 0.8, True), "–"),
    "12 unequal groups, large ones harder": ((12, 4, 0.8, True), "–"),
}


def draw(rng: Generator, groups: int, mean: float, spread: float, harder: bool) -> tuple[Floats, Ints]:
    """Draw distances of label and score, binomial of five with a beta-distributed chance of each group that may grow with its size."""
    sizes = group_sizes(rng, groups, mean, spread)
    expected = np.clip(0.2 + 0.04 * (sizes - mean) * harder, 0.05, 0.6)
    chance = rng.beta(expected * 4, (1 - expected) * 4)
    group = np.repeat(np.arange(groups), sizes)
    return rng.binomial(5, chance[group]).astype(float), group


def row(name: str, worlds: int) -> Row:
    """Return how often the set of a random text of the last group, whose labels are not used, holds its label."""
    (groups, mean, spread, harder), before = WORLDS[name]
    rng = np.random.default_rng([23, list(WORLDS).index(name)])
    held = 0
    for _ in range(worlds):
        distance, group = draw(rng, groups + 1, mean, spread, harder)
        labelled = group < groups
        held += rng.choice(distance[~labelled]) <= threshold_by_group(distance[labelled], group[labelled], 0.1)
    return Row(name, before, held, worlds, 90, True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["30 groups of 2", "30 unequal groups, large ones harder"])
def test_a_set_holds_the_label_of_a_text_of_a_new_group(name: str) -> None:
    found = row(name, 500)
    assert found.holds, found


def main() -> None:
    print(table(row(name, int(sys.argv[1]) if len(sys.argv) > 1 else 2000) for name in WORLDS))


if __name__ == "__main__":
    main()
