"""Comparisons and label checks as terminal tables: a judge beside people, cell by cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from harness.content.tags import both_names, english_name
from harness.measure.cells import Cell
from harness.measure.compare import Comparison
from harness.measure.options import POOLED
from harness.model import SIDE
from harness.render.fitted_table import PIPE_WIDTH, FittedTable
from harness.render.terminal import dim_lines, legend_of, print_whole, render_answer, render_sections, render_verdicts, table_heading
from harness.render.verdict_text import two_people_sentence
from harness.reports.answer.judged_sides import side_text
from harness.reports.answer.parts import joined
from harness.reports.comparison import DecidedComparison
from harness.reports.tables.columns import EMPTY, Row, TableName, columns_in
from harness.reports.tables.numbers import UNDEFINED, coefficient, percent
from harness.reports.tables.text_table import Heading, TextTable, cell_row, key_text, tabulate, varying_keys
from harness.text import quoted, terminal_safe

if TYPE_CHECKING:
    from harness.annotate.label_check import LabelCheck


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
    pooled = any(POOLED in (key["language"], key["metric"]) for key in comparison.keys)  # another question than that of verdicts
    decided = comparison if isinstance(comparison, DecidedComparison) and comparison.verdicts and not pooled else None
    answer = render_answer(decided.verdicts, decided.pages, width) if decided else []
    verdicts = [*_verdicts(decided, width, all_rows or full)] if decided else []
    statistics = [*_statistics(comparison, distributions)] if full or not verdicts else []
    lines = comparison.notes if notes or not verdicts else comparison.warnings
    said = [dim_lines(map(terminal_safe, lines))] if lines else []
    # who judged, and how, where all cells share it: `gpt-4o, single, temperature 0`; nothing for several judges
    values = {name: {key.get(name) for key in comparison.keys} for name in SIDE}
    shared = {name: next(iter(distinct)) for name, distinct in values.items() if len(distinct) == 1 and POOLED not in distinct}
    heading = [Text(side_text(shared), style="bold")] if shared.get("judge") else []
    return Group(*answer, *heading, *verdicts, *statistics, *said)


def _statistics(comparison: Comparison, distributions: bool) -> Iterator[RenderableType]:
    """Yield all cells, language by language, then the sections."""
    tables = []
    for language, table in language_tables(comparison):
        tables.append(table)
        yield from (table_heading(language_name(language)), FittedTable(table))
        if distributions:
            # class shares of labels and judge where three annotators agree fully, partly, not at all
            rows: list[Row] = [
                {**cell.key, "level": level, "items": shares["items"], "labels": shares["labels"], "given": shares["judge"]}
                for cell in comparison.cells
                if cell.key["language"] == language
                for level, shares in (cell.distribution_by_agreement or {}).items()
            ]
            tables.append(
                tabulate(rows, columns_in(TableName.AGREEMENT_LEVELS), distinguishing_keys([cell.key for cell in comparison.cells]))
            )
            yield from (Text(""), FittedTable(tables[-1], title="class shares by agreement"))
    yield dim_lines(legend_of(tables))
    if isinstance(comparison, DecidedComparison):
        yield from (render_sections({"pairs": section}) for section in comparison.pairs)
        yield from (render_sections(comparison.sections),) if comparison.sections else ()
        if comparison.acceptance is None:  # neither was asked for
            return
        from harness.correction.probabilities import NO_PROBABILITIES
        from harness.decide.language_comparisons import language_notes
        from harness.render.decisions import languages_table
        from harness.reports.sections.probabilities import NAME as PROBABILITIES

        table = languages_table(comparison.languages)
        yield from (table_heading("Across languages"), FittedTable(table)) if table.rows else ()
        lacking = [] if PROBABILITIES in comparison.sections else [f"Probabilities: {NO_PROBABILITIES}."]
        notes = [*language_notes(comparison.languages), *lacking]
        yield dim_lines(legend_of([table]) | dict.fromkeys(map(terminal_safe, notes)))


def _verdicts(comparison: DecidedComparison, width: int, all_rows: bool) -> Iterator[RenderableType]:
    """Yield what each judge may be used for."""
    yield from render_verdicts(comparison.verdicts, width, all_rows=all_rows)
    if all_rows and comparison.alternative_annotators:
        from harness.render.decisions import annotator_pooling_table

        table = annotator_pooling_table(comparison.alternative_annotators)
        yield from (table_heading("Alternative annotator test by task"), FittedTable(table), dim_lines(table.legend))
    if comparison.second_ratings and (two_people := two_people_sentence(comparison.cells)):
        yield Text(f"\n{two_people}")


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


def show(body: Callable[[int], RenderableType], closing: str, console: Console | None = None) -> None:
    """Print to stdout what `body` makes for the width of the terminal, and a last line that is not broken."""
    print_whole(body, [closing], console)


_FEW_EXAMPLES, _MOST_EXAMPLES = 3, 8  # of what is odd in a label set


def render_label_check(check: LabelCheck, *, all_numbers: bool = False) -> RenderableType:
    """Return a first sentence, a row for each cell, and what deserves a look; with `all_numbers` all coefficients, their meaning and the
    notes of the data.
    """
    from harness.annotate.label_check import BY  # late: a comparison needs no label check

    names = [n for n in check.cells[0] if n in BY or (n not in _NOT_KEYS and not n.startswith(("human_", "mean_", "sd_")))]
    keys = distinguishing_keys([{name: cell[name] for name in names} for cell in check.cells])
    first = Text(terminal_safe(" ".join((_agreement_sentence(check), _findings_sentence(check)))), style="bold")
    to_check = Text("\n" + "\n".join(map(terminal_safe, _labels_to_check(check, _MOST_EXAMPLES if all_numbers else _FEW_EXAMPLES))))
    means = [part for table in _means_tables(check) for part in table]
    if not all_numbers:
        return Group(first, Text(""), FittedTable(_short_table(check, keys)), *means, to_check)
    tables = {}
    for language in dict.fromkeys(cell["language"] for cell in check.cells):
        cells = [cell for cell in check.cells if cell["language"] == language]
        tables[language] = tabulate(cells, columns_in(TableName.LABELS), keys, shown_in=check.cells)
    parts = [part for tag, table in tables.items() for part in (table_heading(language_name(tag)), FittedTable(table))]
    return Group(first, *parts, *means, to_check, dim_lines([*legend_of(tables.values()), *map(terminal_safe, check.notes)]))


_MOST_COLUMNS = 4  # systems that stand side by side


def _means_tables(check: LabelCheck) -> Iterator[tuple[RenderableType, FittedTable]]:
    """Yield a table of means by annotator and system for each language, task and metric: `3.52 ± 0.98 (40)`, annotators below each other.

    With more than four systems, or one annotator, systems stand below each other.
    """
    for key in dict.fromkeys((row["language"], row["task"], row["metric"]) for row in check.means):
        rows = [row for row in check.means if (row["language"], row["task"], row["metric"]) == key]
        systems, people = (list(dict.fromkeys(row[name] for row in rows)) for name in ("system", "annotator"))
        cells = {}
        for row in rows:
            spread = "" if row["sd"] is None else f" ± {row['sd']:.2f}"
            cells[row["annotator"], row["system"]] = f"{row['mean']:.2f}{spread} ({row['n']:,})"
        across = len(systems) <= _MOST_COLUMNS and len(people) > 1
        lines = [
            (_person(first), *(cells.get((first, second), UNDEFINED) for second in systems))
            if across
            else (first, *(cells.get((second, first), UNDEFINED) for second in people))
            for first in (people if across else systems)
        ]
        names = ("annotator", *systems) if across else ("system", *map(_person, people))
        headings = (Heading(names[0], names[0], key=True), *(Heading(name, name, number=True) for name in names[1:]))
        title = f"{key_text('metric', key[2])} in {language_name(key[0])}: mean ± standard deviation (labels)"
        yield table_heading(title), FittedTable(TextTable(headings, tuple(lines)))


def _person(name: str) -> str:
    return "all people" if name == POOLED else name


def _agreement_sentence(check: LabelCheck) -> str:
    """Return where two people agree most and least often, of numbers most and least closely, or that no text has the labels of two."""
    measured = sorted((cell for cell in check.cells if cell["human_pa"] is not None), key=lambda cell: -cell["human_pa"])
    graded = [cell for cell in check.cells if cell.get("human_alpha_interval") is not None]
    if not measured and graded:
        graded.sort(key=lambda cell: -cell["human_alpha_interval"])
        ends = [f"α {coefficient(cell['human_alpha_interval'])} for {_place(cell)}" for cell in (graded[0], graded[-1])]
        range_words = ends[0] if len(graded) == 1 else f"{ends[0]} (the most) down to {ends[1]} (the least)"
        return f"Two people's numbers go together with {range_words}."
    if not measured:
        second = any(cell.get("second_ratings") for cell in check.cells)
        unknown_words = (
            "how far people agree is known only of texts that were scored a second time" if second else "how far people agree is not known"
        )
        return f"No text has labels by two people, so {unknown_words}."
    if len(measured) == 1:
        return f"Two people give the same score to {percent(measured[0]['human_pa'])} of texts ({_place(measured[0])})."
    shares = [f"{percent(cell['human_pa'])} ({_place(cell)})" for cell in (measured[-1], measured[0])]
    return f"Two people give the same score to between {shares[0]} and {shares[1]} of texts."


def _place(cell: Mapping[str, Any]) -> str:
    return f"{key_text('metric', cell['metric'])} in {english_name(cell['language'])}"


def _findings_sentence(check: LabelCheck) -> str:
    """Return how much deserves a look, in numbers."""
    counts = {
        "remark on annotators": len(check.flagged),
        "text that occurs more than once": len(check.duplicates),
        "text in another language": len(check.misplaced),
        "language under several codes": len(check.language_codes),
    }
    words = {
        "remark on annotators": "remarks on annotators",
        "text that occurs more than once": "texts that occur more than once",
        "text in another language": "texts in another language",
        "language under several codes": "languages under several codes",
    }
    odd = [f"{count:,} {what if count == 1 else words[what]}" for what, count in counts.items() if count]
    return f"To look at: {joined(odd)}." if odd else "Nothing looks odd."


def _short_table(check: LabelCheck, keys: Sequence[str]) -> TextTable:
    """Return a row for each cell: its texts, how many people scored each, and how far they agree."""
    several = len({cell["language"] for cell in check.cells}) > 1
    names = [*(["language"] if several else []), *keys]
    headings = [Heading(name, name.replace("_", " "), key=True) for name in names]
    headings += [
        Heading("texts", "texts", number=True),
        Heading("people", "people a text", number=True),
        Heading("agree", "two people agree", number=True),
        Heading("alpha", "α", number=True),
        Heading("even", "split evenly", number=True),
    ]
    second = [column for column in columns_in(TableName.LABELS) if column.name in _SECOND]
    headings += [Heading(column.name, column.heading, number=True) for column in second]
    rows = []
    for cell in check.cells:
        raters = [int(times) for times in cell["raters"]]
        alpha = next((cell[name] for name in _ALPHAS if cell.get(name) is not None), None)
        rows.append(
            (
                *(english_name(cell[name]) if name == "language" else key_text(name, cell[name]) for name in names),
                f"{cell['labelled']:,}",
                "" if not raters else str(raters[0]) if len(raters) == 1 else f"{min(raters)}–{max(raters)}",
                percent(cell["human_pa"]),
                coefficient(alpha),
                f"{cell['no_majority']:,}" if cell["no_majority"] else "",
                *(column.cell_text(cell, ()) for column in second),
            )
        )
    used = [n for n, heading in enumerate(headings) if heading.key or any(row[n] not in EMPTY for row in rows)]
    return TextTable(tuple(headings[n] for n in used), tuple(tuple(row[n] for n in used) for row in rows))


_SECOND = ("second_ratings", "second_spans")
_ALPHAS = ("human_alpha_ordinal", "human_alpha_interval", "human_alpha_nominal")
_NOT_KEYS = {
    *("items", "labelled", "coverage", "labels", "raters", "annotators", "no_majority", "groups", "few_rare_cases"),
    *("distribution_labels", "pairs", "undefined", "variance_shares", "second_ratings", "second_spans"),
    *("icc", "icc_mean", "icc_crossed", "icc_crossed_mean"),
    *("icc_ci", "icc_mean_ci", "icc_crossed_ci", "icc_crossed_mean_ci"),
}


def _labels_to_check(check: LabelCheck, most: int) -> Iterator[str]:
    """Yield what deserves a look: annotators, then texts; of each kind at most so many."""
    examples = {
        "annotators": [f"annotator {e['annotator']}: {e['why']} ({_place(e)}, {e['n']} items)" for e in check.flagged],
        "repeated texts": [f"the same text: {', '.join(ids)}" for ids in check.duplicates],
        "languages under several codes": [
            f"{quoted(codes)} are codes of one language, {english_name(codes[0])}, and are compared as several; write one of them"
            for codes in check.language_codes
        ],
        "texts in another language": [f"{text.item_id}: says {text.stated}, looks like {text.found}" for text in check.misplaced],
    }
    for what, lines in examples.items():
        yield from (f"- {line}" for line in lines[:most])
        if len(lines) > most:
            yield f"… and {len(lines) - most} more {what} (--json has all)"
    if check.texts_identified:
        yield f"{len(check.misplaced):,} of {check.texts_identified:,} texts look like another language than they say."
    if check.languages_unknown:
        yield f"The language of texts in {', '.join(check.languages_unknown)} was not checked: the language identifier does not know it."
