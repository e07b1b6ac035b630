"""A report's files: the same report is the same bytes, and every file says the same."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import StoreError
from harness.measure.cells import Cell
from harness.render.files import table_of, write_files
from harness.reports.run_report import Report
from harness.row_files import read_rows

MakeCell = Callable[..., Cell]
MakeReport = Callable[..., Report]

NAMES = ["report.csv", "report.json", "report.parquet"]


def test_the_same_report_is_the_same_bytes(make_report: MakeReport, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_files(tmp_path / name, make_report())
    write_files(tmp_path / "one", make_report())  # and over itself
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == NAMES
    for name in NAMES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_a_row_has_every_column_and_no_other_whatever_is_undefined(make_cell: MakeCell) -> None:
    rows, columns = table_of([make_cell(), make_cell(undefined=True)])
    assert [set(row) for row in rows] == [set(columns), set(columns)]
    assert list(columns)[:8] == ["language", "task", "metric", "judge", "variant", "temperature", "n_ref", "n"]


def test_every_statistic_is_a_column_with_its_interval_in_two(make_cell: MakeCell) -> None:
    cell = make_cell()
    [row], columns = table_of([cell])
    for name in cell.values:
        assert row[name] == cell[name] and [row[f"{name}_lo"], row[f"{name}_hi"]] == list(cell[f"{name}_ci"] or (None, None))
        assert columns[name] == columns[f"{name}_lo"] == columns[f"{name}_hi"] == "double"
    assert (columns["n"], columns["few_rare_cases"], columns["temperature"], columns["metric"]) == ("int64", "bool", "double", "string")


def test_differences_become_columns_and_what_is_nested_json(make_cell: MakeCell) -> None:
    [row], columns = table_of([make_cell()])
    assert (row["pa_lo"], row["pa_hi"], row["vs_baseline_lo"], row["vs_baseline_hi"]) == (0.1812, 0.7689, -0.5401, -0.1299)
    assert [row[f"vs_baseline_{name}"] for name in ("pa", "diff", "p", "q")] == [0.6667, -0.3333, 0.004, 0.0123]
    assert json.loads(row["failures"]) == {"not_json": 3, "truncated": 2} and row["baseline"] == "majority"
    assert json.loads(row["distribution_labels"]) == pytest.approx({"0": 3 / 18, "1": 3 / 18, "2": 12 / 18})
    assert row["distribution_by_agreement"] == "null" and "versus" not in columns


def test_a_paired_difference_is_in_the_table_too(make_cell: MakeCell) -> None:
    versus = {"with": "openai/two", "diff": 0.1, "ci": [0.05, 0.15], "p": 0.01, "q": 0.02, "n": 18}
    (one, other), columns = table_of([make_cell(versus=versus), make_cell(judge="openai/two")])
    assert [one[f"versus_{name}"] for name in ("diff", "lo", "hi", "p", "q")] == [0.1, 0.05, 0.15, 0.01, 0.02]
    assert one["versus"] == "openai/two" and columns["versus"] == "string" and "versus" not in other


def test_numbers_are_unrounded_and_what_is_undefined_is_null_or_empty(make_report: MakeReport, tmp_path: Path) -> None:
    report = make_report()
    write_files(tmp_path, report)
    whole, undefined = json.loads((tmp_path / "report.json").read_text("utf-8"))["cells"]
    assert (whole["coverage"], whole["pa"]) == (13 / 18, 0.4567)
    assert (undefined["pa"], undefined["pa_ci"]) == (None, None) and undefined["undefined"]["pa"] == "no answer could be read"
    first, second = csv.DictReader(io.StringIO((tmp_path / "report.csv").read_text("utf-8"), newline=""))
    assert (float(first["coverage"]), first["pa_lo"]) == (13 / 18, "0.1812")
    assert (second["pa"], second["pa_lo"], second["vs_baseline_lo"]) == ("", "", "")


def test_csv_and_parquet_hold_the_pooled_cells_and_then_the_others(make_cell: MakeCell, make_report: MakeReport, tmp_path: Path) -> None:
    write_files(tmp_path, make_report(make_cell(), by_metric=(make_cell(task="*", undefined=True),)))
    in_parquet = [row for _, row in read_rows(tmp_path / "report.parquet")]
    in_csv = list(csv.DictReader(io.StringIO((tmp_path / "report.csv").read_text("utf-8"), newline="")))
    assert [row["task"] for row in in_parquet] == [row["task"] for row in in_csv] == ["*", "summarize"]
    for one, other in zip(in_parquet, in_csv, strict=True):
        assert {name: str(one.get(name, "")) for name in other} == other


@pytest.mark.parametrize("name", ["=HYPERLINK(1)", "+1", "-1", "@x"])
def test_names_that_would_be_formulas_are_guarded_in_csv(make_cell: MakeCell, make_report: MakeReport, tmp_path: Path, name: str) -> None:
    write_files(tmp_path, make_report(make_cell(metric=name, task=name)))
    [row] = csv.DictReader(io.StringIO((tmp_path / "report.csv").read_text("utf-8"), newline=""))
    assert row["metric"] == row["task"] == f"'{name}"


def test_a_folder_that_cannot_be_written_is_said(make_report: MakeReport, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be written"):
        write_files(tmp_path / "file" / "run", make_report())
