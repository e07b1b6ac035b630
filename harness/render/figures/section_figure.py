"""Figures of one section each, for print: those of studies and of other packages are entry points of the group `harness.figures`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.plugins import load, registered
from harness.render.figures.style import Drawn, Section

GROUP = "harness.figures"


@dataclass(frozen=True)
class SectionFigure:
    """A figure that is drawn from the numbers of a section.

    Args:
        name: of the section, and of the entry point.
        file: the name of its files.
        draw: takes the section, the signature and `FigureOptions`.
        is_drawn: the test whether a section has the numbers for it.
    """

    name: str
    file: str
    draw: Callable[..., Drawn]
    is_drawn: Callable[[Section], bool] = bool


def plugged_in() -> list[SectionFigure]:
    """Return the figures of entry points. Raises UsageError for one that cannot be used."""
    return [load(point, SectionFigure, "figure") for point in registered(GROUP, "figure").values()]
