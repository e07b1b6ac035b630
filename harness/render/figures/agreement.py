"""Agreement by language, task and metric: a dot for each variant, beside the agreement of people on the same items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.render.figures.style import (
    INK,
    Row,
    Section,
    Series,
    Value,
    colour_and_marker,
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
)

_ASPECTS = ("language", "task", "metric")
_JUDGED = ("judge", "temperature", "top_p")
_PAIR = (
    "Filled: how often the judge agrees with each annotator, with 95 % intervals. Hollow, on the same line: how often two annotators "
    "agree with each other on the items with a readable answer. These two may be compared."
)
_ALONE = "Agreement with the labels, with 95 % intervals. No item has two annotators, so the judge cannot be compared with people."


def draw_agreement(section: Section, signature: str, *, form: str = "svg") -> bytes:
    """The figure of the section `variants`: a row of panels for each judge and temperature."""
    rows = section["rows"]
    paired = any(row["human_pa"] is not None for row in rows)
    judge = "pa_pairwise" if paired else "pa"
    cases = contexts(rows, _JUDGED)
    values = {aspect: list(dict.fromkeys(row[aspect] for row in of_level(rows, aspect))) for aspect in _ASPECTS}
    most = max(map(len, values.values()))
    own = [_variants_of(rows, case) for case in cases]
    heights = [height_of(most, len(variants)) for variants in own]
    looks = {name: colour_and_marker(number) for number, name in enumerate(dict.fromkeys(name for names in own for name in names))}
    with drawing(signature) as new_figure:
        figure = new_figure(figsize=(11, sum(heights) + 0.9), layout="constrained")
        panels: Any = figure.subplots(len(cases), 3, squeeze=False, height_ratios=heights)
        for line, case in enumerate(cases):
            for panel, aspect in zip(panels[line], _ASPECTS, strict=True):
                in_panel = [row for row in of_level(rows, aspect) if context_of(row, _JUDGED) == case]
                series = _series(in_panel, aspect, {name: looks[name] for name in own[line]}, judge, paired)
                dots(panel, aspect, values[aspect], series)
                shares_along(panel, label="agreement" if line == len(cases) - 1 else "")
                panel.set_title(f"by {aspect}", fontsize=9)
            name_row_of_panels(panels[line][0], case, _JUDGED)
        text, least = _PAIR if paired else _ALONE, 1 if len(looks) == 1 else 2
        return finish_with_legend(figure, panels[0][0], text, signature, form=form, least=least)


def _variants_of(rows: Sequence[Row], case: tuple[Any, ...]) -> list[str]:
    return list(dict.fromkeys(row["variant"] for row in rows if context_of(row, _JUDGED) == case))


def _series(rows: Sequence[Row], aspect: str, looks: Mapping[str, tuple[str, str]], judge: str, paired: bool) -> list[Series]:
    """The judge's dots, one series for each variant, and those of people on the same lines."""
    series: list[Series] = []
    for variant, (tint, shape) in looks.items():
        of_variant = [row for row in rows if row["variant"] == variant]
        series.append(Series(variant, _values(of_variant, aspect, judge), tint, shape))
        if paired:
            people = _values(of_variant, aspect, "human_pa", interval=False)
            series.append(Series("_people" if len(series) > 1 else "people, on the same items", people, INK, "d", hollow=True, beside=True))
    return series


def _values(rows: Sequence[Row], aspect: str, name: str, *, interval: bool = True) -> dict[str, Value]:
    values = {}
    for row in rows:
        if value := row_value(row, name):
            values[row[aspect]] = value if interval else (value[0], None, None)
    return values
