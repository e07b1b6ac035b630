"""Cells of a report or a comparison as lines of an answer: a table with figures, and the judge beside people in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from harness.analyse import POOLED, Cell
from harness.render.column import TableName
from harness.render.columns import columns_in
from harness.render.html.marks import Mark, track
from harness.render.numbers import percent
from harness.render.text_table import TextTable, cell_row, tabulate
from harness.render.titles import metric_words


@dataclass(frozen=True)
class FigureColumn:
    """A figure for each row of a table, what its axis shows, and what stands at its left end, middle and right end."""

    axis: str
    figures: tuple[Markup | None, ...]
    ends: tuple[str, str, str] = ("0 %", "50", "100 %")


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
        findings[_BESIDE_PEOPLE[interval_sign(cell["loo_gap_ci"])]].append(metric_words(cell["metric"]))
    return "Beside people: " + "; ".join(f"{words} {', '.join(dict.fromkeys(m))}" for words, m in findings.items() if m) + "."


BELOW, WITHIN, ABOVE, UNKNOWN = "▼", "○", "▲", "·"
_BESIDE_PEOPLE = {
    BELOW: "it agrees with the other annotators less than a person does on",
    WITHIN: "it is not shown to differ from a person on",
    ABOVE: "it agrees more than a person does on",
    UNKNOWN: "there are too few independent texts to tell on",
}


def interval_sign(interval: tuple[float, float] | None) -> str:
    """Where the interval of a difference lies: above 0, below it, around it, or nowhere."""
    if not interval:
        return UNKNOWN
    return ABOVE if interval[0] > 0 else BELOW if interval[1] < 0 else WITHIN
