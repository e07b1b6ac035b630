"""Whole watches: how often a judge that never changes gives an alarm on its anchors, or on production scores, on any of 300 days.

`python -m tests.worlds.test_anchors [R]` prints the table. Days go through the program's own reference levels, records of a day and check:
the draw of anchors, agreement and level of their answers, production scores by group, and the alarm over all cells.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Literal

import msgspec
import numpy as np
import pytest
from numpy.random import Generator

from harness.correction.certificate import CertifiedJudge
from harness.stats.core.arrays import Floats
from harness.watch.watch_check import Answers, check_watch, draw_anchors, see_anchors
from harness.watch.watch_folder import _cell_references
from harness.watch.watch_options import WatchOptions
from harness.watch.watch_plan import Anchor, Day, Seen, SeenCell, SeenProduction, WatchedCell, WatchPlan
from tests.worlds.rows import Row, median_with_limits, table
from tests.worlds.worlds import group_sizes

FIRST = date(2030, 1, 1)
STRICTNESS = (0.4, 0.0, -0.6)


@dataclass(frozen=True)
class Watched:
    """A judge that is watched in several languages.

    Attributes:
        anchors, repeats, per_day: as in the options.
        steady: the share of anchors on which the judge always says the same; on the others the chance of a class is Dirichlet-distributed.
        unread: how often an answer on the lowest class cannot be read, and a third as often on the others.
        production: groups of production texts on a day, of unequal size; 0 for none.
        scale: classes 0 to 2, or numbers from 0 to 100.
    """

    languages: int = 3
    anchors: int = 120
    repeats: int = 5
    per_day: int = 30
    steady: float = 0.6
    unread: float = 0.0
    production: int = 0
    scale: Literal["classes", "numbers"] = "classes"


WORLDS = {
    "anchors: a judge that is random on all of them": (Watched(steady=0.0), "0.0"),
    "anchors: random on four of ten": (Watched(), "–"),
    "anchors: failures follow the class": (Watched(unread=0.3), "–"),
    "anchors: 25 of them, each asked twice, 10 a day": (Watched(anchors=25, repeats=2, per_day=10), "–"),
    "anchors: numbers from 0 to 100": (Watched(scale="numbers"), "–"),
    "anchors and production: any of six streams": (Watched(production=12, unread=0.2), "0.5"),
}
DROPS = {  # by how much of the classes' distance the judge becomes lower on day 60
    "a drop of every fifth answer to the lowest class": (Watched(), 0.2),
    "the same, a judge that is random on all of them": (Watched(steady=0.0), 0.2),
    "the same, 25 anchors, each asked twice, 10 a day": (Watched(anchors=25, repeats=2, per_day=10), 0.2),
}


QUIET = (0, 50, 200)
DELAYS = {  # one language with 200 anchors and 30 a day, whose agreement falls by 10 points; the median delays of the first worlds
    "a judge that is random on all anchors": (Watched(languages=1, anchors=200, steady=0.0), ("23", "43.5", "55")),
    "random on four of ten": (Watched(languages=1, anchors=200), ("–",) * 3),
    "a judge that is steady on all": (Watched(languages=1, anchors=200, steady=1.0), ("11", "20", "26")),
    "random on four of ten, failures follow the class": (Watched(languages=1, anchors=200, unread=0.3), ("–",) * 3),
}


class Judge:
    """The texts of a world, people's labels of the anchors, and what the judge says of them with which chance."""

    def __init__(self, world: Watched, rng: Generator) -> None:
        self.world, self.rng = world, rng
        self.true = rng.choice(3, world.anchors, p=[0.15, 0.25, 0.6])
        chances = np.array([rng.dirichlet(np.where(np.arange(3) == code, 6.0, 0.8)) for code in self.true])
        fixed = np.eye(3)[[rng.choice(3, p=row) for row in chances]]
        self.chances = np.where(rng.random(world.anchors)[:, None] < world.steady, fixed, chances)
        self.means = np.clip(25 + 30 * self.true + rng.normal(0, 8, world.anchors), 0, 100)
        self.spread = np.where(rng.random(world.anchors) < world.steady, 0.0, rng.gamma(2, 6, world.anchors))

    def anchor(self, number: int, language: str) -> Anchor:
        """Return an anchor with the labels of three people of different strictness."""
        said = np.clip(np.round(self.true[number] + np.array(STRICTNESS) + 0.5 * self.rng.standard_normal(3)), 0, 2)
        counts = Counter(str(int(score)) for score in said)
        mean = float(self.means[number]) if self.world.scale == "numbers" else None
        return Anchor(item_id=f"{language}{number}", language=language, metric="m", labels=dict(counts), mean_label=mean)

    def say(self, number: int, lower: float = 0.0) -> int | float | None:
        """Return one answer on an anchor; `lower` is the share of answers that become the lowest class."""
        code = int(self.true[number])
        if self.rng.random() < self.world.unread * (1 if code == 0 else 1 / 3):
            return None
        if self.rng.random() < lower:
            return 0
        if self.world.scale == "numbers":
            return float(np.round(np.clip(self.rng.normal(self.means[number], self.spread[number]), 0, 100)))
        return int(self.rng.choice(3, p=self.chances[number]))

    def production(self, groups: int) -> list[list[float | None]]:
        """Return the levels of production texts by group: those of a group are alike, and a low level is read less often."""
        made: list[list[float | None]] = []
        for size in group_sizes(self.rng, groups, 4, 0.8).tolist():
            share = self.rng.beta(3, 1.2)
            levels: Floats = (self.rng.random(size) < share).astype(float)
            lost = self.rng.random(size) < self.world.unread * np.where(levels == 0, 1, 1 / 3)
            made.append([None if gone else level for level, gone in zip(levels.tolist(), lost.tolist(), strict=True)])
        return made


