"""Charts of lines and bars: agreement by temperature and examples, doses of a change, unreadable answers, reliability curves."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from harness.correction.probabilities import NO_PROBABILITIES
from harness.errors import UsageError
from harness.model import CONDITION, SAMPLING, parse_variant
from harness.render.figures import style
from harness.render.figures.dots import context_name, context_of, contexts, row_value, rows_at_level
from harness.render.figures.style import (
    BASELINE,
    FAILURES,
    INK,
    JUDGE,
    PEOPLE,
    SMALL,
    VERDICTS,
    Drawn,
    FigureOptions,
    Legend,
    Row,
    Section,
    drawing,
    finish,
    finish_with_legend,
    fitting,
    remove_frame,
)
from harness.render.pictured import (
    SEES_NOTHING,
    DoseResponse,
    FailureShares,
    ReliabilityCurves,
    ReliabilityPanel,
    curves_words,
    kind_number,
    kind_words,
    reliability_curves,
)
from harness.reports.comparison import DecidedComparison
from harness.reports.sections.probabilities import NAME
from harness.reports.tables.columns import metric_words
from harness.reports.tables.numbers import counted, percent
from harness.text import terminal_safe

_ASPECTS = ("language", "task", "metric")
_WIDTH, _HEIGHT = 1.75, 1.7  # inches of a panel


_COUNTED = "Agreement with the annotators' aggregate (answers that could not be read count as wrong), with 95 % intervals"
_TEMPERATURE = f"{_COUNTED}, at each temperature."
_EXAMPLES = f"{_COUNTED}, by the number of examples that stand before the text for each class."


def draw_temperature(section: Section, signature: str, options: FigureOptions = FigureOptions()) -> Drawn:
    """Return the figure of the section `temperature`: a line for each judge and variant."""
    lines = tuple(name for name in CONDITION if name != "temperature")
    return _draw_lines(
        section["rows"], signature, along="temperature", lines=lines, label="temperature", text=_TEMPERATURE, options=options
    )


def draw_few_shot(section: Section, signature: str, options: FigureOptions = FigureOptions()) -> Drawn:
    """Return the figure of the section `few_shot`: a line for each judge, temperature and variant without its examples."""
    rows = [{**row, "otherwise": str(msgspec.structs.replace(parse_variant(row["variant"]), shots=0))} for row in section["rows"]]
    lines = ("judge", "otherwise", *SAMPLING)
    return _draw_lines(rows, signature, along="shots", lines=lines, label="examples of each class", text=_EXAMPLES, options=options)


def _draw_lines(
    rows: Sequence[Row], signature: str, *, along: str, lines: Sequence[str], label: str, text: str, options: FigureOptions
) -> Drawn:
    """Panels of agreement along a key of the rows, whose unequal steps are drawn as such; `lines` are keys that separate the lines."""
    panels = [(aspect, name) for aspect in _ASPECTS for name in dict.fromkeys(row[aspect] for row in rows_at_level(rows, aspect))]
    across = min(int(options.width / _WIDTH), len(panels))
    panels, omitted = style.fitting(panels, [_HEIGHT * (not number % across) for number in range(len(panels))], 1.1, "panel")
    down = -(-len(panels) // across)
    cases = contexts(rows, lines)
    steps = sorted({row[along] for row in rows})
    with style.drawing(signature) as new_figure:
        figure = new_figure(figsize=(options.width, down * _HEIGHT + 1.1), layout="constrained")
        grid = style.panels_of(figure, len(panels), across, sharex=True, sharey=True)
        for panel, (aspect, name) in zip(grid, panels, strict=True):
            in_panel = [row for row in rows_at_level(rows, aspect) if row[aspect] == name]
            for number, case in enumerate(cases):
                on_line = sorted((row for row in in_panel if context_of(row, lines) == case), key=lambda row: row[along])
                points = [(row[along], value) for row in on_line if (value := row_value(row, "pa_failed_wrong"))]
                colour, marker = style.colour_and_marker(number)
                for x, (_, lo, hi) in points:
                    if lo is not None and hi is not None:
                        panel.plot([x, x], [lo, hi], color=colour, linewidth=1, alpha=0.8)
                values = [value for _, (value, _, _) in points]
                panel.plot(
                    [x for x, _ in points],
                    values,
                    color=colour,
                    marker=marker,
                    markersize=4,
                    linewidth=1.2,
                    label=context_name(case, lines),
                )
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
        return style.finish_with_legend(figure, grid[0], f"Agreement by {label}", text + who + omitted, signature, options)


_DOSES = (
    "How often the original scores above the changed text, along the dose of the change, with 95 % intervals. On the dashed line, at ½, "
    "the judge does not see the change."
)
_PANEL_WIDTH, _PANEL_HEIGHT = 1.2, 1.25  # least inches of a panel with its heading
_LEFT, _TOP, _BOTTOM = 0.35, 0.3, 0.85  # inches beside, above and below all panels
_GAP, _HEADING = 0.14, 0.35  # inches between panels, and of a panel's heading
_PER_INCH = 15  # characters of the title and the caption


def draw_doses(response: DoseResponse, signature: str, options: FigureOptions = FigureOptions()) -> Drawn:
    """Return the figure of one kind of change, asked of one judge under one condition.

    Panels have fixed places: to find them for dozens of panels would take matplotlib seconds.
    """
    room, characters = options.width - _LEFT, int(options.width * _PER_INCH)
    across = int(room / _PANEL_WIDTH)
    lines, omitted = fitting(
        response.lines, [_PANEL_HEIGHT * (not number % across) for number in range(len(response.lines))], _TOP + _BOTTOM, "panel"
    )
    response = replace(response, lines=tuple(lines))
    wide, height = room / across, _TOP + _PANEL_HEIGHT * -(-len(lines) // across) + _BOTTOM
    title = terminal_safe(response.title)
    with drawing(signature) as new_figure:
        figure = new_figure(figsize=(options.width, height))
        for number, line in enumerate(response.lines):
            down, along = divmod(number, across)
            inches = (_LEFT + along * wide, height - _TOP - (down + 1) * _PANEL_HEIGHT, wide - _GAP, _PANEL_HEIGHT - _HEADING - _GAP)
            panel = figure.add_axes([inches[0] / options.width, inches[1] / height, inches[2] / options.width, inches[3] / height])
            panel.axhline(SEES_NOTHING, color=BASELINE, linewidth=0.8, linestyle="--", zorder=1)
            for point in line.points:
                if point.interval:
                    panel.plot([point.dose] * 2, point.interval, color=JUDGE, linewidth=1, alpha=0.8, zorder=2)
            doses = [point.dose for point in line.points]
            panel.plot(
                doses,
                [point.sensitivity for point in line.points],
                color=JUDGE,
                marker="o",
                markersize=3.5,
                linewidth=1,
                zorder=3,
                clip_on=False,
            )
            heading = f"{options.shown_name('language', line.language)}\n{terminal_safe(metric_words(line.metric))}"
            panel.set_title(heading, fontsize=SMALL - 0.5)
            panel.set_xlim(0, response.largest * 1.08)
            panel.set_xticks([0, *sorted({point.dose for dose_line in response.lines for point in dose_line.points})])
            panel.xaxis.set_major_formatter("{x:g}")
            panel.set_ylim(-0.03, 1.03)
            panel.set_yticks([0, 0.5, 1], ["0", "½", "1"])
            remove_frame(panel)
            panel.tick_params(labelleft=not along, labelbottom=number >= len(response.lines) - across)
        figure.text(0.01, 1 - 0.06 / height, textwrap.fill(title, characters), va="top", fontsize=SMALL + 1, color=INK)
        figure.text(0.01, 0.06 / height, textwrap.fill(_DOSES + omitted, characters), va="bottom", fontsize=SMALL - 0.5, color=INK)
        return finish(figure, f"Sensitivity along the dose: {title}", _DOSES, signature, options)


_FAILURES = "Answers that could not be read, as a share of each condition's judgments, by kind. An unreadable answer never becomes a score."
_BAR = 0.3  # inches of a condition
_NAME_LETTERS = 28  # characters in a line of a name


def draw_failures(failures: FailureShares, signature: str, options: FigureOptions = FigureOptions()) -> Drawn:
    """Return the figure of failures by condition and kind."""
    conditions, omitted = fitting(failures.conditions, [_BAR] * len(failures.conditions), 1.4, "condition")
    failures = replace(failures, conditions=tuple(conditions))
    with drawing(signature) as new_figure:
        figure = new_figure(figsize=(options.width, 1.4 + _BAR * len(failures.conditions)), layout="constrained")
        panel = figure.subplots()
        lines = range(len(failures.conditions))
        starts = [0.0] * len(failures.conditions)
        for kind in failures.kinds:
            shares = [condition.shares[kind] for condition in failures.conditions]
            panel.barh(lines, shares, 0.7, left=starts, color=FAILURES[kind_number(kind)], label=kind_words(kind))
            starts = [start + share for start, share in zip(starts, shares, strict=True)]
        for line, (condition, end) in enumerate(zip(failures.conditions, starts, strict=True)):
            panel.text(end, line, f" {percent(condition.unreadable)} of {counted(condition.judgments)}", va="center", ha="left")
        names = ["\n".join(textwrap.wrap(terminal_safe(condition.name), _NAME_LETTERS)) for condition in failures.conditions]
        panel.set_yticks(range(len(names)), names)
        panel.set_ylim(len(names) - 0.5, -0.5)
        panel.set_xlim(0, failures.reach)
        panel.set_xticks([0, failures.reach / 2, failures.reach], [percent(share) for share in (0, failures.reach / 2, failures.reach)])
        panel.set_xlabel("share of judgments")
        panel.tick_params(axis="y", length=0)
        remove_frame(panel)
        return finish_with_legend(
            figure, panel, "Failures by condition and kind", _FAILURES + omitted, signature, options, Legend(len(FAILURES), least=1)
        )


_CURVE_WIDTH, _CURVE_HEIGHT, _AROUND_CURVES = 1.75, 2.05, 1.05  # inches of a panel, and above and below all of them
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
    lines = -(-len(curves.panels) // int(options.width / _CURVE_WIDTH))
    across = -(-len(curves.panels) // lines)  # lines of about equal length
    heights = [_CURVE_HEIGHT * (not number % across) for number in range(len(curves.panels))]
    panels, omitted = style.fitting(curves.panels, heights, _AROUND_CURVES, "panel")
    curves = replace(curves, panels=tuple(panels))
    metrics, sides = ({getattr(panel, name) for panel in panels} for name in ("metric", "side"))
    down = -(-len(panels) // across)
    with style.drawing(signature) as new_figure:
        figure = new_figure(figsize=(options.width, _AROUND_CURVES + down * _CURVE_HEIGHT), layout="constrained")
        grid = style.panels_of(figure, len(panels), across, sharex=True, sharey=True)
        for axes, panel in zip(grid, panels, strict=True):
            _draw_curve(axes, panel, curves)
            more = [metric_words(panel.metric)] if len(metrics) > 1 else []
            more += [panel.side] if len(sides) > 1 else []
            name = options.shown_name("language", panel.language)
            labels = [(" ".join(panel.gap_words.split()), {"color": VERDICTS[panel.look], "fontweight": "bold"}, SMALL + 0.5)]
            labels.insert(0, (panel.verdict, {"color": VERDICTS[panel.look]}, SMALL - 0.5))
            labels += [(terminal_safe(text), {"color": INK}, SMALL - 0.5) for text in reversed(more)]
            labels.append((name, {"color": INK, "fontweight": "bold"}, SMALL + 1.5))
            for number, (text, look, size) in enumerate(labels):
                axes.annotate(
                    text, (0, 1), (0, 5 + 9 * number), xycoords="axes fraction", textcoords="offset points", fontsize=size, **look
                )
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


def _draw_curve(axes: Any, panel: ReliabilityPanel, curves: ReliabilityCurves) -> None:
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
