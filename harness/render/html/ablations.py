"""Figures of ablations: beside the rows of their tables, and as grids of small pictures above them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from harness.content.tags import english_name
from harness.measure.judged_table import KEYS
from harness.measure.options import POOLED
from harness.render.html.answer import FigureColumn
from harness.render.html.marks import Mark, Point, difference_track, fitted_panel, level_panel, track
from harness.render.html.pictures import Grid
from harness.render.pictured import SEES_NOTHING, dose_responses, of_judges
from harness.reports.answer.judged_sides import Side, plainest_first, side_name, side_of
from harness.reports.answer.matrix import axis_reach
from harness.reports.sections.minimal_pairs import TEMPTING
from harness.reports.sections.section_registry import ShownSection
from harness.reports.tables.columns import metric_title, metric_words
from harness.reports.tables.numbers import counted, difference, percent

_DIFFERENCES = {"diff": "difference", "slope": "slope of agreement", "shift": "shift", "effect": "effect"}
_SHARES = {"sensitivity": "original scores above the changed text", "same_score": "same score", "rose": "score rose"}
FLAWS_FOUND = "flawless text scores above the flawed one"
_MIDDLE = {"sensitivity": ("never", "½: not seen", "always")}
_LINKED = ("sensitivity", "false_alarms", "agreement", "shift")
_FILTERS = ("source", *KEYS, "perturbation", "construction")
_UNREADABLE = Markup('<span class="faint">no readable score</span>')
_UNREADABLE_SMALL = Markup('<small class="faint">no readable score</small>')
RUNS = "runs"  # the section that has pictures of agreement over runs
_DOTS_ALIKE = 0.4  # the weight of dots that have the same size

Rows = Sequence[Mapping[str, Any]]


def ablation_figures(section: ShownSection) -> list[dict[str, FigureColumn]]:
    """For each table of a section its columns of figures, by the name of the column that they stand beside."""
    tables = []
    for rows in section.rows:
        axes = {name: axis for name, axis in (_DIFFERENCES | _SHARES).items() if any(row.get(name) is not None for row in rows)}
        drawn = {name: (_differences if name in _DIFFERENCES else _shares)(rows, name, axis) for name, axis in axes.items()}
        tables.append(drawn)
    return tables


def row_links(section: ShownSection) -> list[list[dict[str, dict[str, Any]]]]:
    """For each table, row by row, what a click on a cell shows, by the name of its column: the filters of the texts that it counts."""

    def links(row: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        if "by_language" in row:
            return {tag: _filters({**row, **language_row}) for tag, language_row in row["by_language"].items()}
        return dict.fromkeys(_LINKED, _filters(row))

    return [list(map(links, rows)) for rows in section.rows]


def _filters(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filters of the page that the keys of a row stand for. Texts that tempt to a false alarm have no flaw to be found by."""
    filters = {name: row[name] for name in _FILTERS if row.get(name) not in (None, POOLED)}
    if row.get("kind") == TEMPTING:
        filters["construction"] = "flawless"
    return {**filters, "compared": True} if "construction" in row else filters


def _differences(rows: Rows, name: str, axis: str) -> FigureColumn:
    ends = [end for row in rows for end in (row.get(name), *(row.get(f"{name}_ci") or ())) if end is not None]
    reach = axis_reach(ends)

    def draw(value: float, interval: tuple[float, float] | None) -> Markup:
        return difference_track(value, interval, reach, f"{axis} {difference(value, interval)} points")

    return FigureColumn(axis, _drawn(rows, name, draw), (difference(-reach), "0", difference(reach)))


def _shares(rows: Rows, name: str, axis: str) -> FigureColumn:
    axis = FLAWS_FOUND if name == "sensitivity" and "higher" in rows[0] else axis
    middle = [Mark("base", 0.5)] if name in _MIDDLE else []

    def draw(value: float, interval: tuple[float, float] | None) -> Markup:
        return track([*middle, Mark("judge", value, interval)], f"{axis}: {percent(value, interval)}")

    return FigureColumn(axis, _drawn(rows, name, draw), _MIDDLE.get(name, ("0 %", "50", "100 %")))


def _drawn(rows: Rows, name: str, draw: Callable[[float, tuple[float, float] | None], Markup]) -> tuple[Markup | None, ...]:
    """Return a figure for each row; words where no answer could be read; None where others are compared with the row, or it has too few
    texts.
    """
    instead = [_UNREADABLE if row.get("n") == 0 else None for row in rows]
    return tuple(none if row.get(name) is None else draw(row[name], row.get(f"{name}_ci")) for row, none in zip(rows, instead, strict=True))


