"""The answer for print: the verdicts on one judge as rows, or the matrix of several, as the page's first screen has them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.decide.verdicts import Verdict
from harness.errors import UsageError
from harness.render.figures import style
from harness.render.figures.style import GROUNDS, SMALL, VERDICTS, Drawn, FigureOptions, Legend
from harness.render.verdicts import judged_sides, square_text
from harness.reports.answer.build_answer import build_answer
from harness.reports.answer.groups import axis_reach, beside_people, groups_of
from harness.reports.answer.states import cause_words, deciding, state_of
from harness.reports.answer.words import difference_words, shown_value, style_of
from harness.reports.answer_parts import SIGNS, Answer, MatrixColumn, VerdictMatrix, VerdictRow, VerdictSquare
from harness.reports.comparison import DecidedComparison
from harness.reports.tables.numbers import counted, difference, signed
from harness.reports.tables.titles import metric_words
from harness.text import terminal_safe

_LEGEND = {"good": "use", "bad": "do not use", "open": "unknown"}
_WORDS = (
    "{title}. {axis} in percentage points. A line goes from the lower to the upper limit, adjusted for all tests, with an arrow where it "
    "leaves the picture; the side that decided is bold. The band is the margin. Full and blue: use. Full and brown: do not use. Hollow: "
    "unknown.{left}"
)
_LINE = 0.17  # inches of a row
_MOST_COLUMNS = 10  # metrics side by side
_AROUND = 1.6  # inches above and below the rows
_MOST_ROWS = int((style.MOST_INCHES - _AROUND) / _LINE)


def draw_answer(verdicts: Sequence[Verdict], signature: str, options: FigureOptions = FigureOptions(), name: str = "") -> Drawn | None:
    """Return the figure of an answer; None without a verdict on a judge. It is 8 inches high at most, and says what it leaves out.

    `name` is that of the data, which the title begins with.
    """
    sides = judged_sides(verdicts)
    if not sides:
        return None
    answer = build_answer(sides)
    answer = replace(answer, title=f"{terminal_safe(name)}: {answer.title}" if name else answer.title)
    if len(sides) > 1:
        first, *other_matrices = answer.matrices
        return _draw_matrix(answer, first, len(other_matrices), signature, options)
    languages, metrics = ({verdict[name] for verdict in sides[0]} for name in ("language", "metric"))
    if len(sides[0]) > _MOST_ROWS and 1 < len(metrics) <= _MOST_COLUMNS and len(languages) > 1:
        return _draw_matrix(answer, _by_language_and_metric(sides[0], options), 0, signature, options)
    return _draw_rows(sides[0], answer, signature, options)


def _by_language_and_metric(verdicts: Sequence[Verdict], options: FigureOptions) -> VerdictMatrix:
    """One judge's verdicts with languages as rows and metrics side by side, which takes less room than a row each."""
    people = beside_people(verdicts)
    metrics = list(dict.fromkeys(verdict["metric"] for verdict in verdicts))
    by_place = {}
    for verdict in verdicts:
        against = style_of(verdict) == "bad" and not verdict.controls
        words, value = deciding(verdict) if against else (cause_words(verdict) or state_of(verdict), shown_value(verdict, people))
        square = VerdictSquare(((style_of(verdict), SIGNS[style_of(verdict)], words),), difference(value), "", {})
        by_place[verdict["language"], verdict["metric"]] = square
    rows = (
        VerdictRow(options.shown_name("language", tag), "", tuple(by_place.get((tag, metric)) for metric in metrics))
        for tag in dict.fromkeys(verdict["language"] for verdict in verdicts)
    )
    return VerdictMatrix(
        "language", difference_words(people), tuple(MatrixColumn(metric_words(metric), ()) for metric in metrics), tuple(rows)
    )


def _draw_rows(verdicts: Sequence[Verdict], answer: Answer, signature: str, options: FigureOptions) -> Drawn:
    people = beside_people(verdicts)
    rows = [verdict for group in groups_of(verdicts, people) for verdict in group.verdicts if shown_value(verdict, people) is not None]
    drawn = rows[:_MOST_ROWS]
    reach = axis_reach([shown_value(verdict, people) or 0.0 for verdict in drawn])
    with style.drawing(signature) as new_figure:
        figure = new_figure(figsize=(options.width, _AROUND + _LINE * len(drawn)), layout="constrained")
        panel = figure.subplots()
        if people:
            panel.axvspan(-drawn[0].margin if drawn else 0, 0, color="#e6eaee", linewidth=0, zorder=0)
        panel.axvline(0, color=style.BASELINE, linewidth=0.8, zorder=1)
        for line, verdict in enumerate(drawn):
            _draw_mark(panel, line, verdict, people, reach)
        panel.set_yticks(range(len(drawn)), [_name(verdict, verdicts, options) for verdict in drawn])
        panel.set_ylim(max(len(drawn), 1) - 0.5, -0.5)
        panel.set_xlim(-reach * 1.05, reach * 1.05)
        panel.set_xticks((-reach, 0.0, reach), [signed(-100 * reach), "0", signed(100 * reach)])
        panel.set_xlabel(f"{difference_words(people)} (points)")
        panel.tick_params(axis="y", length=0)
        style.remove_frame(panel)
        for look, words in _LEGEND.items():
            panel.plot([], [], linestyle="", **_dot(look), label=words)
        omitted = f" {counted(len(rows) - len(drawn), 'row')} did not fit." if len(rows) > len(drawn) else ""
        words = _WORDS.format(title=answer.title.rstrip("."), axis=difference_words(people).capitalize(), left=omitted)
        return style.finish_with_legend(figure, panel, answer.title, words, signature, options, Legend(columns=3, headed=True))


