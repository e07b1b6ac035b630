"""Planned texts: whether the number that is said to be needed reaches what it promises, and what planned samples estimate.

`python -m tests.worlds.test_planned_texts [R]` prints the estimates of drawn samples, then the power and the width that planned numbers
reach. Plans are those of `harness labels budget` and `harness compare`; samples are drawn as `harness labels plan` draws them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec
import numpy as np
import pandas as pd
import pytest
from numpy.random import Generator

import harness
from harness.correction.correction_options import LabelBudgetOptions, SampleOptions
from harness.correction.labels_budget import LabelsNeeded, draw_label_sample, label_budget
from harness.measure.compare import Recording, compare
from harness.measure.options import MeasureOptions
from harness.stats.core.arrays import Floats, Ints
from tests.worlds.rows import Row, table
from tests.worlds.worlds import Judged, group_sizes

Allocation = Literal["proportional", "neyman"]
PEOPLE = (0.95, 0.85, 0.75)
POWER, HALF_WIDTH = 0.8, 0.05
PLANS = 40
"""First samples, whose median plan is tried."""


def recording(group: Ints, labels: Floats, answers: Floats, classes: int) -> Recording:
    """Return one language of texts with labels (texts, annotators) and answers (texts,), NaN where one is missing."""
    names = [f"t{number}" for number in range(len(group))]
    people = [
        pd.DataFrame({"item_id": names, "annotator_id": f"p{k}", "metric": "m", "score": column}) for k, column in enumerate(labels.T)
    ]
    given = pd.concat(people).dropna()
    judgments = pd.DataFrame(
        {
            "item_id": names,
            "judge": "j",
            "metric": "m",
            "score": [None if np.isnan(one) else int(one) for one in answers],
            "failure": ["not_json" if np.isnan(one) else None for one in answers],
        },
        dtype=object,
    )
    data = harness.from_frames(
        labels=given.assign(score=given["score"].astype(int)),
        judgments=judgments,
        items=pd.DataFrame({"item_id": names, "language": "de", "task": "task", "group": [f"g{one}" for one in group]}),
        scales={"m": {"kind": "ordinal", "classes": list(range(classes)), "best": classes - 1}},
        annotators="persistent",
    )
    assert data.judgments is not None
    return Recording("plan", data, data.judgments)


def planned(source: Recording) -> LabelsNeeded:
    """Return what one judge's cell still needs."""
    [cell] = label_budget([source], LabelBudgetOptions(half_width=HALF_WIDTH)).cells
    return cell


@dataclass(frozen=True)
class OnePerson:
    """One label a text of two classes; a judge that finds `finds` of each class, in groups with a correlation of .2."""

    share: float
    finds: float
    groups: int
    size: float = 1
    spread: float = 0

    def draw(self, rng: Generator) -> Recording:
        sizes = group_sizes(rng, self.groups, self.size, self.spread)
        group = np.repeat(np.arange(len(sizes)), sizes)
        label = rng.random(len(group)) < self.share
        right = rng.random(len(group)) < rng.beta(self.finds * 4, (1 - self.finds) * 4, len(sizes))[group]
        return recording(group, label[:, None].astype(float), np.where(right, label, ~label).astype(float), 2)


@dataclass(frozen=True)
class AsGoodAsPeople:
    """Three annotators of different strictness and a judge that agrees with them as they do with each other."""

    world: Judged

    @property
    def groups(self) -> int:
        return self.world.groups

    def draw(self, rng: Generator) -> Recording:
        return recording(*self.world.draw(rng, self.world.skill(0)), len(self.world.shares))


Plan = AsGoodAsPeople | OnePerson
VERDICTS: dict[str, tuple[Plan, str]] = {
    "balanced, from 60 texts": (AsGoodAsPeople(Judged((0.35, 0.35, 0.3), PEOPLE, 60)), "81"),
    "skewed, from 60 texts": (AsGoodAsPeople(Judged((0.08, 0.22, 0.7), PEOPLE, 60)), "85"),
    "balanced, from 25 unequal groups": (AsGoodAsPeople(Judged((0.35, 0.35, 0.3), PEOPLE, 25, 5, 0.8)), "–"),
    "one person, finds 90 %, from 60 texts": (OnePerson(0.4, 0.9, 60), "–"),
    "one person, rarer class 15 %, finds 92 %, from 80 texts": (OnePerson(0.15, 0.92, 80), "–"),
    "one person, finds 90 %, from 40 unequal groups": (OnePerson(0.4, 0.9, 40, 4, 0.8), "–"),
}


