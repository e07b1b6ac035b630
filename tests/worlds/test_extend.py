"""May a certificate serve other texts: how often a shift of exactly the margin is called small.

`python -m tests.worlds.test_extend [R]` prints the table. It calls the statistic itself, `transport`, on means over texts.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

from harness.stats.intervals.noninferiority import transport
from tests.worlds.rows import Row, table
from tests.worlds.worlds import group_sizes

MARGIN = 0.15
WORLDS = {  # the groups, their mean size and its spread
    "20 groups of 3": ((20, 3, 0), "1.1"),
    "50 groups of 3": ((50, 3, 0), "2.9"),
    "100 groups of 3": ((100, 3, 0), "4.1"),
    "30 unequal groups": ((30, 6, 0.8), "–"),
    "60 unequal groups": ((60, 6, 0.8), "–"),
    "100 very unequal groups": ((100, 6, 1.3), "–"),
}


def row(name: str, worlds: int) -> Row:
    """Return how often residuals 0 or 1, beta-binomial in groups with the mean `MARGIN`, are shown to lie within it."""
    (groups, mean, spread), before = WORLDS[name]
    rng = np.random.default_rng([31, list(WORLDS).index(name)])
    small = 0
    for _ in range(worlds):
        group = np.repeat(np.arange(groups), group_sizes(rng, groups, mean, spread))
        shares = rng.beta(MARGIN * 4, (1 - MARGIN) * 4, groups)[group]
        found = transport((rng.random(len(group)) < shares).astype(float), group, MARGIN)
        small += found.outcome(found.p, 0.05, 1) == "inside"
    return Row(name, before, small, worlds, 5, False)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["50 groups of 3", "30 unequal groups"])
def test_a_shift_of_the_margin_is_rarely_called_small(name: str) -> None:
    found = row(name, 300)
    assert found.holds, found


def main() -> None:
    print(table(row(name, int(sys.argv[1]) if len(sys.argv) > 1 else 1000) for name in WORLDS))


if __name__ == "__main__":
    main()
