"""Heat maps: a number in each square, and what is shown of it beside the baseline as colour, sign and word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.decide.verdict_parts import BaselineSide
from harness.decide.verdicts import Verdict
from harness.measure.cells import Cell
from harness.render.html.answer import ABOVE, BELOW, UNKNOWN, WITHIN, JudgedCells
from harness.render.sides import Side, filters_of, languages_of, side_name, side_of, sides_of
from harness.reports.tables.numbers import difference, percent
from harness.reports.tables.titles import metric_title

_SIGNS: dict[BaselineSide | None, str] = {"above": ABOVE, "below": BELOW, "not shown": WITHIN, None: UNKNOWN}
_WORDS: dict[BaselineSide | None, str] = {"above": "above", "below": "below", "not shown": "not shown", None: "not tested"}
_SENTENCES: dict[BaselineSide | None, str] = {
    "above": "shown above the baseline, after correction for all verdicts of the judge",
    "below": "shown below the baseline, after correction for all verdicts of the judge",
    "not shown": "not shown to differ from the baseline, after correction for all verdicts of the judge",
    None: "not tested: the labels are too few for a verdict",
}


@dataclass(frozen=True)
class Square:
    """One number beside the baseline: `sign` and `word` say what is shown, `title` says all. A click shows `show`."""

    number: str
    sign: str = ""
    word: str = ""
    title: str = ""
    show: Mapping[str, Any] = field(default_factory=dict)

    @property
    def colour(self) -> str:
        """The class of the style sheet where all that is shown points one way; none where nothing is shown, or both."""
        return {ABOVE: "above", BELOW: "below"}.get(self.sign, "")


@dataclass(frozen=True)
class Grid:
    """Rows of squares or of small figures, None where there is none. `rows_are` and `columns_are` say of what: `language`, `metric` …"""

    name: str
    rows_are: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Any, ...]], ...]
    columns_are: str = ""


def language_metric_maps(cells: Sequence[Cell], verdicts: Sequence[Verdict]) -> list[Grid]:
    """Return a map of each side, languages × metrics, from cells that pool tasks; none of scores that are numbers, which equal no label.

    The sign of a square is what the verdict on it shows of judge and baseline.
    """
    cells = [cell for cell in cells if not cell.continuous]
    sides = sides_of(cells)
    marks = {(side_of(verdict.key), verdict["language"], verdict["metric"]): verdict.baseline.shown for verdict in verdicts}
    return [_language_metric_map(side, sides, [cell for cell in cells if side_of(cell.key) == side], cells, marks) for side in sides]


def _language_metric_map(
    side: Side,
    sides: Sequence[Side],
    side_cells: Sequence[Cell],
    all_cells: Sequence[Cell],
    marks: Mapping[tuple[Any, ...], BaselineSide | None],
) -> Grid:
    metrics = tuple(dict.fromkeys(cell["metric"] for cell in all_cells))
    squares = {
        (cell["language"], cell["metric"]): _cell_square(cell, marks.get((side, cell["language"], cell["metric"]))) for cell in side_cells
    }
    lines = ((language, tuple(squares.get((language, metric)) for metric in metrics)) for language in languages_of(all_cells))
    titles = tuple(map(metric_title, metrics))
    return Grid(side_name(side, sides), "language", titles, tuple(line for line in lines if any(line[1])), "metric")


def _cell_square(cell: Cell, beside_baseline: BaselineSide | None) -> Square:
    value, interval, base = cell["pa_failed_wrong"], cell["pa_failed_wrong_ci"], cell.vs_baseline
    title = (
        f"{percent(value, interval)}, n {cell.n_ref:,}; baseline {percent(base['pa'])}, difference {difference(base['diff'], base['ci'])}"
    )
    show = {**filters_of(side_of(cell.key)), "language": cell["language"], "metric": cell["metric"], "compared": True}
    return _square(percent(value), [beside_baseline], title, show)


def judge_language_map(judged: Sequence[JudgedCells]) -> Grid | None:
    """Judges × languages, all metrics of a language together; None where there is only one judge under one condition, or no agreement.

    The sign of a square counts what the verdicts on its metrics show.
    """
    judged = [cells for cells in judged if cells.summary.n_ref]
    sides = sides_of([cells.cells[0] for cells in judged if cells.cells])
    if len(sides) < 2:
        return None
    languages = tuple(dict.fromkeys(cells.summary.language for cells in judged))
    squares = {(side_of(cells.cells[0].key), cells.summary.language): _summary_square(cells) for cells in judged if cells.cells}
    rows = tuple((side_name(side, sides), tuple(squares.get((side, language)) for language in languages)) for side in sides)
    rows_are = "judge" if len({side[:2] for side in sides}) > 1 else "condition"
    return Grid("all metrics together", rows_are, languages, rows, "language")


def _summary_square(judged: JudgedCells) -> Square:
    summary = judged.summary
    baseline = f"baseline {percent(summary.baseline)}, difference {difference(summary.diff, summary.ci)}"
    words = f"{percent(summary.pa_failed_wrong)}, n {summary.n_ref:,}; {baseline}"
    show = {**filters_of(side_of(judged.cells[0].key)), "language": summary.language, "compared": True}
    numbers = {cell["metric"] for cell in judged.cells if cell.continuous}
    beside_baseline = [verdict.baseline.shown for verdict in judged.verdicts if verdict["metric"] not in numbers]
    return _square(percent(summary.pa_failed_wrong), beside_baseline, words, show)


def _square(number: str, beside_baseline: Sequence[BaselineSide | None], title: str, show: Mapping[str, Any]) -> Square:
    """Return what one verdict shows, or several do: `above on 2, below on 1 of 5` where they are not of one kind."""
    kinds = [kind for kind in _SIGNS if kind in beside_baseline] or [None]
    decided = [kind for kind in kinds if kind in ("above", "below")]
    if len(kinds) == 1 or not decided:
        kind = kinds[0] if len(kinds) == 1 else "not shown"  # of several some are tested, and nothing is shown
        return Square(number, _SIGNS[kind], _WORDS[kind], f"{title}: {_SENTENCES[kind]}", show)
    word = f"{', '.join(f'{_WORDS[kind]} on {beside_baseline.count(kind)}' for kind in decided)} of {len(beside_baseline)}"
    sentence = f"metrics shown {word}, after correction for all verdicts of the judge"
    return Square(number, "".join(_SIGNS[kind] for kind in decided), word, f"{title}: {sentence}", show)
