"""Panels of dots with intervals: a line for each language or task, a dot for each series, a row of panels for each judge and condition."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.judges import traits_of
from harness.model import CONDITION, axis_words
from harness.render.figures import style
from harness.render.figures.style import Legend, Row
from harness.text import terminal_safe

LINE_HEIGHT = 0.19  # inches of one line of dots
_BESIDE_WIDTH = 24  # characters in a line beside a panel

Case = tuple[Any, ...]
"""A judge and condition: the values of some keys of rows."""
Value = tuple[float, float | None, float | None]
"""A number and the ends of its interval, None where it has none."""


@dataclass(frozen=True)
class Series:
    """One kind of dot: its name, a value for each category that has one, its colour and marker.

    `on_line_before`: on the line of the series before it. A name that begins with `_` is not in the legend. `notes`: texts on the lines of
    categories without a value.
    """

    name: str
    values: Mapping[str, Value]
    colour: str
    marker: str = "o"
    hollow: bool = False
    on_line_before: bool = False
    notes: Mapping[str, str] = field(default_factory=dict)


class DotPanel(NamedTuple):
    """One panel: whose it is (None where all panels show all judges), its title, the categories of an aspect from the top, the dots."""

    case: Case | None
    title: str
    aspect: str
    categories: Sequence[str]
    series: Sequence[Series]


class DotFigure(NamedTuple):
    """A figure of panels, those of a judge and condition one after the other, `across` in a line.

    `around` are the inches above and below the lines of panels, whose `heights` are one number where they are equal. `axis` draws a panel's
    axis; its `label` stands below the panels of the last case. `keys` name the values of a case.
    """

    title: str
    text: str
    panels: Sequence[DotPanel]
    across: int
    heights: Sequence[float] | float
    around: float
    axis: Callable[[Any, str], None]
    label: str
    keys: Sequence[str] = CONDITION
    legend: Legend = Legend()


def draw_dots(dot_figure: DotFigure, signature: str, options: style.FigureOptions) -> style.Drawn:
    """Return the figure. The first panel of each case has its name beside it."""
    with style.drawing(signature) as new_figure:
        if isinstance(dot_figure.heights, float):
            height, heights = dot_figure.heights * -(-len(dot_figure.panels) // dot_figure.across), None
        else:
            height, heights = sum(dot_figure.heights), dot_figure.heights
        figure = new_figure(figsize=(options.width, height + dot_figure.around), layout="constrained")
        grid = style.panels_of(figure, len(dot_figure.panels), dot_figure.across, heights)
        labelled_panel = None
        for panel, panel_series in zip(grid, dot_figure.panels, strict=True):
            dots(panel, panel_series.aspect, panel_series.categories, panel_series.series, options)
            dot_figure.axis(panel, dot_figure.label if panel_series.case == dot_figure.panels[-1].case else "")
            panel.set_title(panel_series.title, fontsize=style.SMALL + 1)
            if panel_series.case != labelled_panel:
                panel.set_ylabel("\n".join(textwrap.wrap(context_name(panel_series.case or (), dot_figure.keys), _BESIDE_WIDTH)))
                labelled_panel = panel_series.case
        return style.finish_with_legend(figure, grid[0], dot_figure.title, dot_figure.text, signature, options, dot_figure.legend)


def height_of(categories: int, series: int) -> float:
    """Return the height of a panel of dots, in inches."""
    return 0.75 + categories * (series * LINE_HEIGHT + 0.1)


def dots(panel: Any, aspect: str, categories: Sequence[str], series: Sequence[Series], options: style.FigureOptions) -> None:
    """Draw one line for each category of an aspect (language, task), from the top; on it the dots of all series with their intervals."""
    lines = sum(not single.on_line_before for single in series)
    step, line = 0.8 / max(lines, 1), -1
    for single in series:
        line += not single.on_line_before
        positions = {name: index + (line - (lines - 1) / 2) * step for index, name in enumerate(categories)}
        for name, words in single.notes.items():
            across = panel.get_yaxis_transform()
            panel.text(
                0.01, positions[name], terminal_safe(words), color=single.colour, fontsize=style.SMALL - 1, va="center", transform=across
            )
        heights = [positions[name] for name in categories if name in single.values]
        values = [single.values[name] for name in categories if name in single.values]
        for y, (_, lo, hi) in zip(heights, values, strict=True):
            if lo is not None and hi is not None:
                panel.plot([lo, hi], [y, y], color=single.colour, linewidth=1.2, alpha=0.8, zorder=2, solid_capstyle="butt")
        look = {"marker": single.marker, "markersize": 4.5, "color": single.colour, "zorder": 2.5 if single.on_line_before else 3}
        fill = "white" if single.hollow else single.colour
        panel.plot([x for x, _, _ in values], heights, linestyle="", markerfacecolor=fill, label=terminal_safe(single.name), **look)
    names = (options.shown_name(aspect, name) for name in categories)
    panel.set_yticks(range(len(categories)), ["\n".join(textwrap.wrap(name, 18)) or name for name in names])  # room for the panel
    panel.set_ylim(len(categories) - 0.5, -0.5)
    for index in range(1, len(categories)):
        panel.axhline(index - 0.5, color=style.FAINT, linewidth=0.5, zorder=0)
    panel.tick_params(axis="y", length=0)
    style.remove_frame(panel)


def row_value(row: Row, name: str) -> Value | None:
    """Return a row's number with its interval; None where it is undefined."""
    if row.get(name) is None:
        return None
    lo, hi = row.get(f"{name}_ci") or (None, None)
    return row[name], lo, hi


def different(rows: Sequence[Row], name: str) -> list[str]:
    """Return the different values of a key of rows, in their order."""
    return list(dict.fromkeys(row[name] for row in rows))


def rows_at_level(rows: Sequence[Row], *keys: str) -> list[Row]:
    """Return the rows that name exactly these of language, task and metric, and pool the others."""
    return [row for row in rows if all((row[name] != "*") == (name in keys) for name in ("language", "task", "metric"))]


def context_of(row: Row, names: Sequence[str] = CONDITION) -> Case:
    """Return the judge and condition of a row."""
    return tuple(row.get(name) for name in names)


def contexts(rows: Sequence[Row], names: Sequence[str] = CONDITION) -> list[Case]:
    """Return the different judges and conditions of rows, in their order; baselines only if there are no other judges."""
    contexts_in_order = list(dict.fromkeys(context_of(row, names) for row in rows))
    judges = [context for context in contexts_in_order if not traits_of(str(context[names.index("judge")])).is_baseline]
    return judges or contexts_in_order


def context_name(context: Sequence[Any], names: Sequence[str] = CONDITION) -> str:
    """Return a judge and condition in words: `local/model, single, temperature 0`."""
    varying = ((name, value) for name, value in zip(names, context, strict=True) if value is not None and value != "*")
    return terminal_safe(", ".join(axis_words(*axis) for axis in varying))
