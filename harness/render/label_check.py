"""Render a check of people's labels without a judge, on the terminal: numbers by language, then annotators and texts that deserve
a look.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from harness.annotate.labelcheck import BY, LabelCheck
from harness.content.tags import english_name
from harness.measure.options import POOLED
from harness.render.comparison import distinguishing_keys, language_name
from harness.render.fitted_table import FittedTable
from harness.render.terminal import dim_lines, legend_of, table_heading
from harness.reports.answer_parts import joined
from harness.reports.tables.column import EMPTY, TableName
from harness.reports.tables.columns import columns_in
from harness.reports.tables.numbers import UNDEFINED, coefficient, percent
from harness.reports.tables.text_table import Heading, TextTable, key_text, tabulate
from harness.text import quoted, terminal_safe

_FEW_EXAMPLES, _MOST_EXAMPLES = 3, 8  # of what is odd in a label set


def render_label_check(check: LabelCheck, *, all_numbers: bool = False) -> RenderableType:
    """Return a first sentence, a row for each cell, and what deserves a look; with `all_numbers` all coefficients, their meaning and the
    notes of the data.
    """
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
        cells = {(row["annotator"], row["system"]): _mean(row) for row in rows}
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


def _mean(row: Mapping[str, Any]) -> str:
    spread = "" if row["sd"] is None else f" ± {row['sd']:.2f}"
    return f"{row['mean']:.2f}{spread} ({row['n']:,})"


def _agreement_sentence(check: LabelCheck) -> str:
    """Return where two people agree most and least often, or that no text has the labels of two."""
    measured = sorted((cell for cell in check.cells if cell["human_pa"] is not None), key=lambda cell: -cell["human_pa"])
    if not measured:
        second = any(cell.get("second_ratings") for cell in check.cells)
        unknown_words = (
            "how far people agree is known only of texts that were scored a second time" if second else "how far people agree is not known"
        )
        return f"No text has labels by two people, so {unknown_words}."
    shares = [f"{percent(cell['human_pa'])} for {_place(cell)}" for cell in (measured[0], measured[-1])]
    if len(measured) == 1:
        return f"Two people give the same score to a text in {shares[0]}."
    return f"Two people give the same score to a text in {shares[0]} (the most) down to {shares[1]} (the least)."


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
