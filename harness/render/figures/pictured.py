"""The pictures of the page for print: sensitivity along the dose of a change, and bars of unreadable answers by condition."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import Any

from harness.render.figures.style import (
    BASELINE,
    FAILURES,
    INK,
    JUDGE,
    SMALL,
    Drawn,
    FigureOptions,
    Legend,
    drawing,
    finish,
    finish_with_legend,
    fitting,
    remove_frame,
)
from harness.render.pictured import SEES_NOTHING, DoseLine, DoseResponse, FailureShares, kind_number, kind_words
from harness.reports.tables.numbers import counted, percent
from harness.reports.tables.titles import metric_words
from harness.text import terminal_safe

_DOSES = (
    "How often the original scores above the changed text, along the dose of the change, with 95 % intervals. On the dashed line, at ½, "
    "the judge does not see the change."
)
_WIDTH, _HEIGHT = 1.2, 1.25  # least inches of a panel with its heading
_LEFT, _TOP, _BOTTOM = 0.35, 0.3, 0.85  # inches beside, above and below all panels
_GAP, _HEADING = 0.14, 0.35  # inches between panels, and of a panel's heading
_PER_INCH = 15  # characters of the title and the caption


def draw_doses(found: DoseResponse, signature: str, options: FigureOptions = FigureOptions()) -> Drawn:
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
        figure.text(0.01, 0.06 / height, textwrap.fill(_DOSES + left, characters), va="bottom", fontsize=SMALL - 0.5, color=INK)
        return finish(figure, f"Sensitivity along the dose: {title}", _DOSES, signature, options)


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


_FAILURES = "Answers that could not be read, as a share of each condition's judgments, by kind. An unreadable answer never becomes a score."
_BAR = 0.3  # inches of a condition
_NAME_LETTERS = 28  # characters in a line of a name


def draw_failures(found: FailureShares, signature: str, options: FigureOptions = FigureOptions()) -> Drawn:
    """The figure of failures by condition and kind."""
    conditions, left = fitting(found.conditions, [_BAR] * len(found.conditions), 1.4, "condition")
    found = replace(found, conditions=tuple(conditions))
    with drawing(signature) as new_figure:
        figure = new_figure(figsize=(options.width, 1.4 + _BAR * len(found.conditions)), layout="constrained")
        panel = figure.subplots()
        _draw_bars(panel, found)
        names = ["\n".join(textwrap.wrap(terminal_safe(one.name), _NAME_LETTERS)) for one in found.conditions]
        panel.set_yticks(range(len(names)), names)
        panel.set_ylim(len(names) - 0.5, -0.5)
        panel.set_xlim(0, found.reach)
        panel.set_xticks([0, found.reach / 2, found.reach], [percent(share) for share in (0, found.reach / 2, found.reach)])
        panel.set_xlabel("share of judgments")
        panel.tick_params(axis="y", length=0)
        remove_frame(panel)
        return finish_with_legend(
            figure, panel, "Failures by condition and kind", _FAILURES + left, signature, options, Legend(len(FAILURES), least=1)
        )


def _draw_bars(panel: Any, found: FailureShares) -> None:
    lines = range(len(found.conditions))
    starts = [0.0] * len(found.conditions)
    for kind in found.kinds:
        shares = [one.shares[kind] for one in found.conditions]
        panel.barh(lines, shares, 0.7, left=starts, color=FAILURES[kind_number(kind)], label=kind_words(kind))
        starts = [start + share for start, share in zip(starts, shares, strict=True)]
    for line, (one, end) in enumerate(zip(found.conditions, starts, strict=True)):
        panel.text(end, line, f" {percent(one.unreadable)} of {counted(one.judgments)}", va="center", ha="left")
