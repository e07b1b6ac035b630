"""Agreement along an ordered condition (temperature, number of examples): one small panel for each language, task and metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from harness.model import CONDITION, SAMPLING, parse_variant
from harness.render.figures import style
from harness.render.figures.dot_panels import context_name, context_of, contexts, row_value, rows_at_level
from harness.render.figures.style import Drawn, FigureOptions, Row, Section

_ASPECTS = ("language", "task", "metric")
_WIDTH, _HEIGHT = 1.75, 1.7  # inches of a panel


_COUNTED = "Agreement with the annotators' aggregate (answers that could not be read count as wrong), with 95 % intervals"
_TEMPERATURE = f"{_COUNTED}, at each temperature."
_EXAMPLES = f"{_COUNTED}, by the number of examples that stand before the text for each class."


def draw_temperature(section: Section, signature: str, options: FigureOptions = FigureOptions()) -> Drawn:
    """The figure of the section `temperature`: a line for each judge and variant."""
    lines = tuple(name for name in CONDITION if name != "temperature")
    return _draw_lines(
        section["rows"], signature, along="temperature", lines=lines, label="temperature", text=_TEMPERATURE, options=options
    )


def draw_few_shot(section: Section, signature: str, options: FigureOptions = FigureOptions()) -> Drawn:
    """The figure of the section `few_shot`: a line for each judge, temperature and variant without its examples."""
    rows = [{**row, "otherwise": str(msgspec.structs.replace(parse_variant(row["variant"]), shots=0))} for row in section["rows"]]
    lines = ("judge", "otherwise", *SAMPLING)
    return _draw_lines(rows, signature, along="shots", lines=lines, label="examples of each class", text=_EXAMPLES, options=options)


def _draw_lines(
    rows: Sequence[Row], signature: str, *, along: str, lines: Sequence[str], label: str, text: str, options: FigureOptions
) -> Drawn:
    """Panels of agreement along a key of the rows, whose unequal steps are drawn as such; `lines` are keys that separate the lines."""
    panels = [(aspect, name) for aspect in _ASPECTS for name in dict.fromkeys(row[aspect] for row in rows_at_level(rows, aspect))]
    across = min(int(options.width / _WIDTH), len(panels))
    panels, left = style.fitting(panels, [_HEIGHT * (not number % across) for number in range(len(panels))], 1.1, "panel")
    down = -(-len(panels) // across)
    cases = contexts(rows, lines)
    steps = sorted({row[along] for row in rows})
    with style.drawing(signature) as new_figure:
        figure = new_figure(figsize=(options.width, down * _HEIGHT + 1.1), layout="constrained")
        grid = style.panels_of(figure, len(panels), across, sharex=True, sharey=True)
        for panel, (aspect, name) in zip(grid, panels, strict=True):
            in_panel = [row for row in rows_at_level(rows, aspect) if row[aspect] == name]
            for number, case in enumerate(cases):
                on_line = [row for row in in_panel if context_of(row, lines) == case]
                _draw_line(panel, sorted(on_line, key=lambda row: row[along]), along, number, context_name(case, lines))
            panel.set_title(f"{aspect}: {options.shown_name(aspect, name)}", fontsize=style.SMALL)
            style.shares_along(panel, axis="y")
            panel.grid(axis="y", color=style.FAINT, linewidth=0.4)
            panel.set_xticks(steps, [f"{step:g}" for step in steps])
            style.remove_frame(panel)
        for panel in grid[-across:]:  # the lowest of each column
            panel.tick_params(labelbottom=True)
            panel.set_xlabel(label)
        grid[0].set_ylabel("agreement")
        who = "" if len(cases) > 1 else f" {context_name(cases[0], lines)}."
        return style.finish_with_legend(figure, grid[0], f"Agreement by {label}", text + who + left, signature, options)


def _draw_line(panel: Any, rows: Sequence[Row], along: str, number: int, name: str) -> None:
    known = [(row[along], value) for row in rows if (value := row_value(row, "pa_failed_wrong"))]
    colour, marker = style.colour_and_marker(number)
    for x, (_, lo, hi) in known:
        if lo is not None and hi is not None:
            panel.plot([x, x], [lo, hi], color=colour, linewidth=1, alpha=0.8)
    values = [value for _, (value, _, _) in known]
    panel.plot([x for x, _ in known], values, color=colour, marker=marker, markersize=4, linewidth=1.2, label=name)
