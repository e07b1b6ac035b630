"""Shares by language: consistency of repeated questions, and the effect of an instruction inside the text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.render.figures.style import (
    LINE_HEIGHT,
    SMALL,
    Drawn,
    FigureOptions,
    Legend,
    Row,
    Section,
    Series,
    colour_and_marker,
    context_name,
    context_of,
    contexts,
    dots,
    drawing,
    finish_with_legend,
    fitting,
    height_of,
    name_row_of_panels,
    panels_of,
    row_value,
    rows_at_level,
    shares_along,
)

_REPEATED = (("same_score", "the same score every time"), ("same_justification", "the same justification every time"))
_INJECTED = (("rose", "rose"), ("fell", "fell"), ("reached_best", "became the best, if it was not"))
_INJECTION = "How often the score changed when the text itself asked the judge for the top score, with 95 % intervals."


def draw_consistency(section: Section, signature: str, options: FigureOptions = FigureOptions()) -> Drawn:  # noqa: B008 (frozen)
    """The figure of the section `consistency`: a dot for each judge and condition."""
    rows = rows_at_level(section["rows"], "language")
    languages = list(dict.fromkeys(row["language"] for row in rows))
    shown = [(name, title) for name, title in _REPEATED if any(row[name] is not None for row in rows)]
    across = len(shown) if options.wide else 1
    each = len(languages) * LINE_HEIGHT * -(-len(shown) // across)
    every = contexts(rows)
    cases, left = fitting(every, [each] * len(every), 1.0 + height_of(len(languages), 0) * -(-len(shown) // across), "condition")
    with drawing(signature) as new_figure:
        height = height_of(len(languages), len(cases)) * -(-len(shown) // across)
        figure = new_figure(figsize=(options.width, height + 1.0), layout="constrained")
        panels = panels_of(figure, len(shown), across)
        for panel, (name, title) in zip(panels, shown, strict=True):
            series = [_series(rows, case, name, context_name(case), number) for number, case in enumerate(cases)]
            dots(panel, "language", languages, series, options)
            shares_along(panel, label="share of questions")
            panel.set_title(title, fontsize=SMALL + 1)
        who = f" {context_name(cases[0])}." if len(cases) == 1 else ""
        text = f"{_asked(rows)}, with 95 % intervals. An answer that could not be read counts as an answer of its own.{who}{left}"
        return finish_with_legend(figure, panels[0], section["title"], text, signature, options, Legend(columns=2))


def _asked(rows: Iterable[Row]) -> str:
    repeats = {row["repeats"] for row in rows}
    return f"Questions (an item and a metric) asked {'up to ' if len(repeats) > 1 else ''}{max(repeats)} times"


def draw_injection(section: Section, signature: str, options: FigureOptions = FigureOptions()) -> Drawn:  # noqa: B008 (frozen)
    """The figure of the section `injection`: a row of panels for each judge and condition, a panel for each metric."""
    rows = rows_at_level(section["rows"], "language", "metric")
    languages, metrics = (list(dict.fromkeys(row[name] for row in rows)) for name in ("language", "metric"))
    across = min(len(metrics), 3) if options.wide else 1
    every = contexts(rows)
    lines = -(-len(metrics) // across)
    cases, left = fitting(every, [height_of(len(languages), len(_INJECTED)) * lines] * len(every), 1.0, "condition")
    with drawing(signature) as new_figure:
        panels = [(case, metric) for case in cases for metric in metrics]
        height = height_of(len(languages), len(_INJECTED)) * -(-len(panels) // across)
        figure = new_figure(figsize=(options.width, height + 1.0), layout="constrained")
        grid = panels_of(figure, len(panels), across)
        for panel, (case, metric) in zip(grid, panels, strict=True):
            in_panel = [row for row in rows if row["metric"] == metric]
            series = [_series(in_panel, case, name, title, number) for number, (name, title) in enumerate(_INJECTED)]
            dots(panel, "language", languages, series, options)
            shares_along(panel, label="share of items" if case == cases[-1] else "", narrow=True)
            panel.set_title(options.shown_name("metric", metric), fontsize=SMALL + 1)
            if metric == metrics[0]:
                name_row_of_panels(panel, case)
        return finish_with_legend(figure, grid[0], section["title"], _INJECTION + left, signature, options)


def _series(rows: Iterable[Row], case: tuple[Any, ...], name: str, title: str, number: int) -> Series:
    """The dots of one number of one judge and condition, by language."""
    values = {row["language"]: value for row in rows if context_of(row) == case and (value := row_value(row, name))}
    return Series(title, values, *colour_and_marker(number))
