"""Ablations drawn above their tables: differences from the plainest condition by language, and sensitivity along the dose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from harness.analyse import POOLED
from harness.content.tags import english_name
from harness.render.ablations import ShownSection
from harness.render.forest import axis_reach
from harness.render.html.cell_panels import PanelGrid, grid_of_places
from harness.render.html.marks import difference_track
from harness.render.html.panels import Point, level_panel
from harness.render.html.sides import side_name
from harness.render.numbers import difference, percent
from harness.render.sides import SIDE_KEYS, Side, is_baseline, plainest_first
from harness.render.titles import metric_words

_UNREADABLE = Markup('<small class="faint">no readable score</small>')
_SEES_NOTHING = 0.5
_DOTS_ALIKE = 0.4  # the weight of dots that have the same size

Rows = Sequence[Mapping[str, Any]]


def difference_grid(section: ShownSection) -> PanelGrid | None:
    """Conditions × languages, the plainest condition first: each difference with its interval; None for a section without differences.

    A condition without any readable score says so. Baselines and the conditions that others are compared with have no row.
    """
    rows = [row for row in _of_judges(section.rows[0] if section.rows else ()) if "diff" in row]
    rows = [row for row in rows if row["metric"] == POOLED] or rows
    if len({row["metric"] for row in rows}) != 1 or all(row["diff"] is None for row in rows):
        return None
    sides = plainest_first(_side(row) for row in rows)
    languages = tuple(dict.fromkeys(str(row["language"]) for row in rows))
    reach = axis_reach([end for row in rows for end in (row["diff"], *(row["diff_ci"] or ())) if end is not None])
    by_place = {(_side(row), str(row["language"])): _difference(row, reach) for row in rows}
    lines = ((side_name(side, sides), tuple(by_place.get((side, tag)) for tag in languages)) for side in sides)
    axis = f"difference in points, from {difference(-reach)} to {difference(reach)}"
    return PanelGrid(axis, "condition", tuple(map(english_name, languages)), tuple(line for line in lines if any(line[1])))


def _difference(row: Mapping[str, Any], reach: float) -> Markup | None:
    value, interval = row["diff"], row["diff_ci"]
    if value is None:
        return _UNREADABLE if row.get("n") == 0 else None
    words = f"{english_name(str(row['language']))}: difference {difference(value, interval)} points"
    return Markup('<span class="difference">{}<b>{}</b></span>').format(difference_track(value, interval, reach, words), difference(value))


def dose_grids(section: ShownSection) -> list[PanelGrid]:
    """Sensitivity along the dose, languages × metrics: a grid for each kind of change with doses, judge and condition.

    The plainest condition comes first. Panels go from dose 0, where nothing is changed and the sensitivity is ½, to the largest dose.
    """
    rows = [row for row in _of_judges(section.rows[0] if section.rows else ()) if row.get("dose") and row.get("sensitivity") is not None]
    sides = plainest_first(_side(row) for row in rows)
    grids = []
    for side in sides:
        for kind in dict.fromkeys(_kind(row) for row in rows):
            own = [row for row in rows if _side(row) == side and _kind(row) == kind]
            if own:
                doses = sorted({float(row["dose"]) for row in own})
                named = f"{kind}, dose {' · '.join(f'{dose:g}' for dose in doses)}"
                name = f"{named} – {side_name(side, sides)}" if len(sides) > 1 else named
                grids.append(grid_of_places(name, _dose_panels(own, doses[-1])))
    return grids


def _dose_panels(rows: Rows, largest: float) -> Iterator[tuple[str, str, Markup]]:
    places = dict.fromkeys((str(row["language"]), str(row["metric"])) for row in rows)
    for language, metric in places:
        own = sorted((row for row in rows if (row["language"], row["metric"]) == (language, metric)), key=lambda row: row["dose"])
        points = [Point(row["dose"] / largest, row["sensitivity"], row.get("sensitivity_ci"), _DOTS_ALIKE, _dose_words(row)) for row in own]
        yield language, metric, level_panel(points, _SEES_NOTHING, f"{english_name(language)}, {metric_words(metric)}: sensitivity by dose")


def _dose_words(row: Mapping[str, Any]) -> str:
    return f"dose {row['dose']:g}: sensitivity {percent(row['sensitivity'], row.get('sensitivity_ci'))}, n {row['n']:,}"


def _kind(row: Mapping[str, Any]) -> str:
    segmenter = row.get("segmenter")
    return f"{row['kind']} ({segmenter})" if segmenter else str(row["kind"])


def _of_judges(rows: Rows) -> Rows:
    """The rows of judges; of baselines where there is no judge."""
    return [row for row in rows if not is_baseline(_side(row))] or rows


def _side(row: Mapping[str, Any]) -> Side:
    return tuple(row.get(name) for name in SIDE_KEYS)
