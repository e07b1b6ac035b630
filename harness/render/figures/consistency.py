"""How often a repeated question gets the same score, and the same justification, by language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.render.figures.style import (
    Series,
    caption,
    colour,
    context_name,
    contexts,
    dots,
    drawing,
    finish,
    height_of,
    legend,
    marker,
    of_level,
    row_value,
    shares_along,
    shown_name,
)

_PANELS = (("same_score", "the same score every time"), ("same_justification", "the same justification every time"))
_KEY = ("judge", "variant", "temperature", "top_p")


def draw(section: Mapping[str, Any], signature: str, *, form: str = "svg") -> bytes:
    """The figure of the section `consistency`: a dot a judge and condition."""
    rows = of_level(section["rows"], "language")
    cases = contexts(rows)
    languages = list(dict.fromkeys(row["language"] for row in rows))
    shown = [(name, title) for name, title in _PANELS if any(row[name] is not None for row in rows)]
    with drawing(signature) as new_figure:
        figure = new_figure(figsize=(4.2 * len(shown) + 0.6, height_of(len(languages), len(cases)) + 1.0), layout="constrained")
        panels: Any = figure.subplots(1, len(shown), squeeze=False)[0]
        for panel, (name, title) in zip(panels, shown, strict=True):
            series = []
            for number, case in enumerate(cases):
                here = [row for row in rows if tuple(row.get(key) for key in _KEY) == case]
                values = {row["language"]: value for row in here if (value := row_value(row, name))}
                series.append(Series(context_name(case), values, colour(number), marker(number)))
            dots(panel, languages, series, names={tag: shown_name("language", tag) for tag in languages})
            shares_along(panel, label="share of questions")
            panel.set_title(title, fontsize=9)
        legend(figure, panels[0], columns=2)
        times = max(row["repeats"] for row in rows)
        asked = f"{times} times" if min(row["repeats"] for row in rows) == times else f"up to {times} times"
        who = f" {context_name(cases[0])}." if len(cases) == 1 else ""
        caption(
            figure,
            f"Questions (an item and a metric) asked {asked}, with 95 % intervals; an answer that cannot be read is an answer too.{who}",
        )
        return finish(figure, signature, form=form)