def larger(plan: Plan, factor: float) -> Plan:
    """Return the same world with more groups."""
    groups = round(plan.groups * factor)
    return AsGoodAsPeople(replace(plan.world, groups=groups)) if isinstance(plan, AsGoodAsPeople) else replace(plan, groups=groups)


def plans(name: str, count: int, number: Callable[[LabelsNeeded], int | None]) -> list[float]:
    """Return from `count` first samples how many times as many texts are said to be needed in all; without those that name no number."""
    plan, rng = VERDICTS[name][0], np.random.default_rng([81, list(VERDICTS).index(name)])
    factors = []
    for _ in range(count):
        source = plan.draw(rng)
        further = number(planned(source))
        factors += [] if further is None else [1 + further / len(source.data.items)]
    return factors


def verdict_row(name: str, worlds: int) -> Row:
    """Return how often `use` is shown with as many texts as the median plan says."""
    plan, before = VERDICTS[name]
    factors = plans(name, PLANS, lambda cell: None if cell.more_than else cell.more_for_verdict)
    rng, enough = np.random.default_rng([82, list(VERDICTS).index(name)]), larger(plan, float(np.median(factors)))
    shown = sum(planned(enough.draw(rng)).verdict == "use" for _ in range(worlds))
    return Row(
        f"power: {name}, {len(factors)} of {PLANS} name a number, median {enough.groups} groups",
        before,
        shown,
        worlds,
        100 * POWER,
        least=True,
    )


def width_row(name: str, worlds: int) -> Row:
    """Return how often the half-width is at most a tenth above the wanted one, with as many texts as the median plan says."""
    plan, _ = VERDICTS[name]
    factors = plans(name, PLANS, lambda cell: cell.more_for_half_width)
    rng, enough = np.random.default_rng([83, list(VERDICTS).index(name)]), larger(plan, float(np.median(factors)))
    widths = [planned(enough.draw(rng)).half_width or 1.0 for _ in range(worlds)]
    median = f"median {100 * float(np.median(widths)):.1f} points with {enough.groups} groups"
    return Row(f"half-width of 5 points: {name}, {median}", "–", sum(w <= 1.1 * HALF_WIDTH for w in widths), worlds, 50, least=True)


@dataclass(frozen=True)
class Drawn:
    """400 texts or more in unequal groups; a judge with probabilities, and a person who is found by it the more often the surer it is.

    The judge errs more often where the person gives the rarer class, and gives no answer there twice as often. Neyman's allocation needs
    an answer to every text.
    """

    groups: int
    size: float
    spread: float
    share: float = 0.3
    failures: float = 0.02

    def draw(self, rng: Generator) -> tuple[pd.DataFrame, Floats]:
        """Draw items with answers, and people's labels of all of them."""
        sizes = group_sizes(rng, self.groups, self.size, self.spread)
        group = np.repeat(np.arange(len(sizes)), sizes)
        label = rng.random(len(group)) < rng.beta(self.share * 4, (1 - self.share) * 4, len(sizes))[group]
        confidence = np.round(0.5 + 0.5 * rng.beta(2.5, 1, len(group)), 2)
        right = rng.random(len(group)) < np.where(label, confidence - 0.08, confidence)
        answer = np.where(right, label, ~label).astype(float)
        answer[rng.random(len(group)) < self.failures * np.where(label, 2, 1)] = np.nan
        names = [f"t{number}" for number in range(len(group))]
        rows = pd.DataFrame({"item_id": names, "group": group, "answer": answer, "confidence": confidence})
        return rows, label.astype(float)


POPULATIONS = {"400 single texts": Drawn(400, 1, 0), "80 unequal groups of 5": Drawn(80, 5, 0.8), "rarer class 10 %": Drawn(400, 1, 0, 0.1)}
WAYS: dict[tuple[str, str], str] = {("400 single texts", "proportional"): "97.4", ("400 single texts", "neyman"): "96.9"}


