"""Answers that could not be read, for print: the page's bars, a line for each judge and condition."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import Any

from harness.render.failure_shares import FailureShares, kind_number, kind_words
from harness.render.figures.style import FAILURES, Drawn, FigureOptions, Legend, drawing, finish_with_legend, fitting, remove_frame
from harness.reports.tables.numbers import counted, percent
from harness.text import terminal_safe

_WORDS = "Answers that could not be read, as a share of each condition's judgments, by kind. An unreadable answer never becomes a score."
_LINE = 0.3  # inches of a condition
_NAME = 28  # characters in a line of a name


def draw_failures(found: FailureShares, signature: str, options: FigureOptions = FigureOptions()) -> Drawn:  # noqa: B008 (frozen)
    """The figure of failures by condition and kind."""
    conditions, left = fitting(found.conditions, [_LINE] * len(found.conditions), 1.4, "condition")
    found = replace(found, conditions=tuple(conditions))
    with drawing(signature) as new_figure:
        figure = new_figure(figsize=(options.width, 1.4 + _LINE * len(found.conditions)), layout="constrained")
        panel = figure.subplots()
        _draw_bars(panel, found)
        names = ["\n".join(textwrap.wrap(terminal_safe(one.name), _NAME)) for one in found.conditions]
        panel.set_yticks(range(len(names)), names)
        panel.set_ylim(len(names) - 0.5, -0.5)
        panel.set_xlim(0, found.reach)
        panel.set_xticks([0, found.reach / 2, found.reach], [percent(share) for share in (0, found.reach / 2, found.reach)])
        panel.set_xlabel("share of judgments")
        panel.tick_params(axis="y", length=0)
        remove_frame(panel)
        return finish_with_legend(
            figure, panel, "Failures by condition and kind", _WORDS + left, signature, options, Legend(len(FAILURES), least=1)
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
