"""Render a check of people's labels without a judge, on the terminal: numbers by language, then annotators and texts that deserve
a look.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from harness.annotate.checks.labelcheck import BY, LabelCheck
from harness.render.comparison import distinguishing_keys, language_name
from harness.render.fitted_table import FittedTable
from harness.render.terminal import dim_lines, legend_of, table_heading
from harness.reports.tables.column import TableName
from harness.reports.tables.columns import columns_in
from harness.reports.tables.text_table import tabulate
from harness.text import terminal_safe

_MOST_EXAMPLES = 8  # of what is odd in a label set


def render_label_check(check: LabelCheck) -> RenderableType:
    """Cells language by language, then what deserves a look."""
    names = [n for n in check.cells[0] if n in BY or (n not in _NOT_KEYS and not n.startswith(("human_", "mean_", "sd_")))]
    keys = distinguishing_keys([{name: cell[name] for name in names} for cell in check.cells])
    tables = {}
    for language in dict.fromkeys(cell["language"] for cell in check.cells):
        cells = [cell for cell in check.cells if cell["language"] == language]
        tables[language] = tabulate(cells, columns_in(TableName.LABELS), keys, shown_in=check.cells)
    parts = [part for tag, table in tables.items() for part in (table_heading(language_name(tag)), FittedTable(table))]
    lines = [*_labels_to_check(check), *(f"note: {note}" for note in check.notes)]
    return Group(*parts, Text("\n" + "\n".join(map(terminal_safe, lines))), dim_lines(legend_of(tables.values())))


_NOT_KEYS = {
    *("items", "labelled", "coverage", "labels", "raters", "annotators", "no_majority", "groups", "few_rare_cases"),
    *("distribution_labels", "pairs", "undefined", "variance_shares", "second_ratings", "second_spans"),
    *("icc", "icc_mean", "icc_crossed", "icc_crossed_mean"),
    *("icc_ci", "icc_mean_ci", "icc_crossed_ci", "icc_crossed_mean_ci"),
}


def _labels_to_check(check: LabelCheck) -> Iterator[str]:
    """Yield what deserves a look: annotators, then texts."""
    examples = {
        "annotators": [f"annotator {e['annotator']} {e['why']}: {e['language']}, {e['metric']}, {e['n']} items" for e in check.flagged],
        "repeated texts": [f"the same text: {', '.join(ids)}" for ids in check.duplicates],
        "texts in another language": [f"{text.item_id}: says {text.stated}, looks like {text.found}" for text in check.misplaced],
    }
    for what, lines in examples.items():
        yield from lines[:_MOST_EXAMPLES]
        if len(lines) > _MOST_EXAMPLES:
            yield f"… and {len(lines) - _MOST_EXAMPLES} more {what} (--json has all)"
    yield f"{len(check.misplaced)} of {check.texts_identified} texts look like another language than they say"
    if check.languages_unknown:
        yield f"not checked, because the language identifier does not know them: {', '.join(check.languages_unknown)}"
