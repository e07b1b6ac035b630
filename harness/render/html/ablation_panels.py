"""Sections drawn above their tables: differences from the plainest condition, sensitivity along the dose, agreement over runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from harness.content.tags import english_name
from harness.measure.options import POOLED
from harness.render.doses import SEES_NOTHING, DoseResponse, dose_responses, of_judges
from harness.render.html.marks import difference_track
from harness.render.html.small_figures import Point, fitted_panel, level_panel
from harness.render.sides import Side, plainest_first, side_name, side_of
from harness.reports.answer import axis_reach
from harness.reports.shown_sections import ShownSection
from harness.reports.tables.numbers import counted, difference, percent
from harness.reports.tables.titles import metric_title, metric_words

_UNREADABLE = Markup('<small class="faint">no readable score</small>')
RUNS = "runs"  # the section that has pictures of agreement over runs
_DOTS_ALIKE = 0.4  # the weight of dots that have the same size


@dataclass(frozen=True)
class PanelGrid:
    """One side: figures by language and metric (None where there is none). `rows_are` is `language` or `metric`, columns the other."""

    name: str
    rows_are: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Markup | None, ...]], ...]


def grid_of_places(name: str, drawn: Iterable[tuple[str, str, Markup | None]], *, across: bool = True) -> PanelGrid:
    """Languages as rows; or as columns with `across`, if there are more of them than metrics, so that a row has room for many."""
    by_place = {(language, metric): figure for language, metric, figure in drawn}
    metrics = tuple(dict.fromkeys(metric for _, metric in by_place))
    languages = tuple(dict.fromkeys(language for language, _ in by_place))
    if across and len(languages) > len(metrics):
        by_metric = ((metric_title(metric), tuple(by_place.get((tag, metric)) for tag in languages)) for metric in metrics)
        return PanelGrid(name, "metric", tuple(map(english_name, languages)), tuple(by_metric))
    by_language = ((tag, tuple(by_place.get((tag, metric)) for metric in metrics)) for tag in languages)
    return PanelGrid(name, "language", tuple(map(metric_title, metrics)), tuple(by_language))


def difference_grid(section: ShownSection) -> PanelGrid | None:
    """Conditions × languages, the plainest condition first: each difference with its interval; None for a section without differences.

    A condition without any readable score says so. Baselines and the conditions that others are compared with have no row.
    """
    rows = [row for row in of_judges(section.rows[0] if section.rows else ()) if "diff" in row]
    rows = [row for row in rows if row["metric"] == POOLED] or rows
    if len({row["metric"] for row in rows}) != 1 or all(row["diff"] is None for row in rows):
        return None
    sides = plainest_first(side_of(row) for row in rows)
    languages = tuple(dict.fromkeys(str(row["language"]) for row in rows))
    reach = axis_reach([end for row in rows for end in (row["diff"], *(row["diff_ci"] or ())) if end is not None])
    by_place = {(side_of(row), str(row["language"])): _difference(row, reach) for row in rows}
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
    """Sensitivity along the dose, languages × metrics: a grid for each kind of change with doses, judge and condition."""
    return [grid_of_places(one.title, _dose_panels(one)) for one in dose_responses(section.rows[0] if section.rows else ())]


def _dose_panels(one: DoseResponse) -> Iterator[tuple[str, str, Markup]]:
    """Panels go from dose 0, where nothing is changed and the sensitivity is ½, to the largest dose."""
    for line in one.lines:
        points = [Point(each.dose / one.largest, each.sensitivity, each.interval, _DOTS_ALIKE, each.words) for each in line.points]
        yield line.language, line.metric, level_panel(points, SEES_NOTHING, line.words)


def preference_grid(section: ShownSection) -> PanelGrid | None:
    """Preference of the own text (upward) against recognition, and against the right answers to control questions (to the right).

    A dot is a judge under one condition in one language. None for a section without such points.
    """
    found = section.section
    questions = [("recognition", found["points"], found["line"])] if found.get("points") else []
    questions += [(metric_words(one["metric"]), one["points"], one["line"]) for one in found.get("control_lines", ()) if one["points"]]
    if not questions:
        return None
    figures = tuple(_fitted(name, points, line) for name, points, line in questions)
    return PanelGrid(
        "preference of the own text", "upward ↑, to the right →", tuple(name for name, _, _ in questions), (("preference", figures),)
    )


def _fitted(name: str, points: Sequence[Mapping[str, Any]], line: Mapping[str, Any] | None) -> Markup:
    across = "recognition" if name == "recognition" else "right"
    dots = []
    for point in points:
        shares = f"{name} {percent(point[across])}, preference {percent(point['preference'])}"
        words = f"{point['judge']}, {english_name(point['language'])}: {shares}"
        dots.append(Point(point[across], point["preference"], None, _DOTS_ALIKE, words))
    drawn = None if line is None or line["slope"] is None else (line["slope"], line["intercept"])
    return fitted_panel(dots, drawn, f"preference of the own text against {name}, {counted(len(dots), 'point')}")


def run_grids(section: ShownSection) -> list[PanelGrid]:
    """Agreement over runs, languages × metrics: a grid for each judge and condition; none for other sections."""
    rows = of_judges(section.rows[0]) if section.name == RUNS else ()
    by_side: dict[Side, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_side.setdefault(side_of({**row, "source": None}), []).append(row)
    sides = plainest_first(by_side)
    return [grid_of_places(side_name(side, sides), _run_panels(by_side[side])) for side in sides]


def _run_panels(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, Markup]]:
    """Panels go from the first run, which the others are compared with and where the line is, to the last one."""
    for language, metric in dict.fromkeys((str(row["language"]), str(row["metric"])) for row in rows):
        own = [row for row in rows if (row["language"], row["metric"]) == (language, metric) and row["agreement"] is not None]
        if own:
            points = [
                Point(place / max(len(own) - 1, 1), row["agreement"], row["agreement_ci"], _DOTS_ALIKE, _run_words(row))
                for place, row in enumerate(own)
            ]
            words = f"{english_name(language)}, {metric_words(metric)}: agreement over {len(own)} runs"
            yield language, metric, level_panel(points, own[0]["agreement"], words)


def _run_words(row: Mapping[str, Any]) -> str:
    return f"{row['source']}: agreement {percent(row['agreement'], row['agreement_ci'])}, n {row['n']:,}"
