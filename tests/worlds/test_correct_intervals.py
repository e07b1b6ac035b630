"""Intervals of `harness correct` at the edges: few labels, rare classes, few unequal groups.

`python -m tests.worlds.test_correct_intervals [R]` prints the table.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

from harness.correction.mean_estimates import mean_estimates
from tests.worlds.rows import Row, table
from tests.worlds.worlds import RareClass

WORLDS = {
    "share .3, 30 single texts": (RareClass(0.3, 30), "94.9"),
    "share .3, 60 single texts": (RareClass(0.3, 60), "94.3"),
    "share .1, 60 single texts": (RareClass(0.1, 60), "95.3"),
    "share .05, 60 single texts": (RareClass(0.05, 60), "–"),
    "share .02, 100 single texts": (RareClass(0.02, 100), "–"),
    "share .3, 15 single texts, failures follow the class": (RareClass(0.3, 15, failures=0.1), "–"),
    "share .3, 30 unequal groups": (RareClass(0.3, 30, 6, 0.8), "–"),
    "share .3, 20 unequal groups": (RareClass(0.3, 20, 6, 0.8), "–"),
    "share .1, 20 unequal groups": (RareClass(0.1, 20, 6, 0.8), "–"),
    "share .3, 12 unequal groups": (RareClass(0.3, 12, 6, 0.8), "–"),
    "share .3, 8 unequal groups": (RareClass(0.3, 8, 6, 0.8), "–"),
    "share .1, 8 unequal groups": (RareClass(0.1, 8, 6, 0.8), "–"),
}


def row(name: str, worlds: int) -> tuple[Row, int]:
    """Return how often the interval of the corrected share holds the truth, where one is given, and how many are not given."""
    world, before = WORLDS[name]
    rng = np.random.default_rng([11, list(WORLDS).index(name)])
    intervals = [mean_estimates([(world.draw(rng), 1.0)], share=True).corrected.ci for _ in range(worlds)]
    stated = [ci for ci in intervals if ci is not None]
    return Row(name, before, sum(low <= world.truth <= high for low, high in stated), len(stated), 95, True), worlds - len(stated)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["share .3, 30 single texts", "share .3, 30 unequal groups", "share .3, 20 unequal groups"])
def test_intervals_of_corrected_shares_hold_the_truth(name: str) -> None:
    # Rare classes and 60 single texts fall short of 95 %: docs/error-rates.md says by how much, so they are not asserted here.
    found, _ = row(name, 400)
    assert found.holds, found


def main() -> None:
    rows = [row(name, int(sys.argv[1]) if len(sys.argv) > 1 else 1000) for name in WORLDS]
    print(table(found for found, _ in rows))
    print("no interval:", {found.promise: missing for found, missing in rows if missing})


if __name__ == "__main__":
    main()
