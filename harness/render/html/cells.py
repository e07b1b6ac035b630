"""Cells of a report or a comparison as sections of a page: lines of an answer, the grid, the shares of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from harness.analyse import POOLED, Cell
from harness.judges import traits_of
from harness.render.column import TableName
from harness.render.columns import columns_in
from harness.render.html.marks import Mark, bar, track
from harness.render.html.templates import spaced_name
from harness.render.numbers import class_shares, percent
from harness.render.text_table import TextTable, cell_row, tabulate

SIDE_KEYS = ("source", "judge", "variant", "temperature", "top_p")
_COLOUR_STEPS = (0.05, 0.15, 0.3)  # differences from the baseline from which colours grow stronger

Side = tuple[Any, ...]
"""Who judged, and how: the values of `SIDE_KEYS`."""


def side_of(cell: Cell) -> Side:
    """The side that a cell belongs to."""
    return tuple(cell.key.get(name) for name in SIDE_KEYS)


def side_name(side: Side, every: Sequence[Side]) -> str:
    """A side in words: the judge, and what differs between the sides."""
    formats = {"temperature": "T = {:g}", "top_p": "top-p {:g}"}
    parts = []
    for place, (name, value) in enumerate(zip(SIDE_KEYS, side, strict=True)):
        if value is None or value == POOLED:
            continue
        if name == "judge" or len({other[place] for other in every}) > 1:
            parts.append(formats[name].format(value) if name in formats and isinstance(value, (int, float)) else str(value))
    return " · ".join(parts)


def is_baseline(side: Side) -> bool:
    return traits_of(str(side[SIDE_KEYS.index("judge")])).is_baseline


def sides_of(cells: Sequence[Cell]) -> list[Side]:
    """The different sides: judges first, baselines last, each in their order."""
    return sorted(dict.fromkeys(map(side_of, cells)), key=is_baseline)


def languages_of(cells: Sequence[Cell]) -> list[str]:
    return list(dict.fromkeys(cell["language"] for cell in cells))


@dataclass(frozen=True)
class FigureColumn:
    """A figure for each row of a table, and what its axis shows."""

    axis: str
    figures: tuple[Markup | None, ...]


@dataclass(frozen=True)
class DrawnTable:
    """A table of text with columns of figures, each to the right of the column that it is named by."""

    table: TextTable
    figures: Mapping[str, FigureColumn] = field(default_factory=dict)


def answer_table(cells: Sequence[Cell]) -> DrawnTable:
    """A line for each metric: agreement beside the baseline, and beside people where they can be compared."""
    rows = [cell_row(cell) for cell in cells]
    keys = ("metric", "task") if any(cell["task"] != POOLED for cell in cells) else ("metric",)
    table = tabulate(rows, columns_in(TableName.ANSWER), keys)
    figures = {"pa_failed_wrong": FigureColumn("agreement with the labels", tuple(map(_beside_baseline, cells)))}
    if any(map(has_people, cells)):
        drawn = tuple(_beside_people(cell) if has_people(cell) else None for cell in cells)
        figures["loo_gap"] = FigureColumn("against the same other annotators", drawn)
    return DrawnTable(table, figures)


def _beside_baseline(cell: Cell) -> Markup:
    value, interval, baseline = cell["pa_failed_wrong"], cell["pa_failed_wrong_ci"], cell.vs_baseline["pa"]
    words = f"judge {percent(value, interval)}, baseline {percent(baseline)}"
    return track([Mark("base", baseline), Mark("judge", value, interval)], words)


def _beside_people(cell: Cell) -> Markup:
    judge, people = percent(cell["judge_loo"], cell["judge_loo_ci"]), percent(cell["human_loo"], cell["human_loo_ci"])
    marks = [Mark("people", cell["human_loo"]), Mark("judge", cell["judge_loo"], cell["judge_loo_ci"])]
    return track(marks, f"judge {judge}, people {people}, against the same other annotators")


def has_people(cell: Cell) -> bool:
    """Whether the judge can be compared with people: both against the same remaining annotators."""
    return cell["judge_loo"] is not None and cell["human_loo"] is not None


def beside_people(cells: Sequence[Cell], constructed: bool) -> str:
    """The judge beside people, in words; only of numbers that may be compared."""
    if constructed:
        return "The labels are constructed with the texts, so the judge cannot be compared with people."
    paired = [cell for cell in cells if has_people(cell)]
    if not paired:
        return "No item has enough annotators, so the judge cannot be compared with people."
    findings: dict[str, list[str]] = {words: [] for words in _BESIDE_PEOPLE.values()}
    for cell in paired:
        findings[_BESIDE_PEOPLE[interval_sign(cell["loo_gap_ci"])]].append(spaced_name(cell["metric"]))
    return "Beside people: " + "; ".join(f"{words} {', '.join(dict.fromkeys(m))}" for words, m in findings.items() if m) + "."


BELOW, WITHIN, ABOVE, UNKNOWN = "▼", "○", "▲", "·"
_BESIDE_PEOPLE = {
    BELOW: "it agrees with the other annotators less than a person does on",
    WITHIN: "it is not shown to differ from a person on",
    ABOVE: "it agrees more than a person does on",
    UNKNOWN: "there are too few independent texts to tell on",
}
_BESIDE_BASELINE = {
    BELOW: "below the baseline",
    WITHIN: "not shown to differ",
    ABOVE: "above the baseline",
    UNKNOWN: "too few independent texts",
}


def interval_sign(interval: tuple[float, float] | None) -> str:
    """Where the interval of a difference lies: above 0, below it, around it, or nowhere."""
    if not interval:
        return UNKNOWN
    return ABOVE if interval[0] > 0 else BELOW if interval[1] < 0 else WITHIN


@dataclass(frozen=True)
class Square:
    """One cell of the grid: `colour` is a class of the style sheet that says how far from the baseline, as `sign` and `words` do."""

    number: str
    interval: str
    sign: str
    words: str
    colour: str
    language: str
    metric: str
    n: int


@dataclass(frozen=True)
class Grid:
    """One side: a row for each language, a square for each metric (None where nothing was judged)."""

    name: str
    metrics: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Square | None, ...]], ...]
    side: dict[str, Any]


def grids(cells: Sequence[Cell]) -> list[Grid]:
    """A grid for each side of cells that differ by language and metric."""
    sides = sides_of(cells)
    metrics = tuple(dict.fromkeys(cell["metric"] for cell in cells))
    return [_grid(side, sides, metrics, [cell for cell in cells if side_of(cell) == side], languages_of(cells)) for side in sides]


def _grid(side: Side, sides: Sequence[Side], metrics: tuple[str, ...], cells: Sequence[Cell], languages: Sequence[str]) -> Grid:
    by_key = {(cell["language"], cell["metric"]): _square(cell) for cell in cells}
    lines = ((language, tuple(by_key.get((language, metric)) for metric in metrics)) for language in languages)
    filters = {name: value for name, value in zip(SIDE_KEYS, side, strict=True) if value is not None and value != POOLED}
    return Grid(side_name(side, sides), metrics, tuple((language, line) for language, line in lines if any(line)), filters)


def _square(cell: Cell) -> Square:
    ends = cell["pa_failed_wrong_ci"]
    sign = interval_sign(cell.vs_baseline["ci"])
    return Square(
        number=percent(cell["pa_failed_wrong"]),
        interval=f"{100 * ends[0]:.0f}–{100 * ends[1]:.0f}" if ends else "no interval",
        sign=sign,
        words=_BESIDE_BASELINE[sign],
        colour=_colour(cell.vs_baseline["diff"]),
        language=cell["language"],
        metric=cell["metric"],
        n=cell.n_ref,
    )


def _colour(diff: float | None) -> str:
    step = 0 if diff is None else sum(abs(diff) >= least for least in _COLOUR_STEPS)
    return "" if not step or diff is None else f"{'up' if diff > 0 else 'down'}{step}"


@dataclass(frozen=True)
class ClassBar:
    """One bar: how often annotators or the judge gave each class, at one level of agreement (empty: at all of them)."""

    level: str
    who: str
    items: int
    drawn: Markup
    words: str


@dataclass(frozen=True)
class CellShares:
    """The bars of one cell, by agreement of the annotators where there are three."""

    language: str
    metric: str
    task: str
    bars: tuple[ClassBar, ...]


def shares_by_side(cells: Sequence[Cell]) -> list[tuple[str, list[CellShares]]]:
    """The class shares of every side that has any: its name, and those of each cell."""
    sides = sides_of(cells)
    blocks = ((side, [_cell_shares(cell) for cell in cells if side_of(cell) == side and cell.distribution_labels]) for side in sides)
    return [(side_name(side, sides), own) for side, own in blocks if own]


_LEVELS = {"full": "all agree", "partial": "two agree", "none": "none agree"}


def _cell_shares(cell: Cell) -> CellShares:
    bars: list[ClassBar] = []
    if cell.distribution_by_agreement:
        for level, shares in cell.distribution_by_agreement.items():
            if shares["items"]:
                bars += _two_bars(_LEVELS[level], shares["items"], shares["labels"], shares["judge"])
    else:
        bars += _two_bars("", cell.n_ref, cell.distribution_labels, cell.distribution_judge)
    return CellShares(cell["language"], spaced_name(cell["metric"]), spaced_name(cell["task"]), tuple(bars))


def _two_bars(level: str, items: int, labels: Any, judge: Any) -> list[ClassBar]:
    classes = list(labels or judge or {})
    return [
        ClassBar(level, who, items, bar(shares, classes, f"{who}{f', {level}' if level else ''}"), class_shares(shares))
        for who, shares in (("labels", labels), ("judge", judge))
        if shares
    ]
