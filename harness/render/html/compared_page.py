"""The page of a comparison: sources side by side with their differences, the grid, all numbers, and every judgment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec
from markupsafe import Markup

from harness.content import Library
from harness.decide.verdicts import Verdict
from harness.measure.cells import Cell
from harness.measure.compare import Recording, compare, table_of_all
from harness.measure.options import BY_METRIC, POOLED, MeasureOptions
from harness.measure.summaries import pooled_differences, summaries
from harness.model import SIDE
from harness.published.listing import statement_of
from harness.render.comparison import comparison_table, distinguishing_keys
from harness.render.html.ablations import run_grids
from harness.render.html.answer import JudgedCells, agreement_figure, correlation_figure, correlation_words, interval_sign
from harness.render.html.browser import BrowserSource, chosen, items_json
from harness.render.html.first_screen import Known, first_screen
from harness.render.html.pictures import reliability_figures
from harness.render.html.report import SCRIPTS, judged_parts, minimal_pair_rows, section_tables, text_fields
from harness.render.html.shell import render, shell
from harness.render.terminal import belongs
from harness.render.verdict_text import languages_of, two_people_sentence
from harness.reports.answer.judged_sides import Side, judged_sides, side_name, side_of, sides_of
from harness.reports.answer.matrix import judges_in_order
from harness.reports.comparison import DecidedComparison
from harness.reports.sections.section_registry import ShownSection, shown_sections
from harness.reports.tables.numbers import coefficient, difference, percent
from harness.reports.tables.text_table import key_text
from harness.runs import RunResult, read_evidence


@dataclass(frozen=True)
class _ComparedSquare:
    """One side's agreement (of numbers its correlation) with people in one row, and its difference from the side compared with, if any."""

    number: str
    value: float
    drawn: Markup
    difference: str
    sign: str


@dataclass(frozen=True)
class _SideTable:
    """One language side by side: the keys that differ between rows, the names of the sides, and the rows."""

    language: str
    keys: tuple[str, ...]
    sides: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], int, tuple[_ComparedSquare | None, ...]], ...]  # keys, n, a square for each side


def comparison_page(
    comparison: DecidedComparison, sources: Sequence[tuple[Recording, RunResult | None]], options: MeasureOptions, command: str
) -> str:
    """One self-contained page of a comparison of `sources`, made with `options` by `command`."""
    source_names = [recording.name for recording, _ in sources]
    names = [f"{name}#{source_names[:i].count(name) + 1}" if source_names.count(name) > 1 else name for i, name in enumerate(source_names)]
    recordings = [msgspec.structs.replace(recording, name=name) for name, (recording, _) in zip(names, sources, strict=True)]
    judged = [table_of_all(recording, options) for recording in recordings]
    selected = chosen(judged)
    browsed = [
        BrowserSource(name, outcome, rows, read_evidence(run, outcome.row[rows]) if run else None)
        for name, outcome, rows, (_, run) in zip(names, judged, selected, sources, strict=True)
    ]
    libraries = [Library(), *(run.prepared.library for _, run in sources if run is not None)]
    judges = judges_in_order(judged_sides(comparison.verdicts))
    data = items_json(browsed, frozenset().union(*map(text_fields, libraries)), libraries, judges)
    cells: Sequence[Cell] = ()
    if options.level == "item":
        cells = compare(recordings, replace(options, by=BY_METRIC.by, versus=None)).cells
    pictured = [(name if len(names) > 1 else None, outcome) for name, outcome in zip(names, judged, strict=True)]
    several = len(sides_of(comparison.cells)) > 1 and options.level == "item"
    side_tables = list(_side_tables(comparison.cells)) if several else []
    parts = judged_parts(list(_judged_cells(cells, comparison.verdicts, recordings, options)), pictured, cells, comparison.verdicts)
    own_sections = shown_sections(comparison.sections)
    languages = {cell.key["language"] for cell in comparison.cells}
    cards = {outcome.data.about.id: outcome.data.about for outcome in recordings}
    statements = [(name, lines) for name, about in cards.items() if (lines := statement_of(about))]
    title = f"{' and '.join(names)}: judges beside labels"
    first = first_screen(
        comparison.verdicts,
        Known(
            max(outcome.data.labels.max_annotators for outcome in recordings),
            pairs=minimal_pair_rows(comparison.sections),
            two_people=two_people_sentence(cells),
            pages=comparison.pages,
        ),
    )
    body = render(
        "comparison.html",
        title=title,
        of_data=_data_title(recordings),
        judgments=sum(int(table.counted.sum()) for table in judged),
        sections=list(_sections(bool(cells), bool(side_tables), bool(parts["maps"]), own_sections, bool(statements))),
        own_sections=[(section, run_grids(section), section_tables(section), reliability_figures(section)) for section in own_sections],
        numeric=any(cell.continuous for cell in comparison.cells),
        warnings=[note for note in comparison.notes if note not in comparison.warnings],
        must_know=comparison.warnings,
        versus=" = ".join(options.versus) if options.versus else "",
        **parts,
        first=first,
        side_tables=side_tables,
        numbers=comparison_table(comparison, comparison.cells, first_keys=("language",) if languages - {POOLED} else ()),
        statements=statements,
        command=command,
        signature=comparison.signature,
        ci_method=comparison.ci_method,
        browsed=data,
    )
    page_title = f"{' and '.join(names)}: {first.title}" if first else title
    return shell(page_title, body, scripts=SCRIPTS, data={"items-data": data})


