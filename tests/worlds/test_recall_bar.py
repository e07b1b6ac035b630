"""Shares of a class held against a bar: how often a judge exactly at the bar is shown to be above it, and the power eight points above.

`python -m tests.worlds.test_recall_bar [R]` prints the tables; `… verdicts [R]` prints grids that go through `harness.from_frames` to the
verdicts. Groups are beta-binomial, with a correlation of .3 within unless a row says otherwise. *Published* are the limits of Korn and
Graubard; *guarded* those of verdicts, where texts of one group have a correlation of `BAR_CORRELATION` at least.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import numpy as np
import pandas as pd
import pytest
from numpy.random import Generator

import harness
from harness.decide.options import DecisionOptions
from harness.decide.verdicts import verdicts
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.options import BAR_CORRELATION
from harness.stats.core.arrays import Floats, Ints
from harness.stats.intervals.recall_bar import share_found
from tests.worlds.rows import Row, table

LAYOUTS: dict[str, tuple[int, ...]] = {
    "30 × 1": (1,) * 30,
    "20 × 3": (3,) * 20,
    "20 × 10": (10,) * 20,
    "40 × 5": (5,) * 40,
    "25 of 1 to 30": tuple(np.linspace(1, 30, 25).round().astype(int).tolist()),
    "1 × 60 + 30 × 2": (60, *(2,) * 30),
    "3 × 40 + 40 × 3": (*(40,) * 3, *(3,) * 40),
}
FURTHER: dict[str, tuple[int, ...]] = {"4 × 20": (20,) * 4, "8 × 30": (30,) * 8, "15 × 20": (20,) * 15, "20 × 30": (30,) * 20}
BARS = (0.8, 0.9)
CELLS = 9
LEVEL = 0.05
TESTS = (0.0, BAR_CORRELATION)  # as published, and as verdicts have it


def outcomes(rng: Generator, sizes: Ints, share: float, correlation: float, times: int) -> Floats:
    """Draw whether each text is found, (times, texts), by a judge that finds `share` of them: beta-binomial groups."""
    spread = 1 / correlation - 1
    chances = rng.beta(share * spread, (1 - share) * spread, (times, len(sizes)))
    return (rng.random((times, int(sizes.sum()))) < np.repeat(chances, sizes, axis=1)).astype(float)


def shown_above(sizes: Ints, share: float, bar: float, worlds: int, alpha: float, seed: int) -> list[int]:
    """Return in how many worlds a judge that finds `share` of a class is shown to find more than `bar`, by each of `TESTS`."""
    group, shown = np.repeat(np.arange(len(sizes)), sizes), [0, 0]
    for right in outcomes(np.random.default_rng([51, seed]), sizes, share, 0.3, worlds):
        found = share_found(right, group)
        for at, correlation in enumerate(TESTS):
            shown[at] += found.lower(alpha, correlation) >= bar
    return shown


def false_use_in_grids(sizes: Ints, bar: float, worlds: int, seed: int, *, classes: int = 1, correlation: float = 0.3) -> list[int]:
    """Return in how many grids of nine cells any is shown to be above the bar, by Holm and by each of `TESTS`.

    With two classes, the judge finds exactly the bar of both in every cell; with one, it finds all of the other class, so that `use` rests
    on one class: the worst case. `--bar` on the agreement on several classes rests on all texts, as on one class.
    """
    rng, group, shown = np.random.default_rng([51, seed]), np.repeat(np.arange(len(sizes)), sizes), [0, 0]
    for _ in range(worlds):
        cells = [[share_found(row, group) for row in outcomes(rng, sizes, bar, correlation, classes)] for _ in range(CELLS)]
        for at, least in enumerate(TESTS):
            shown[at] += any(all(found.lower(LEVEL / CELLS, least) >= bar for found in cell) for cell in cells)
    return shown


def error_table(rows: Iterable[tuple[str, list[int], int]]) -> str:
    """Return in Markdown how often each row's judge was shown to be above the bar, in percent, by the published and by the guarded test."""
    lines = ["| judge exactly at the bar | as published, % | guarded, % | limit, % | R | one standard error | |", "| --- " * 7 + "|"]
    for name, (published, guarded), worlds in rows:
        row = Row(name, f"{100 * published / worlds:.1f}", guarded, worlds, 100 * LEVEL, least=False)
        end = "holds" if row.holds else "falls"
        lines.append(f"| {name} | {row.before} | {row.percent:.1f} | {row.limit:g} | {worlds} | {row.error:.1f} | {end} |")
    return "\n".join(lines)


def power_table(worlds: int) -> str:
    """Return in Markdown how often a judge eight points above the bar is shown to be above it, alone and as one of nine cells."""
    lines = ["| layout | bar | one cell, as published, % | guarded, % | one of nine, as published, % | guarded, % |", "| --- " * 6 + "|"]
    for seed, (layout, sizes) in enumerate(LAYOUTS.items()):
        for bar in BARS:
            shown = [n for alpha in (LEVEL, LEVEL / CELLS) for n in shown_above(np.asarray(sizes), bar + 0.08, bar, worlds, alpha, seed)]
            lines.append(f"| {layout} | {bar:g} | {' | '.join(f'{100 * count / worlds:.1f}' for count in shown)} |")
    return "\n".join(lines)


