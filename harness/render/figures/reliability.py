"""Confidence against how often it is right: a small panel a language, people's ceiling in ink, the gap written in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.correction.probabilities import NO_PROBABILITIES
from harness.errors import UsageError
from harness.render.figures import style
from harness.render.figures.style import INK, PEOPLE, SMALL, VERDICTS, Drawn, FigureOptions
from harness.render.reliability import ReliabilityCurves, ReliabilityPanel, curves_words, reliability_curves
from harness.reports.comparison import DecidedComparison
from harness.reports.sections.probabilities import NAME
from harness.reports.tables.numbers import percent
from harness.reports.tables.titles import metric_words
from harness.text import terminal_safe

_WIDTH, _HEIGHT, _AROUND = 1.75, 2.05, 1.05  # inches of a panel, and above and below all of them
_TITLE = "Is it as often right as it says?"
_CAPTION = (
    "Dots: answers of about equal confidence (bins of equal count) and the share of them that equals people's commonest label, with 95 % "
    "bands. On the dashed diagonal probabilities hold; below it the judge is too sure. Shaded: the distance. Line in ink: how often a "
    "further person is right. Blue: shown to hold within 5 points; brown: shown not to; grey: not shown, or only after a refit."
)


def draw_reliability(section: Mapping[str, Any], signature: str, options: FigureOptions = FigureOptions()) -> Drawn:
    """Return the figure of the section `probabilities`. Raises UsageError where it has no curve."""
    curves = reliability_curves(section)
    if curves is None:
        raise UsageError("there is no curve to draw: no answer with a probability has a commonest label")
    lines = -(-len(curves.panels) // int(options.width / _WIDTH))
    across = -(-len(curves.panels) // lines)  # lines of about equal length
    heights = [_HEIGHT * (not number % across) for number in range(len(curves.panels))]
    panels, omitted = style.fitting(curves.panels, heights, _AROUND, "panel")
    curves = replace(curves, panels=tuple(panels))
    metrics, sides = ({getattr(panel, name) for panel in panels} for name in ("metric", "side"))
    down = -(-len(panels) // across)
    with style.drawing(signature) as new_figure:
        figure = new_figure(figsize=(options.width, _AROUND + down * _HEIGHT), layout="constrained")
        grid = style.panels_of(figure, len(panels), across, sharex=True, sharey=True)
        for axes, panel in zip(grid, panels, strict=True):
            _draw_panel(axes, panel, curves)
            more = [metric_words(panel.metric)] if len(metrics) > 1 else []
            more += [panel.side] if len(sides) > 1 else []
            _head(axes, panel, options.shown_name("language", panel.language), more)
        for axes in grid[-across:]:
            axes.tick_params(labelbottom=True)
            axes.set_xlabel("it says", color=INK)
        for axes in grid[::across]:
            axes.set_ylabel("it is right", color=INK)
        title = f"{_TITLE} {curves.subject}".strip()
        words = f"{curves_words(curves)} {_CAPTION}{omitted}"
        return style.finish_with_legend(figure, grid[0], title, words, signature, options, style.Legend(headed=True))


def write_reliability(comparison: DecidedComparison, path: Path, options: FigureOptions = FigureOptions()) -> None:
    """Draw the curves of a comparison into a file. Raises UsageError where no judgment has a probability, and as `form_of` does."""
    section = comparison.sections.get(NAME)
    if section is None:
        raise UsageError(f"there is no curve to draw: {NO_PROBABILITIES}")
    style.write_figure(path, lambda file_options: draw_reliability(section, comparison.signature, file_options), options)


def _head(axes: Any, panel: ReliabilityPanel, name: str, more: Sequence[str]) -> None:
    """The language in ink, what tells its panel from others, and the gap with the verdict in their colour."""
    lines = [(" ".join(panel.gap_words.split()), {"color": VERDICTS[panel.look], "fontweight": "bold"}, SMALL + 0.5)]
    lines.insert(0, (panel.verdict, {"color": VERDICTS[panel.look]}, SMALL - 0.5))
    lines += [(terminal_safe(text), {"color": INK}, SMALL - 0.5) for text in reversed(more)]
    lines.append((name, {"color": INK, "fontweight": "bold"}, SMALL + 1.5))
    for number, (text, look, size) in enumerate(lines):
        axes.annotate(text, (0, 1), (0, 5 + 9 * number), xycoords="axes fraction", textcoords="offset points", fontsize=size, **look)


def _draw_panel(axes: Any, panel: ReliabilityPanel, curves: ReliabilityCurves) -> None:
    """The diagonal, people's line with its number, the distance as a shade, bands and dots."""
    start, colour = curves.start, VERDICTS[panel.look]
    reach = 1 - start
    axes.plot([start, 1], [start, 1], color=style.BASELINE, linewidth=0.8, linestyle=(0, (3, 2)), zorder=1)
    if panel.people is not None and panel.people > start:
        axes.axhline(panel.people, color=PEOPLE, linewidth=1.0, zorder=1.5)
        axes.text(start, panel.people + 0.015 * reach, f"people {percent(panel.people)}", fontsize=SMALL - 1.5, color=PEOPLE, va="bottom")
    says, right = [b.confidence for b in panel.bins], [b.share for b in panel.bins]
    axes.fill_between(says, says, right, color=colour, alpha=0.13, linewidth=0, zorder=1)
    for b in panel.bins:
        if b.interval:
            axes.plot(
                [b.confidence] * 2,
                [max(end, start) for end in b.interval],
                color=colour,
                linewidth=1.0,
                alpha=0.55,
                zorder=2,
                solid_capstyle="butt",
            )
    axes.plot(says, right, color=colour, marker="o", markersize=3.6, linewidth=1.2, zorder=3, clip_on=False)
    ticks = [start, (1 + start) / 2, 1.0]
    names = [f"{100 * tick:.0f} %" for tick in ticks]
    axes.set(xlim=(start - 0.02 * reach, 1 + 0.02 * reach), ylim=(start - 0.02 * reach, 1 + 0.03 * reach), xticks=ticks, yticks=ticks)
    axes.set_xticklabels(names)
    axes.set_yticklabels(names)
    axes.set_box_aspect(1)
    style.remove_frame(axes)
