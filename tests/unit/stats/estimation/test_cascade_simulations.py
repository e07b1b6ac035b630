"""How often the promise of a cascade is broken, and what its path of thresholds gains.

`python -m tests.unit.stats.estimation.test_cascade_simulations` prints the tables of docs/statistics.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.acceptance import Cascade, CascadePromise, Units, answered_by, joint_cascade, split_cascade

ALPHA = DELTA = 0.1
SPLITS = 300


class World(NamedTuple):
    """Judges with these skills (log-odds), a cheap one first; texts in groups of `size`; `meaningless` judges have random confidences."""

    groups: int = 80
    size: int = 5
    skills: tuple[float, ...] = (1.0, 2.2)
    meaningless: tuple[int, ...] = ()

    def draw(self, rng: np.random.Generator, groups: int = 0) -> tuple[Floats, Floats, Ints]:
        """Confidences in steps of 0.1, so that many are tied, agreement with people, and groups.

        Half of the variance of how easy texts are lies between groups; judges share it, and err alike.
        """
        group = np.repeat(np.arange(groups or self.groups), self.size)
        shared = np.sqrt(0.5)
        ease = shared * rng.normal(size=group[-1] + 1)[group] + shared * rng.normal(size=len(group))
        sure, right = [], []
        for place, skill in enumerate(self.skills):
            own = 0.6 * (shared * rng.normal(size=group[-1] + 1)[group] + rng.normal(size=len(group)))
            seen = skill + 1.5 * ease
            right.append(rng.random(len(group)) < 1 / (1 + np.exp(-(seen + own))))
            stated = 1 / (1 + np.exp(-(seen + 0.5 * rng.normal(size=len(group)))))
            sure.append(rng.random(len(group)) if place in self.meaningless else stated)
        return np.round(np.array(sure), 1), np.array(right, np.float64), group


class Kept(NamedTuple):
    """Shares of splits: the promise is broken, anything is certified; and the mean share of texts that judges answer."""

    broken: float
    certified: float
    answered: float


WORLDS = {
    "two judges": World(),
    "a weak first judge": World(skills=(0.0, 2.2)),
    "three judges": World(skills=(0.3, 1.2, 2.2)),
    "the first judge's confidences mean nothing": World(meaningless=(0,)),
    "no confidence means anything": World(meaningless=(0, 1)),
    "two judges, 300 groups": World(groups=300),
    "three judges, 300 groups": World(groups=300, skills=(0.3, 1.2, 2.2)),
}


def kept(world: World, path: str = "split", units: Units = "design_effect", splits: int = SPLITS, seed: int = 1) -> Kept:
    """Certify on `splits` draws of labelled texts; the true risk is that of 5,000 other groups."""
    rng = np.random.default_rng(seed)
    sure, right, _ = world.draw(rng, 5_000)
    last = len(world.skills) - 1
    found = np.zeros(3)
    for draw in range(splits):
        labelled = world.draw(rng)
        chain = _certified(labelled, path, units, draw)
        if chain.chosen is None:
            continue
        judges = [last] if path == "last alone" else list(range(last + 1))
        who = answered_by(sure[judges], chain.chosen.thresholds)
        answered = who >= 0
        wrong = right[judges][who[answered], np.flatnonzero(answered)] < 1
        found += wrong.mean() > ALPHA, 1, answered.mean()
    return Kept(*(found / splits))


def _certified(labelled: tuple[Floats, Floats, Ints], path: str, units: Units, seed: int) -> Cascade:
    sure, right, group = labelled
    if path == "last alone":
        return joint_cascade(sure[-1:], right[-1:], group, promise=CascadePromise(ALPHA, DELTA, units), seed=seed)
    certify = split_cascade if path == "split" else joint_cascade
    return certify(list(sure), list(right), group, promise=CascadePromise(ALPHA, DELTA, units), seed=seed)


@pytest.mark.slow
@pytest.mark.parametrize("units", ["design_effect", "one_per_group"])
@pytest.mark.parametrize("world", WORLDS)
def test_the_promise_is_broken_at_most_as_often_as_stated(world: str, units: Units) -> None:
    """80 groups of 5 that are correlated, with tied confidences, also meaningless ones."""
    assert kept(WORLDS[world], units=units).broken <= DELTA + 2 * (DELTA * (1 - DELTA) / SPLITS) ** 0.5


@pytest.mark.slow
def test_a_weak_first_judge_does_not_stop_the_better_one() -> None:
    world = WORLDS["a weak first judge"]
    split, equal = (kept(world, path, splits=100).answered for path in ("split", "equal"))
    assert split > equal + 0.1


def table() -> str:
    """The rates, as docs/statistics.md shows them."""
    lines = ["| world | path | promise broken | certified | texts answered |", "| --- | --- | ---: | ---: | ---: |"]
    for name, world in WORLDS.items():
        for path in ("split", "equal", "last alone"):
            found = kept(world, path)
            shares = " | ".join(f"{100 * share:.{digits}f} %" for share, digits in zip(found, (1, 0, 0), strict=True))
            lines.append(f"| {name} | {path} | {shares} |")
        one = kept(world, units="one_per_group")
        shares = f"{100 * one.broken:.1f} % | {100 * one.certified:.0f} % | {100 * one.answered:.0f} %"
        lines.append(f"| {name} | split, one text a group | {shares} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
