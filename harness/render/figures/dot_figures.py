"""Sections as panels of dots: agreement, consistency, the effect of an instruction inside the text, sensitivity to changed texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from harness.correction.correct import Corrected, CorrectedNumber
from harness.errors import UsageError
from harness.model import CONDITION, SAMPLING
from harness.render.figures import dot_panels as panels
from harness.render.figures import style
from harness.render.figures.dot_panels import Case, DotFigure, DotPanel, Series, Value, context_name, dots, height_of
from harness.render.figures.style import Drawn, FigureOptions, Legend, Row, Section
from harness.text import terminal_safe

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
    failed = [name for name in panels.different(all_rows, "variant") if name not in readable]
    rows = [row for row in all_rows if row["variant"] not in failed] or all_rows
    values = {aspect: panels.different(panels.rows_at_level(rows, aspect), aspect) for aspect in _ASPECTS}
    variants = {case: panels.different(_of_case(rows, case, _JUDGED), "variant") for case in panels.contexts(rows, _JUDGED)}
    heights = {case: _heights(values, len(names), options) for case, names in variants.items()}
    cases, omitted = style.fitting([*variants], [sum(heights[case]) for case in variants], 0.9, "condition")
    looks = {
        name: style.colour_and_marker(number) for number, name in enumerate(dict.fromkeys(n for case in cases for n in variants[case]))
    }
    panel_list = []
    for case in cases:
        for aspect in _ASPECTS:
            case_rows = _of_case(panels.rows_at_level(rows, aspect), case, _JUDGED)
            series = _variants(case_rows, aspect, {name: looks[name] for name in variants[case]}, judge, paired)
            if baselines and not paired and aspect == "language":
                baseline_values = {tag: (baselines[tag], None, None) for tag in values[aspect] if tag in baselines}
                series.append(Series("majority baseline", baseline_values, style.BASELINE, "|", on_line_before=True))
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
    return panels.draw_dots(figure, signature, options)


def _heights(values: Mapping[str, Sequence[str]], variants: int, options: FigureOptions) -> list[float]:
    """Return the heights of the lines of panels of one judge and temperature: one, or one for each aspect where panels stand below each
    other.
    """
    heights = [panels.height_of(len(values[aspect]), variants) for aspect in _ASPECTS]
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
    return {row[aspect]: value for row in rows if (value := panels.row_value(row, name))}


def _of_case(rows: Iterable[Row], case: Case, keys: Sequence[str] = CONDITION) -> list[Row]:
    return [row for row in rows if panels.context_of(row, keys) == case]


def draw_consistency(section: Section, signature: str, options: FigureOptions = FigureOptions()) -> Drawn:
    """Return the section `consistency`: a panel for each kind of sameness, in it a dot for each judge and condition."""
    rows = panels.rows_at_level(section["rows"], "language")
    languages = panels.different(rows, "language")
    statistics = [(name, title) for name, title in _REPEATED if any(row[name] is not None for row in rows)]
    across = len(statistics) if options.wide else 1
    lines = -(-len(statistics) // across)
    contexts = panels.contexts(rows)
    inches = len(languages) * panels.LINE_HEIGHT * lines
    cases, omitted = style.fitting(contexts, [inches] * len(contexts), 1.0 + panels.height_of(len(languages), 0) * lines, "condition")
    names = [(case, panels.context_name(case), style.colour_and_marker(number)) for number, case in enumerate(cases)]
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
        heights=panels.height_of(len(languages), len(cases)),
        around=1.0,
        axis=style.shares_along,
        label="share of questions",
        legend=Legend(columns=2),
    )
    return panels.draw_dots(figure, signature, options)


def draw_injection(section: Section, signature: str, options: FigureOptions = FigureOptions()) -> Drawn:
    """Return the section `injection`: a panel for each metric, in it a dot for each way in which scores change."""
    rows = panels.rows_at_level(section["rows"], "language", "metric")
    languages, metrics = panels.different(rows, "language"), panels.different(rows, "metric")
    across = min(len(metrics), 3) if options.wide else 1
    height = panels.height_of(len(languages), len(_INJECTED))
    contexts = panels.contexts(rows)
    cases, omitted = style.fitting(contexts, [height * -(-len(metrics) // across)] * len(contexts), 1.0, "condition")
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
    return panels.draw_dots(figure, signature, options)


def draw_sensitivity(rows: Sequence[Row], signature: str, options: FigureOptions = FigureOptions()) -> Drawn:
    """One metric of the section `perturbations`, by language and by task: a dot for each kind of change."""
    kinds = panels.different(rows, "perturbation")
    levels = {aspect: panels.rows_at_level(rows, aspect, "metric") for aspect in _ASPECTS[:2]}
    names = {aspect: panels.different(levels_of_aspect, aspect) for aspect, levels_of_aspect in levels.items()}
    height = panels.height_of(max(map(len, names.values())), len(kinds))
    lines = 1 if options.wide else len(levels)
    contexts = panels.contexts(rows)
    cases, omitted = style.fitting(contexts, [height * lines] * len(contexts), 1.2, "condition")
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
    return panels.draw_dots(figure, signature, options)


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
    panels: dict[tuple[Any, ...], list[CorrectedNumber]] = {}
    for number in corrected.numbers:
        if number.versus is None:
            key = (*(number.key.get(name) for name in ("language", "metric", "source", *CONDITION)), number.share_of)
            panels.setdefault(key, []).append(number)
    if len(panels) > MOST_PANELS:
        raise UsageError(f"a figure holds {MOST_PANELS} panels at most, and there are {len(panels)}; choose some with --where metric=NAME")
    style.write_figure(path, lambda options: _draw(list(panels.values()), corrected.signature, options))


def _draw(panels: Sequence[Sequence[CorrectedNumber]], signature: str, options: FigureOptions) -> Drawn:
    inches = [height_of(len(numbers), len(_ESTIMATES)) for numbers in panels]
    panels, omitted = style.fitting(panels, inches, 0.9, "panel")
    heights = inches[: len(panels)]
    with style.drawing(signature) as new_figure:
        figure = new_figure(figsize=(options.width, sum(heights) + 0.9), layout="constrained")
        axes: Any = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)
        for panel, numbers in zip(axes[:, 0], panels, strict=True):
            _draw_panel(panel, numbers, options)
        return style.finish_with_legend(
            figure, axes[0, 0], "Means and shares by judge, labels and both", _CAPTION + omitted, signature, options
        )


def _draw_panel(panel: Any, numbers: Sequence[CorrectedNumber], options: FigureOptions) -> None:
    first = numbers[0]
    names = []
    for number in numbers:
        parts = (value for name, value in number.key.items() if name not in ("language", "metric", "source", *CONDITION))
        names.append(", ".join(str(value) for value in parts if value is not None) or "all")
    series = []
    for label, estimate, colour, marker, hollow in _ESTIMATES:
        estimates = [(name, getattr(number, estimate)) for name, number in zip(names, numbers, strict=True)]
        values = {
            name: (estimate_ci.value, *(estimate_ci.ci or (None, None))) for name, estimate_ci in estimates if estimate_ci.value is not None
        }
        series.append(Series(label, values, colour, marker, hollow))
    dots(panel, "system", names, series, options)
    what = str(first.key["metric"]).replace("_", " ") + ("" if first.share_of is None else f": share of '{first.share_of}'")
    judge = context_name([first.key.get(name) for name in CONDITION])
    panel.set_title(terminal_safe(f"{first.key['language']}, {what}, {judge}"), fontsize=style.SMALL, loc="left")
    if first.share_of is not None:
        style.shares_along(panel)
