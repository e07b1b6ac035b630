"""What errors follow: how often `harness explain` shows an effect that is not there, and how often its intervals hold one that is.

`python -m tests.worlds.test_explain [R]` prints the table. Every data set goes through `harness.from_frames` and `explain`.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from numpy.random import Generator

import harness
from harness.improvement.explain import ErrorEffect, ExplainOptions, explain
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from tests.worlds.rows import Row, table
from tests.worlds.worlds import group_sizes

SYSTEMS = ("a", "b", "c")
STRICT = np.array([3.0, 0.0, -5.0])
"""What a lenient, a middle and a strict annotator add to each score."""


@dataclass(frozen=True)
class Errors:
    """Scores from 0 to 100 of three annotators of different strictness, and a judge whose errors follow the length by `slope` points.

    A text's length is lognormal, half of its variance that of its group; with `of_groups` all texts of a group are equally long. The
    judge's error has a part of the group, which is exponential (so skewed), and a part of the text, whose spread grows with the length.
    Systems are drawn text by text. A fifth of the texts of the first system, and a tenth of the others, have one annotator only.
    """

    groups: int
    size: float
    spread: float
    languages: int = 1
    slope: float = 0.0
    of_groups: bool = False

    def draw(self, rng: Generator) -> Recording:
        parts = []
        for language in ("de", "fr", "it")[: self.languages]:
            sizes = group_sizes(rng, self.groups, self.size, self.spread)
            group = np.repeat(np.arange(len(sizes)), sizes)
            n = len(group)
            of_text = rng.normal(0, 0 if self.of_groups else 0.35, n)
            length = np.exp(5 + rng.normal(0, 0.35, len(sizes))[group] + of_text).round().astype(int).clip(5)
            quality = 25 + 50 * rng.beta(2, 2, len(sizes))[group] + rng.normal(0, 4, n)
            error = 6 * (rng.exponential(1, len(sizes)) - 1)[group] + rng.normal(0, 3, n) * np.sqrt(length / math.exp(5))
            people = quality[:, None] + STRICT + rng.normal(0, 4, (n, 3))
            parts.append(
                pd.DataFrame(
                    {
                        "item_id": [f"{language}{k}" for k in range(n)],
                        "language": language,
                        "task": "task",
                        "group": [f"{language}-{one}" for one in group],
                        "system": rng.choice(SYSTEMS, n),
                        "length": length,
                        "judge": quality + error + self.slope * np.log(length),
                    }
                ).assign(**{f"p{person}": people[:, person] for person in range(3)})
            )
        rows = pd.concat(parts)
        alone = rng.random(len(rows)) < np.where(rows["system"] == "a", 0.2, 0.1)
        rows.loc[alone, ["p0", "p2"]] = np.nan
        texts = [f"{number:05d}".ljust(count, "7") for number, count in enumerate(rows["length"])]  # equal texts would be one group
        labels = rows.melt("item_id", ["p0", "p1", "p2"], "annotator_id", "score").dropna().assign(metric="m")
        data = harness.from_frames(
            labels=labels,
            judgments=rows[["item_id"]].assign(judge="j", metric="m", score=rows["judge"]),
            items=rows[["item_id", "language", "task", "group", "system"]].assign(output=texts),
            scales={"m": {"kind": "interval", "min": -60, "max": 200, "best": 200}},
            annotators="persistent",
        )
        assert data.judgments is not None
        return Recording("errors", data, data.judgments)


NULL = {
    "100 single texts": (Errors(100, 1, 0), "–"),
    "40 unequal groups": (Errors(40, 5, 0.8), "–"),
    "20 unequal groups": (Errors(20, 6, 0.8), "–"),
    "10 unequal groups": (Errors(10, 10, 0.8), "–"),
    "three languages, 20 unequal groups each": (Errors(20, 6, 0.8, 3), "–"),
}
OF_GROUPS = {
    "40 groups": (Errors(40, 5, 0.8, of_groups=True), "4.8"),
    "20 groups": (Errors(20, 6, 0.8, of_groups=True), "4.3"),
    "10 groups": (Errors(10, 10, 0.8, of_groups=True), "4.4"),
}
SLOPES = {
    "40 unequal groups": (Errors(40, 5, 0.8, slope=4), "–"),
    "20 unequal groups": (Errors(20, 6, 0.8, slope=4), "–"),
    "20 unequal groups, the length is the group's": (Errors(20, 6, 0.8, slope=4, of_groups=True), "–"),
}


def effects(world: Errors, rng: Generator) -> tuple[tuple[ErrorEffect, ...], float]:
    """Return all effects on the judge's error, and how many points its slope is in one standard deviation of the length."""
    [found] = explain(world.draw(rng), MeasureOptions(), ExplainOptions()).metrics
    return found.effects, world.slope * math.log(found.times_longer or 1.0)


def shown_row(name: str, worlds: int) -> Row:
    """Return in how many data sets any effect is shown, where there is none."""
    world, before = NULL[name]
    rng = np.random.default_rng([61, list(NULL).index(name)])
    shown = sum(any(effect.outcome == "shown" for effect in effects(world, rng)[0]) for _ in range(worlds))
    return Row(f"no effect, {name}: any is shown", before, shown, worlds, 5, least=False)


def length_row(name: str, worlds: int) -> Row:
    """Return how often the length of whole groups has p of 5 % at most, of the data sets in which it is tested."""
    world, before = OF_GROUPS[name]
    rng, tested = np.random.default_rng([62, list(OF_GROUPS).index(name)]), []
    for _ in range(worlds):
        length = next(effect for effect in effects(world, rng)[0] if effect.covariate == "length")
        tested += [] if length.p is None else [length.p <= 0.05]
    share = f"{100 * len(tested) / worlds:.0f}"
    return Row(
        f"the length of {name} that says nothing has p ≤ .05; tested in {share} % of data", before, sum(tested), len(tested), 5, least=False
    )


def slope_row(name: str, worlds: int) -> Row:
    """Return how often the interval of the length's effect holds what it is."""
    world, before = SLOPES[name]
    rng, holds = np.random.default_rng([63, list(SLOPES).index(name)]), []
    for _ in range(worlds):
        found, truth = effects(world, rng)
        length = next(effect for effect in found if effect.covariate == "length")
        holds += [] if length.low is None or length.high is None else [length.low <= truth <= length.high]
    return Row(f"the interval of a length's effect holds it, {name}", before, sum(holds), len(holds), 95, least=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["20 unequal groups", "three languages, 20 unequal groups each"])
def test_an_effect_that_is_not_there_is_rarely_shown(name: str) -> None:
    tested = shown_row(name, 150)
    assert tested.holds, tested


@pytest.mark.slow
def test_the_interval_of_an_effect_holds_it() -> None:
    tested = slope_row("40 unequal groups", 150)
    assert tested.holds, tested


def main() -> None:
    worlds = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rows = [shown_row(name, worlds) for name in NULL]
    print(table([*rows, *(length_row(name, worlds) for name in OF_GROUPS), *(slope_row(name, worlds) for name in SLOPES)]))


if __name__ == "__main__":
    main()
