"""Corrected numbers, automatic acceptance and maps to people's scores as terminal tables, language by language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from harness.content.tags import both_names
from harness.correction.acceptance import Acceptances
from harness.correction.calibrate import Calibrated
from harness.correction.correct import Corrected, CorrectedNumber
from harness.model import SIDE
from harness.render.fitted_table import FittedTable
from harness.render.terminal import dim_lines, legend_of, table_heading
from harness.reports.sections.calibrated_scores import NAME, calibrated_section
from harness.reports.shown_sections import shown_sections
from harness.reports.tables.column import Row, TableName
from harness.reports.tables.columns import columns_in
from harness.reports.tables.text_table import key_text, tabulate, varying_keys
from harness.text import terminal_safe


def render_corrected(corrected: Corrected) -> RenderableType:
    """All numbers; a difference stands in the row of its first system, `one − other`."""
    rows = [_corrected_row(number) for number in corrected.numbers]
    names = [name for name in corrected.numbers[0].key if name not in ("language", "metric", *SIDE)]
    keys = (*varying_keys(rows, SIDE), "metric", *(name for name in names if any(row[name] is not None for row in rows)))
    keys = (*keys, *(["class"] if any(row["class"] is not None for row in rows) else []))
    return _tables(rows, keys, TableName.CORRECTED, corrected.notes)


def _corrected_row(number: CorrectedNumber) -> dict[str, Any]:
    row = number.flat() | {"class": number.share_of}
    if number.versus is not None:
        key, subtracted = number.versus
        row[key] = f"{number.key[key]} − {subtracted}"
    return row


def render_acceptance(found: Acceptances) -> RenderableType:
    """All thresholds; that nothing is certified is said in words."""
    rows = [threshold.flat() for threshold in found.thresholds]
    return _tables(rows, (*varying_keys(rows, SIDE), "metric"), TableName.ACCEPTANCE, found.notes)


def render_calibrated(found: Calibrated) -> RenderableType:
    """Every metric with its finding, its tables, and below all of them what their headings mean."""
    parts: list[RenderableType] = []
    legend: dict[str, None] = {}
    for metric in found.metrics:
        [shown] = shown_sections({NAME: calibrated_section([metric])})
        name, judge = (str(metric.key[key]) for key in ("metric", "judge"))
        parts += [table_heading(f"{name.replace('_', ' ')}, {judge}: {metric.method}"), Text(shown.text.partition("not seen. ")[2])]
        for table in shown.tables:
            title, titled, _ = table.shared.partition(": ")
            parts += [Text(f"\n{title}" if titled else "", style="italic"), FittedTable(table)]
        legend |= dict.fromkeys(shown.legend)
    promise = f"{found.promise[0].upper()}{found.promise[1:]}."
    return Group(*parts, dim_lines((*legend, promise, *map(terminal_safe, found.notes))))


def _tables(rows: Sequence[Row], keys: Sequence[str], name: TableName, notes: Sequence[str]) -> RenderableType:
    parts: list[RenderableType] = []
    tables = []
    for language in dict.fromkeys(row["language"] for row in rows):
        own = [row for row in rows if row["language"] == language]
        tables.append(tabulate(own, columns_in(name), keys, tables=(name,), shown_in=rows))
        title = both_names(language) if language else key_text("language", language)
        parts += [table_heading(title), FittedTable(tables[-1], sentences=("borrowed", "reason"))]
    return Group(*parts, dim_lines((*legend_of(tables), *map(terminal_safe, notes))))
