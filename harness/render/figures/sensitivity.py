"""Sensitivity to changed texts, by language and by task: one figure a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.render.figures.style import (
    INK,
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
    shown_name,
    upright,
)

_WORDS = (
    "How often the text as it is scores above the changed one, ties counting half, with 95 % intervals. At ½ (line) the judge does not see "
    "the change; at 1 it finds every changed text worse. Texts that could not be changed are left out."
)
_ASPECTS = (("language", ("language", "metric")), ("task", ("task", "metric")))


def draw(rows: Sequence[Mapping[str, Any]], signature: str, *, form: str = "svg") -> bytes:
    """The figure of one metric's rows of the section `perturbations`: a row of panels a judge and condition."""
    kinds = list(dict.fromkeys(row["perturbation"] for row in rows))
    cases = contexts(rows)
    names = {aspect: list(dict.fromkeys(row[aspect] for row in of_level(rows, *level))) for aspect, level in _ASPECTS}
    most = max(map(len, names.values()))
    with drawing(signature) as new_figure:
        figure = new_figure(figsize=(9, height_of(most, len(kinds)) * len(cases) + 1.2), layout="constrained")
        panels: Any = figure.subplots(len(cases), 2, squeeze=False)
        for line, case in enumerate(cases):
            for panel, (aspect, level) in zip(panels[line], _ASPECTS, strict=True):
                here = [
                    row
                    for row in of_level(rows, *level)
                    if tuple(row.get(key) for key in ("judge", "variant", "temperature", "top_p")) == case
                ]
                series = [_series(here, aspect, kind, number) for number, kind in enumerate(kinds)]
                dots(panel, names[aspect], series, names={name: shown_name(aspect, name) for name in names[aspect]})
                panel.axvline(0.5, color=INK, linewidth=0.8, zorder=1)
                panel.set_xlim(-0.02, 1.02)
                panel.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "¼", "½", "¾", "1"])
                panel.set_xlabel("sensitivity" if line == len(cases) - 1 else "")
                panel.set_title(f"{shown_name('metric', rows[0]['metric'])}, by {aspect}", fontsize=9)
            panels[line][0].set_ylabel(upright(context_name(case)))
        legend(figure, panels[0][0], columns=3, least=1)
        caption(figure, _WORDS)
        return finish(figure, signature, form=form)


def _series(rows: Sequence[Mapping[str, Any]], aspect: str, kind: str, number: int) -> Series:
    values = {row[aspect]: value for row in rows if row["perturbation"] == kind and (value := row_value(row, "sensitivity"))}
    stuck = {row[aspect]: "no text could be changed" for row in rows if row["perturbation"] == kind and row["not_applied"] and not row["n"]}
    return Series(kind, values, colour(number), marker(number), notes=stuck)
