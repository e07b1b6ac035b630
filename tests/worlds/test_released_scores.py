"""Verdicts on released scores (a mode or mean of several people, without their single scores), and on errors that people marked.

`python -m tests.worlds.test_released_scores [R [WORDS]]` prints the table, or its rows that begin with some words. Grids of five languages
go through `harness.from_frames` to the verdicts. Released scores are made of three people of different strictness; errors are marked by two
people who overlook some of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.random import Generator

import harness
from harness.decide.options import DecisionOptions
from harness.decide.verdict_rule import VerdictName
from harness.decide.verdicts import Verdict, verdicts
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.stats.core.arrays import Floats, Ints
from tests.worlds.rows import Row, table
from tests.worlds.worlds import group_sizes

LANGUAGES = ("cs", "de", "fr", "ja", "sw")
MARGIN = DecisionOptions().margin
BAR = 0.8
WORST = 25  # the largest penalty of a text


@dataclass(frozen=True)
class Texts:
    """Groups of texts in a language: as many as `groups`, of `size` texts on average."""

    groups: int
    size: float = 1
    spread: float = 0

    def draw(self, rng: Generator) -> Ints:
        sizes = group_sizes(rng, self.groups, self.size, self.spread)
        return np.repeat(np.arange(len(sizes)), sizes)


def in_groups(rng: Generator, mean: float, group: Ints, icc: float = 0.15) -> Floats:
    """Draw a share for each group, beta-distributed about `mean`, repeated for its texts."""
    if mean in (0.0, 1.0):
        return np.full(len(group), mean)
    strength = 1 / icc - 1
    shares: Floats = rng.beta(mean * strength, (1 - mean) * strength, group.max(initial=0) + 1)[group]
    return shares


def mode(rng: Generator, group: Ints, shares: tuple[float, ...]) -> Floats:
    """Return the commonest of three people's classes; the middle one where all differ. Each errs to a neighbouring class, the last most."""
    lean = rng.normal(0, 0.3, group.max(initial=0) + 1)[group]
    truth = np.searchsorted(np.cumsum(shares)[:-1], np.clip(rng.random(len(group)) + 0.05 * lean, 0, 0.999), side="right")
    votes = [np.clip(truth - (rng.random(len(group)) < err), 0, len(shares) - 1) for err in (0.05, 0.1, 0.2)]
    middle: Floats = np.median(votes, axis=0)
    return middle


def mean_of_votes(rng: Generator, group: Ints, shares: tuple[float, ...]) -> Floats:
    """Return the mean of three people's votes from 0 to 1, in sixths."""
    level = in_groups(rng, shares[0], group, 0.3)
    votes = np.round(2 * np.clip(rng.normal(level, 0.25, (3, len(group))), 0, 1)) / 2
    mean: Floats = votes.mean(axis=0)
    return mean


@dataclass(frozen=True)
class Released:
    """A world of released scores, and a judge that gives them in the share `knows` of the texts, else another text's at random."""

    label: Callable[[Generator, Ints, tuple[float, ...]], Floats]
    shares: tuple[float, ...]
    texts: Texts

    @property
    def scale(self) -> dict[str, Any]:
        if self.label is mean_of_votes:
            return {"kind": "interval", "min": 0, "max": 1, "best": 1}
        return {"kind": "ordinal", "classes": list(range(len(self.shares))), "best": len(self.shares) - 1}

    @cache  # noqa: B019 - one of the few worlds of this module
    def knows_as_a_constant(self) -> float:
        """Return how often the judge has to know the score to agree with it as often, or as closely, as the best constant."""
        rng = np.random.default_rng(0)
        score = np.concatenate([self.label(rng, self.texts.draw(rng), self.shares) for _ in range(400)])
        other = rng.permutation(score)
        if self.label is mean_of_votes:
            best, chance = 1 - np.abs(score - np.median(score)).mean(), 1 - np.abs(score - other).mean()
        else:
            best, chance = max(np.mean(score == one) for one in np.unique(score)), np.mean(score == other)
        return float((best - chance) / (1 - chance))

    def draw(self, rng: Generator) -> tuple[Ints, list[Floats], Floats]:
        group = self.texts.draw(rng)
        score = self.label(rng, group, self.shares)
        knows = rng.random(len(group)) < in_groups(rng, self.knows_as_a_constant(), group)
        return group, [score], np.where(knows, score, rng.permutation(score))


