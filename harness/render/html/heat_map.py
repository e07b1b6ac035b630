"""Heat maps: a number in each square, and how far it is from the baseline as colour, sign and word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.analyse import Cell
from harness.render.html.answer import JudgedCells
from harness.render.html.cells import ABOVE, BELOW, UNKNOWN, WITHIN, interval_sign
from harness.render.html.sides import filters_of, languages_of, side_of, sides_of
from harness.render.numbers import difference, percent
from harness.render.sides import Side, side_name
from harness.render.titles import metric_title

COLOUR_STEPS = (0.05, 0.15, 0.3)
"""Differences from the baseline from which colours grow stronger."""
_WORDS = {BELOW: "below", WITHIN: "not shown", ABOVE: "above", UNKNOWN: "too few"}
_SENTENCES = {
    BELOW: "shown below the baseline",
    WITHIN: "not shown to differ from the baseline",
    ABOVE: "shown above the baseline",
    UNKNOWN: "too few independent texts to tell",
}


@dataclass(frozen=True)
class Square:
    """One number. `colour` is a class of the style sheet, `sign` and `word` say the same; `title` says all. A click shows `show`."""

    number: str
    sign: str
    word: str
    colour: str
    title: str
    show: Mapping[str, Any]


@dataclass(frozen=True)
class HeatMap:
    """Rows of squares, None where nothing was judged. `rows_are` and `columns_are` are `language`, `metric`, `judge` or `condition`."""

    name: str
    rows_are: str
    columns_are: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Square | None, ...]], ...]


def language_metric_maps(cells: Sequence[Cell]) -> list[HeatMap]:
    """A map of each side, languages × metrics, from cells that pool tasks; none of scores that are numbers, which equal no label."""
    cells = [cell for cell in cells if not cell.continuous]
    sides = sides_of(cells)
    return [_language_metric_map(side, sides, [cell for cell in cells if side_of(cell) == side], cells) for side in sides]


def _language_metric_map(side: Side, sides: Sequence[Side], own: Sequence[Cell], every: Sequence[Cell]) -> HeatMap:
    metrics = tuple(dict.fromkeys(cell["metric"] for cell in every))
    squares = {(cell["language"], cell["metric"]): _cell_square(cell) for cell in own}
    lines = ((language, tuple(squares.get((language, metric)) for metric in metrics)) for language in languages_of(every))
    titles = tuple(map(metric_title, metrics))
    return HeatMap(side_name(side, sides), "language", "metric", titles, tuple(line for line in lines if any(line[1])))


def _cell_square(cell: Cell) -> Square:
    value, interval, base = cell["pa_failed_wrong"], cell["pa_failed_wrong_ci"], cell.vs_baseline
    title = (
        f"{percent(value, interval)}, n {cell.n_ref:,}; baseline {percent(base['pa'])}, difference {difference(base['diff'], base['ci'])}"
    )
    show = {**filters_of(side_of(cell)), "language": cell["language"], "metric": cell["metric"], "compared": True}
    return square(percent(value), base["diff"], base["ci"], title, show)


def judge_language_map(judged: Sequence[JudgedCells]) -> HeatMap | None:
    """Judges × languages, all metrics of a language together; None where there is only one judge under one condition, or no agreement."""
    judged = [each for each in judged if each.summary.n_ref]
    sides = sides_of([each.cells[0] for each in judged if each.cells])
    if len(sides) < 2:
        return None
    languages = tuple(dict.fromkeys(each.summary.language for each in judged))
    squares = {(side_of(each.cells[0]), each.summary.language): _summary_square(each) for each in judged if each.cells}
    rows = tuple((side_name(side, sides), tuple(squares.get((side, language)) for language in languages)) for side in sides)
    rows_are = "judge" if len({side[:2] for side in sides}) > 1 else "condition"
    return HeatMap("all metrics together", rows_are, "language", languages, rows)


def _summary_square(judged: JudgedCells) -> Square:
    one = judged.summary
    words = f"{percent(one.pa_failed_wrong)}, n {one.n_ref:,}; baseline {percent(one.baseline)}, difference {difference(one.diff, one.ci)}"
    show = {**filters_of(side_of(judged.cells[0])), "language": one.language, "compared": True}
    return square(percent(one.pa_failed_wrong), one.diff, one.ci, words, show)


def square(number: str, diff: float | None, interval: tuple[float, float] | None, title: str, show: Mapping[str, Any]) -> Square:
    """A square from its difference from the baseline and the interval of that."""
    sign = interval_sign(interval)
    return Square(number, sign, _WORDS[sign], colour_of(diff), f"{title}: {_SENTENCES[sign]}", show)


def colour_of(diff: float | None) -> str:
    """The class of the style sheet for a difference: `up1` to `up3`, `down1` to `down3`, or none within five points."""
    step = 0 if diff is None else sum(abs(diff) >= least for least in COLOUR_STEPS)
    return "" if not step or diff is None else f"{'up' if diff > 0 else 'down'}{step}"
