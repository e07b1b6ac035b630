"""Class shares of people and judge as stacked bars, by agreement of three annotators (full, partial, none), or of all items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import UsageError
from harness.measure.compare import Comparison
from harness.model import CONDITION
from harness.render.figures import style
from harness.render.figures.style import Drawn, FigureOptions, Row
from harness.render.sides import plainest_first, side_name, side_of
from harness.reports.tables.numbers import counted
from harness.reports.tables.titles import metric_words
from harness.text import terminal_safe

_BY_AGREEMENT = (
    "Class shares by agreement of the annotators",
    "How often people (above) and the judge (below) gave each class, where all annotators agree, two of three, and no two.",
)
_OVERALL = ("Class shares", "How often people (above) and the judge (below) gave each class, over all items with a reference.")
_SHADES = " From the first class of the scale (light) to the last (dark)."
_LEVELS = {"full": "all agree", "partial": "two agree", "none": "none agree"}
_ALL = "all"  # the level of items that are not divided by agreement
_AROUND = 1.5  # inches above and below the rows
_LEAST, _MOST = 0.17, 0.34  # inches of a row
MOST_ROWS = int((style.MOST_INCHES - _AROUND) / _LEAST)
_MOST_COLUMNS = 8  # metrics that stand side by side
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
    style.write_figure(path, lambda file_options: draw_distributions(rows, comparison.signature, file_options), options)


def draw_distributions(rows: Sequence[Row], signature: str, options: FigureOptions = FigureOptions()) -> Drawn:
    """Return the figure of flat cells that have shares of classes, by level of agreement or as a whole."""
    selected, omitted = _chosen(rows)
    grid = _grid(selected, options)
    title, words = _OVERALL if len(grid.columns) == 1 or grid.columns[0][0] not in _LEVELS.values() else _BY_AGREEMENT
    inches = min(_MOST, (style.MOST_INCHES - _AROUND) / len(grid.names))
    with style.drawing(signature) as new_figure:
        figure = new_figure(figsize=(options.width, _AROUND + inches * len(grid.names)), layout="constrained")
        panels: Any = figure.subplots(1, len(grid.columns), squeeze=False)[0]
        for panel, (head, shares) in zip(panels, grid.columns, strict=True):
            _draw_panel(panel, head, shares, len(grid.names), options.width / len(panels))
        for panel in panels[1:]:
            panel.set_yticks([])
        panels[0].set_yticks(range(len(grid.names)), grid.names)
        for name, colour in (("people", style.PEOPLE), ("judge", style.JUDGE)):
            panels[0].barh([0], [0], color=colour, label=name)
        return style.finish_with_legend(figure, panels[0], title, words + _SHADES + omitted, signature, options)


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
    if len(rows) > MOST_ROWS and 1 < len(metrics) <= _MOST_COLUMNS:
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


def _draw_panel(panel: Any, head: str, shares: Mapping[int, Row], rows: int, inches: float) -> None:
    """Two bars a row, people's above the judge's, with the number of items beside them."""
    for line, line_shares in shares.items():
        for offset, who, colour in ((-0.2, "labels", style.PEOPLE), (0.2, "judge", style.JUDGE)):
            _draw_bar(panel, line + offset, line_shares[who] or {}, colour, inches)
        panel.text(1.01, line, f"{line_shares['items']:,}", fontsize=style.SMALL - 1.5, va="center")
    panel.set_title(head, fontsize=style.SMALL)
    panel.set_ylim(rows - 0.5, -0.5)
    panel.set_xlim(0, 1.12)
    panel.set_xticks([0, 0.5, 1], ["0", "50", "100 %"])
    panel.tick_params(axis="y", length=0)
    style.remove_frame(panel)


def _draw_bar(panel: Any, height: float, shares: Mapping[str, float], colour: str, inches: float) -> None:
    start = 0.0
    for index, (name, share) in enumerate(shares.items()):
        strength = _PALEST + (1 - _PALEST) * index / max(1, len(shares) - 1)
        on_white = tuple(1 - strength * (1 - int(colour[digit : digit + 2], 16) / 255) for digit in (1, 3, 5))
        panel.barh([height], [share], 0.36, left=start, color=on_white, linewidth=0)
        if share * inches * 0.8 > _LETTER * (len(name) + 1) and len(name) < 12:
            ink = "white" if strength > 0.55 else "#222222"
            panel.text(
                start + share / 2, height, terminal_safe(name), fontsize=style.SMALL - 2, color=ink, ha="center", va="center_baseline"
            )
        start += share