def grid_of_places(name: str, drawn: Iterable[tuple[str, str, Markup | None]], *, across: bool = True) -> Grid:
    """Languages as rows; or as columns with `across`, if there are more of them than metrics, so that a row has room for many."""
    by_place = {(language, metric): figure for language, metric, figure in drawn}
    metrics = tuple(dict.fromkeys(metric for _, metric in by_place))
    languages = tuple(dict.fromkeys(language for language, _ in by_place))
    if across and len(languages) > len(metrics):
        by_metric = ((metric_title(metric), tuple(by_place.get((tag, metric)) for tag in languages)) for metric in metrics)
        return Grid(name, "metric", tuple(map(english_name, languages)), tuple(by_metric))
    by_language = ((tag, tuple(by_place.get((tag, metric)) for metric in metrics)) for tag in languages)
    return Grid(name, "language", tuple(map(metric_title, metrics)), tuple(by_language))


def difference_grid(section: ShownSection) -> Grid | None:
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
    tracks: dict[tuple[Side, str], Markup | None] = {}
    for row in rows:
        track_key, value = (side_of(row), str(row["language"])), row["diff"]
        if value is None:
            tracks[track_key] = _UNREADABLE_SMALL if row.get("n") == 0 else None
            continue
        words = f"{english_name(track_key[1])}: difference {difference(value, row['diff_ci'])} points"
        drawn = difference_track(value, row["diff_ci"], reach, words)
        tracks[track_key] = Markup('<span class="difference">{}<b>{}</b></span>').format(drawn, difference(value))
    lines = ((side_name(side, sides), tuple(tracks.get((side, tag)) for tag in languages)) for side in sides)
    axis = f"difference in points, from {difference(-reach)} to {difference(reach)}"
    return Grid(axis, "condition", tuple(map(english_name, languages)), tuple(line for line in lines if any(line[1])))


def dose_grids(section: ShownSection) -> list[Grid]:
    """Sensitivity along the dose, languages × metrics: a grid for each kind of change with doses, judge and condition.

    Panels go from dose 0, where nothing is changed and the sensitivity is ½, to the largest dose.
    """
    grids = []
    for response in dose_responses(section.rows[0] if section.rows else ()):
        panels = []
        for line in response.lines:
            points = [
                Point(point.dose / response.largest, point.sensitivity, point.interval, _DOTS_ALIKE, point.words) for point in line.points
            ]
            panels.append((line.language, line.metric, level_panel(points, SEES_NOTHING, line.words)))
        grids.append(grid_of_places(response.title, panels))
    return grids


def preference_grid(section: ShownSection) -> Grid | None:
    """Preference of the own text (upward) against recognition, and against the right answers to control questions (to the right).

    A dot is a judge under one condition in one language. None for a section without such points.
    """
    content = section.section
    questions = [("recognition", content["points"], content["line"])] if content.get("points") else []
    questions += [
        (metric_words(control["metric"]), control["points"], control["line"])
        for control in content.get("control_lines", ())
        if control["points"]
    ]
    if not questions:
        return None
    figures = []
    for name, points, line in questions:
        across, dots = "recognition" if name == "recognition" else "right", []
        for point in points:
            shares = f"{name} {percent(point[across])}, preference {percent(point['preference'])}"
            words = f"{point['judge']}, {english_name(point['language'])}: {shares}"
            dots.append(Point(point[across], point["preference"], None, _DOTS_ALIKE, words))
        drawn = None if line is None or line["slope"] is None else (line["slope"], line["intercept"])
        figures.append(fitted_panel(dots, drawn, f"preference of the own text against {name}, {counted(len(dots), 'point')}"))
    names = tuple(name for name, _, _ in questions)
    return Grid("preference of the own text", "upward ↑, to the right →", names, (("preference", tuple(figures)),))


def run_grids(section: ShownSection) -> list[Grid]:
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
        run_rows = [row for row in rows if (row["language"], row["metric"]) == (language, metric) and row["agreement"] is not None]
        if run_rows:
            points = []
            for index, row in enumerate(run_rows):
                said = f"{row['source']}: agreement {percent(row['agreement'], row['agreement_ci'])}, n {row['n']:,}"
                points.append(Point(index / max(len(run_rows) - 1, 1), row["agreement"], row["agreement_ci"], _DOTS_ALIKE, said))
            words = f"{english_name(language)}, {metric_words(metric)}: agreement over {len(run_rows)} runs"
            yield language, metric, level_panel(points, run_rows[0]["agreement"], words)
