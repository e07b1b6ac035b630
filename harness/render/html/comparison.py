"""The page of a comparison: sources side by side with their differences, the grid, all numbers, and every judgment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from markupsafe import Markup

from harness.analyse import BY_METRIC, POOLED, Cell, Comparison, Options, Outcomes, Recording, compare, outcomes, verdicts
from harness.content import Library
from harness.evidence import Evidence, evidence
from harness.render.comparison import COUNTS, columns_of, key_text, legend, telling
from harness.render.html.answer import Judged, by_language
from harness.render.html.browser import Browsed, chosen, items_json
from harness.render.html.cells import CONDITION, Grid, grids, has_people, languages_of, shares_of, side_name, side_of, sides_of
from harness.render.html.marks import Mark, legend_mark, track
from harness.render.html.report import SCRIPTS, text_fields
from harness.render.html.shell import shell
from harness.render.html.spending import Head, PlainTable
from harness.render.html.templates import render
from harness.render.terminal import belongs, difference, percent
from harness.runner import RunResult


@dataclass(frozen=True)
class _Square:
    """One side's agreement in one row; its paired difference from the side that others are compared with, if any."""

    number: str
    value: float
    drawn: Markup
    difference: str
    sign: str


def comparison_page(found: Comparison, sources: Sequence[tuple[Recording, RunResult | None]], options: Options, command: str) -> str:
    """One self-contained page of a comparison of `sources`, made with `options` by `command`."""
    names = _distinct([recording.name for recording, _ in sources])
    recordings = [msgspec.structs.replace(recording, name=name) for name, (recording, _) in zip(names, sources, strict=True)]
    judged = [outcomes(recording, options) for recording in recordings]
    kept = chosen(judged)
    browsed = [
        Browsed(name, each, rows, _evidence(run, each, rows))
        for name, each, rows, (_, run) in zip(names, judged, kept, sources, strict=True)
    ]
    data = items_json(browsed, text_fields(Library()))
    cells: Sequence[Cell] = ()
    if options.level == "item":
        cells = compare(recordings, msgspec.structs.replace(options, by=BY_METRIC.by, versus=None)).cells
    squares: list[Grid] = grids(cells) if cells else []
    shares = shares_of(cells)
    several = len(sides_of(found.cells)) > 1 and options.level == "item"
    tables = list(_tables(found.cells)) if several else []
    title = f"{' and '.join(names)}: judges beside labels"
    body = render(
        "comparison.html",
        title=title,
        judgments=sum(map(len, judged)),
        sections=list(_sections(bool(cells), bool(tables), bool(squares), bool(shares))),
        warnings=found.notes,
        versus=" = ".join(options.versus) if options.versus else "",
        answers=by_language(list(_judged(cells, recordings))),
        people=any(map(has_people, cells)),
        marks={kind: legend_mark(kind) for kind in ("judge", "people", "base")},
        tables=tables,
        grids=squares,
        numbers=_numbers(found),
        legend=" ".join(legend(found)),
        shares=shares,
        leveled=any(block.bars and block.bars[0][0] for _, blocks in shares for block in blocks),
        command=command,
        signature=found.signature,
        ci_method=found.ci_method,
        browsed=True,
        left=data["left"],
    )
    return shell(title, body, scripts=SCRIPTS, data={"items-data": data})


def _judged(cells: Sequence[Cell], recordings: Sequence[Recording]) -> Iterator[Judged]:
    """The verdicts of every source, as a run's report has them."""
    sides = sides_of(cells)
    for recording in recordings:
        own = [cell for cell in cells if cell.key.get("source", recording.name) == recording.name]
        constructed = recording.data.about.source == "constructed"
        for verdict in verdicts(own, constructed):
            mine = tuple(cell for cell in own if belongs(cell, verdict))
            name = side_name(side_of(mine[0]), sides)
            yield Judged(verdict, mine, name, name if len(sides) > 1 else "", constructed)


def _sections(answers: bool, sides: bool, squares: bool, shares: bool) -> Iterator[tuple[str, str]]:
    if answers:
        yield "answer", "The answer"
    if sides:
        yield "sides", "Side by side"
    if squares:
        yield "grid", "Language × metric"
    yield "numbers", "All numbers"
    if shares:
        yield "classes", "Scores due and given"
    yield from (("again", "Make it again"), ("items", "Every judgment"))


def _distinct(names: Sequence[str]) -> list[str]:
    return [f"{name}#{names[:i].count(name) + 1}" if names.count(name) > 1 else name for i, name in enumerate(names)]


def _evidence(run: RunResult | None, judged: Outcomes, rows: Any) -> Evidence | None:
    return None if run is None else evidence(run, judged.row[rows])


def _tables(cells: Sequence[Cell]) -> Iterator[tuple[str, list[str], list[str], list[Any]]]:
    """For each language: the keys that tell rows apart, the names of the sides, and the rows."""
    sides = sides_of(cells)
    every = [{name: value for name, value in cell.key.items() if name not in CONDITION} for cell in cells]
    keys = telling(every)
    for language in languages_of(cells):
        own = [cell for cell in cells if cell["language"] == language]
        here = [side for side in sides if any(side_of(cell) == side for cell in own)]
        rows: dict[tuple[str, ...], dict[Any, Cell]] = {}
        for cell in own:
            rows.setdefault(tuple(key_text(cell.key[name]) for name in keys), {})[side_of(cell)] = cell
        shown = [
            (names, max(cell.n_ref for cell in by.values()), [_square(by[side]) if side in by else None for side in here])
            for names, by in rows.items()
        ]
        yield language, keys, [side_name(side, sides) for side in here], shown


def _square(cell: Cell) -> _Square:
    value, interval = cell["pa_failed_wrong"], cell["pa_failed_wrong_ci"]
    number = percent(value, interval)
    versus = cell.versus or {}
    ci = versus.get("ci")
    sign = "" if not versus else "·" if not ci else "▲" if ci[0] > 0 else "▼" if ci[1] < 0 else "○"
    shown = difference(versus["diff"], ci) if versus else ""
    baseline = cell.vs_baseline["pa"]
    words = f"{number}, baseline {percent(baseline)}"
    drawn = track([Mark("base", baseline), Mark("judge", value, interval)], words)
    return _Square(number, -1.0 if value is None else value, drawn, shown, sign)


def _numbers(found: Comparison) -> PlainTable:
    """All cells with the columns that the terminal shows."""
    keys = telling([cell.key for cell in found.cells])
    if len({cell.key["language"] for cell in found.cells} - {POOLED}) > 0:
        keys = ["language", *keys]
    columns = columns_of(found)
    rows = tuple((*(key_text(cell.key[name]) for name in keys), *(show(cell) for _, show in columns)) for cell in found.cells)
    heads = (*(Head(name.replace("_", " "), key=True) for name in keys), *(Head(name, number=name in COUNTS) for name, _ in columns))
    return PlainTable(heads, rows)
