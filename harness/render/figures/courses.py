"""Agreement along an ordered condition: by temperature, by number of examples. A small panel a language, task and metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.render.figures.style import (
    FAINT,
    bare,
    caption,
    colour,
    context_name,
    contexts,
    drawing,
    finish,
    legend,
    marker,
    of_level,
    row_value,
    shares_along,
    shown_name,
)

_ASPECTS = ("language", "task", "metric")
_WIDTH, _HEIGHT, _ACROSS = 2.1, 1.9, 5  # inches of a panel, panels in a line


def draw(
    section: Mapping[str, Any], signature: str, *, along: str, lines: Sequence[str], label: str, words: str, form: str = "svg"
) -> bytes:
    """Panels of agreement (`pa`, with intervals) along a key of the rows.

    Args:
        section: whose rows have `along` and `pa`.
        signature: into the file's metadata.
        along: the key on the horizontal axis; its values stand at their places, so that unequal steps show.
        lines: keys that a line is of.
        label: of the horizontal axis.
        words: the caption.
    """
    rows = section["rows"]
    panels = [(aspect, name) for aspect in _ASPECTS for name in dict.fromkeys(row[aspect] for row in of_level(rows, aspect))]
    across = min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    cases = contexts(rows, lines)
    steps = sorted({row[along] for row in rows})
    with drawing(signature) as new_figure:
        figure = new_figure(figsize=(max(across * _WIDTH, 5.5) + 0.4, down * _HEIGHT + 1.1), layout="constrained")
        grid: Any = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
        for panel, (aspect, name) in zip(grid.flat, panels, strict=False):
            here = [row for row in of_level(rows, aspect) if row[aspect] == name]
            for number, case in enumerate(cases):
                of = [row for row in here if tuple(row.get(key) for key in lines) == case]
                _course(panel, sorted(of, key=lambda row: row[along]), along, number, context_name(case, lines))
            panel.set_title(f"{aspect}: {shown_name(aspect, name)}", fontsize=8)
            shares_along(panel, "y")
            panel.grid(axis="y", color=FAINT, linewidth=0.4)
            panel.set_xticks(steps, [f"{step:g}" for step in steps])
            bare(panel)
        for panel in list(grid.flat)[len(panels) :]:
            panel.set_axis_off()
        for panel in list(grid.flat)[: len(panels)][-across:]:  # the lowest of each column
            panel.tick_params(labelbottom=True)
            panel.set_xlabel(label)
        grid[0][0].set_ylabel("agreement (PA)")
        legend(figure, grid[0][0])
        caption(figure, words if len(cases) > 1 else f"{words} {context_name(cases[0], lines)}.")
        return finish(figure, signature, form=form)


def _course(panel: Any, rows: Sequence[Mapping[str, Any]], along: str, number: int, name: str) -> None:
    known = [(row[along], value) for row in rows if (value := row_value(row, "pa"))]
    for x, (_, lo, hi) in known:
        if lo is not None and hi is not None:
            panel.plot([x, x], [lo, hi], color=colour(number), linewidth=1, alpha=0.8)
    panel.plot(
        [x for x, _ in known],
        [value for _, (value, _, _) in known],
        color=colour(number),
        marker=marker(number),
        markersize=4,
        linewidth=1.2,
        label=name,
    )
