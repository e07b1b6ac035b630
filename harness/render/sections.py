"""Sections of a report, the study of own texts and reviews of reasons as terminal tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from harness.annotate.checks.review_agreement import ReviewSummary
from harness.content.tags import english_name
from harness.render.fitted_table import FittedTable
from harness.render.terminal import dim_lines, legend_of, print_whole, table_heading
from harness.reports.sections.section import Found
from harness.reports.sections.section_registry import SECTIONS
from harness.reports.sections.self_preference import SelfPreference, pair_rows
from harness.reports.sections.self_preference_choices import MUTUAL_PREFERENCE, OWN_PAIRS, OWN_SCORES
from harness.reports.shown_sections import sections_legend, shown_sections
from harness.reports.tables.column import Row, TableName
from harness.reports.tables.columns import columns_in
from harness.reports.tables.numbers import coefficient
from harness.reports.tables.text_table import TextTable, tabulate, varying_keys
from harness.text import terminal_safe

_PART = ("language", "dataset")


def render_sections(sections: Mapping[str, Found]) -> RenderableType:
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


def print_sections(sections: Mapping[str, Found], console: Console | None = None) -> None:
    """Print the sections of a run that asked under several conditions; nothing for any other run."""
    variants = {row["variant"] for row in sections.get("variants", {}).get("rows", ())}
    if len(variants) > 1 or set(sections) - {section.name for section in SECTIONS if section.in_every_run}:
        print_whole(lambda width: render_sections(sections), console=console)


def render_self_preference(preference: SelfPreference) -> RenderableType:
    """Pairs first (all sources, then each source), then single outputs, mutual preferences, the line and what the columns mean."""
    data = preference.as_json()
    parts: list[RenderableType] = []
    tables = []
    mutual = [{**row, "judges": " + ".join(row["judges"])} for row in data["mutual"]]
    for title, columns, keys, rows in (
        ("Its own output beside another one", OWN_PAIRS, ("judge", "source"), pair_rows(data)),
        ("Scores of single outputs", OWN_SCORES, ("judge", "metric", "source"), data["individual"]),
        ("Judges that prefer themselves", MUTUAL_PREFERENCE, ("judges",), mutual),
    ):
        if rows:
            tables.append(tabulate(rows, columns, (*varying_keys(rows, _PART), *keys)))
            parts += [Text(f"\n{title}", style="bold"), FittedTable(tables[-1])]
    return Group(*parts, dim_lines((*_line(data), *_undefined(data), *legend_of(tables))))


def _undefined(data: dict[str, Any]) -> Iterable[str]:
    """Yield why a number of the tables is undefined, one line a number; intervals have no line of their own."""
    for name in ("pairwise", "kendall_tau", "individual", "mutual"):
        for row in data[name]:
            for number, why in row["undefined"].items():
                if not number.endswith("_ci"):
                    where = ", ".join(str(row[key]) for key in ("judge", *_PART, "source", "question") if row.get(key))
                    yield terminal_safe(f"– {number} of {where}: {why}.")


def _line(data: dict[str, Any]) -> list[str]:
    line = data["line"]
    if line is None:
        return []
    if line["slope"] is None:
        return [f"The line of preference against recognition is undefined: {line['reason']}."]
    slope = coefficient(line["slope"], line["slope_ci"])
    return [
        f"Preference changes by {slope} for each 1 of recognition, over {line['points']} points (a judge in one part of the data; ordinary "
        "least squares; the interval is from resamples of source texts, as points share them)."
    ]


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
