"""The forest plot of the verdicts for print: the marks of the page's first screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.render.figures.style import (
    BASELINE,
    JUDGE,
    PEOPLE,
    SMALL,
    Drawn,
    FigureOptions,
    drawing,
    finish_with_legend,
    panels_of,
    remove_frame,
)
from harness.render.forest import Forest, ForestMark
from harness.reports.tables.numbers import signed
from harness.text import terminal_safe

_COLOURS = {"good": JUDGE, "bad": PEOPLE, "open": BASELINE}
_LEGEND = {"good": "shown for the judge", "open": "not shown", "bad": "shown against it"}
_WORDS = (
    "{axis} in percentage points, by language and metric. A line goes to the lower bound that the verdict uses; the band is the margin. "
    "Full and blue: shown for the judge. Full and brown: shown against it. Hollow: not shown."
)
_LINE = 0.17  # inches of a language


def draw_forest(forests: Sequence[tuple[str, Forest]], signature: str, options: FigureOptions = FigureOptions()) -> Drawn:  # noqa: B008 (frozen)
    """The figure of the verdicts: a panel for each metric of each judge and condition, a line for each language."""
    panels = [(name, one, place) for name, one in forests for place in range(len(one.metrics))]
    across = min(3 if options.wide else 1, max(len(one.metrics) for _, one in forests))
    lines = -(-len(panels) // across)
    height = sum(0.65 + _LINE * max(len(one.rows) for _, one, _ in panels[at * across : (at + 1) * across]) for at in range(lines))
    with drawing(signature) as new_figure:
        figure = new_figure(figsize=(options.width, height + 0.9), layout="constrained")
        grid = panels_of(figure, len(panels), across)
        for number, (panel, (name, one, place)) in enumerate(zip(grid, panels, strict=True)):
            _draw_panel(panel, one, place, options)
            title = options.shown_name("metric", one.metrics[place])
            panel.set_title(f"{terminal_safe(name)}\n{title}" if len(forests) > 1 else title, fontsize=SMALL + 1)
            panel.set_xlabel(f"{one.axis} (points)" if number >= len(panels) - across else "")
        for style, words in _LEGEND.items():
            grid[0].plot([], [], linestyle="", **_dot(style), label=words)
        text = _WORDS.format(axis=forests[0][1].axis.capitalize())
        who = f" {terminal_safe(forests[0][0])}." if len(forests) == 1 else ""
        return finish_with_legend(figure, grid[0], "Verdicts by language and metric", text + who, signature, options, columns=3)


def _draw_panel(panel: Any, one: Forest, place: int, options: FigureOptions) -> None:
    margin = next((mark.margin for _, marks in one.rows for mark in marks if mark and mark.margin is not None), None)
    if margin is not None:
        panel.axvspan(-margin, 0, color="#eef1f4", linewidth=0, zorder=0)
    panel.axvline(0, color=BASELINE, linewidth=0.8, zorder=1)
    for line, (_, marks) in enumerate(one.rows):
        if mark := marks[place]:
            _draw_mark(panel, line, mark, one.reach)
    panel.set_yticks(range(len(one.rows)), [options.shown_name("language", tag) for tag, _ in one.rows])
    panel.set_ylim(len(one.rows) - 0.5, -0.5)
    panel.set_xlim(-one.reach * 1.05, one.reach * 1.05)
    ticks = (-one.reach, 0.0, one.reach)
    panel.set_xticks(ticks, [signed(100 * tick) if tick else "0" for tick in ticks])
    panel.tick_params(axis="y", length=0)
    remove_frame(panel)


def _draw_mark(panel: Any, line: int, mark: ForestMark, reach: float) -> None:
    if mark.bound is not None:
        panel.plot([max(mark.bound, -reach), mark.value], [line, line], color=_COLOURS[mark.style], linewidth=1.1, zorder=2)
    panel.plot([mark.value], [line], linestyle="", **_dot(mark.style), zorder=3)


def _dot(style: str) -> dict[str, Any]:
    fill = "white" if style == "open" else _COLOURS[style]
    return {"marker": "o", "markersize": 4.5, "color": _COLOURS[style], "markerfacecolor": fill}
