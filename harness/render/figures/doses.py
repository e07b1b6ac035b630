"""Sensitivity along the dose of a change, for print: the page's small panels, one for each language and metric."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import Any

from harness.render.doses import SEES_NOTHING, DoseLine, DoseResponse
from harness.render.figures.style import BASELINE, INK, JUDGE, SMALL, Drawn, FigureOptions, drawing, finish, fitting, remove_frame
from harness.reports.tables.titles import metric_words
from harness.text import terminal_safe

_WORDS = (
    "How often the original scores above the changed text, along the dose of the change, with 95 % intervals. On the dashed line, at ½, "
    "the judge does not see the change."
)
_WIDTH, _HEIGHT = 1.2, 1.25  # least inches of a panel with its heading
_LEFT, _TOP, _BOTTOM = 0.35, 0.3, 0.85  # inches beside, above and below all panels
_GAP, _HEADING = 0.14, 0.35  # inches between panels, and of a panel's heading
_PER_INCH = 15  # characters of the title and the caption


def draw_doses(found: DoseResponse, signature: str, options: FigureOptions = FigureOptions()) -> Drawn:  # noqa: B008 (frozen)
    """The figure of one kind of change, asked of one judge under one condition.

    Panels have fixed places: to find them for dozens of panels would take matplotlib seconds.
    """
    room, characters = options.width - _LEFT, int(options.width * _PER_INCH)
    across = int(room / _WIDTH)
    lines, left = fitting(found.lines, [_HEIGHT * (not number % across) for number in range(len(found.lines))], _TOP + _BOTTOM, "panel")
    found = replace(found, lines=tuple(lines))
    wide, height = room / across, _TOP + _HEIGHT * -(-len(lines) // across) + _BOTTOM
    title = terminal_safe(found.title)
    with drawing(signature) as new_figure:
        figure = new_figure(figsize=(options.width, height))
        for number, line in enumerate(found.lines):
            down, along = divmod(number, across)
            inches = (_LEFT + along * wide, height - _TOP - (down + 1) * _HEIGHT, wide - _GAP, _HEIGHT - _HEADING - _GAP)
            panel = figure.add_axes([inches[0] / options.width, inches[1] / height, inches[2] / options.width, inches[3] / height])
            _draw_panel(panel, line, found, options)
            panel.tick_params(labelleft=not along, labelbottom=number >= len(found.lines) - across)
        figure.text(0.01, 1 - 0.06 / height, textwrap.fill(title, characters), va="top", fontsize=SMALL + 1, color=INK)
        figure.text(0.01, 0.06 / height, textwrap.fill(_WORDS + left, characters), va="bottom", fontsize=SMALL - 0.5, color=INK)
        return finish(figure, f"Sensitivity along the dose: {title}", _WORDS, signature, options)


def _draw_panel(panel: Any, line: DoseLine, found: DoseResponse, options: FigureOptions) -> None:
    panel.axhline(SEES_NOTHING, color=BASELINE, linewidth=0.8, linestyle="--", zorder=1)
    for point in line.points:
        if point.interval:
            panel.plot([point.dose] * 2, point.interval, color=JUDGE, linewidth=1, alpha=0.8, zorder=2)
    doses = [point.dose for point in line.points]
    panel.plot(
        doses, [point.sensitivity for point in line.points], color=JUDGE, marker="o", markersize=3.5, linewidth=1, zorder=3, clip_on=False
    )
    heading = f"{options.shown_name('language', line.language)}\n{terminal_safe(metric_words(line.metric))}"
    panel.set_title(heading, fontsize=SMALL - 0.5)
    panel.set_xlim(0, found.largest * 1.08)
    panel.set_xticks([0, *sorted({point.dose for each in found.lines for point in each.points})])
    panel.xaxis.set_major_formatter("{x:g}")
    panel.set_ylim(-0.03, 1.03)
    panel.set_yticks([0, 0.5, 1], ["0", "½", "1"])
    remove_frame(panel)
