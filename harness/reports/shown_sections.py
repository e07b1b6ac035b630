"""Sections as they are read: for each its question, its finding in a sentence, and its tables as text, for every format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.measure.judged_table import KEYS
from harness.measure.options import POOLED
from harness.reports.sections.section import Section, SectionNumbers, SectionTable
from harness.reports.sections.section_registry import all_sections
from harness.reports.tables.column import COUNT, COUNT_OR_BLANK, Column, Row
from harness.reports.tables.text_table import TextTable, key_text, tabulate, varying_keys
from harness.text import terminal_safe

_KEYS = ("source", *KEYS)
_FEW_ROWS = 24  # rows of a finer level that are shown below those of a coarser one


@dataclass(frozen=True)
class ShownSection:
    """A section as it is read: its title, what it asks and finds, its tables with the rows of each, its name in JSON, and all of it."""

    title: str
    text: str
    tables: tuple[TextTable, ...]
    rows: tuple[tuple[Row, ...], ...] = ()
    name: str = ""
    section: SectionNumbers = field(default_factory=dict)

    @property
    def legend(self) -> tuple[str, ...]:
        return tuple(sections_legend([self]))


def shown_sections(numbers: Mapping[str, SectionNumbers]) -> list[ShownSection]:
    """Return the sections of a report, in their order, without agreement by variant where there is one variant."""
    return [_show_section(section, numbers[section.name]) for section in all_sections() if section.is_shown(numbers.get(section.name))]


def sections_legend(sections: Sequence[ShownSection]) -> list[str]:
    """Return the meanings of the headings and signs of all tables, each once."""
    return list(dict.fromkeys(line for section in sections for table in section.tables for line in table.legend))


def _show_section(section: Section, numbers: SectionNumbers) -> ShownSection:
    first, *more_tables = section.tables
    layouts = [first] if numbers["rows"] or not more_tables else []
    layouts += [layout for layout in more_tables if numbers.get(layout.part)]
    rows = [_select_levels(layout.across(numbers[layout.part]) if layout.across else numbers[layout.part], layout) for layout in layouts]
    tables = (_tabulate_section(table_rows, layout) for table_rows, layout in zip(rows, layouts, strict=True))
    text = f"{section.question} {section.finding(numbers)}".strip()
    return ShownSection(terminal_safe(numbers["title"]), text, tuple(tables), tuple(map(tuple, rows)), section.name, numbers)


def _tabulate_section(rows: Sequence[Row], layout: SectionTable) -> TextTable:
    """Return a section's rows as text. What all rows share stands above the table; a table without any number gives the reasons."""
    names = tuple(dict.fromkeys((*_KEYS, *layout.keys)))
    keys = varying_keys(rows, names)
    columns = layout.columns(rows) if callable(layout.columns) else layout.columns
    table = tabulate(rows, columns, keys)
    shared_keys = [name for name in names if name not in keys and rows[0].get(name) not in (None, POOLED, "")]
    shared = [f"{name.replace('_', ' ')} {key_text(name, rows[0][name])}" for name in shared_keys]
    heading_text = ": ".join(filter(None, (layout.title, ", ".join(shared))))
    return replace(table, shared=heading_text, no_result="" if layout.across else _explain_no_result(rows, table, columns))


def _explain_no_result(rows: Sequence[Row], table: TextTable, columns: Sequence[Column]) -> str:
    """Return why a table has nothing but counts; empty where it has other numbers."""
    counts = {column.name for column in columns if column.format in (COUNT, COUNT_OR_BLANK)}
    if any(not heading.key and heading.name not in counts for heading in table.headings):
        return ""
    reasons = dict.fromkeys(str(reason) for row in rows for reason in row["undefined"].values())
    return f"No result: {terminal_safe('; '.join(reasons))}." if reasons else ""


def _select_levels(rows: Sequence[Row], layout: SectionTable) -> list[Row]:
    """Return the rows of the coarsest level, and those of finer levels if they are few."""
    by_level: list[list[Row]] = [[] for _ in layout.levels]
    for row in rows:
        keys = {name for name in ("language", "task", "metric") if row.get(name) != POOLED}
        for level, at_level in zip(layout.levels, by_level, strict=True):
            if keys == set(level):
                at_level.append(row)
    by_level = [at_level for at_level in by_level if at_level]
    if len({row["metric"] for row in rows} - {POOLED}) == 1:  # pooling one metric says the same twice
        by_level = [at_level for at_level in by_level if any(row["metric"] != POOLED for row in at_level)] or by_level
    selected: list[Row] = by_level[0] if by_level else list(rows)
    for finer in by_level[1:]:
        if len(finer) <= _FEW_ROWS:
            selected = [*selected, *finer]
    if layout.plainest and len(selected) > _FEW_ROWS:
        selected = [row for row in selected if (row["variant"], row["temperature"]) == (rows[0]["variant"], rows[0]["temperature"])]
    return selected
