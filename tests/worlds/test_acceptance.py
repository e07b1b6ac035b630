"""Automatic acceptance: how often more than alpha of what is accepted is wrong, where delta is 10 %.

`python -m tests.worlds.test_acceptance [R]` prints the table, `python -m tests.worlds.test_acceptance power [R]` how often anything is
certified of a judge that agrees on 97 %. It calls the statistic itself, `acceptance_threshold`.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from harness.stats import acceptance_threshold
from tests.worlds.rows import Row, table
from tests.worlds.worlds import Confidences

WORLDS = {
    "steep, 100 single texts": (Confidences(100, 1, 0, 0.5, 1.0), "2.9"),
    "steep, 400 single texts": (Confidences(400, 1, 0, 0.5, 1.0), "3.5"),
    "flat at the limit, 400 single texts": (Confidences(400, 1, 0, 0.899, 0.899), "8.1"),
    "flat at the limit, 100 unequal groups": (Confidences(100, 5, 0.8, 0.899, 0.899), "–"),
    "flat at the limit, 30 unequal groups": (Confidences(30, 6, 0.8, 0.899, 0.899), "–"),
    "flat at the limit, 20 unequal groups": (Confidences(20, 6, 0.8, 0.899, 0.899), "–"),
    "flat at the limit, 8 unequal groups": (Confidences(8, 10, 0.8, 0.899, 0.899), "–"),
    "flat at the limit, 8 equal groups": (Confidences(8, 20, 0, 0.899, 0.899), "–"),
    "flat at the limit, 12 unequal groups": (Confidences(12, 10, 0.8, 0.899, 0.899), "–"),
    "flat at the limit, 30 unequal groups, intra-class correlation .5": (Confidences(30, 6, 0.8, 0.899, 0.899, 0.5), "–"),
    "flat at the limit, 12 unequal groups, intra-class correlation .5": (Confidences(12, 10, 0.8, 0.899, 0.899, 0.5), "–"),
    "flat at the limit, 20 equal groups, intra-class correlation .5": (Confidences(20, 10, 0, 0.899, 0.899, 0.5), "–"),
    "flat at the limit, 60 unequal groups, intra-class correlation .5": (Confidences(60, 6, 0.8, 0.899, 0.899, 0.5), "–"),
    "steep, 30 unequal groups": (Confidences(30, 6, 0.8, 0.5, 1.0), "–"),
}


def row(name: str, worlds: int) -> Row:
    """Return how often a threshold is certified that breaks the promise."""
    world, before = WORLDS[name]
    rng = np.random.default_rng([13, list(WORLDS).index(name)])
    truth = {step / 20: world.truth(step / 20) for step in range(21)}
    broken = 0
    for _ in range(worlds):
        confidence, agrees, group, _ = world.draw(rng)
        found = acceptance_threshold(confidence, agrees, group if world.size > 1 else None)
        broken += found.reason is None and truth[round(found.threshold * 20) / 20] < 0.9
    return Row(name, before, broken, worlds, 10, False)


POWER = {
    "200 single texts": Confidences(200, 1, 0, 0.97, 0.97),
    "100 unequal groups of 5": Confidences(100, 5, 0.8, 0.97, 0.97),
    "60 unequal groups of 6": Confidences(60, 6, 0.8, 0.97, 0.97),
    "40 equal groups of 5": Confidences(40, 5, 0, 0.97, 0.97),
    "20 equal groups of 10": Confidences(20, 10, 0, 0.97, 0.97),
    "30 unequal groups of 6": Confidences(30, 6, 0.8, 0.97, 0.97),
    "12 unequal groups of 10": Confidences(12, 10, 0.8, 0.97, 0.97),
}


def power(name: str, worlds: int) -> str:
    """Return a row of how often anything is certified: if texts were taken as independent, by the published design effect, and as it is."""
    rng, texts, certified = np.random.default_rng([14, list(POWER).index(name)]), 0, [0, 0, 0]
    for _ in range(worlds):
        confidence, agrees, group, _ = POWER[name].draw(rng)
        texts += len(agrees)
        ways: tuple[dict[str, Any], ...] = ({}, {"groups": group, "variance": "cr1"}, {"groups": group})
        for at, way in enumerate(ways):
            certified[at] += acceptance_threshold(confidence, agrees, **way).reason is None
    return f"| {name} | {texts / worlds:.0f} | " + " | ".join(f"{100 * count / worlds:.0f}" for count in certified) + " |"


def print_power(worlds: int) -> None:
    print("| labelled texts | their number | as if independent, % | by the published design effect, % | as it is, % |")
    print("| --- | --- | --- | --- | --- |")
    for name in POWER:
        print(power(name, worlds))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["steep, 100 single texts", "flat at the limit, 400 single texts", "flat at the limit, 20 equal groups, intra-class correlation .5"],
)
def test_a_certified_threshold_breaks_its_promise_rarely(name: str) -> None:
    found = row(name, 300)
    assert found.holds, found


def main() -> None:
    if sys.argv[1:2] == ["power"]:
        print_power(int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
    else:
        print(table(row(name, int(sys.argv[1]) if len(sys.argv) > 1 else 1000) for name in WORLDS))


if __name__ == "__main__":
    main()
