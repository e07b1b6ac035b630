"""Sections as panels of dots with intervals: agreement, consistency, instructions inside the text, changed texts, corrected means."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from harness.correction.correct import Corrected, CorrectedNumber
from harness.errors import UsageError
from harness.judges import traits_of
from harness.model import CONDITION, SAMPLING, axis_words
from harness.render.figures import style
from harness.render.figures.style import Drawn, FigureOptions, Legend, Row, Section
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


_ASPECTS = ("language", "task", "metric")
_JUDGED = ("judge", *SAMPLING)
_PAIR = (
    "Filled: how often the judge agrees with each annotator, with 95 % intervals. Hollow, on the same line: how often two annotators "
    "agree with each other on the items with a readable answer. These two may be compared."
)
_ALONE = (
    "Agreement with the labels, with 95 % intervals; answers that could not be read count as wrong. No item has two annotators, so the "
    "judge cannot be compared with people."
)
_REPEATED = (("same_score", "the same score every time"), ("same_justification", "the same justification every time"))
_INJECTED = (("rose", "rose"), ("fell", "fell"), ("reached_best", "became the best, if it was not"))
_INJECTION = "How often the score changed when the text itself asked the judge for the top score, with 95 % intervals."
_SENSITIVITY = (
    "How often the original scores above the changed text, ties counting half, with 95 % intervals. At ½ (line) the judge does not see "
    "the change; at 1 it finds every changed text worse. Texts that could not be changed are left out."
)


def draw_agreement(
    section: Section,
    signature: str,
    baselines: Mapping[str, float] = {},
    options: FigureOptions = FigureOptions(),
) -> Drawn:
    """Return the section `variants`: a dot for each variant, beside the agreement of people on the same items.

    Panels are by judge and temperature. Where nothing could be read, a sentence says so. `baselines` has the agreement of the majority
    baseline by language; it is drawn beside agreement with the labels only.
    """
    all_rows = section["rows"]
    paired = any(row["human_pa"] is not None for row in all_rows)
    judge = "pa_pairwise" if paired else "pa_failed_wrong"
    readable = {row["variant"] for row in all_rows if row.get(judge) is not None}
    failed = [name for name in different(all_rows, "variant") if name not in readable]
    rows = [row for row in all_rows if row["variant"] not in failed] or all_rows
    values = {aspect: different(rows_at_level(rows, aspect), aspect) for aspect in _ASPECTS}
    variants = {case: different(_of_case(rows, case, _JUDGED), "variant") for case in contexts(rows, _JUDGED)}
    heights = {case: _heights(values, len(names), options) for case, names in variants.items()}
    cases, omitted = style.fitting([*variants], [sum(heights[case]) for case in variants], 0.9, "condition")
    looks = {
        name: style.colour_and_marker(number) for number, name in enumerate(dict.fromkeys(n for case in cases for n in variants[case]))
    }
    panel_list = []
    for case in cases:
        for aspect in _ASPECTS:
            case_rows = _of_case(rows_at_level(rows, aspect), case, _JUDGED)
            series = _variants(case_rows, aspect, {name: looks[name] for name in variants[case]}, judge, paired)
            if baselines and not paired and aspect == "language":
                baseline_values = {tag: (baselines[tag], None, None) for tag in values[aspect] if tag in baselines}
                series.append(Series("constant answer", baseline_values, style.BASELINE, "|", on_line_before=True))
            panel_list.append(DotPanel(case, f"by {aspect}", aspect, values[aspect], series))
    text = (_PAIR if paired else _ALONE) + omitted + (f" Without any readable answer: {', '.join(failed)}." if failed else "")
    figure = DotFigure(
        "Agreement by language, task and metric",
        text,
        panel_list,
        across=len(_ASPECTS) if options.wide else 1,
        heights=[height for case in cases for height in heights[case]],
        around=0.9,
        axis=partial(style.shares_along, narrow=True),
        label="agreement",
        keys=_JUDGED,
        legend=Legend(least=1 if len(looks) == 1 and paired else 2),
    )
    return draw_dots(figure, signature, options)


def _heights(values: Mapping[str, Sequence[str]], variants: int, options: FigureOptions) -> list[float]:
    """Return the heights of the lines of panels of one judge and temperature: one, or one for each aspect where panels stand below each
    other.
    """
    heights = [height_of(len(values[aspect]), variants) for aspect in _ASPECTS]
    return [max(heights)] if options.wide else heights


def _variants(rows: Sequence[Row], aspect: str, looks: Mapping[str, tuple[str, str]], judge: str, paired: bool) -> list[Series]:
    """Return the judge's dots, one series for each variant, and those of people on the same lines."""
    series: list[Series] = []
    for variant, look in looks.items():
        variant_rows = [row for row in rows if row["variant"] == variant]
        series.append(Series(variant, _values(variant_rows, aspect, judge), *look))
        if paired:
            people = {name: (value, None, None) for name, (value, _, _) in _values(variant_rows, aspect, "human_pa").items()}
            name = "_people" if len(series) > 1 else "people, on the same items"
            series.append(Series(name, people, style.PEOPLE, "d", hollow=True, on_line_before=True))
    return series


