"""What `harness improve` confirms on held-out labels: how often a gain is shown in any language where there is none.

`python -m tests.worlds.test_confirmation [R]` prints the table. It calls the test of the confirming half, `confirm`.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

from harness.stats.estimation.choose_and_confirm import confirm
from tests.worlds.rows import Row, table
from tests.worlds.worlds import group_sizes

WORLDS = {  # groups of a language, their mean size and its spread, how often either setting is right, how often both draw one answer
    "4 languages, 80 single texts": (80, 1, 0, 0.8, 0.5),
    "4 languages, 80 single texts, settings nearly alike": (80, 1, 0, 0.9, 0.9),
    "4 languages, 40 unequal groups": (40, 4, 0.8, 0.8, 0.5),
    "4 languages, 20 unequal groups": (20, 6, 0.8, 0.8, 0.5),
    "4 languages, 10 unequal groups": (10, 10, 0.8, 0.8, 0.5),
}


def row(name: str, worlds: int, languages: int = 4) -> Row:
    """Return how often any language shows a gain at 5 %, Holm over the languages, where both settings are right equally often."""
    groups, mean, spread, skill, alike = WORLDS[name]
    rng = np.random.default_rng([41, list(WORLDS).index(name)])
    shown = 0
    for _ in range(worlds):
        sizes = group_sizes(rng, groups * languages, mean, spread)
        group = np.repeat(np.arange(len(sizes)), sizes)
        chances = rng.beta(skill * 6, (1 - skill) * 6, (2, len(sizes)))[:, group]  # which setting is better differs by group
        common = rng.random(len(group))
        uniform = np.where(rng.random((2, len(group))) < alike, common, rng.random((2, len(group))))
        start, chosen = (uniform < chances).astype(float)
        found = confirm(start, chosen, np.zeros(len(group)), group // groups, group)
        shown += bool((found.corrected <= 0.05).any())
    return Row(name, "–", int(shown), worlds, 5, False)


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_a_gain_is_rarely_shown_where_there_is_none(name: str) -> None:
    found = row(name, 200)
    assert found.holds, found


def main() -> None:
    print(table(row(name, int(sys.argv[1]) if len(sys.argv) > 1 else 1000) for name in WORLDS))


if __name__ == "__main__":
    main()
