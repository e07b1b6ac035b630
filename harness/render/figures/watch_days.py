"""A watch over time: the levels of each day beside their reference, and the e-values with the line of the alarm."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.render.figures import style
from harness.render.figures.style import Drawn, FigureOptions
from harness.text import terminal_safe
from harness.watch.watch_check import CellState, StreamState, WatchCheck

MOST_CELLS = 20
_HEIGHT = 1.7  # inches of a cell
_LINES = (
    ("anchors", "agreement", "agreement on anchors", style.PEOPLE, "-"),
    ("anchors", "level", "level of anchors", style.PEOPLE, ":"),
    ("production", "level", "level of production scores", style.JUDGE, "-"),
)
_CAPTION = (
    "Left: each day's mean, with the level of the certified period as a thin line of the same kind. Right: evidence of a change, as the "
    "logarithm of the e-value; above the grey line it is an alarm. The thin vertical line is the first day of an alarm."
)


def draw_watch(found: WatchCheck, path: Path) -> None:
    """Draw every cell of a watch in a row of two panels.

    Raises:
        UsageError: without the extra `figures`, for another suffix than .svg, .pdf and .png, without a day, and for more than 20 cells.
    """
    if not any(cell.anchors.days or cell.production.days for cell in found.cells):
        raise UsageError("the log has no day yet, so there is nothing to draw; add one with 'harness watch add'")
    if len(found.cells) > MOST_CELLS:
        raise UsageError(f"a figure holds {MOST_CELLS} cells at most, and {len(found.cells)} are watched; --json has all numbers")
    style.write_figure(path, lambda options: _draw(found, options))


def _draw(found: WatchCheck, options: FigureOptions) -> Drawn:
    signature = f"{found.judge} on {found.data} since {found.since}"
    cells, left_out = style.fitting(found.cells, [_HEIGHT] * len(found.cells), 0.9, "cell")
    with style.drawing(signature) as new_figure:
        figure = new_figure(figsize=(options.width, len(cells) * _HEIGHT + 0.9), layout="constrained")
        grid: Any = figure.subplots(len(cells), 2, squeeze=False, sharex=True)
        for (left, right), cell in zip(grid, cells, strict=True):
            _draw_levels(left, cell, options)
            _draw_evidence(right, cell)
        figure.autofmt_xdate(rotation=30)
        return style.finish_with_legend(figure, grid[0][0], f"Watch: {found.answer}", _CAPTION + left_out, signature, options)


def _draw_levels(panel: Any, cell: CellState, options: FigureOptions) -> None:
    for stream, quantity, name, colour, line in _LINES:
        days = [(day.date, day.means[quantity]) for day in getattr(cell, stream).days if quantity in day.means]
        panel.plot([day for day, _ in days], [mean for _, mean in days], color=colour, linestyle=line, linewidth=1, label=name)
        for reference in cell.references:
            if (reference.stream, reference.quantity) == (stream, quantity):
                panel.axhline(reference.mean, color=colour, linestyle=line, linewidth=0.4)
    style.shares_along(panel, axis="y")
    style.remove_frame(panel)
    panel.set_title(
        terminal_safe(f"{options.shown_name('language', cell.language)}, {cell.metric.replace('_', ' ')}"), fontsize=style.SMALL, loc="left"
    )


def _draw_evidence(panel: Any, cell: CellState) -> None:
    for stream, colour in (("anchors", style.PEOPLE), ("production", style.JUDGE)):
        state: StreamState = getattr(cell, stream)
        panel.plot([day.date for day in state.days], [math.log10(max(day.e, 1e-3)) for day in state.days], color=colour, linewidth=1)
        if state.alarm:
            panel.axvline(state.alarm, color=colour, linewidth=0.5)
    panel.axhline(math.log10(cell.anchors.limit), color=style.FAINT, linewidth=1)
    panel.set_ylabel("log10 e", color=style.INK)
    panel.set_title(terminal_safe(cell.answer), fontsize=style.SMALL, loc="left")
    style.remove_frame(panel)
