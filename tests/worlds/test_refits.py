"""*Hold after refit* on probabilities: how often a grid has one although no refit helps, and the power where one does.

`python -m tests.worlds.test_refits [R]` prints the table. Grids go through `harness.from_frames` to the verdicts of
`harness probabilities`. A language has three people of different strictness, beta-binomial groups of lognormal size, and a judge whose
confidence follows the group, the class that it names, or the answer.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from numpy.random import Generator

import harness
from harness.correction.correction_options import ProbabilityOptions
from harness.correction.probabilities import PROBABILITY_VERDICTS
from harness.stats.core.arrays import Floats, Ints
from tests.worlds.rows import Row, table
from tests.worlds.worlds import group_sizes

HOLD, REFITTED, DO_NOT_HOLD, TOO_FEW = PROBABILITY_VERDICTS
LANGUAGES = ("cs", "de", "es", "ja", "sw")
ERRS = (0.03, 0.06, 0.09)
"""How often each of three people gives the other class."""


def beta_in_groups(rng: Generator, mean: float, group: Ints, icc: float) -> Floats:
    """Draw one beta-distributed value a group, repeated for its texts."""
    strength = 1 / icc - 1
    drawn: Floats = rng.beta(mean * strength, (1 - mean) * strength, group.max() + 1)[group]
    return drawn


def by_group(rng: Generator, group: Ints) -> tuple[Floats, Floats]:
    """Sure of some groups and unsure of others, and right in 75 % of all alike."""
    return 0.55 + 0.44 * beta_in_groups(rng, 0.8, group, 0.4), beta_in_groups(rng, 0.75, group, 0.15)


def by_habit(rng: Generator, group: Ints) -> tuple[Floats, Floats]:
    """One of three usual numbers, whatever the text; right in 85 %."""
    return rng.choice([0.9, 0.95, 0.99], len(group)), beta_in_groups(rng, 0.85, group, 0.15)


def by_skill_of_groups(rng: Generator, group: Ints) -> tuple[Floats, Floats]:
    """Knows some groups and not others, and its confidences do not say which."""
    return 1 - 0.3 * rng.beta(1, 3, len(group)), np.where(beta_in_groups(rng, 0.5, group, 0.3) > 0.5, 0.95, 0.6)


def backwards(rng: Generator, group: Ints) -> tuple[Floats, Floats]:
    """The surer, the less often right."""
    sure = 0.6 + 0.39 * rng.beta(2, 1, len(group))
    return sure, 1.4 - sure


def as_said(rng: Generator, group: Ints) -> tuple[Floats, Floats]:
    """Right as often as it says, the more so in some groups."""
    sure = 0.5 + 0.5 * rng.beta(4, 1.5, len(group))
    logit = np.log(sure / (1 - sure)) + rng.normal(0, 0.4, group.max() + 1)[group]
    return sure, 1 / (1 + np.exp(-logit))


def too_sure(rng: Generator, group: Ints) -> tuple[Floats, Floats]:
    """Knows when it knows, and says far too much: log-odds of right are four tenths of those it says."""
    sure = 1 - 10 ** -rng.uniform(0.5, 3, len(group))
    return sure, 1 / (1 + np.exp(-0.4 * np.log(sure / (1 - sure)) - rng.normal(0, 0.2, group.max() + 1)[group]))


Judge = Callable[[Generator, Ints], tuple[Floats, Floats]]


@dataclass(frozen=True)
class World:
    """Five languages with `groups` groups each of `size` texts on average, and a judge: its confidences, and how often it is right."""

    judge: Judge
    groups: int
    size: float = 1
    spread: float = 0

    def draw(self, rng: Generator) -> harness.Data:
        parts, labels = [], []
        for language in LANGUAGES:
            sizes = group_sizes(rng, self.groups, self.size, self.spread)
            group = np.repeat(np.arange(len(sizes)), sizes)
            sure, right = self.judge(rng, group)
            truth = (rng.random(len(group)) < beta_in_groups(rng, 0.6, group, 0.1)).astype(int)
            people = np.array([truth ^ (rng.random(len(group)) < errs) for errs in ERRS])
            commonest = (people.sum(0) >= 2).astype(int)
            answer = np.where(rng.random(len(group)) < right, commonest, 1 - commonest)
            ids = [f"{language}{n}" for n in range(len(group))]
            probs = [{str(a): p, str(1 - a): 1 - p} for a, p in zip(answer.tolist(), sure.tolist(), strict=True)]
            names = [f"{language}{g}" for g in group]
            parts.append(pd.DataFrame({"item_id": ids, "language": language, "group": names, "score": answer, "probs": probs}))
            labels += [pd.DataFrame({"item_id": ids, "annotator_id": f"{language}-{who}", "score": row}) for who, row in enumerate(people)]
        rows = pd.concat(parts, ignore_index=True)
        return harness.from_frames(
            items=rows[["item_id", "language", "group"]].assign(task="task"),
            labels=pd.concat(labels, ignore_index=True).assign(metric="m"),
            judgments=rows[["item_id", "score", "probs"]].assign(metric="m", judge="j"),
            scales={"m": {"kind": "nominal", "classes": [0, 1]}},
            annotators="persistent",
        )

    def verdicts(self, rng: Generator) -> list[str]:
        cells = harness.probabilities(self.draw(rng), options=ProbabilityOptions()).cells
        assert len(cells) == len(LANGUAGES)
        return [cell.verdict for cell in cells]


WORLDS = {  # none of them is better after a map of its confidences
    "sure by group, 100 single texts": World(by_group, 100),
    "sure by group, 60 unequal groups": World(by_group, 60, 5, 0.8),
    "sure by group, 25 unequal groups": World(by_group, 25, 10, 0.8),
    "one of three usual numbers, 300 single texts": World(by_habit, 300),
    "one of three usual numbers, 60 unequal groups": World(by_habit, 60, 5, 0.8),
    "knows some groups, 60 unequal groups": World(by_skill_of_groups, 60, 5, 0.8),
    "surer where it is wrong, 300 single texts": World(backwards, 300),
    "right as often as it says, 300 single texts": World(as_said, 300),
    "right as often as it says, 60 unequal groups": World(as_said, 60, 5, 0.8),
}
HELPED = {
    "too sure, 100 single texts": World(too_sure, 100),
    "too sure, 300 single texts": World(too_sure, 300),
    "too sure, 600 single texts": World(too_sure, 600),
    "too sure, 1,000 single texts": World(too_sure, 1000),
    "too sure, 200 unequal groups of 5": World(too_sure, 200, 5, 0.8),
}


def row(name: str, worlds: int) -> Row:
    """Return in how many grids any language holds after a refit that does not help."""
    rng = np.random.default_rng([52, list(WORLDS).index(name)])
    false = sum(REFITTED in WORLDS[name].verdicts(rng) for _ in range(worlds))
    return Row(name, "–", false, worlds, 5, least=False)


def power_table(worlds: int) -> str:
    """Return in Markdown which share of languages has each verdict where a refit helps."""
    lines = ["| world | hold after refit, % of languages | do not hold, % | too few labels, % |", "| --- " * 4 + "|"]
    for at, (name, world) in enumerate(HELPED.items()):
        rng = np.random.default_rng([53, at])
        given = [verdict for _ in range(worlds) for verdict in world.verdicts(rng)]
        shares = (f"{100 * given.count(verdict) / len(given):.0f}" for verdict in (REFITTED, DO_NOT_HOLD, TOO_FEW))
        lines.append(f"| {name} | {' | '.join(shares)} |")
    return "\n".join(lines)


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_a_map_that_helps_nobody_is_rarely_said_to(name: str) -> None:
    tested = row(name, 40)
    assert tested.holds, tested


@pytest.mark.slow
def test_a_map_that_helps_is_said_to_with_many_texts() -> None:
    given = World(too_sure, 1000).verdicts(np.random.default_rng(0))
    assert given.count(REFITTED) >= 3, given


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(table(row(name, count) for name in WORLDS), flush=True)
    print()
    print(power_table(max(1, count // 10)))