def watch_of(world: Watched, rng: Generator, days: int, drop: float = 0.0, after: int = 0) -> int | None:
    """Return the first day with an alarm in any language, None without one; from the day `after` on the judge is lower by `drop`."""
    options = WatchOptions(anchors=world.anchors, repeats=world.repeats, per_day=world.per_day, seed=int(rng.integers(1 << 30)))
    judges = {f"l{number}": Judge(world, rng) for number in range(world.languages)}
    anchors = {tag: [judge.anchor(number, tag) for number in range(world.anchors)] for tag, judge in judges.items()}
    span = (0.0, 100.0) if world.scale == "numbers" else None
    classes, levels = ((), ()) if span else ((0, 1, 2), (0.0, 0.5, 1.0))
    cells = []
    for tag, judge in judges.items():
        cell = WatchedCell(language=tag, metric="m", classes=classes, levels=levels, span=span, watched_class=None, references=())
        answers: Answers = {
            (anchor.item_id, "m"): [judge.say(number) for _ in range(world.repeats)] for number, anchor in enumerate(anchors[tag])
        }
        before = {str(number): list(group) for number, group in enumerate(judge.production(300))}
        references = _cell_references(cell, anchors[tag], answers, before, options.alpha / world.languages)
        cells.append(msgspec.structs.replace(cell, references=tuple(references)))
    plan = WatchPlan(
        schema_version=2,
        harness="0",
        certificate="",
        judge=CertifiedJudge(name="j", settings=None, variant="single", judgments=""),
        run=None,
        data="d",
        since=FIRST,
        options=options,
        cells=tuple(cells),
        anchors="",
        certified="",
        nonce="",
    )
    log = []
    for number in range(days):
        day, seen = FIRST + timedelta(days=number), {}
        for cell in cells:
            judge, pool = judges[cell.language], anchors[cell.language]
            times = draw_anchors(pool, plan, day)
            lower = drop if number >= after else 0.0
            places = {anchor.item_id: place for place, anchor in enumerate(pool)}
            said: Answers = {(name, "m"): [judge.say(places[name], lower) for _ in range(count)] for name, count in times.items()}
            groups = judge.production(int(group_sizes(rng, 1, world.production, 0.8)[0])) if world.production else []
            of_day = None
            if groups:
                read = [[level for level in group if level is not None] for group in groups]
                of_day = SeenProduction(
                    texts=sum(map(len, groups)),
                    unread=sum(level is None for group in groups for level in group),
                    known=0,
                    level=Seen.of(sum(group) / len(group) for group in read if group),
                    readable=Seen.of(len(group) / len(all_of) for group, all_of in zip(read, groups, strict=True)),
                )
            seen[cell.name] = SeenCell(anchors=see_anchors(cell, pool, times, said), production=of_day)
        log.append(Day(date=day, cells=seen))
    check = check_watch(plan, log, FIRST + timedelta(days=days))
    alarms = [stream.alarm for cell in check.cells for stream in (cell.anchors, cell.production) if stream.alarm]
    return (min(alarms) - FIRST).days if alarms else None