@dataclass(frozen=True)
class AtTheBar:
    """Released modes of two classes, and a judge that finds exactly the bar of the rarer class, and the share `other` of the other one."""

    share: float
    other: float
    texts: Texts
    scale: ClassVar[dict[str, Any]] = {"kind": "nominal", "classes": [0, 1]}

    def draw(self, rng: Generator) -> tuple[Ints, list[Floats], Floats]:
        group = self.texts.draw(rng)
        score = mode(rng, group, (self.share, 1 - self.share))
        found = rng.random(len(group)) < np.where(score == 0, in_groups(rng, BAR, group), in_groups(rng, self.other, group))
        return group, [score], np.where(found, score, 1 - score)


@dataclass(frozen=True)
class Marked:
    """Errors in translations: a person sees some of a text's errors, and the judge is a third person in all texts but a share.

    In this share it gives the penalty of another text. `gap` is how much less close to people it is than they are to each other.
    """

    errors: float
    texts: Texts
    gap: float
    scale: ClassVar[dict[str, Any]] = {"kind": "interval", "min": 0, "max": WORST, "best": 0}

    def penalties(self, rng: Generator, group: Ints) -> Floats:
        """Return the penalties (3, texts) of three people: five points a major error and one a minor one, at most `WORST`."""
        hard = rng.gamma(1.2, self.errors / 1.2, group.max(initial=0) + 1)[group]
        major, minor = rng.poisson(0.4 * hard), rng.poisson(hard)
        return np.array([np.minimum(WORST, 5.0 * rng.binomial(major, seen) + rng.binomial(minor, seen)) for seen in (0.9, 0.8, 0.85)])

    @cache  # noqa: B019
    def share_of_others(self) -> float:
        rng = np.random.default_rng(0)
        one, two, judge = np.concatenate([self.penalties(rng, self.texts.draw(rng)) for _ in range(400)], axis=1)
        other = rng.permutation(judge)

        def close(a: Floats) -> float:
            return 1 - float(np.mean([np.abs(a - person).mean() for person in (one, two)])) / WORST

        people = 1 - float(np.abs(one - two).mean()) / WORST
        share = (close(judge) - people + self.gap) / (close(judge) - close(other))
        assert 0 <= share <= 1, share
        return share

    def draw(self, rng: Generator) -> tuple[Ints, list[Floats], Floats]:
        group = self.texts.draw(rng)
        one, two, judge = self.penalties(rng, group)
        wrong = rng.random(len(group)) < in_groups(rng, self.share_of_others(), group)
        return group, [one, two], np.where(wrong, rng.permutation(judge), judge)


World = Released | AtTheBar | Marked


def grid(rng: Generator, world: World) -> tuple[Verdict, ...]:
    """Return the verdicts on one judge in five languages."""
    items, labels, judgments = [], [], []
    for language in LANGUAGES:
        group, people, answers = world.draw(rng)
        ids = [f"{language}{number}" for number in range(len(group))]
        items.append(pd.DataFrame({"item_id": ids, "language": language, "task": "task", "group": [f"{language}-{g}" for g in group]}))
        labels += [pd.DataFrame({"item_id": ids, "annotator_id": f"p{n}", "metric": "m", "score": row}) for n, row in enumerate(people)]
        judgments.append(pd.DataFrame({"item_id": ids, "judge": "j", "metric": "m", "score": answers}))
    scores = [pd.concat(labels, ignore_index=True), pd.concat(judgments, ignore_index=True)]
    if world.scale["kind"] != "interval":
        scores = [rows.astype({"score": int}) for rows in scores]
    data = harness.from_frames(
        items=pd.concat(items, ignore_index=True),
        labels=scores[0],
        judgments=scores[1],
        scales={"m": world.scale},
        annotators="positional" if isinstance(world, Marked) else "aggregate",
    )
    assert data.judgments is not None
    made = verdicts([Recording("grid", data, data.judgments)], MeasureOptions())
    assert len(made) == len(LANGUAGES)
    return made


