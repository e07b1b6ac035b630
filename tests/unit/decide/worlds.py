"""Made worlds of labels and judges whose true gap is known, drawn many at a time, and the verdicts of the real rule on them.

An item's true class is drawn from `shares`. Each of three annotators reports it with a probability of their own, else draws a class from
`shares`; the judge likewise. In groups these probabilities vary from group to group. The judge's probability is solved from the gap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.decide.options import DecisionOptions
from harness.decide.verdict_rule import DecisionInputs, decide
from harness.stats import holm
from harness.stats.core.arrays import Floats, Ints
from harness.stats.core.groups import ClusterVariance, GroupSums
from harness.stats.intervals.cluster_mean import mean_of_sums
from harness.stats.intervals.judge_tests import JudgeSums, judge_tests
from harness.stats.intervals.judge_tests import PValues as JudgePValues

Bools = NDArray[np.bool_]
LANGUAGES, METRICS = 9, 5
CELLS = LANGUAGES * METRICS


@dataclass(frozen=True)
class World:
    """How labels and scores come about.

    Attributes:
        shares: of the true classes.
        people: probability of each annotator to report the truth.
        sizes: number of items of each group; one group an item if all are 1.
        sd_people, sd_judge: how much the probabilities vary between groups.
        swing: the judge's probability is so much above the mean in half of the groups, and below it in the others.
        copies: probability that the judge gives the first annotator's class.
        missing: probability that an annotator has not labelled an item.
        fails: probability that the judge gives no readable score.
        distance: classes agree the more the closer they are; then only gaps are drawn, and no baseline.
        worse_in_large: the judge reports the truth as people do, but less often in groups of more than the mean size.
    """

    name: str
    shares: tuple[float, ...]
    people: tuple[float, ...]
    sizes: tuple[int, ...] = ()
    sd_people: float = 0.0
    sd_judge: float = 0.0
    swing: float = 0.0
    copies: float = 0.0
    missing: float = 0.0
    fails: float = 0.0
    distance: bool = False
    worse_in_large: bool = False

    def of(self, items: int, size: int = 1) -> World:
        """This world with so many items, in groups of so many."""
        return replace(self, sizes=(size,) * (items // size), **({} if size > 1 else {"sd_people": 0.0, "sd_judge": 0.0}))

    @property
    def chance(self) -> float:
        """How much two draws from the shares agree on average: the probability that they are equal, unless distance counts."""
        if not self.distance:
            return sum(share**2 for share in self.shares)
        below = np.cumsum(self.shares)[:-1]
        return float(1 - 2 * (below * (1 - below)).sum() / len(below))

    @property
    def large(self) -> Bools:
        """(groups,): which groups have more than the mean number of items."""
        sizes = np.asarray(self.sizes)
        return np.asarray(sizes > sizes.mean())


THIRDS, LIKERT = (1 / 3, 1 / 3, 1 / 3), (0.1, 0.1, 0.2, 0.3, 0.3)
BALANCED = World("balanced, people .9", THIRDS, (0.9,) * 3, sd_people=0.03, sd_judge=0.1)
LIKERT5 = World("Likert 5, people .7", LIKERT, (0.7,) * 3, sd_people=0.05, sd_judge=0.12)
SKEWED3 = World("skewed 3, people .7", (0.15, 0.25, 0.6), (0.7,) * 3, sd_people=0.05, sd_judge=0.12)
RARE = World("rare, people .85", (0.1, 0.9), (0.85,) * 3, sd_people=0.05, sd_judge=0.12)
SPARSE = World("sparse, people .98", THIRDS, (0.98,) * 3, sd_people=0.0, sd_judge=0.03)
WORLDS = (BALANCED, LIKERT5, SKEWED3, RARE, SPARSE)
UNEVEN = tuple(int(size) for size in np.ceil(np.random.default_rng(3).exponential(9.0, 60)))
"""Sizes of 60 groups, from one item to some dozens."""
FURTHER = (
    World("annotators .95, .8, .6", LIKERT, (0.95, 0.8, 0.6), (1,) * 200),
    World("judge copies one annotator in 30 %", LIKERT, (0.7,) * 3, (1,) * 200, copies=0.3),
    World("30 % of labels missing, judge fails in 3 %", (0.15, 0.25, 0.6), (0.8,) * 3, (1,) * 300, missing=0.3, fails=0.03),
    World("60 groups of 1 to 40", LIKERT, (0.7,) * 3, UNEVEN, sd_people=0.05, sd_judge=0.12),
    World("25 groups of 8", LIKERT, (0.7,) * 3, (8,) * 25, sd_people=0.05, sd_judge=0.12),
)


class Drawn(NamedTuple):
    """Sums of each group and how many items they are of, (cells, groups): gaps, and right answers of judge less those of a constant."""

    gap: Floats
    gap_n: Floats
    better: Floats
    better_n: Floats


def geometric(groups: int) -> tuple[int, ...]:
    """Sizes from 1 to 40."""
    return tuple(round(float(size)) for size in np.geomspace(1, 40, groups))


def _uniform(groups: int) -> tuple[int, ...]:
    return tuple(round(float(size)) for size in np.linspace(1, 40, groups))


_MEDIUM = (0.2, 0.3, 0.5)
_SIZES = {
    "100 + 40×4": (100, *[4] * 40),
    "3×60 + 60×3": (*[60] * 3, *[3] * 60),
    "25 of 1–40 geometric": geometric(25),
    "5×40 + 55×4": (*[40] * 5, *[4] * 55),
    "60 + 59×5": (60, *[5] * 59),
    "30 + 29×5": (30, *[5] * 29),
    "6×40 + 40×8": (*[40] * 6, *[8] * 40),
    "60 geometric": geometric(60),
    "25 uniform": _uniform(25),
    "30 uniform": _uniform(30),
    "20 equal": (10,) * 20,
}
UNEQUAL = tuple(World(name, _MEDIUM, (0.8,) * 3, sizes, swing=0.3) for name, sizes in _SIZES.items())
"""Groups of very different size, and a judge whose skill differs from group to group."""
_ODIA = (9, *[8] * 5, *[7] * 7, 6, 6, 5, 5, 4, 3, 3)
"""Texts of PARIKSHA's prompts in Odia that two people labelled."""
UNEQUAL_KINDS = (
    *(
        replace(world, name=f"{world.name}, {kind}", **changed)
        for world in UNEQUAL
        if world.name in ("100 + 40×4", "25 of 1–40 geometric", "60 geometric", "20 equal")
        for kind, changed in {
            "two annotators": {"people": (0.8,) * 2},
            "80/20": {"shares": (0.2, 0.8)},
            "five classes": {"shares": LIKERT, "people": (0.7,) * 3},
            "no swing": {"swing": 0.0},
        }.items()
    ),
    World("PARIKSHA Odia, two annotators", _MEDIUM, (0.8,) * 2, _ODIA, swing=0.3),
)
UNEQUAL_POINTS = tuple(
    replace(world, name=f"{world.name}, 0–100", shares=(1 / 101,) * 101, distance=True)
    for world in UNEQUAL
    if world.name in ("100 + 40×4", "25 of 1–40 geometric", "60 geometric", "25 uniform")
)
"""Scores from 0 to 100 that agree the more the closer they are; the gap alone is tested."""
UNEQUAL_LARGE = tuple(
    replace(world, swing=0.0, worse_in_large=True)
    for world in UNEQUAL
    if world.name in ("100 + 40×4", "3×60 + 60×3", "25 of 1–40 geometric", "5×40 + 55×4", "6×40 + 40×8")
)
"""The judge is worse in the large groups only."""