def lower_by(world: Watched, fall: float) -> float:
    """Return the share of answers that have to become the lowest class, so that agreement with a person falls by `fall`."""
    rng = np.random.default_rng(63)
    judge = Judge(replace(world, anchors=20_000), rng)
    labels = [judge.anchor(number, "l").labels for number in range(judge.world.anchors)]
    people = np.array([[label.get(str(code), 0) for code in range(3)] for label in labels]) / 3
    return fall / float((judge.chances * people).sum(axis=1).mean() - people[:, 0].mean())


def delays(name: str, quiet: int, watches: int) -> list[float]:
    """Return the days from the fall to the alarm, infinite without one in 200 days; watches with an alarm before are left out."""
    world, _ = DELAYS[name]
    drop, rng = lower_by(world, 0.1), np.random.default_rng([64, list(DELAYS).index(name), quiet])
    days = [watch_of(world, rng, quiet + 200, drop, quiet) for _ in range(watches)]
    return [np.inf if day is None else day + 1.0 - quiet for day in days if day is None or day >= quiet]


def row(name: str, watches: int, days: int = 300) -> Row:
    world, before = WORLDS[name]
    rng = np.random.default_rng([61, list(WORLDS).index(name)])
    alarms = sum(watch_of(world, rng, days) is not None for _ in range(watches))
    return Row(name, before, alarms, watches, 5, False)


@pytest.mark.slow
def test_a_judge_that_never_changes_rarely_gives_an_alarm() -> None:
    found = row("anchors and production: any of six streams", 20, days=60)
    assert found.holds, found


@pytest.mark.slow
def test_a_drop_is_seen() -> None:
    world, drop = DROPS["a drop of every fifth answer to the lowest class"]
    seen = [watch_of(world, np.random.default_rng(number), 120, drop, 20) for number in range(3)]
    assert all(day is not None and day >= 20 for day in seen), seen


def main() -> None:
    r = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print(table(row(name, r) for name in WORLDS))
    print("\n| after 60 quiet days | days until the alarm, median | seen within 120 days, % |\n| --- | --- | --- |")
    for name, (world, drop) in DROPS.items():
        rng = np.random.default_rng([62, list(DROPS).index(name)])
        days = [watch_of(world, rng, 180, drop, 60) for _ in range(max(r // 3, 1))]
        seen = [day - 60 for day in days if day is not None and day >= 60]
        median = f"{np.median(seen):.0f}" if 2 * len(seen) > len(days) else "–"
        print(f"| {name} | {median} | {100 * len(seen) / len(days):.0f} |")
    print("\n| days until agreement that fell by 10 points is shown, after quiet days | old worlds | new worlds, median [95 %] |")
    print("| --- | --- | --- |")
    for name, (_, before) in DELAYS.items():
        for quiet, old in zip(QUIET, before, strict=True):
            median, low, high = median_with_limits(delays(name, quiet, r))
            print(f"| {name}, after {quiet} | {old} | {median:g} [{low:g} to {high:g}] |")


if __name__ == "__main__":
    main()