def _data_title(recordings: Sequence[Recording]) -> str:
    """Return the name of each data set, with the title that its card has."""
    titles = {recording.name: recording.data.about.title for recording in recordings}

    def letters(text: str) -> str:
        return "".join(filter(str.isalnum, text.casefold()))

    titles_with_names = (
        title if letters(title).startswith(letters(name)) else f"{name}{title and f': {title}'}" for name, title in titles.items()
    )
    return " · ".join(titles_with_names)


def _judged_cells(
    cells: Sequence[Cell], verdicts: Sequence[Verdict], recordings: Sequence[Recording], options: MeasureOptions
) -> Iterator[JudgedCells]:
    """Yield the answers of every source, as a run's report has them."""
    sides = sides_of(cells)
    for recording in recordings:
        source_cells = [cell for cell in cells if cell.key.get("source", recording.name) == recording.name]
        decided = [verdict for verdict in verdicts if verdict.key.get("source", recording.name) == recording.name]
        constructed = recording.data.about.source == "constructed"
        for summary in summaries(source_cells, pooled_differences(recording, options) if source_cells else {}):
            mine = tuple(cell for cell in source_cells if belongs(cell, summary))
            name = side_name(side_of(mine[0].key), sides)
            judge_verdicts = tuple(verdict for verdict in decided if belongs(verdict, summary))
            yield JudgedCells(summary, judge_verdicts, mine, name, name if len(sides) > 1 else "", constructed)


def _sections(
    answers: bool, side_by_side: bool, maps: bool, study_sections: Sequence[ShownSection], stated: bool
) -> Iterator[tuple[str, str]]:
    yield "items", "Every judgment"
    if answers:
        yield "answer", "Language by language"
    if side_by_side:
        yield "sides", "Side by side"
    if maps:
        yield "grid", "Agreement"
    yield from ((section.name, section.title) for section in study_sections)
    yield "numbers", "All numbers"
    if stated:
        yield "people", "Who labelled"
    yield "about", "About these data"
    yield "again", "Reproduce this page"


def _side_tables(cells: Sequence[Cell]) -> Iterator[_SideTable]:
    """Yield a table for each language."""
    sides = sides_of(cells)
    keys = tuple(distinguishing_keys([{name: value for name, value in cell.key.items() if name not in SIDE} for cell in cells]))
    for language in languages_of(cells):
        language_cells = [cell for cell in cells if cell["language"] == language]
        own_sides = [side for side in sides if any(side_of(cell.key) == side for cell in language_cells)]
        rows: dict[tuple[str, ...], dict[Side, Cell]] = {}
        for cell in language_cells:
            rows.setdefault(tuple(key_text(name, cell.key[name]) for name in keys), {})[side_of(cell.key)] = cell
        titled = []
        for names, by_side in rows.items():
            squares = tuple(_square(by_side[side]) if side in by_side else None for side in own_sides)
            titled.append((names, max(cell.n_ref for cell in by_side.values()), squares))
        yield _SideTable(language, keys, tuple(side_name(side, sides) for side in own_sides), tuple(titled))


def _square(cell: Cell) -> _ComparedSquare:
    if cell.continuous:
        value, least, number, drawn = cell["kendall_tau"], -2.0, correlation_words(cell), correlation_figure(cell)
    else:
        value, least, drawn = cell["pa_failed_wrong"], -1.0, agreement_figure(cell, "")
        number = percent(value, cell["pa_failed_wrong_ci"])
    value = least if value is None else value
    if not cell.versus:
        return _ComparedSquare(number, value, drawn, "", "")
    change = (coefficient if cell.continuous else difference)(cell.versus["diff"], cell.versus["ci"])
    return _ComparedSquare(number, value, drawn, change, interval_sign(cell.versus["ci"]))
