"""Agreement by language, by task and by metric, a dot a variant, each beside people's own figure on the same items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.render.figures.style import (
    INK,
    Series,
    Value,
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

_ASPECTS = ("language", "task", "metric")
_JUDGED = ("judge", "temperature", "top_p")
_PAIR = (
    "Filled: how often the judge agrees with single annotators, with 95 % intervals. Hollow, in the same line: how often two annotators "
    "agree with each other on the items that the judge could be read on. These two may be compared."
)
_ALONE = "Agreement with the labels, with 95 % intervals. No item has two annotators, so there is no human figure to set beside it."


def draw(section: Mapping[str, Any], signature: str, *, form: str = "svg") -> bytes:
    """The figure of the section `variants`: a row of panels a judge and temperature."""
    rows = section["rows"]
    paired = any(row["human_pa"] is not None for row in rows)
    judge = "pa_pairwise" if paired else "pa"
    cases = contexts(rows, _JUDGED)
    values = {aspect: list(dict.fromkeys(row[aspect] for row in of_level(rows, aspect))) for aspect in _ASPECTS}
    most = max(map(len, values.values()))
    own = [_variants_of(rows, case) for case in cases]
    heights = [height_of(most, len(variants)) for variants in own]
    looks = {name: (colour(number), marker(number)) for number, name in enumerate(dict.fromkeys(name for names in own for name in names))}
    with drawing(signature) as new_figure:
        figure = new_figure(figsize=(11, sum(heights) + 0.9), layout="constrained")
        panels: Any = figure.subplots(len(cases), 3, squeeze=False, height_ratios=heights)
        for line, case in enumerate(cases):
            for panel, aspect in zip(panels[line], _ASPECTS, strict=True):
                here = [row for row in of_level(rows, aspect) if tuple(row.get(name) for name in _JUDGED) == case]
                names = {name: shown_name(aspect, name) for name in values[aspect]}
                dots(panel, values[aspect], _series(here, aspect, {name: looks[name] for name in own[line]}, judge, paired), names=names)
                shares_along(panel, label="agreement" if line == len(cases) - 1 else "")
                panel.set_title(f"by {aspect}", fontsize=9)
            panels[line][0].set_ylabel(upright(context_name(case, _JUDGED)))
        legend(figure, panels[0][0], least=1 if len(looks) == 1 else 2)
        caption(figure, _PAIR if paired else _ALONE)
        return finish(figure, signature, form=form)


def _variants_of(rows: Sequence[Mapping[str, Any]], case: tuple[Any, ...]) -> list[str]:
    return list(dict.fromkeys(row["variant"] for row in rows if tuple(row.get(name) for name in _JUDGED) == case))


def _series(rows: Sequence[Mapping[str, Any]], aspect: str, looks: Mapping[str, tuple[str, str]], judge: str, paired: bool) -> list[Series]:
    """The judge's dots, a series a variant, and people's in the same lines."""
    found: list[Series] = []
    for variant, (tint, shape) in looks.items():
        of = [row for row in rows if row["variant"] == variant]
        found.append(Series(variant, _values(of, aspect, judge), tint, shape))
        if paired:
            people = _values(of, aspect, "human_pa", bare=True)
            found.append(Series("_people" if len(found) > 1 else "people, on the same items", people, INK, "d", hollow=True, beside=True))
    return found


def _values(rows: Sequence[Mapping[str, Any]], aspect: str, name: str, *, bare: bool = False) -> dict[str, Value]:
    found = {}
    for row in rows:
        if value := row_value(row, name):
            found[row[aspect]] = (value[0], None, None) if bare else value
    return found
