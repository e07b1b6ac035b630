"""The registry of columns: one entry is enough for every output, and every heading is explained where it stands."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rich.console import Console, RenderableType

from harness.measure.cells import Cell
from harness.measure.compare import Comparison
from harness.render.comparison import comparison_table, render_comparison
from harness.render.files import cells_csv, table_of
from harness.render.html.answer import answer_legend, answer_table, answers_by_language, judged_of_report
from harness.render.html.shell import _environment
from harness.render.latex import heading as latex_heading
from harness.render.latex import report_latex, to_latex
from harness.render.markdown import report_markdown, standings_markdown
from harness.render.standings import overall_table, ranking_table
from harness.render.terminal import render_report
from harness.reports.run_report import Report
from harness.reports.tables import columns as registry
from harness.reports.tables.columns import COLUMNS, POINTS, SHARE, SIGN_MEANINGS, Column, TableName, columns_in
from harness.reports.tables.text_table import TextTable, cell_row, key_text, tabulate
from tests.unit.render.test_standings import made

MakeCell = Callable[..., Cell]
MADE_UP = Column(
    "made_up",
    "made-up share",
    SHARE,
    "the share that a test makes up",
    frozenset({TableName.REPORT, TableName.ANSWER, TableName.COMPARISON}),
    value=lambda row: row["n"] / 26,
)


@pytest.fixture
def with_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A further entry in the registry, and nowhere else."""
    monkeypatch.setattr(registry, "COLUMNS", (*COLUMNS, MADE_UP))


def printed(body: RenderableType) -> str:
    console = Console(width=250, color_system=None)
    with console.capture() as captured:
        console.print(body)
    return captured.get()


def page_table(table: TextTable) -> str:
    """A table as every page sets it."""
    parts: Any = _environment().get_template("parts.html").module
    return str(parts.text_table("a label", table))


@pytest.mark.usefixtures("with_made_up")
def test_a_column_that_is_added_in_one_place_is_in_every_output(
    make_cell: MakeCell, make_report: Callable[..., Report], make_comparison: Callable[..., Comparison]
) -> None:
    cell = make_cell()
    report, comparison = make_report(cell), make_comparison(cell)
    for shown in (printed(render_report(report, by_task=True)), printed(render_comparison(comparison))):
        assert "made-up share" in shown and "50 %" in shown and "made-up share: the share that a test makes up." in shown
    markdown = report_markdown(report)
    assert "| made-up share |" in markdown and "| 50 % |" in markdown and "- made-up share: the share that a test makes up." in markdown
    [row] = csv.DictReader(io.StringIO(cells_csv([cell]), newline=""))
    assert row["made_up"] == "0.5" and table_of([cell])[1]["made_up"] == "double"
    for latex in (report_latex(report, "numbers"), to_latex(comparison, "numbers")):
        assert "{made-up share (\\%)}" in latex and " 50.0" in latex and "% made-up share: the share that a test makes up." in latex
    page = page_table(answer_table([cell]).table)
    assert ">made-up share</th>" in page and 'data-value="0.5">50 %</td>' in page
    report = make_report(cell, by_metric=(cell,))
    assert "made-up share: the share that a test makes up." in answer_legend(answers_by_language(judged_of_report(report)))


def test_files_have_no_further_column_without_a_further_entry(make_cell: MakeCell) -> None:
    assert "made_up" not in table_of([make_cell()])[1]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: f"{column.name}-{column.heading}")
def test_every_column_has_a_heading_a_legend_and_a_table(column: Column) -> None:
    assert column.heading and column.tables and column.legend_line == f"{column.heading_with_unit}: {column.legend}."
    assert len(column.legend) > 10 and not column.legend.endswith(".") and latex_heading(column)


@pytest.mark.parametrize("table", TableName)
def test_no_table_has_a_name_or_a_heading_twice(table: TableName) -> None:
    columns = columns_in(table)
    assert columns or table is TableName.OVERALL
    assert len({column.name for column in columns}) == len({column.heading for column in columns}) == len(columns)


@pytest.fixture
def tables(make_cell: MakeCell, make_comparison: Callable[..., Comparison]) -> Iterator[TextTable]:
    cells = [make_cell(), make_cell(metric="hallucination", undefined=True)]
    standings = made()
    return iter(
        [
            tabulate([cell_row(cell) for cell in cells], columns_in(TableName.REPORT, TableName.REPORT_WIDE), ("metric",)),
            answer_table(cells).table,
            comparison_table(make_comparison(*cells), cells),
            comparison_table(make_comparison(*cells, level="system"), cells),
            overall_table(standings, "single"),
            *(ranking_table(standings, ranking) for ranking in standings.tables),
        ]
    )


def test_every_column_shown_has_a_legend_line(tables: Iterator[TextTable]) -> None:
    for table in tables:
        for heading in table.headings:
            if (heading.key and heading.name != "judge") or heading.name.startswith("in_"):  # names of rows, and of languages
                continue
            name = heading.text.removesuffix(" [95 %]")
            assert sum(line.startswith(f"{name}: ") for line in table.legend) == 1, heading
        assert all(any(line.startswith(f"{sign} ") for line in table.legend) for sign in _signs(table)), table.legend


def _signs(table: TextTable) -> set[str]:
    return {word for row in table.rows for text in row for word in text.split(" ") if word in SIGN_MEANINGS}


def test_the_notes_of_a_board_explain_every_heading() -> None:
    text = standings_markdown(made())
    for line in text.splitlines():
        if line.startswith("| rank"):
            for heading in line.strip("| ").split(" | "):
                name = heading.replace(" \\[95 %\\]", "")
                assert f"\n- {name}: " in text, name


def test_a_column_without_anything_to_say_is_left_out_and_so_is_one_that_repeats_another(make_cell: MakeCell) -> None:
    alone = make_cell(failures={}, pa_failed_wrong=0.4567, pa_failed_wrong_ci=(0.1812, 0.7689))
    names = [heading.name for heading in tabulate([cell_row(alone)], columns_in(TableName.REPORT)).headings]
    assert "pa" in names and not {"pa_failed_wrong", "failures"} & set(names)


def test_intervals_stand_in_the_heading_only_where_there_are_any(make_cell: MakeCell) -> None:
    columns = [dataclasses.replace(column, signs=False) for column in columns_in(TableName.REPORT) if column.name == "pa"]
    with_interval, without = (tabulate([cell_row(cell)], columns) for cell in (make_cell(), make_cell(pa_ci=None)))
    assert [table.headings[0].text for table in (with_interval, without)] == ["agreement [95 %]", "agreement"]
    assert [table.headings[0].number for table in (with_interval, without)] == [False, True]


def test_rows_that_are_shown_apart_have_the_columns_of_all() -> None:
    column = Column("x", "x", POINTS, "a difference", frozenset({TableName.REPORT}))
    every = [{"x": None}, {"x": 0.1, "x_ci": (0.0, 0.2)}]
    table = tabulate(every[:1], [column], shown_in=every)
    assert table.headings[0].text == "x (points) [95 %]" and table.rows == (("–",),)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("metric", "task_quality", "task quality"),
        ("judge", "local/a_b", "local/a_b"),
        ("temperature", 0.0, "0"),
        ("top_p", None, "–"),
        ("task", "*", "all"),
        ("judge", "a\x1b[31mb", "a[31mb"),
    ],
)
def test_keys_as_people_read_them(name: str, value: object, text: str) -> None:
    assert key_text(name, value) == text
