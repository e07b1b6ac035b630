"""Sensitivity to changed texts, by language and by task: one figure for each metric."""

from __future__ import annotations

from collections.abc import Sequence

from harness.render.figures.style import (
    INK,
    SMALL,
    Drawn,
    FigureOptions,
    Legend,
    Row,
    Series,
    colour_and_marker,
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
)

_CAPTION = (
    "How often the original scores above the changed text, ties counting half, with 95 % intervals. At ½ (line) the judge does not see "
    "the change; at 1 it finds every changed text worse. Texts that could not be changed are left out."
)
_ASPECTS = (("language", ("language", "metric")), ("task", ("task", "metric")))


def draw_sensitivity(rows: Sequence[Row], signature: str, options: FigureOptions = FigureOptions()) -> Drawn:  # noqa: B008 (frozen)
    """The figure of one metric, from its rows of the section `perturbations`: a row of panels for each judge and condition."""
    kinds = list(dict.fromkeys(row["perturbation"] for row in rows))
    every_case = contexts(rows)
    names = {aspect: list(dict.fromkeys(row[aspect] for row in rows_at_level(rows, *level))) for aspect, level in _ASPECTS}
    most = max(map(len, names.values()))
    metric = options.shown_name("metric", rows[0]["metric"])
    with drawing(signature) as new_figure:
        across = len(_ASPECTS) if options.wide else 1
        each = height_of(most, len(kinds)) * (len(_ASPECTS) // across)
        cases, left = fitting(every_case, [each] * len(every_case), 1.2, "condition")
        figure = new_figure(figsize=(options.width, each * len(cases) + 1.2), layout="constrained")
        every = panels_of(figure, len(cases) * len(_ASPECTS), across)
        panels = [every[start : start + len(_ASPECTS)] for start in range(0, len(every), len(_ASPECTS))]
        for line, case in enumerate(cases):
            for panel, (aspect, level) in zip(panels[line], _ASPECTS, strict=True):
                in_panel = [row for row in rows_at_level(rows, *level) if context_of(row) == case]
                series = [_series(in_panel, aspect, kind, number) for number, kind in enumerate(kinds)]
                dots(panel, aspect, names[aspect], series, options)
                panel.axvline(0.5, color=INK, linewidth=0.8, zorder=1)
                panel.set_xlim(-0.02, 1.02)
                panel.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "¼", "½", "¾", "1"])
                panel.set_xlabel("sensitivity" if line == len(cases) - 1 else "")
                panel.set_title(f"{metric}, by {aspect}", fontsize=SMALL + 1)
            name_row_of_panels(panels[line][0], case)
        return finish_with_legend(
            figure, panels[0][0], f"Sensitivity of {metric}", _CAPTION + left, signature, options, Legend(columns=3, least=1)
        )


def _series(rows: Sequence[Row], aspect: str, kind: str, number: int) -> Series:
    of_kind = [row for row in rows if row["perturbation"] == kind]
    values = {row[aspect]: value for row in of_kind if (value := row_value(row, "sensitivity"))}
    unchanged = {row[aspect]: "no text could be changed" for row in of_kind if row["not_applied"] and not row["n"]}
    return Series(kind, values, *colour_and_marker(number), notes=unchanged)