def judge_of(world: World, gap: float) -> float:
    """The judge's mean probability to report the truth with which its agreement with people is `gap` above theirs."""
    low, high = -1.0, 3.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _gap(world, middle) < gap else (low, middle)
    return (low + high) / 2


@cache
def _spread() -> Floats:
    return np.random.default_rng(5).normal(size=(2, 200_000))


def _gap(world: World, judge: float) -> float:
    s, people = world.chance, world.people
    if world.worse_in_large:
        sizes = np.asarray(world.sizes)
        return float((1 - s) * people[0] * (judge - people[0]) * sizes[world.large].sum() / sizes.sum())
    if world.swing:
        q = np.clip([judge - world.swing, judge + world.swing], 0, 1).mean()
        return float((1 - s) * people[0] * (q - people[0]))
    if world.sd_judge or world.sd_people:
        p, q = (
            np.clip(mean + sd * z, 0, 1)
            for mean, sd, z in zip((people[0], judge), (world.sd_people, world.sd_judge), _spread(), strict=True)
        )
        return float((1 - s) * ((p * q).mean() - (p * p).mean()))
    pairs = [(people[a] * people[b]) * (1 - s) + s for a in range(len(people)) for b in range(a)]
    among = sum(pairs) / len(pairs)
    alone = sum(people) / len(people) * judge * (1 - s) + s
    copied = (1 + sum(people[0] * other * (1 - s) + s for other in people[1:])) / 3
    return (1 - world.fails) * (world.copies * copied + (1 - world.copies) * alone) - among


