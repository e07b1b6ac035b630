"""Agreement by language, task and metric: a dot for each variant, beside the agreement of people on the same items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.model import SAMPLING
from harness.render.figures.style import (
    BASELINE,
    PEOPLE,
    SMALL,
    Drawn,
    FigureOptions,
    Legend,
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
    fitting,
    height_of,
    name_row_of_panels,
    panels_of,
    row_value,
    rows_at_level,
    shares_along,
)

_AROUND = 0.9  # inches above and below the panels
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
_TITLE = "Agreement by language, task and metric"


def draw_agreement(
    section: Section,
    signature: str,
    baselines: Mapping[str, float] = {},
    options: FigureOptions = FigureOptions(),  # noqa: B008 (frozen)
) -> Drawn:
    """The figure of the section `variants`: panels for each judge and temperature. Where nothing could be read, a sentence says so.

    `baselines` has the agreement of the majority baseline by language; it is drawn beside agreement with the labels only.
    """
    every = section["rows"]
    paired = any(row["human_pa"] is not None for row in every)
    judge = "pa_pairwise" if paired else "pa_failed_wrong"
    failed = [name for name in _variants_of(every, None) if not any(row.get(judge) is not None for row in every if row["variant"] == name)]
    rows = [row for row in every if row["variant"] not in failed] or every
    values = {aspect: list(dict.fromkeys(row[aspect] for row in rows_at_level(rows, aspect))) for aspect in _ASPECTS}
    every_case = contexts(rows, _JUDGED)
    inches = [sum(_heights(values, len(_variants_of(rows, case)), options)) for case in every_case]
    cases, left = fitting(every_case, inches, _AROUND, "condition")
    own = [_variants_of(rows, case) for case in cases]
    looks = {name: colour_and_marker(number) for number, name in enumerate(dict.fromkeys(name for names in own for name in names))}
    panels = [(case, names, aspect) for case, names in zip(cases, own, strict=True) for aspect in _ASPECTS]
    across = len(_ASPECTS) if options.wide else 1
    heights = [height for names in own for height in _heights(values, len(names), options)]
    with drawing(signature) as new_figure:
        figure = new_figure(figsize=(options.width, sum(heights) + _AROUND), layout="constrained")
        grid = panels_of(figure, len(panels), across, heights)
        for panel, (case, names, aspect) in zip(grid, panels, strict=True):
            in_panel = [row for row in rows_at_level(rows, aspect) if context_of(row, _JUDGED) == case]
            series = _series(in_panel, aspect, {name: looks[name] for name in names}, judge, paired)
            if baselines and not paired and aspect == "language":
                shown = {tag: (baselines[tag], None, None) for tag in values[aspect] if tag in baselines}
                series.append(Series("majority baseline", shown, BASELINE, "|", beside=True))
            dots(panel, aspect, values[aspect], series, options)
            shares_along(panel, label="agreement" if case == cases[-1] else "", narrow=True)
            panel.set_title(f"by {aspect}", fontsize=SMALL + 1)
            if aspect == _ASPECTS[0]:
                name_row_of_panels(panel, case, _JUDGED)
        text, least = (_PAIR if paired else _ALONE) + left, 1 if len(looks) == 1 and paired else 2
        text += f" Without any readable answer: {', '.join(failed)}." if failed else ""
        return finish_with_legend(figure, grid[0], _TITLE, text, signature, options, Legend(least=least))


def _heights(values: Mapping[str, Sequence[str]], variants: int, options: FigureOptions) -> list[float]:
    """The heights of the lines of panels of one judge and temperature: one, or one for each aspect where panels stand below each other."""
    heights = [height_of(len(values[aspect]), variants) for aspect in _ASPECTS]
    return [max(heights)] if options.wide else heights


def _variants_of(rows: Sequence[Row], case: tuple[Any, ...] | None) -> list[str]:
    return list(dict.fromkeys(row["variant"] for row in rows if case is None or context_of(row, _JUDGED) == case))


def _series(rows: Sequence[Row], aspect: str, looks: Mapping[str, tuple[str, str]], judge: str, paired: bool) -> list[Series]:
    """The judge's dots, one series for each variant, and those of people on the same lines."""
    series: list[Series] = []
    for variant, (tint, shape) in looks.items():
        of_variant = [row for row in rows if row["variant"] == variant]
        series.append(Series(variant, _values(of_variant, aspect, judge), tint, shape))
        if paired:
            people = _values(of_variant, aspect, "human_pa", interval=False)
            series.append(
                Series("_people" if len(series) > 1 else "people, on the same items", people, PEOPLE, "d", hollow=True, beside=True)
            )
    return series


def _values(rows: Sequence[Row], aspect: str, name: str, *, interval: bool = True) -> dict[str, Value]:
    values = {}
    for row in rows:
        if value := row_value(row, name):
            values[row[aspect]] = value if interval else (value[0], None, None)
    return values
