"""Figures beside the tables of ablations: paired differences from the plainest condition, sensitivity, and shares, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from harness.measure.answers import KEYS
from harness.measure.options import POOLED
from harness.render.html.cells import FigureColumn
from harness.render.html.marks import Mark, difference_track, track
from harness.reports.answer import axis_reach
from harness.reports.sections.minimal_pairs import TEMPTING
from harness.reports.shown_sections import ShownSection
from harness.reports.tables.numbers import difference, percent

_DIFFERENCES = {"diff": "difference", "slope": "slope of agreement", "shift": "shift", "effect": "effect"}
_SHARES = {"sensitivity": "original scores above the changed text", "same_score": "same score", "rose": "score rose"}
FLAWS_FOUND = "flawless text scores above the flawed one"
_MIDDLE = {"sensitivity": ("never", "½: not seen", "always")}
_LINKED = ("sensitivity", "false_alarms", "agreement", "shift")
_FILTERS = ("source", *KEYS, "perturbation", "construction")
_UNREADABLE = Markup('<span class="faint">no readable score</span>')

Rows = Sequence[Mapping[str, Any]]


def ablation_figures(section: ShownSection) -> list[dict[str, FigureColumn]]:
    """For each table of a section its columns of figures, each beside the column that it draws.

    A row in which no answer could be read says so instead of an empty line.
    """
    return [_figures(rows) for rows in section.rows]


def row_links(section: ShownSection) -> list[list[dict[str, dict[str, Any]]]]:
    """For each table, row by row, what a click on a cell shows, by the name of its column: the filters of the texts that it counts."""
    return [[_links(row) for row in rows] for rows in section.rows]


def _links(row: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    if "by_language" in row:
        return {tag: _filters({**row, **own}) for tag, own in row["by_language"].items()}
    return dict.fromkeys(_LINKED, _filters(row))


def _filters(row: Mapping[str, Any]) -> dict[str, Any]:
    """The filters of the page that the keys of a row stand for. Texts that tempt to a false alarm have no flaw to be found by."""
    kept = {name: row[name] for name in _FILTERS if row.get(name) not in (None, POOLED)}
    if row.get("kind") == TEMPTING:
        kept["construction"] = "flawless"
    return {**kept, "compared": True} if "construction" in row else kept


def _figures(rows: Rows) -> dict[str, FigureColumn]:
    drawn = {}
    for name, axis in _DIFFERENCES.items():
        if any(row.get(name) is not None for row in rows):
            drawn[name] = _differences(rows, name, axis)
    for name, axis in _SHARES.items():
        if any(row.get(name) is not None for row in rows):
            axis = FLAWS_FOUND if name == "sensitivity" and "higher" in rows[0] else axis
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