def draw(world: World, judge: float, cells: int, rng: np.random.Generator) -> Drawn:
    """Cells of a world in which the judge reports the truth with the mean probability `judge`."""
    sizes = np.asarray(world.sizes)
    group, items, k = np.repeat(np.arange(len(sizes)), sizes), int(sizes.sum()), len(world.shares)
    edges = np.cumsum(world.shares)[:-1]

    def classes() -> Ints:
        return np.searchsorted(edges, rng.random((cells, items), np.float32), side="right").astype(np.int8)

    def probability(mean: float, sd: float) -> Floats | float:
        if not sd:
            return mean
        return of_groups(mean + sd * rng.normal(size=(cells, len(sizes))))

    def of_groups(p: Floats) -> Floats:
        return np.asarray(np.clip(p, 0, 1)[:, group])

    def reports(p: Floats | float) -> Ints:
        return np.where(rng.random((cells, items), np.float32) < p, true, classes())

    true = classes()
    shared = probability(world.people[0], world.sd_people)
    labels = [reports(shared if world.sd_people else p) for p in world.people]
    swing = world.swing * (2 * rng.integers(0, 2, (cells, len(sizes))) - 1) if world.swing else None
    if world.worse_in_large:
        swing = np.where(world.large, 0.0, world.people[0] - judge) * np.ones((cells, 1))
    score = reports(probability(judge, world.sd_judge) if swing is None else of_groups(judge + swing))
    if world.copies:
        score = np.where(rng.random((cells, items)) < world.copies, labels[0], score)
    if world.fails:
        score = np.where(rng.random((cells, items)) < world.fails, -1, score)
    if world.missing:
        labels = [np.where(rng.random((cells, items)) < world.missing, -2, label) for label in labels]
    if world.distance:
        return _sums_of_distances(np.stack(labels), score, k, group, len(sizes))
    counts = np.stack([sum((label == c).astype(np.int8) for label in labels) for c in range(k)], axis=-1)
    return _sums(counts, score, group, len(sizes))


def _sums(counts: Ints, score: Ints, group: Ints, groups: int) -> Drawn:
    """Gaps and right answers by group, from class counts (cells, items, k) and scores (cells, items)."""
    raters = counts.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.take_along_axis(counts, np.maximum(score, 0)[..., None].astype(np.int64), axis=-1)[..., 0]
        gap = np.where(score >= 0, own, 0) / raters - (counts * (counts - 1)).sum(axis=-1) / (raters * (raters - 1))
    paired = raters >= 2
    most = counts.max(axis=-1)
    reference = np.where(((counts == most[..., None]).sum(axis=-1) == 1) & paired, counts.argmax(axis=-1), -1)
    commonest = np.stack([(reference == c).sum(axis=1) for c in range(counts.shape[-1])], axis=1).argmax(axis=1)
    known = reference >= 0
    better = ((score == reference) & known) * 1.0 - ((commonest[:, None] == reference) & known)
    columns = (np.where(paired, gap, 0.0), paired, better, known)
    return Drawn(*(_of_groups(values, group, groups) for values in columns))


def _of_groups(values: Floats, group: Ints, groups: int) -> Floats:
    """Sums (cells, groups) of values (cells, items)."""
    return np.asarray(np.add.reduceat(values.astype(np.float64), np.searchsorted(group, np.arange(groups)), axis=1))


def _sums_of_distances(labels: Ints, score: Ints, k: int, group: Ints, groups: int) -> Drawn:
    """Gaps of agreement by distance by group, from labels (annotators, cells, items) and scores (cells, items); no baseline."""
    people = labels.astype(np.float64)
    with_judge = np.abs(people - score).mean(axis=0)
    among = np.mean([np.abs(people[a] - people[b]) for a in range(len(people)) for b in range(a)], axis=0)
    gap = _of_groups((among - with_judge) / (k - 1), group, groups)
    size = _of_groups(np.ones(score.shape), group, groups)
    return Drawn(gap, size, np.zeros_like(gap), size)


class PValues(NamedTuple):
    """One-sided p of every cell, (cells,): the four tests, those of all texts without a cap, and of the plain t test of the gap."""

    capped: JudgePValues
    plain: JudgePValues
    by_t: Floats

    def of(self, cells: slice) -> PValues:
        """Of some cells."""
        return PValues(*(JudgePValues(*(p[cells] for p in each)) for each in (self.capped, self.plain)), self.by_t[cells])


def sums_of(drawn: Drawn) -> JudgeSums:
    """What the tests need to know of every cell."""
    once = np.ones_like(drawn.gap)
    return JudgeSums(GroupSums(drawn.gap, drawn.gap_n, once), GroupSums(drawn.better, drawn.better_n, once))


def p_values(drawn: Drawn, margin: float, variance: ClusterVariance = "cr2") -> PValues:
    """The tests of the rule on every cell; with `cr1` as if groups were equal."""
    sums = sums_of(drawn)
    tests = judge_tests(sums, margin, variance=variance)
    by_t = np.maximum(mean_of_sums(sums.gap, "cr1").p_above(-margin), mean_of_sums(sums.baseline, "cr1").p_above(0.0))
    return PValues(tests.capped, tests.plain, by_t)


def corrected(found: PValues) -> dict[str, Floats]:
    """q of `use`, `worse` and `base_worse` of one family, as the verdicts correct them."""
    return {name: np.fmax(holm(getattr(found.capped, name)), getattr(found.plain, name)) for name in ("use", "worse", "base_worse")}


def verdicts(found: PValues, items: int, groups: int, options: DecisionOptions) -> list[str]:
    """The verdict on every cell of one family, by the real correction and decision table; the labels are no random sample."""
    rows = zip(*(q.tolist() for q in corrected(found).values()), strict=True)
    return [
        decide(DecisionInputs("native", items, groups, False, 1.0, 1.0, use, worse, base, "unknown", 1.0), options).verdict
        for use, worse, base in rows
    ]
