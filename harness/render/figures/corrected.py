"""Three intervals a system: the judge alone, the labels alone, and the judge corrected by the labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.correction.correct import Corrected, CorrectedNumber
from harness.errors import UsageError
from harness.model import CONDITION
from harness.render.figures import style
from harness.render.figures.dot_panels import Series, context_name, dots, height_of
from harness.render.figures.style import Drawn, FigureOptions
from harness.text import terminal_safe

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
    panels, left = style.fitting(panels, inches, 0.9, "panel")
    heights = inches[: len(panels)]
    with style.drawing(signature) as new_figure:
        figure = new_figure(figsize=(options.width, sum(heights) + 0.9), layout="constrained")
        axes: Any = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)
        for panel, numbers in zip(axes[:, 0], panels, strict=True):
            _draw_panel(panel, numbers, options)
        return style.finish_with_legend(
            figure, axes[0, 0], "Means and shares by judge, labels and both", _CAPTION + left, signature, options
        )


def _draw_panel(panel: Any, numbers: Sequence[CorrectedNumber], options: FigureOptions) -> None:
    first = numbers[0]
    names = []
    for number in numbers:
        parts = (value for name, value in number.key.items() if name not in ("language", "metric", "source", *CONDITION))
        names.append(", ".join(str(value) for value in parts if value is not None) or "all")
    series = []
    for shown, estimate, colour, marker, hollow in _ESTIMATES:
        known = [(name, getattr(number, estimate)) for name, number in zip(names, numbers, strict=True)]
        values = {name: (one.value, *(one.ci or (None, None))) for name, one in known if one.value is not None}
        series.append(Series(shown, values, colour, marker, hollow))
    dots(panel, "system", names, series, options)
    what = str(first.key["metric"]).replace("_", " ") + ("" if first.share_of is None else f": share of '{first.share_of}'")
    judge = context_name([first.key.get(name) for name in CONDITION])
    panel.set_title(terminal_safe(f"{first.key['language']}, {what}, {judge}"), fontsize=style.SMALL, loc="left")
    if first.share_of is not None:
        style.shares_along(panel)