def from_population(rows: pd.DataFrame, label: Floats, chances: dict[str, float] | None) -> Recording:
    """Return the texts as a random sample: labels of those that were drawn, with their probabilities; no labels before the draw."""
    answered = ~rows["answer"].isna()
    items = rows[["item_id"]].assign(language="de", task="task", group="g" + rows["group"].astype(str))
    drawn = rows["item_id"].isin(chances or {}) if chances is not None else pd.Series(np.arange(len(rows)) == 0)
    if chances is not None:
        items = items[drawn].assign(inclusion_probability=[chances[name] for name in rows["item_id"][drawn]])
    labels = rows[["item_id"]].assign(annotator_id="p", metric="m", score=label.astype(int))[drawn]
    kept = drawn if chances is not None else pd.Series(np.ones(len(rows), bool))
    judgments = pd.DataFrame(
        {
            "item_id": rows["item_id"][kept],
            "judge": "j",
            "metric": "m",
            "score": [int(one) if ok else None for one, ok in zip(rows["answer"][kept], answered[kept], strict=True)],
            "failure": [None if ok else "not_json" for ok in answered[kept]],
            "probs": [
                {str(int(one)): sure, str(int(1 - one)): 1 - sure} if ok else None
                for one, sure, ok in zip(rows["answer"][kept], rows["confidence"][kept], answered[kept], strict=True)
            ],
        },
        dtype=object,
    )
    scales = {"m": {"kind": "ordinal", "classes": [0, 1], "best": 1}}
    data = harness.from_frames(labels=labels, judgments=judgments, items=items, scales=scales, annotators="persistent")
    data = msgspec.structs.replace(data, about=msgspec.structs.replace(data.about, sampling="random"))
    assert data.judgments is not None
    return Recording("drawn", data, data.judgments)


def sample_rows(population: str, allocation: Allocation, worlds: int) -> tuple[Row, str]:
    """Return how often the interval of the agreement holds that of all texts, and a line with its bias, also if each text counts once."""
    world, rng = POPULATIONS[population], np.random.default_rng([84, list(POPULATIONS).index(population), len(allocation)])
    world = replace(world, failures=0.0) if allocation == "neyman" else world
    holds, errors, plain = 0, [], []
    for number in range(worlds):
        rows, label = world.draw(rng)
        truth = float(np.mean(rows["answer"].to_numpy() == label))
        first = from_population(rows, label, None)
        without = msgspec.structs.replace(first.data, labels=first.data.labels.take(np.empty(0, np.int64)))
        sample = draw_label_sample(Recording("all", without, first.judgments), SampleOptions(budget=80, allocation=allocation, seed=number))
        chances = {item.item_id: item.inclusion_probability for item in sample.items}
        drawn = from_population(rows, label, chances)
        [cell] = compare([drawn], MeasureOptions()).cells
        value, ends = cell.values["pa_failed_wrong"], cell.intervals["pa_failed_wrong"]
        assert value is not None and ends is not None
        holds += ends[0] <= truth <= ends[1]
        errors.append(value - truth)
        plain.append(float(np.mean(rows["answer"].to_numpy() == label, where=rows["item_id"].isin(chances).to_numpy())) - truth)
    row = Row(f"{population}, {allocation}", WAYS.get((population, allocation), "–"), holds, worlds, 95, least=True)
    bias: Any = [100 * float(np.mean(part)) for part in (errors, plain)]
    return row, f"| {population}, {allocation} | {bias[0]:.1f} | {100 * float(np.std(errors)) / worlds**0.5:.1f} | {bias[1]:.1f} |"


@pytest.mark.slow
@pytest.mark.parametrize("allocation", ["proportional", "neyman"])
def test_an_interval_of_a_planned_sample_holds_the_agreement_of_all_texts(allocation: Allocation) -> None:
    tested, _ = sample_rows("80 unequal groups of 5", allocation, 150)
    assert tested.holds, tested


@pytest.mark.slow
def test_a_planned_number_of_texts_has_the_power_that_was_asked_for() -> None:
    tested = verdict_row("one person, finds 90 %, from 60 texts", 60)
    assert tested.holds, tested


def main() -> None:
    worlds = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    allocations: tuple[Allocation, ...] = ("proportional", "neyman")
    samples = [sample_rows(population, allocation, 2 * worlds) for population in POPULATIONS for allocation in allocations]
    print(table(row for row, _ in samples))
    print("| 80 drawn texts of | bias, points | one standard error | each text once |\n| --- | --- | --- | --- |")
    print("\n".join(line for _, line in samples), flush=True)
    print(table(verdict_row(name, worlds) for name in VERDICTS), flush=True)
    print(table(width_row(name, worlds) for name in ("balanced, from 60 texts", "balanced, from 25 unequal groups")))


if __name__ == "__main__":
    main()
