"""People's answers to a judge's reasons, in the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType

from harness.annotate.checks.review_agreement import ReviewSummary
from harness.content.tags import english_name
from harness.render.fitted_table import FittedTable
from harness.render.terminal import dim_lines
from harness.reports.tables.column import Row, TableName
from harness.reports.tables.columns import columns_in
from harness.reports.tables.text_table import TextTable, tabulate, varying_keys

_SIDE = {"judge": None}


def review_table(summary: ReviewSummary) -> TextTable:
    """One row for each language, metric and judge: all reviews, then those by people's own score."""
    rows: list[Row] = []
    for cell in summary.cells:
        reasons = {name.replace("_", " "): count for name, count in cell.reasons.items()}
        own = {name: getattr(cell, name) for name in ("metric", "judge", "people", "texts", "agree", "agree_ci", "partly", "disagree")}
        rows.append(own | {"language": english_name(cell.language), "reviews": cell.n, "reasons": reasons or None})
    keys = ("language", "metric", *varying_keys(rows, _SIDE))
    return tabulate(rows, columns_in(TableName.REVIEWS), keys)


def render_reviews(summary: ReviewSummary) -> RenderableType:
    """The table and what its headings mean."""
    table = review_table(summary)
    return Group(FittedTable(table), dim_lines(table.legend))
