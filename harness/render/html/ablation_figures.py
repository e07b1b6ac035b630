"""Figures beside the tables of ablations: paired differences from the plainest condition, sensitivity, and shares, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from harness.render.ablations import ShownSection
from harness.render.forest import axis_reach
from harness.render.html.cells import FigureColumn
from harness.render.html.marks import Mark, difference_track, track
from harness.render.numbers import difference, percent

_DIFFERENCES = {"diff": "difference", "slope": "slope of agreement"}
_SHARES = {"sensitivity": "original scores above the changed text", "same_score": "same score", "rose": "score rose"}
_MIDDLE = {"sensitivity": ("never", "½: not seen", "always")}
_UNREADABLE = Markup('<span class="faint">no readable score</span>')

Rows = Sequence[Mapping[str, Any]]


def ablation_figures(section: ShownSection) -> list[dict[str, FigureColumn]]:
    """For each table of a section its columns of figures, each beside the column that it draws.

    A row in which no answer could be read says so instead of an empty line.
    """
    return [_figures(rows) for rows in section.rows]


def _figures(rows: Rows) -> dict[str, FigureColumn]:
    drawn = {}
    for name, axis in _DIFFERENCES.items():
        if any(row.get(name) is not None for row in rows):
            drawn[name] = _differences(rows, name, axis)
    for name, axis in _SHARES.items():
        if any(row.get(name) is not None for row in rows):
            figures = tuple(_share(row, name, axis) for row in rows)
            drawn[name] = FigureColumn(axis, figures, _MIDDLE.get(name, ("0 %", "50", "100 %")))
    return drawn


def _differences(rows: Rows, name: str, axis: str) -> FigureColumn:
    ends = [end for row in rows for end in (row.get(name), *(row.get(f"{name}_ci") or ())) if end is not None]
    reach = axis_reach(ends)
    figures = tuple(
        _undefined(row)
        if row.get(name) is None
        else difference_track(row[name], row.get(f"{name}_ci"), reach, f"{axis} {difference(row[name], row.get(f'{name}_ci'))} points")
        for row in rows
    )
    return FigureColumn(axis, figures, (difference(-reach), "0", difference(reach)))


def _undefined(row: Mapping[str, Any]) -> Markup | None:
    """What stands instead of a figure: None where the row is the one that others are compared with, or has too few texts."""
    return _UNREADABLE if row.get("n") == 0 else None


def _share(row: Mapping[str, Any], name: str, axis: str) -> Markup | None:
    if row.get(name) is None:
        return _undefined(row)
    interval = row.get(f"{name}_ci")
    middle = [Mark("base", 0.5)] if name in _MIDDLE else []
    return track([*middle, Mark("judge", row[name], interval)], f"{axis}: {percent(row[name], interval)}")
