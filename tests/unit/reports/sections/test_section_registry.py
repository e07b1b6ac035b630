"""Every section is whole: its tables have columns, and every column has a heading and a meaning of its own."""

from __future__ import annotations

import pytest

from harness.reports.sections.section import Section, SectionTable
from harness.reports.sections.section_registry import all_sections

SECTIONS = all_sections()
TABLES = [pytest.param(table, id=f"{one.name}-{place}") for one in SECTIONS for place, table in enumerate(one.tables)]


def test_no_section_has_the_name_of_another() -> None:
    assert len({one.name for one in SECTIONS}) == len(SECTIONS)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda one: one.name)
def test_a_section_asks_a_question_and_its_first_table_has_its_rows(section: Section) -> None:
    assert "?" in section.question
    assert [table.part for table in section.tables].count("rows") == 1 and section.tables[0].part == "rows"


@pytest.mark.parametrize("table", TABLES)
def test_no_table_has_a_name_or_a_heading_twice_and_every_column_has_a_meaning(table: SectionTable) -> None:
    if callable(table.columns):
        assert table.across is not None and table.columns([]) == []
        return
    assert len({one.name for one in table.columns}) == len({one.heading for one in table.columns}) == len(table.columns) > 0
    assert all(len(one.legend) > 10 and not one.legend.endswith(".") and one.heading for one in table.columns)