def _name(verdict: Verdict, all_verdicts: Sequence[Verdict], options: FigureOptions) -> str:
    """Return a row's language and metric, of which what all rows share is left out."""
    language, metric = options.shown_name("language", verdict["language"]), terminal_safe(metric_words(verdict["metric"]))
    shared = {name for name in ("language", "metric") if len({str(other[name]) for other in all_verdicts}) == 1}
    return metric if "language" in shared else language if "metric" in shared else f"{language} · {metric}"


def _draw_mark(panel: Any, line: int, verdict: Verdict, people: bool, reach: float) -> None:
    value, look = shown_value(verdict, people) or 0.0, style_of(verdict)
    bounds = verdict.bounds
    limits = (bounds.gap, bounds.gap_upper) if people else (bounds.base, bounds.base_upper)
    decides = look != "bad" or deciding(verdict)[1] == value
    for limit, side, arrow in zip(limits, ("good", "bad"), "<>", strict=True):
        if limit is None:
            continue
        width = 2.4 if decides and side == look else 0.9
        panel.plot([min(max(limit, -reach), reach), value], [line, line], color=VERDICTS[look], linewidth=width, zorder=2)
        if abs(limit) > reach:
            panel.plot([math.copysign(reach, limit)], [line], linestyle="", marker=arrow, markersize=4, color=VERDICTS[look], zorder=3)
    panel.plot([value], [line], linestyle="", **_dot(look), zorder=3)


def _dot(look: str) -> dict[str, Any]:
    fill = "white" if look == "open" else VERDICTS[look]
    return {"marker": "o", "markersize": 4.5, "color": VERDICTS[look], "markerfacecolor": fill}


def _draw_matrix(answer: Answer, matrix: VerdictMatrix, other_conditions: int, signature: str, options: FigureOptions) -> Drawn:
    """Return a matrix, of several that of the plainest condition of each judge; a caption says how many other conditions there are."""
    rows = matrix.rows[:_MOST_ROWS]
    with style.drawing(signature) as new_figure:
        from matplotlib.patches import Rectangle  # late: an extra

        figure = new_figure(figsize=(options.width, min(style.MOST_INCHES, _AROUND + 0.5 + 0.22 * len(rows))), layout="constrained")
        panel = figure.subplots()
        for line, row in enumerate(rows):
            for column, square in enumerate(row.squares):
                looks = {look for look, _, _ in square.parts} if square else set()
                ground = GROUNDS[looks.pop()] if len(looks) == 1 else "white"
                panel.add_patch(Rectangle((column - 0.47, line - 0.44), 0.94, 0.88, facecolor=ground, linewidth=0))
                panel.text(column, line, square_text(square, "  ") if square else "–", ha="center", va="center", fontsize=SMALL - 1)
        _label(panel, matrix, len(rows))
        omitted = f" {counted(len(matrix.rows) - len(rows), 'row')} did not fit." if len(matrix.rows) > len(rows) else ""
        condition = f" Asked with {matrix.condition}; {counted(other_conditions, 'other condition')} left out." if other_conditions else ""
        number = (
            f" Number: {matrix.axis}, in percentage points; beside {SIGNS['bad']} the number that decided."
            if matrix.axis
            else " Number: metrics."
        )
        key = f"{', '.join(f'{sign} {words}' for _, sign, words in matrix.signs)}."
        said = " ".join(sentence for _, sentence in answer.sentences)
        words = f"{said} {key}{number}{condition}{omitted}"
        return style.finish_with_legend(figure, panel, answer.title, words, signature, options, Legend(headed=True))


def _label(panel: Any, matrix: VerdictMatrix, lines: int) -> None:
    """The names of rows and columns; long names of columns are slanted."""
    names = [terminal_safe(column.name) for column in matrix.columns]
    slanted = max(map(len, names)) * len(names) > 60
    panel.set_xticks(range(len(names)), names, rotation=30 if slanted else 0, ha="left" if slanted else "center")
    panel.xaxis.tick_top()
    panel.set_yticks(range(lines), [terminal_safe(row.name) for row in matrix.rows[:lines]])
    panel.set_xlim(-0.5, len(names) - 0.5)
    panel.set_ylim(lines - 0.5, -0.5)
    panel.tick_params(length=0)
    panel.spines[:].set_visible(False)


def write_answer(comparison: DecidedComparison, path: Path, options: FigureOptions = FigureOptions()) -> None:
    """Draw the answer of a comparison into a file. Raises UsageError where it has no verdict, and as `form_of` does."""

    def draw(file_options: FigureOptions) -> Drawn:
        drawn = draw_answer(comparison.verdicts, comparison.signature, file_options, comparison.data_names)
        if drawn is None:
            raise UsageError("there is no verdict on a judge to draw; --figure-kind shares draws the class shares")
        return drawn

    style.write_figure(path, draw, options)
