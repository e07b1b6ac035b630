"""Writes docs/columns.md, what the headings of all tables mean, from the registry of columns: `python docs/make_columns.py`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness.reports.sections.section_registry import all_sections
from harness.reports.tables.columns import COLUMNS, Column

_CELLS, _SECTIONS = "Cells, verdicts, labels and boards", "Sections of a report"
_HEAD = ("| heading | name | meaning |", "| --- | --- | --- |")


def page() -> str:
    """The whole page as Markdown."""
    lines = ["# Columns", "", _contents(_CELLS, _SECTIONS), ""]
    lines += [
        "Generated from the program; do not edit. Headings mean the same in every table. A name is the key in `--json`, CSV and notebooks; "
        "`NAME_ci` there is the interval that tables show as [95 %]. [Statistics](statistics.md) has the formulas.",
        "",
    ]
    lines += [f"## {_CELLS}", "", *_HEAD, *_rows(COLUMNS), "", f"## {_SECTIONS}", ""]
    for section in all_sections():
        columns = [column for table in section.tables if not callable(table.columns) for column in table.columns]
        if columns:
            lines += [f"### `{section.name}`", "", section.question, "", *_HEAD, *_rows(columns), ""]
    return "\n".join(lines).rstrip() + "\n"


def _contents(*titles: str) -> str:
    return "Contents: " + " · ".join(f"[{title}](#{title.lower().replace(',', '').replace(' ', '-')})" for title in titles)


def _rows(columns: Iterable[Column]) -> list[str]:
    """A row a column; equal ones, which several tables have, once."""
    cells = ((column.heading_with_unit, f"`{column.name}`", column.legend) for column in columns if column.legend)
    return list(dict.fromkeys(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in cells))


if __name__ == "__main__":
    Path(__file__).with_name("columns.md").write_text(page(), encoding="utf-8")
