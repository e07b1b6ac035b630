"""Comparisons and label checks as terminal tables: a judge beside people, cell by cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from harness.content.tags import both_names
from harness.measure.cells import Cell
from harness.measure.compare import Comparison
from harness.measure.options import POOLED
from harness.model import SIDE
from harness.render.fitted_table import PIPE_WIDTH, FittedTable
from harness.render.human_agreement import two_people_sentence
from harness.render.terminal import dim_lines, legend_of, print_whole, render_answer, render_verdicts, table_heading
from harness.render.verdicts import side_text
from harness.reports.comparison import DecidedComparison
from harness.reports.sections.probabilities import NAME as PROBABILITIES
from harness.reports.tables.column import Row, TableName
from harness.reports.tables.columns import columns_in
from harness.reports.tables.text_table import TextTable, cell_row, tabulate, varying_keys
from harness.text import terminal_safe


def render_comparison(
    comparison: Comparison,
    full: bool = False,
    distributions: bool = False,
    width: int = PIPE_WIDTH,
    *,
    all_rows: bool = False,
    notes: bool = False,
) -> RenderableType:
    """Return the answer and the verdicts; with `full`, and where there are no verdicts, also the statistics of all cells and the sections.

    With `all_rows` all verdicts are shown, and what the headings mean. With `distributions` the statistics have the class shares by
    agreement of the annotators. With `notes`, and where there are no verdicts, what the data say about themselves.
    """
    pooled = any(POOLED in (cell["language"], cell["metric"]) for cell in comparison.cells)  # another question than that of verdicts
    decided = comparison if isinstance(comparison, DecidedComparison) and comparison.verdicts and not pooled else None
    answer = render_answer(decided.verdicts, decided.pages, width) if decided else []
    verdicts = [*_verdicts(decided, width, all_rows or full)] if decided else []
    statistics = [*_statistics(comparison, distributions)] if full or not verdicts else []
    lines = comparison.notes if notes or not verdicts else comparison.warnings
    said = [dim_lines(map(terminal_safe, lines))] if lines else []
    return Group(*answer, *_heading(comparison), *verdicts, *statistics, *said)


def _statistics(comparison: Comparison, distributions: bool) -> Iterator[RenderableType]:
    """Yield all cells, language by language, then the sections."""
    tables = []
    for language, table in language_tables(comparison):
        tables.append(table)
        yield from (table_heading(language_name(language)), FittedTable(table))
        if distributions:
            tables.append(_shares_by_agreement(comparison, language))
            yield from (Text(""), FittedTable(tables[-1], title="class shares by agreement"))
    yield dim_lines(legend_of(tables))
    if isinstance(comparison, DecidedComparison):
        from harness.render.sections import render_sections  # late, like all that the answer does not show

        yield from (render_sections({"pairs": section}) for section in comparison.pairs)
        yield from (render_sections(comparison.sections),) if comparison.sections else ()
        yield from _beside_verdicts(comparison)


def _heading(comparison: Comparison) -> Iterator[RenderableType]:
    """Who judged, and how, where all cells share it: `gpt-4o, single, temperature 0`; nothing for several judges."""
    values = {name: {cell.key.get(name) for cell in comparison.cells} for name in SIDE}
    shared = {name: next(iter(distinct)) for name, distinct in values.items() if len(distinct) == 1 and POOLED not in distinct}
    if shared.get("judge"):
        yield Text(side_text(shared), style="bold")


def _verdicts(comparison: DecidedComparison, width: int, all_rows: bool) -> Iterator[RenderableType]:
    """Yield what each judge may be used for."""
    yield from render_verdicts(comparison.verdicts, width, all_rows=all_rows)
    if comparison.alternative_annotators and all_rows:
        from harness.render.decisions import annotator_pooling_table

        table = annotator_pooling_table(comparison.alternative_annotators)
        yield from (table_heading("Alternative annotator test by task"), FittedTable(table), dim_lines(table.legend))
    if two_people := two_people_sentence(comparison.cells):
        yield Text(f"\n{two_people}")


def _beside_verdicts(comparison: DecidedComparison) -> Iterator[RenderableType]:
    """Yield languages side by side, where they were asked for; where no judge has probabilities, how to get them."""
    if comparison.acceptance is None:
        return
    from harness.correction.probabilities import NO_PROBABILITIES
    from harness.decide.languages import language_notes
    from harness.render.decisions import languages_table

    table = languages_table(comparison.languages)
    yield from (table_heading("Across languages"), FittedTable(table)) if table.rows else ()
    lacking = [] if PROBABILITIES in comparison.sections else [f"Probabilities: {NO_PROBABILITIES}."]
    notes = [*language_notes(comparison.languages), *lacking]
    yield dim_lines(legend_of([table]) | dict.fromkeys(map(terminal_safe, notes)))


def language_tables(comparison: Comparison) -> Iterator[tuple[Any, TextTable]]:
    """Each language of a comparison with the table of its cells."""
    for language in dict.fromkeys(cell.key["language"] for cell in comparison.cells):
        yield language, comparison_table(comparison, [cell for cell in comparison.cells if cell.key["language"] == language])


def comparison_table(comparison: Comparison, cells: Sequence[Cell], *, first_keys: Sequence[str] = ()) -> TextTable:
    """Some cells of a comparison as text, with the columns that say something of any of its cells."""
    name = TableName.SYSTEMS if comparison.level == "system" else TableName.COMPARISON
    keys = (*first_keys, *distinguishing_keys([cell.key for cell in comparison.cells]))
    rows = [cell_row(cell) for cell in comparison.cells]
    return tabulate([cell_row(cell) for cell in cells], columns_in(name), keys, tables=(name,), shown_in=rows)


def distinguishing_keys(keys: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the keys that differ between cells, without the language; the metric always."""
    varying = varying_keys(keys, keys[0]) if keys else []
    return [name for name in (keys[0] if keys else ()) if name != "language" and (name == "metric" or name in varying)]


def language_name(language: Any) -> str:
    """Return a language in English and by its own name; `All languages` where they are pooled."""
    is_language = isinstance(language, str) and language != POOLED
    return terminal_safe(both_names(language)) if is_language else "All languages"


def _shares_by_agreement(comparison: Comparison, language: Any) -> TextTable:
    """Class shares of labels and judge where three annotators agree fully, partly, not at all."""
    rows: list[Row] = [
        {**cell.key, "level": level, "items": shares["items"], "labels": shares["labels"], "given": shares["judge"]}
        for cell in comparison.cells
        if cell.key["language"] == language
        for level, shares in (cell.distribution_by_agreement or {}).items()
    ]
    return tabulate(rows, columns_in(TableName.AGREEMENT_LEVELS), distinguishing_keys([cell.key for cell in comparison.cells]))


def show(body: Callable[[int], RenderableType], closing: str, console: Console | None = None) -> None:
    """Print to stdout what `body` makes for the width of the terminal, and a last line that is not broken."""
    print_whole(body, [closing], console)
