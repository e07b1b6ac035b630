"""Sections of a report and reviews of reasons as terminal tables."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console, Group, RenderableType
from rich.text import Text

from harness.annotate.reviews import ReviewSummary
from harness.content.tags import english_name
from harness.render.fitted_table import FittedTable
from harness.render.terminal import dim_lines, print_whole, table_heading
from harness.reports.sections.section import SectionNumbers
from harness.reports.sections.section_registry import all_sections
from harness.reports.shown_sections import sections_legend, shown_sections
from harness.reports.tables.column import Row, TableName
from harness.reports.tables.columns import columns_in
from harness.reports.tables.text_table import TextTable, tabulate, varying_keys


def render_sections(sections: Mapping[str, SectionNumbers]) -> RenderableType:
    """Return the sections for a terminal."""
    parts: list[RenderableType] = []
    shown_list = shown_sections(sections)
    for section in shown_list:
        parts += [table_heading(section.title), Text(section.text)]
        for table in section.tables:
            parts += [*(Text(line, style="dim") for line in (table.shared, table.no_result) if line), FittedTable(table)]
    if legend := sections_legend(shown_list):
        parts.append(dim_lines(legend))
    return Group(*parts)


def print_sections(sections: Mapping[str, SectionNumbers], console: Console | None = None) -> None:
    """Print the sections of a run that asked under several conditions; nothing for any other run."""
    variants = {row["variant"] for row in sections.get("variants", {}).get("rows", ())}
    if len(variants) > 1 or set(sections) - {section.name for section in all_sections() if section.in_every_run}:
        print_whole(lambda width: render_sections(sections), console=console)


def review_table(summary: ReviewSummary) -> TextTable:
    """One row for each language, metric and judge: all reviews, then those by people's own score."""
    rows: list[Row] = []
    for cell in summary.cells:
        reasons = {name.replace("_", " "): count for name, count in cell.reasons.items()}
        columns = {name: getattr(cell, name) for name in ("metric", "judge", "people", "texts", "agree", "agree_ci", "partly", "disagree")}
        rows.append(columns | {"language": english_name(cell.language), "reviews": cell.n, "reasons": reasons or None})
    keys = ("language", "metric", *varying_keys(rows, ("judge",)))
    return tabulate(rows, columns_in(TableName.REVIEWS), keys)


def render_reviews(summary: ReviewSummary) -> RenderableType:
    """Return the table and what its headings mean."""
    table = review_table(summary)
    return Group(FittedTable(table), dim_lines(table.legend))
