"""Made worlds in which it is known what a judge's scores are worth, as the cells that maps are learnt from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.correction.score_maps import MapInput, map_inputs
from harness.measure.item_table import AnswerCounts, ItemTable
from harness.measure.label_counts import Classes, LabelCounts
from harness.stats.core.arrays import Floats


class ScoreWorld(NamedTuple):
    """Groups of texts with labels, and a judge.

    Attributes:
        name: in tables.
        classes: of the scale; 0: numbers from 0 to 100.
        slope: what the judge knows, from 0 (nothing) to 1.
        sizes: texts of a group, drawn with equal chances.
        harder: how much more people's labels scatter in the largest groups.
        labels: a text.
        between: sd of languages' shifts.
    """

    name: str
    classes: int = 5
    slope: float = 0.8
    sizes: tuple[int, ...] = (2,)
    harder: float = 0.0
    labels: int = 1
    between: float = 0.5


def draw_input(world: ScoreWorld, groups: Sequence[int], rng: np.random.Generator, shifts: Sequence[float] | None = None) -> MapInput:
    """One language for each number of groups; `shifts` holds the languages fixed where they are drawn again."""
    found, first = [], 0
    for at, count in enumerate(groups):
        shift = rng.normal(scale=world.between) if shifts is None else shifts[at]
        size = rng.choice(world.sizes, count)
        group = np.repeat(np.arange(count), size)
        found.append(_cell(world, f"l{at:02d}", group, size[group], shift, first, rng))
        first += count
    [given] = map_inputs(found)
    return given


def _cell(
    world: ScoreWorld, language: str, group: np.ndarray, size: np.ndarray, shift: float, first: int, rng: np.random.Generator
) -> ItemTable:
    n = len(group)
    quality = shift + rng.normal(scale=0.7, size=int(group.max(initial=-1)) + 1)[group] + rng.normal(size=n)
    scatter = 0.6 * (1 + world.harder * (size - min(world.sizes)) / max(max(world.sizes) - min(world.sizes), 1))
    said = quality[:, None] + rng.normal(size=(n, world.labels)) * scatter[:, None]
    judged = world.slope * (quality - shift) + np.sqrt(1 - world.slope**2) * rng.normal(size=n) + 0.5
    return ItemTable(
        key={"language": language, "metric": "m", "judge": "j", "variant": "v", "temperature": None, "top_p": None},
        item=np.arange(n),
        group=group + first,
        asked=np.ones(n, np.int64),
        counts=AnswerCounts(n, {}),
        probability=np.full(n, np.nan),
        expected=np.full(n, np.nan),
        inclusion=None,
        stratum=None,
        **_scale(world, said, judged),
    )


def _scale(world: ScoreWorld, said: Floats, judged: Floats) -> dict[str, object]:
    n = len(judged)
    if not world.classes:
        numbers = tuple(np.clip(50 + 15 * each, 0, 100) for each in (said.mean(axis=1), judged))
        ones = np.ones((n, 1), np.int64)
        classes = Classes(("any score",), "interval", (0.0,), 1, (0.0, 100.0), (0.0, 100.0))
        return {"people": LabelCounts(classes, ones * world.labels, "drop"), "answers": ones, "numbers": numbers}
    k = world.classes
    cuts = np.linspace(-1.5, 1.5, k - 1) if k > 2 else np.zeros(1)
    counts = [np.eye(k, dtype=np.int64)[np.digitize(each, cuts)] for each in (said, judged[:, None])]
    classes = Classes(tuple(range(k)), "ordinal", tuple(map(float, range(k))), 1)
    return {"people": LabelCounts(classes, counts[0].sum(axis=1), "drop"), "answers": counts[1].sum(axis=1), "numbers": None}