def judged_grid(rng: Generator, sizes: Ints, bar: float, classes: int) -> Recording:
    """Draw nine languages in which one person labelled each text.

    With two classes, the judge finds exactly `bar` of the first, and all of the second; with more it agrees exactly as often with the
    person, who gives each class equally often. Each class has groups of the given sizes.
    """
    parts = []
    group = np.repeat(np.arange(len(sizes)), sizes)
    for language in ("cs", "de", "es", "fr", "it", "ja", "ko", "pl", "sw")[:CELLS]:
        right = outcomes(rng, sizes, bar, 0.3, 1)[0]
        if classes == 2:
            label = np.repeat([0, 1], len(group))
            answer = np.concatenate([np.where(right == 1, 0, 1), np.ones(len(group), int)])
        else:
            label = rng.integers(0, classes, len(group))
            answer = np.where(right == 1, label, (label + 1) % classes)
        groups = np.concatenate([group, group + len(sizes)]) if classes == 2 else group
        names = [f"{language}{number}" for number in range(len(label))]
        parts.append(pd.DataFrame({"item_id": names, "language": language, "group": groups, "label": label, "answer": answer}))
    rows = pd.concat(parts)
    data = harness.from_frames(
        labels=rows[["item_id"]].assign(annotator_id="p1", metric="m", score=rows["label"]),
        judgments=rows[["item_id"]].assign(judge="j", metric="m", score=rows["answer"]),
        items=rows[["item_id", "language"]].assign(task="task", group=rows["language"] + rows["group"].astype(str)),
        scales={"m": {"kind": "nominal", "classes": list(range(classes))}},
        annotators="persistent",
    )
    assert data.judgments is not None
    return Recording("grid", data, data.judgments)


def verdict_row(layout: str, bar: float, classes: int, worlds: int) -> Row:
    """Return in how many grids any verdict is `use`."""
    rng, false = np.random.default_rng([53, list(LAYOUTS).index(layout), classes]), 0
    decision = DecisionOptions(bar=f"{bar:g}")
    for _ in range(worlds):
        made = verdicts([judged_grid(rng, np.asarray(LAYOUTS[layout]), bar, classes)], MeasureOptions(), decision)
        assert len(made) == CELLS and {one.basis for one in made} == {"bar"}
        false += any(one.decision.verdict == "use" for one in made)
    what = "one class at the bar" if classes == 2 else f"agreement on {classes} classes at the bar"
    return Row(f"nine verdicts, {what}, {layout}, bar {bar:g}", "–", false, worlds, 100 * LEVEL, least=False)


@pytest.mark.slow
@pytest.mark.parametrize("bar", BARS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_judge_at_the_bar_is_seldom_shown_above_it(layout: str, bar: float) -> None:
    sizes = np.asarray(LAYOUTS[layout])
    alone = Row(layout, "–", shown_above(sizes, bar, bar, 600, LEVEL, 0)[1], 600, 100 * LEVEL, least=False)
    grids = Row(layout, "–", false_use_in_grids(sizes, bar, 200, 0)[1], 200, 100 * LEVEL, least=False)
    assert alone.holds and grids.holds, (alone, grids)


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3])
def test_a_grid_of_verdicts_has_seldom_a_false_use(classes: int) -> None:
    tested = verdict_row("20 × 10", 0.9, classes, 60)
    assert tested.holds, tested


def main() -> None:
    if sys.argv[1:2] == ["verdicts"]:
        worlds = int(sys.argv[2]) if len(sys.argv) > 2 else 200
        print(table(verdict_row(layout, 0.9, classes, worlds) for classes in (2, 3) for layout in ("20 × 10", "40 × 5")))
        return
    worlds = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    grids, both = worlds // 3, [(layout, np.asarray(sizes), bar) for layout, sizes in LAYOUTS.items() for bar in BARS]
    print(
        error_table(
            (f"{name}, bar {bar:g}", shown_above(sizes, bar, bar, worlds, LEVEL, k), worlds) for k, (name, sizes, bar) in enumerate(both)
        )
    )
    for what, classes in (("both classes", 2), ("one class", 1)):
        print(
            error_table(
                (
                    f"nine cells, {what} at the bar, {name}, bar {bar:g}",
                    false_use_in_grids(sizes, bar, grids, 100 + k, classes=classes),
                    grids,
                )
                for k, (name, sizes, bar) in enumerate(both)
            )
        )
    print(
        error_table(
            (
                f"nine cells, {name}, bar .9, correlation {correlation:g}",
                false_use_in_grids(np.asarray(sizes), 0.9, grids, 200 + k, correlation=correlation),
                grids,
            )
            for k, (name, sizes) in enumerate((FURTHER | {name: LAYOUTS[name] for name in ("20 × 10", "40 × 5")}).items())
            for correlation in (0.1, 0.3, 0.5)
        )
    )
    print(power_table(worlds))


if __name__ == "__main__":
    main()