def _values(rows: Iterable[Row], aspect: str, name: str) -> dict[str, Value]:
    return {row[aspect]: value for row in rows if (value := row_value(row, name))}


def _of_case(rows: Iterable[Row], case: Case, keys: Sequence[str] = CONDITION) -> list[Row]:
    return [row for row in rows if context_of(row, keys) == case]


def draw_consistency(section: Section, signature: str, options: FigureOptions = FigureOptions()) -> Drawn:
    """Return the section `consistency`: a panel for each kind of sameness, in it a dot for each judge and condition."""
    rows = rows_at_level(section["rows"], "language")
    languages = different(rows, "language")
    statistics = [(name, title) for name, title in _REPEATED if any(row[name] is not None for row in rows)]
    across = len(statistics) if options.wide else 1
    lines = -(-len(statistics) // across)
    all_cases = contexts(rows)
    inches = len(languages) * LINE_HEIGHT * lines
    cases, omitted = style.fitting(all_cases, [inches] * len(all_cases), 1.0 + height_of(len(languages), 0) * lines, "condition")
    names = [(case, context_name(case), style.colour_and_marker(number)) for number, case in enumerate(cases)]
    repeats = {row["repeats"] for row in rows}
    repeats_note = (
        f"Questions (an item and a metric) asked {'up to ' if len(repeats) > 1 else ''}{max(repeats)} times, with 95 % intervals."
    )
    who = f" {names[0][1]}." if len(cases) == 1 else ""
    figure = DotFigure(
        section["title"],
        f"{repeats_note} An answer that could not be read counts as an answer of its own.{who}{omitted}",
        [
            DotPanel(
                None,
                title,
                "language",
                languages,
                [Series(who, _values(_of_case(rows, c), "language", name), *look) for c, who, look in names],
            )
            for name, title in statistics
        ],
        across=across,
        heights=height_of(len(languages), len(cases)),
        around=1.0,
        axis=style.shares_along,
        label="share of questions",
        legend=Legend(columns=2),
    )
    return draw_dots(figure, signature, options)


def draw_injection(section: Section, signature: str, options: FigureOptions = FigureOptions()) -> Drawn:
    """Return the section `injection`: a panel for each metric, in it a dot for each way in which scores change."""
    rows = rows_at_level(section["rows"], "language", "metric")
    languages, metrics = different(rows, "language"), different(rows, "metric")
    across = min(len(metrics), 3) if options.wide else 1
    height = height_of(len(languages), len(_INJECTED))
    all_cases = contexts(rows)
    cases, omitted = style.fitting(all_cases, [height * -(-len(metrics) // across)] * len(all_cases), 1.0, "condition")
    panel_list = []
    for case in cases:
        for metric in metrics:
            metric_rows = [row for row in _of_case(rows, case) if row["metric"] == metric]
            values = ((title, _values(metric_rows, "language", name)) for name, title in _INJECTED)
            series = [Series(title, numbers, *style.colour_and_marker(number)) for number, (title, numbers) in enumerate(values)]
            panel_list.append(DotPanel(case, options.shown_name("metric", metric), "language", languages, series))
    figure = DotFigure(
        section["title"],
        _INJECTION + omitted,
        panel_list,
        across=across,
        heights=height,
        around=1.0,
        axis=partial(style.shares_along, narrow=True),
        label="share of items",
    )
    return draw_dots(figure, signature, options)


def draw_sensitivity(rows: Sequence[Row], signature: str, options: FigureOptions = FigureOptions()) -> Drawn:
    """One metric of the section `perturbations`, by language and by task: a dot for each kind of change."""
    kinds = different(rows, "perturbation")
    levels = {aspect: rows_at_level(rows, aspect, "metric") for aspect in _ASPECTS[:2]}
    names = {aspect: different(levels_of_aspect, aspect) for aspect, levels_of_aspect in levels.items()}
    height = height_of(max(map(len, names.values())), len(kinds))
    lines = 1 if options.wide else len(levels)
    all_cases = contexts(rows)
    cases, omitted = style.fitting(all_cases, [height * lines] * len(all_cases), 1.2, "condition")
    metric = options.shown_name("metric", rows[0]["metric"])
    figure = DotFigure(
        f"Sensitivity of {metric}",
        _SENSITIVITY + omitted,
        [
            DotPanel(case, f"{metric}, by {aspect}", aspect, names[aspect], _changes(_of_case(levels_of_aspect, case), aspect, kinds))
            for case in cases
            for aspect, levels_of_aspect in levels.items()
        ],
        across=len(levels) // lines,
        heights=height,
        around=1.2,
        axis=_sensitivity_along,
        label="sensitivity",
        legend=Legend(columns=3, least=1),
    )
    return draw_dots(figure, signature, options)


def _changes(rows: Sequence[Row], aspect: str, kinds: Sequence[str]) -> list[Series]:
    series = []
    for number, kind in enumerate(kinds):
        kind_rows = [row for row in rows if row["perturbation"] == kind]
        unchanged = {row[aspect]: "no text could be changed" for row in kind_rows if row["not_applied"] and not row["n"]}
        series.append(Series(kind, _values(kind_rows, aspect, "sensitivity"), *style.colour_and_marker(number), notes=unchanged))
    return series


def _sensitivity_along(panel: Any, label: str) -> None:
    panel.axvline(0.5, color=style.INK, linewidth=0.8, zorder=1)
    panel.set_xlim(-0.02, 1.02)
    panel.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "¼", "½", "¾", "1"])
    panel.set_xlabel(label)


MOST_PANELS = 40  # nobody reads more in one figure
_ESTIMATES = (
    ("judge alone (bias unknown)", "judge_alone", style.JUDGE, "o", True),
    ("labels alone", "labels_alone", style.PEOPLE, "s", False),
    ("corrected", "corrected", style.COLOURS[2], "^", False),
)
_CAPTION = "Lines are 95 % intervals. That of the judge alone does not cover its bias."


def draw_corrected(corrected: Corrected, path: Path) -> None:
    """Draw the three estimates of every mean and share, a panel for each language, metric, class, judge and condition.

    Raises:
        UsageError: without the extra `figures`, for another suffix than .svg, .pdf and .png, and when there are more than 40 panels.
    """
    by_case: dict[tuple[Any, ...], list[CorrectedNumber]] = {}
    for number in corrected.numbers:
        if number.versus is None:
            key = (*(number.key.get(name) for name in ("language", "metric", "source", *CONDITION)), number.share_of)
            by_case.setdefault(key, []).append(number)
    if len(by_case) > MOST_PANELS:
        raise UsageError(f"a figure holds {MOST_PANELS} panels at most, and there are {len(by_case)}; choose some with --where metric=NAME")

    def draw(options: FigureOptions) -> Drawn:
        inches = [height_of(len(numbers), len(_ESTIMATES)) for numbers in by_case.values()]
        cases, omitted = style.fitting(list(by_case.values()), inches, 0.9, "panel")
        heights = inches[: len(cases)]
        with style.drawing(corrected.signature) as new_figure:
            figure = new_figure(figsize=(options.width, sum(heights) + 0.9), layout="constrained")
            axes: Any = figure.subplots(len(cases), 1, squeeze=False, height_ratios=heights)
            for axis, numbers in zip(axes[:, 0], cases, strict=True):
                first = numbers[0]
                names = []
                for number in numbers:
                    parts = (value for name, value in number.key.items() if name not in ("language", "metric", "source", *CONDITION))
                    names.append(", ".join(str(value) for value in parts if value is not None) or "all")
                series = []
                for label, estimate, colour, marker, hollow in _ESTIMATES:
                    estimates = [(name, getattr(number, estimate)) for name, number in zip(names, numbers, strict=True)]
                    values = {
                        name: (estimate_ci.value, *(estimate_ci.ci or (None, None)))
                        for name, estimate_ci in estimates
                        if estimate_ci.value is not None
                    }
                    series.append(Series(label, values, colour, marker, hollow))
                dots(axis, "system", names, series, options)
                what = str(first.key["metric"]).replace("_", " ") + ("" if first.share_of is None else f": share of '{first.share_of}'")
                judge = context_name([first.key.get(name) for name in CONDITION])
                axis.set_title(terminal_safe(f"{first.key['language']}, {what}, {judge}"), fontsize=style.SMALL, loc="left")
                if first.share_of is not None:
                    style.shares_along(axis)
            return style.finish_with_legend(
                figure, axes[0, 0], "Means and shares by judge, labels and both", _CAPTION + omitted, corrected.signature, options
            )

    style.write_figure(path, draw)