SINGLE, FEW, MANY = Texts(200), Texts(25, 8, 0.8), Texts(60, 5, 0.8)
BALANCED, SKEWED = (0.3, 0.35, 0.35), (0.05, 0.15, 0.8)
WORLDS: dict[str, tuple[World, str, float]] = {  # the world, the false verdict, its limit
    "released mode, like a constant, 200 single texts: do not use": (Released(mode, BALANCED, SINGLE), "do not use", 5),
    "released mode, skewed, like a constant, 200 single texts: do not use": (Released(mode, SKEWED, SINGLE), "do not use", 5),
    "released mode, like a constant, 60 unequal groups: do not use": (Released(mode, BALANCED, MANY), "do not use", 5),
    "released mode, skewed, like a constant, 25 unequal groups: do not use": (Released(mode, SKEWED, FEW), "do not use", 5),
    "released mean, like a constant, 200 single texts: do not use": (Released(mean_of_votes, (0.6,), SINGLE), "do not use", 5),
    "released mean, skewed, like a constant, 200 single texts: do not use": (Released(mean_of_votes, (0.9,), SINGLE), "do not use", 5),
    "released mean, like a constant, 60 unequal groups: do not use": (Released(mean_of_votes, (0.6,), MANY), "do not use", 5),
    "released mean, like a constant, 25 unequal groups: do not use": (Released(mean_of_votes, (0.8,), FEW), "do not use", 5),
    "released mode of two classes, at the bar of one, 200 single texts: use": (AtTheBar(0.4, 1.0, SINGLE), "use", 5),
    "released mode of two classes, at the bar of one, 60 unequal groups: use": (AtTheBar(0.4, 1.0, MANY), "use", 5),
    "released mode of two classes, at the bar of one, 25 unequal groups: use": (AtTheBar(0.4, 1.0, FEW), "use", 5),
    "released mode of two classes, at both bars, 200 single texts: do not use": (AtTheBar(0.4, BAR, SINGLE), "do not use", 5),
    "released mode of two classes, at both bars, 60 unequal groups: do not use": (AtTheBar(0.4, BAR, MANY), "do not use", 5),
    "marked errors, a margin worse, 200 single texts: use": (Marked(4, SINGLE, MARGIN), "use", 5),
    "marked errors, a margin worse, 60 unequal groups: use": (Marked(4, MANY, MARGIN), "use", 5),
    "marked errors, a margin worse, 25 unequal groups: use": (Marked(4, FEW, MARGIN), "use", 7),
    "marked errors, a margin worse, 200 single texts: do not use": (Marked(4, SINGLE, MARGIN), "do not use", 5),
    "marked errors, a margin worse, 25 unequal groups: do not use": (Marked(4, FEW, MARGIN), "do not use", 5),
    "marked errors, nearly like people, 200 single texts: do not use": (Marked(4, SINGLE, 0.02), "do not use", 5),
}


def row(name: str, worlds: int) -> Row:
    """Return in how many grids any language has the false verdict."""
    world, wrong, limit = WORLDS[name]
    rng = np.random.default_rng([54, list(WORLDS).index(name)])
    false = sum(any(one.decision.verdict == wrong for one in grid(rng, world)) for _ in range(worlds))
    return Row(name, "–", false, worlds, limit, least=False)


def power_rows(worlds: int) -> Iterator[str]:
    """Yield in Markdown how often each verdict is given where it is right."""
    right: dict[str, tuple[World, VerdictName]] = {
        "marked errors, nearly like people, 200 single texts": (Marked(4, SINGLE, 0.02), "use"),
        "marked errors, nearly like people, 25 unequal groups": (Marked(4, FEW, 0.02), "use"),
        "marked errors, 18 points worse, 200 single texts": (Marked(4, SINGLE, 0.18), "do not use"),
    }
    yield "| world | verdict | languages, % |"
    yield "| --- | --- | --- |"
    for number, (name, (world, verdict)) in enumerate(right.items()):
        rng = np.random.default_rng([55, number])
        given = [one.decision.verdict for _ in range(worlds) for one in grid(rng, world)]
        yield f"| {name} | {verdict} | {100 * given.count(verdict) / len(given):.0f} |"


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_a_false_verdict_is_rare(name: str) -> None:
    tested = row(name, 40)
    assert tested.holds, tested


@pytest.mark.slow
@pytest.mark.parametrize("label", [mode, mean_of_votes])
def test_released_scores_alone_never_say_use(label: Callable[..., Floats]) -> None:
    world = Released(label, BALANCED if label is mode else (0.6,), SINGLE)
    rng = np.random.default_rng(0)
    given = {one.decision.verdict for _ in range(20) for one in grid(rng, world)}
    assert given <= {"no verdict", "do not use"}, given


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    words = sys.argv[2] if len(sys.argv) > 2 else ""
    print(table(row(name, count) for name in WORLDS if name.startswith(words)), flush=True)
    if not words:
        print()
        print("\n".join(power_rows(max(1, count // 10))))
