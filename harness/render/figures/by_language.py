"""Shares by language: how often a repeated question gets the same answer, and what an instruction inside the text does to the score."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.render.figures.style import (
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
    height_of,
    name_row_of_panels,
    of_level,
    row_value,
    shares_along,
    shown_name,
)

_REPEATED = (("same_score", "the same score every time"), ("same_justification", "the same justification every time"))
_INJECTED = (("rose", "rose"), ("fell", "fell"), ("reached_best", "became the best, if it was not"))
_INJECTION = "How often the score changed when the text itself asked the judge for the top score, with 95 % intervals."


def draw_consistency(section: Section, signature: str, *, form: str = "svg") -> bytes:
    """The figure of the section `consistency`: a dot for each judge and condition."""
    rows = of_level(section["rows"], "language")
    cases = contexts(rows)
    languages = list(dict.fromkeys(row["language"] for row in rows))
    shown = [(name, title) for name, title in _REPEATED if any(row[name] is not None for row in rows)]
    with drawing(signature) as new_figure:
        figure = new_figure(figsize=(4.2 * len(shown) + 0.6, height_of(len(languages), len(cases)) + 1.0), layout="constrained")
        panels: Any = figure.subplots(1, len(shown), squeeze=False)[0]
        for panel, (name, title) in zip(panels, shown, strict=True):
            series = [_series(rows, case, name, context_name(case), number) for number, case in enumerate(cases)]
            dots(panel, "language", languages, series)
            shares_along(panel, label="share of questions")
            panel.set_title(title, fontsize=9)
        who = f" {context_name(cases[0])}." if len(cases) == 1 else ""
        text = f"{_asked(rows)}, with 95 % intervals. An answer that could not be read counts as an answer of its own.{who}"
        return finish_with_legend(figure, panels[0], text, signature, form=form, columns=2)


def _asked(rows: Iterable[Row]) -> str:
    repeats = {row["repeats"] for row in rows}
    return f"Questions (an item and a metric) asked {'up to ' if len(repeats) > 1 else ''}{max(repeats)} times"


def draw_injection(section: Section, signature: str, *, form: str = "svg") -> bytes:
    """The figure of the section `injection`: a row of panels for each judge and condition, a panel for each metric."""
    rows = of_level(section["rows"], "language", "metric")
    cases = contexts(rows)
    languages, metrics = (list(dict.fromkeys(row[name] for row in rows)) for name in ("language", "metric"))
    with drawing(signature) as new_figure:
        size = (2.7 * len(metrics) + 1.4, height_of(len(languages), len(_INJECTED)) * len(cases) + 1.0)
        figure = new_figure(figsize=size, layout="constrained")
        panels: Any = figure.subplots(len(cases), len(metrics), squeeze=False, sharey=True)
        for line, case in enumerate(cases):
            for panel, metric in zip(panels[line], metrics, strict=True):
                in_panel = [row for row in rows if row["metric"] == metric]
                series = [_series(in_panel, case, name, title, number) for number, (name, title) in enumerate(_INJECTED)]
                dots(panel, "language", languages, series)
                shares_along(panel, label="share of items" if line == len(cases) - 1 else "", narrow=True)
                panel.set_title(shown_name("metric", metric), fontsize=9)
            name_row_of_panels(panels[line][0], case)
        return finish_with_legend(figure, panels[0][0], _INJECTION, signature, form=form)


def _series(rows: Iterable[Row], case: tuple[Any, ...], name: str, title: str, number: int) -> Series:
    """The dots of one number of one judge and condition, by language."""
    values = {row["language"]: value for row in rows if context_of(row) == case and (value := row_value(row, name))}
    return Series(title, values, *colour_and_marker(number))
