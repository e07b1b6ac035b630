"""Class shares of people and judge side by side, by agreement of three annotators (full, partial, none), or of all items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.measure.compare import Comparison
from harness.render.figures.style import JUDGE, PEOPLE, SMALL, Drawn, FigureOptions, Row, drawing, finish, form_of, remove_frame
from harness.tables import write_atomic
from harness.text import terminal_safe

_HEIGHT = 1.7  # inches of one panel
_BY_AGREEMENT = (
    "Class shares by agreement of the annotators",
    "How often people and the judge gave each class, where all three annotators agree (full), two of three (partial), and no two (none).",
)
_OVERALL = ("Class shares", "How often people and the judge gave each class, over all items with a reference.")
_ALL = "all"  # the level of items that are not divided by agreement
MOST_ROWS = 100  # cells of one figure: nobody reads more, and each takes a fifth of a second
_NAMED = ("language", "metric")


def draw_by_agreement(comparison: Comparison, path: Path, options: FigureOptions = FigureOptions()) -> None:  # noqa: B008 (frozen)
    """Draw, for each cell, the shares of the classes where three annotators agree fully, partly and not at all.

    There is a row for each cell and a column for each level of agreement. If no cell has items with three annotators, there is one
    column, with the shares over all items. The same comparison gives the same file.

    Raises:
        UsageError: without the extra `figures`, for another suffix than .svg, .pdf and .png, when no cell has shares of classes, as on
            continuous scales, and when more than 100 have.
    """
    form = form_of(path)
    cells = [cell for cell in comparison.cells if cell.distribution_by_agreement]
    cells = cells or [cell for cell in comparison.cells if cell.distribution_labels]
    rows = [_divided(cell.flat()) for cell in cells]
    if not rows:
        raise UsageError("no cell has shares of classes to draw; correlations of systems and scales without classes have none")
    if len(rows) > MOST_ROWS:
        raise UsageError(
            f"a figure holds {MOST_ROWS} cells at most, and {len(rows):,} have shares of classes; choose some, for example with "
            "--where judge=NAME or --where language=TAG, or pool them with fewer keys in --by"
        )
    varying = [name for name in cells[0].key if name not in _NAMED and len({str(row[name]) for row in rows}) > 1]
    drawn = draw_distributions(rows, comparison.signature, (*_NAMED, *varying), replace(options, forms=(form,)))
    write_atomic(path, drawn[form])


def _divided(row: Row) -> Row:
    """A row with its shares by level of agreement; they are of one level where no item has three annotators."""
    if row["distribution_by_agreement"]:
        return row
    shares = {"items": row["n_ref"], "labels": row["distribution_labels"], "judge": row["distribution_judge"]}
    return {**row, "distribution_by_agreement": {_ALL: shares}}


def draw_distributions(
    rows: Sequence[Row],
    signature: str,
    named: Sequence[str] = _NAMED,
    options: FigureOptions = FigureOptions(),  # noqa: B008 (frozen)
) -> Drawn:
    """The figure of flat cells that have a `distribution_by_agreement`; the keys in `named` name each cell."""
    levels = list(rows[0]["distribution_by_agreement"])
    with drawing(signature) as new_figure:
        names = [_name(row, named, options) for row in rows]
        figure = new_figure(figsize=(options.width, _HEIGHT * len(rows) + 0.6))
        _lay_out(figure, len(rows), max(name.count("\n") + 1 for name in names))
        panels: Any = figure.subplots(len(rows), len(levels), squeeze=False)  # shared axes would notify each other, which is slow
        for line, (row, name) in enumerate(zip(rows, names, strict=True)):
            for column, level in enumerate(levels):
                _draw_panel(panels[line][column], row["distribution_by_agreement"][level], level, first=column == 0)
            panels[line][0].set_ylabel(name)
        handles, labels = next((panel.get_legend_handles_labels() for panel in panels.flat if panel.patches), ([], []))
        figure.legend(handles, labels, loc="upper center", ncols=2, frameon=False)
        return finish(figure, *(_OVERALL if levels == [_ALL] else _BY_AGREEMENT), signature, options)


def _lay_out(figure: Any, rows: int, lines: int) -> None:
    """Set the margins for a number of rows of panels, whose names have up to `lines` lines.

    They are set in inches. Other figures measure every text instead, which takes minutes for a hundred rows.
    """
    width, height = figure.get_size_inches()
    left, right, top, bottom, between = 0.5 + 0.14 * lines, 0.1, 0.65, 0.3, 0.55
    panel = (height - top - bottom - between * (rows - 1)) / rows
    figure.subplots_adjust(left / width, bottom / height, 1 - right / width, 1 - top / height, wspace=0.12, hspace=between / panel)


def _draw_panel(panel: Any, shares: Row, level: str, *, first: bool) -> None:
    head = "" if level == _ALL else f"{'no' if level == 'none' else level} agreement, "
    panel.set_title(f"{head}{shares['items']} items", fontsize=SMALL)
    panel.set_ylim(0, 1)
    panel.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"] if first else ["", "", ""])
    remove_frame(panel)
    if not shares["items"]:
        panel.set_axis_off()
        return
    names = list(shares["labels"] or shares["judge"] or {})
    for offset, who, colour in ((-0.2, "labels", PEOPLE), (0.2, "judge", JUDGE)):
        heights = [(shares[who] or {}).get(name, 0.0) for name in names]
        panel.bar([i + offset for i in range(len(names))], heights, 0.38, color=colour, label="people" if who == "labels" else "judge")
    panel.set_xticks(range(len(names)), [terminal_safe(name) for name in names])


def _name(row: Row, named: Sequence[str], options: FigureOptions) -> str:
    parts = [f"{row[name]:g}" if isinstance(row[name], float) else str(row[name]) for name in named if row.get(name) not in (None, "*")]
    if "language" in named and row.get("language") not in (None, "*"):
        parts[list(named).index("language")] = options.shown_name("language", row["language"])
    return terminal_safe("\n".join(part.replace("_", " ") for part in parts) or "all")
