"""What an instruction to the judge inside the text does to its score, by language: a panel a metric."""

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
    upright,
)

_SHARES = (("rose", "rose"), ("fell", "fell"), ("reached_best", "became the best, if it was not"))
_KEY = ("judge", "variant", "temperature", "top_p")
_WORDS = "How often the score changed when the text itself asked the judge for the top score, with 95 % intervals."


def draw(section: Mapping[str, Any], signature: str, *, form: str = "svg") -> bytes:
    """The figure of the section `injection`: a row of panels a judge and condition."""
    rows = of_level(section["rows"], "language", "metric")
    cases = contexts(rows)
    languages, metrics = (list(dict.fromkeys(row[name] for row in rows)) for name in ("language", "metric"))
    with drawing(signature) as new_figure:
        size = (2.7 * len(metrics) + 1.4, height_of(len(languages), len(_SHARES)) * len(cases) + 1.0)
        figure = new_figure(figsize=size, layout="constrained")
        panels: Any = figure.subplots(len(cases), len(metrics), squeeze=False, sharey=True)
        for line, case in enumerate(cases):
            for panel, metric in zip(panels[line], metrics, strict=True):
                here = [row for row in rows if row["metric"] == metric and tuple(row.get(key) for key in _KEY) == case]
                series = []
                for number, (name, title) in enumerate(_SHARES):
                    values = {row["language"]: value for row in here if (value := row_value(row, name))}
                    series.append(Series(title, values, colour(number), marker(number)))
                dots(panel, languages, series, names={tag: shown_name("language", tag) for tag in languages})
                shares_along(panel, label="share of items" if line == len(cases) - 1 else "", narrow=True)
                panel.set_title(shown_name("metric", metric), fontsize=9)
            panels[line][0].set_ylabel(upright(context_name(case)))
        legend(figure, panels[0][0])
        caption(figure, _WORDS)
        return finish(figure, signature, form=form)
