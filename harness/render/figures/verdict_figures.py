"""Verdicts as figures: the answer of a comparison, the matrix of the atlas, and shares of classes by agreement of the annotators."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from harness.decide.verdicts import Verdict
from harness.errors import UsageError
from harness.measure.compare import Comparison
from harness.model import CONDITION
from harness.render.figures import style
from harness.render.figures.style import BASELINE, GROUNDS, INK, SMALL, VERDICTS, Drawn, FigureOptions, Legend, Row, drawing, set_fonts
from harness.render.verdict_text import square_text
from harness.reports.answer.build_answer import build_answer
from harness.reports.answer.judged_sides import judged_sides, plainest_first, side_name, side_of
from harness.reports.answer.matrix import axis_reach, beside_people, build_square, groups_of
from harness.reports.answer.parts import (
    SIGNS,
    Answer,
    MatrixColumn,
    Sentence,
    VerdictMatrix,
    VerdictRow,
    deciding,
)
from harness.reports.answer.verdict_words import difference_words, shown_value, style_of
from harness.reports.atlas_answer import OTHER, QUALITIES, LanguageRow
from harness.reports.comparison import DecidedComparison
from harness.reports.tables.columns import metric_words
from harness.reports.tables.numbers import counted, signed
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
        by_place[verdict["language"], verdict["metric"]] = build_square([verdict], True, people)
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
            value, look = shown_value(verdict, people) or 0.0, style_of(verdict)
            bounds = verdict.bounds
            limits = (bounds.gap, bounds.gap_upper) if people else (bounds.base, bounds.base_upper)
            decides = look != "bad" or deciding(verdict).number == value
            for limit, side, arrow in zip(limits, ("good", "bad"), "<>", strict=True):
                if limit is None:
                    continue
                width = 2.4 if decides and side == look else 0.9
                panel.plot([min(max(limit, -reach), reach), value], [line, line], color=VERDICTS[look], linewidth=width, zorder=2)
                if abs(limit) > reach:
                    panel.plot(
                        [math.copysign(reach, limit)], [line], linestyle="", marker=arrow, markersize=4, color=VERDICTS[look], zorder=3
                    )
            panel.plot([value], [line], linestyle="", **_dot(look), zorder=3)
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
        names = [terminal_safe(column.name) for column in matrix.columns]
        slanted = max(map(len, names)) * len(names) > 60
        panel.set_xticks(range(len(names)), names, rotation=30 if slanted else 0, ha="left" if slanted else "center")
        panel.xaxis.tick_top()
        panel.set_yticks(range(len(rows)), [terminal_safe(row.name) for row in rows])
        panel.set_xlim(-0.5, len(names) - 0.5)
        panel.set_ylim(len(rows) - 0.5, -0.5)
        panel.tick_params(length=0)
        panel.spines[:].set_visible(False)
        omitted = f" {counted(len(matrix.rows) - len(rows), 'row')} did not fit." if len(matrix.rows) > len(rows) else ""
        condition = f" Asked with {matrix.condition}; {counted(other_conditions, 'other condition')} left out." if other_conditions else ""
        number = (
            f" Number: {matrix.axis}, in percentage points; beside {SIGNS['bad']} the number that decided (c: judge − constant)."
            if matrix.axis
            else " Number: metrics."
        )
        key = f"{', '.join(f'{sign} {words}' for _, sign, words in matrix.signs)}."
        said = " ".join(sentence for _, sentence in answer.sentences)
        words = f"{said} {key}{number}{condition}{omitted}"
        return style.finish_with_legend(figure, panel, answer.title, words, signature, options, Legend(headed=True))


def write_answer(comparison: DecidedComparison, path: Path, options: FigureOptions = FigureOptions()) -> None:
    """Draw the answer of a comparison into a file. Raises UsageError where it has no verdict, and as `form_of` does."""

    def draw(file_options: FigureOptions) -> Drawn:
        drawn = draw_answer(comparison.verdicts, comparison.signature, file_options, comparison.data_names)
        if drawn is None:
            raise UsageError("there is no verdict on a judge to draw; --figure-kind shares draws the class shares")
        return drawn

    style.write_figure(path, draw, options)


_SHARE_INCHES, _SHARE_DPI = (12.0, 6.3), 100  # 1200 × 630 pixels, which previews of links show whole
_ATLAS_WIDTH, _ATLAS_LINE, _NAME_WIDTH, _DPI = 11.0, 0.21, 1.75, 150  # inches of the picture, a language, and the names; dots per inch
_LETTERS = 15  # of a judge's name in a square
_NOTE_LETTERS = 180  # of a line below the title


def draw_matrix(rows: Sequence[LanguageRow], title: str, note: str, about: str = "") -> bytes:
    """Return a PNG of the matrix: a line a language, a square a quality; `about` goes into the file's description.

    Raises UsageError without the extra `figures`.
    """
    with drawing(title) as new_figure:
        height = _ATLAS_LINE * (len(rows) + 4)
        figure = new_figure(figsize=(_ATLAS_WIDTH, height))
        panel = _canvas(figure, _ATLAS_WIDTH, height)
        panel.text(0.05, 0.16, title, fontsize=11, fontweight="bold", color=INK, va="center")
        panel.text(0.05, 0.4, "\n".join(textwrap.wrap(note, _NOTE_LETTERS)), fontsize=6.5, color=BASELINE, va="center")
        heads = (*QUALITIES, OTHER)
        step = (_ATLAS_WIDTH - _NAME_WIDTH - 0.05) / len(heads)
        top = 0.75
        for column, head in enumerate(heads):
            panel.text(_NAME_WIDTH + step * column + 0.05, top - 0.12, head, fontsize=7, fontweight="bold", color=INK, va="center")
        for line, row in enumerate(rows):
            y = top + _ATLAS_LINE * line
            panel.text(0.05, y + _ATLAS_LINE / 2, row.name, fontsize=7, color=INK, va="center")
            for column, square in enumerate(map(row.squares.get, QUALITIES)):
                if square is None:
                    continue
                # The ground is of the square's style; one whose metrics differ, or whose judge is no longer served, has none.
                x, square_style = _NAME_WIDTH + step * column, square.style
                if square_style in GROUNDS:
                    _box(panel, x, y + 0.01, step - 0.03, _ATLAS_LINE - 0.02, square_style)
                words = "" if square_style == "split" else square.words
                words = words if len(words) <= _LETTERS else f"{words[: _LETTERS - 1]}…"
                colour = VERDICTS.get("good" if square_style == "gone" else square_style, INK if square_style == "split" else "#6b7681")
                weight = "bold" if square_style in ("good", "bad") else "normal"
                text = terminal_safe(f"{square.sign} {words}".rstrip())
                panel.text(x + 0.04, y + _ATLAS_LINE / 2, text, fontsize=6.5, color=colour, va="center", fontweight=weight)
            other_counts = "  ".join(f"{sign} {count}" for _, sign, count in row.other_questions)
            panel.text(_NAME_WIDTH + step * len(QUALITIES) + 0.05, y + _ATLAS_LINE / 2, other_counts, fontsize=6.5, color=INK, va="center")
        return _png(figure, _DPI, about)


def draw_share(title: str, lead: str, sentences: Sequence[Sentence]) -> bytes:
    """Return a PNG of 1200 × 630 pixels: the title, the answer in a sentence, and how many qualities have which answer."""
    width, height = _SHARE_INCHES
    with drawing(title) as new_figure:
        figure = new_figure(figsize=_SHARE_INCHES)
        panel = _canvas(figure, width, height)
        panel.text(0.6, 0.9, terminal_safe(title), fontsize=34, fontweight="bold", color=INK, va="center")
        panel.text(0.6, 1.5, "\n".join(textwrap.wrap(terminal_safe(lead), 62)[:6]), fontsize=21, color=INK, va="top", linespacing=1.35)
        for index, (style, words) in enumerate((("good", "use"), ("bad", "do not use"), ("open", "unknown"))):
            count = sum(sentence_style.replace("gone", "good") == style for sentence_style, _ in sentences)
            _box(panel, 0.6 + 3.7 * index, 4.8, 3.4, 0.9, style)
            panel.text(0.85 + 3.7 * index, 5.25, f"{SIGNS[style]} {count} {words}", fontsize=22, color=VERDICTS[style], va="center")
        return _png(figure, _SHARE_DPI, "")


def _box(panel: Any, x: float, y: float, width: float, height: float, style: str) -> None:
    from matplotlib.patches import Rectangle

    panel.add_patch(Rectangle((x, y), width, height, facecolor=GROUNDS[style], edgecolor="none"))


def _canvas(figure: Any, width: float, height: float) -> Any:
    """Return an empty panel in inches, from the top left."""
    panel = figure.add_axes((0, 0, 1, 1))
    panel.set_xlim(0, width)
    panel.set_ylim(height, 0)
    panel.axis("off")
    return panel


def _png(figure: Any, dpi: int, about: str) -> bytes:
    set_fonts(figure)
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=dpi, metadata={"Software": None, "Description": about or None}, facecolor="white")
    return out.getvalue()


_BY_AGREEMENT = (
    "Class shares by agreement of the annotators",
    "How often people (above) and the judge (below) gave each class, where all annotators agree, two of three, and no two.",
)
_OVERALL = ("Class shares", "How often people (above) and the judge (below) gave each class, over all items with a reference.")
_SHADES = " From the first class of the scale (light) to the last (dark)."
_LEVELS = {"full": "all agree", "partial": "two agree", "none": "none agree"}
_ALL = "all"  # the level of items that are not divided by agreement
_AROUND_BARS = 1.5  # inches above and below the rows
_LEAST, _MOST = 0.17, 0.34  # inches of a row
MOST_ROWS = int((style.MOST_INCHES - _AROUND_BARS) / _LEAST)
_MOST_BARS = 8  # metrics that stand side by side
_NAMED = ("language", "metric")
_LETTER = 0.058  # inches of a letter in a bar
_PALEST = 0.15  # the strength of the first class's colour


class _Grid(NamedTuple):
    """Names of rows, and columns: a title and the shares of each row that has some."""

    names: Sequence[str]
    columns: Sequence[tuple[str, Mapping[int, Row]]]


def draw_by_agreement(comparison: Comparison, path: Path, options: FigureOptions = FigureOptions()) -> None:
    """Draw, for each cell, the shares of the classes where three annotators agree fully, partly and not at all.

    There is a row for each cell and a column for each level of agreement. If no cell has items with three annotators, there is one
    column, with the shares over all items. Of more cells than fit, the plainest condition of each judge is drawn, or of the first judge;
    then metrics stand side by side. The caption says what is left out. Raises UsageError as `write_figure`, and without shares of classes.
    """
    cells = [cell for cell in comparison.cells if cell.distribution_by_agreement]
    cells = cells or [cell for cell in comparison.cells if cell.distribution_labels]
    if not cells:
        raise UsageError(
            "no cell has shares of classes to draw; correlations of systems and scales without classes have none. "
            "Without --figure-kind the answer is drawn"
        )
    rows = [cell.flat() for cell in cells]
    signature, name = comparison.signature, comparison.data_names
    style.write_figure(path, lambda file_options: draw_distributions(rows, signature, file_options, name), options)


def draw_distributions(rows: Sequence[Row], signature: str, options: FigureOptions = FigureOptions(), name: str = "") -> Drawn:
    """Return the figure of flat cells that have shares of classes, by level of agreement or as a whole.

    `name` is that of the data, which the title begins with.
    """
    selected, omitted = _chosen(rows)
    grid = _grid(selected, options)
    title, words = _OVERALL if len(grid.columns) == 1 or grid.columns[0][0] not in _LEVELS.values() else _BY_AGREEMENT
    title = f"{terminal_safe(name)}: {title[0].lower()}{title[1:]}" if name else title
    inches = min(_MOST, (style.MOST_INCHES - _AROUND_BARS) / len(grid.names))
    with style.drawing(signature) as new_figure:
        figure = new_figure(figsize=(options.width, _AROUND_BARS + inches * len(grid.names)), layout="constrained")
        panels: Any = figure.subplots(1, len(grid.columns), squeeze=False)[0]
        for panel, (head, shares) in zip(panels, grid.columns, strict=True):
            _draw_bars(panel, head, shares, len(grid.names), options.width / len(panels))
        for panel in panels[1:]:
            panel.set_yticks([])
        panels[0].set_yticks(range(len(grid.names)), grid.names)
        for name, colour in (("people", style.PEOPLE), ("judge", style.JUDGE)):
            panels[0].barh([0], [0], color=colour, label=name)
        return style.finish_with_legend(figure, panels[0], title, words + _SHADES + omitted, signature, options, Legend(headed=True))


def _chosen(rows: Sequence[Row]) -> tuple[Sequence[Row], str]:
    """Return the rows that fit, and a sentence about those that are left out."""
    sides = plainest_first(map(side_of, rows))
    if len(rows) <= MOST_ROWS or len(sides) == 1:
        return rows, ""
    by_judge = {side[:2]: side for side in reversed(sides)}
    plainest = [side for side in sides if by_judge[side[:2]] == side]
    selected = [row for row in rows if side_of(row) in plainest]
    other_count = len(sides) - len(plainest)
    if len(selected) <= MOST_ROWS:
        return selected, f" The plainest condition of each judge; {counted(other_count, 'other condition')} left out (--where chooses)."
    first = plainest[0]
    omitted = f" Of {side_name(first, plainest)} only; {counted(len(sides) - 1, 'other')} left out (--where chooses)."
    return [row for row in rows if side_of(row) == first], omitted


def _grid(rows: Sequence[Row], options: FigureOptions) -> _Grid:
    """Rows by level of agreement; of more rows than fit languages, with metrics side by side."""
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    if len(rows) > MOST_ROWS and 1 < len(metrics) <= _MOST_BARS:
        languages = list(dict.fromkeys(row["language"] for row in rows))[:MOST_ROWS]
        by_place = {(row["language"], row["metric"]): _overall(row) for row in rows}
        columns = [
            (metric_words(metric), {n: by_place[tag, metric] for n, tag in enumerate(languages) if (tag, metric) in by_place})
            for metric in metrics
        ]
        return _Grid([options.shown_name("language", tag) for tag in languages], columns)
    rows = rows[:MOST_ROWS]
    levels = [row.get("distribution_by_agreement") or {_ALL: _overall(row)} for row in rows]
    names = tuple(_LEVELS.get(name, "") for name in levels[0])
    columns = [
        (head, {n: panel[level] for n, panel in enumerate(levels) if panel[level]["items"]})
        for head, level in zip(names, levels[0], strict=True)
    ]
    return _Grid(_names(rows, options), [(head, shares) for head, shares in columns if shares])


def _overall(row: Row) -> Row:
    return {"items": row["n_ref"], "labels": row["distribution_labels"], "judge": row["distribution_judge"]}


def _names(rows: Sequence[Row], options: FigureOptions) -> list[str]:
    """Return what tells the rows from each other: language, metric, and then as much else as is needed; the metric where nothing does."""
    naming: list[str] = []
    for name in (*_NAMED, "source", *CONDITION, "task"):
        distinct = {tuple(str(row.get(other)) for other in naming) for row in rows}
        more_distinct = {tuple(str(row.get(other)) for other in (*naming, name)) for row in rows}
        naming += [name] if len(more_distinct) > len(distinct) else []
    names = []
    for row in rows:
        words = [_word(name, row[name], options) for name in naming or ["metric"] if row.get(name) not in (None, "*")]
        long = len(words) > 1 and len(" · ".join(words)) >= 34
        names.append(" · ".join(words[:-1]) + f"\n{words[-1]}" if long else " · ".join(words))
    return names


def _word(name: str, value: Any, options: FigureOptions) -> str:
    if name == "language":
        return options.shown_name("language", str(value))
    words = metric_words(str(value)) if name == "metric" else f"T {value:g}" if isinstance(value, float) else str(value)
    return terminal_safe(words.replace("_", " "))


def _draw_bars(panel: Any, head: str, shares: Mapping[int, Row], rows: int, inches: float) -> None:
    """Two bars a row, people's above the judge's, with the number of items beside them."""
    for line, line_shares in shares.items():
        for offset, who, colour in ((-0.2, "labels", style.PEOPLE), (0.2, "judge", style.JUDGE)):
            shares_of_classes, height, start = line_shares[who] or {}, line + offset, 0.0
            for index, (name, share) in enumerate(shares_of_classes.items()):
                strength = _PALEST + (1 - _PALEST) * index / max(1, len(shares_of_classes) - 1)
                on_white = tuple(1 - strength * (1 - int(colour[digit : digit + 2], 16) / 255) for digit in (1, 3, 5))
                panel.barh([height], [share], 0.36, left=start, color=on_white, linewidth=0)
                if share * inches * 0.8 > _LETTER * (len(name) + 1) and len(name) < 12:
                    ink = "white" if strength > 0.55 else "#222222"
                    look = {"fontsize": style.SMALL - 2, "color": ink, "ha": "center", "va": "center_baseline"}
                    panel.text(start + share / 2, height, terminal_safe(name), **look)
                start += share
        panel.text(1.01, line, f"{line_shares['items']:,}", fontsize=style.SMALL - 1.5, va="center")
    panel.set_title(head, fontsize=style.SMALL)
    panel.set_ylim(rows - 0.5, -0.5)
    panel.set_xlim(0, 1.12)
    panel.set_xticks([0, 0.5, 1], ["0", "50", "100 %"])
    panel.tick_params(axis="y", length=0)
    style.remove_frame(panel)
