"""Agreement along an ordered condition (temperature, number of examples): one small panel for each language, task and metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from harness.model import parse_variant
from harness.render.figures.style import (
    FAINT,
    Row,
    Section,
    colour_and_marker,
    context_name,
    context_of,
    contexts,
    drawing,
    finish_with_legend,
    of_level,
    remove_frame,
    row_value,
    shares_along,
    shown_name,
)

_ASPECTS = ("language", "task", "metric")
_WIDTH, _HEIGHT, _ACROSS = 2.1, 1.9, 5  # inches of a panel, panels in a line


_TEMPERATURE = "Agreement with the annotators' aggregate (answers that could be read), with 95 % intervals, at each temperature."
_EXAMPLES = (
    "Agreement with the annotators' aggregate (answers that could be read), with 95 % intervals, by the number of examples that stand "
    "before the text for each class."
)


def draw_temperature(section: Section, signature: str, *, form: str = "svg") -> bytes:
    """The figure of the section `temperature`: a line for each judge and variant."""
    lines = ("judge", "variant", "top_p")
    return _draw_lines(section["rows"], signature, along="temperature", lines=lines, label="temperature", text=_TEMPERATURE, form=form)


def draw_few_shot(section: Section, signature: str, *, form: str = "svg") -> bytes:
    """The figure of the section `few_shot`: a line for each judge, temperature and variant without its examples."""
    rows = [{**row, "otherwise": str(msgspec.structs.replace(parse_variant(row["variant"]), shots=0))} for row in section["rows"]]
    lines = ("judge", "otherwise", "temperature", "top_p")
    return _draw_lines(rows, signature, along="shots", lines=lines, label="examples of each class", text=_EXAMPLES, form=form)


def _draw_lines(rows: Sequence[Row], signature: str, *, along: str, lines: Sequence[str], label: str, text: str, form: str) -> bytes:
    """Panels of agreement (`pa`, with intervals) along a key of the rows.

    Args:
        rows: have `along` and `pa`.
        signature: goes into the file's metadata.
        along: the key on the horizontal axis; unequal steps are drawn as such.
        lines: the keys that separate one line from another.
        label: the label of the horizontal axis.
        text: the caption.
        form: the file's format.
    """
    panels = [(aspect, name) for aspect in _ASPECTS for name in dict.fromkeys(row[aspect] for row in of_level(rows, aspect))]
    across = min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    cases = contexts(rows, lines)
    steps = sorted({row[along] for row in rows})
    with drawing(signature) as new_figure:
        figure = new_figure(figsize=(max(across * _WIDTH, 5.5) + 0.4, down * _HEIGHT + 1.1), layout="constrained")
        grid: Any = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
        for panel, (aspect, name) in zip(grid.flat, panels, strict=False):
            in_panel = [row for row in of_level(rows, aspect) if row[aspect] == name]
            for number, case in enumerate(cases):
                on_line = [row for row in in_panel if context_of(row, lines) == case]
                _draw_line(panel, sorted(on_line, key=lambda row: row[along]), along, number, context_name(case, lines))
            panel.set_title(f"{aspect}: {shown_name(aspect, name)}", fontsize=8)
            shares_along(panel, "y")
            panel.grid(axis="y", color=FAINT, linewidth=0.4)
            panel.set_xticks(steps, [f"{step:g}" for step in steps])
            remove_frame(panel)
        for panel in list(grid.flat)[len(panels) :]:
            panel.set_axis_off()
        for panel in list(grid.flat)[: len(panels)][-across:]:  # the lowest of each column
            panel.tick_params(labelbottom=True)
            panel.set_xlabel(label)
        grid[0][0].set_ylabel("agreement")
        who = "" if len(cases) > 1 else f" {context_name(cases[0], lines)}."
        return finish_with_legend(figure, grid[0][0], text + who, signature, form=form)


def _draw_line(panel: Any, rows: Sequence[Row], along: str, number: int, name: str) -> None:
    known = [(row[along], value) for row in rows if (value := row_value(row, "pa"))]
    colour, marker = colour_and_marker(number)
    for x, (_, lo, hi) in known:
        if lo is not None and hi is not None:
            panel.plot([x, x], [lo, hi], color=colour, linewidth=1, alpha=0.8)
    panel.plot(
        [x for x, _ in known],
        [value for _, (value, _, _) in known],
        color=colour,
        marker=marker,
        markersize=4,
        linewidth=1.2,
        label=name,
    )
