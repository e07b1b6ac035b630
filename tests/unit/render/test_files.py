"""A report's files: the same report is the same bytes, and every file says the same."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.analyse import Cell, Report
from harness.errors import StoreError
from harness.model import Failure, Judgment
from harness.render.files import CELL_COLUMNS, flat, write_files
from harness.tables import read_rows

MakeCell = Callable[..., Cell]
MakeReport = Callable[..., Report]

NAMES = ["judgments.parquet", "report.csv", "report.json", "report.parquet"]
JUDGMENTS = [
    Judgment("a", "cs", "summarize", "m", "openai/one", "single", 0.0, 0, 2, None, "2", "Dobré.", "c1"),
    Judgment("b", "cs", "summarize", "m", "openai/one", "single", 0.0, 0, None, Failure.NOT_JSON, None, None, "c2"),
]


def test_the_same_report_is_the_same_bytes(make_report: MakeReport, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_files(tmp_path / name, make_report(), JUDGMENTS)
    write_files(tmp_path / "one", make_report(), JUDGMENTS)  # and over itself
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == NAMES
    for name in NAMES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_a_row_has_every_column_and_no_other(make_cell: MakeCell) -> None:
    for cell in (make_cell(), make_cell(undefined=True)):
        assert set(flat(cell)) == set(CELL_COLUMNS)


def test_intervals_become_two_columns_and_counts_json(make_cell: MakeCell) -> None:
    row = flat(make_cell())
    assert (row["pa_lo"], row["pa_hi"], row["diff_lo"], row["diff_hi"]) == (0.1812, 0.7689, -0.5401, -0.1299)
    assert (row["baseline"], row["baseline_pa"], row["diff"]) == ("majority", 0.6667, -0.3333)
    assert json.loads(row["failures"]) == {"not_json": 3, "truncated": 2}
    assert json.loads(row["distribution_labels"]) == {"0": 3, "1": 3, "2": 12}


def test_numbers_are_unrounded_and_what_is_undefined_is_null_or_empty(make_report: MakeReport, tmp_path: Path) -> None:
    report = make_report()
    write_files(tmp_path, report, JUDGMENTS)
    whole, undefined = json.loads((tmp_path / "report.json").read_text("utf-8"))["cells"]
    assert (whole["coverage"], whole["pa"]) == (13 / 18, 0.4567)
    assert (undefined["pa"], undefined["pa_ci"]) == (None, None) and undefined["undefined"]["pa"] == "no answer could be read"
    first, second = csv.DictReader(io.StringIO((tmp_path / "report.csv").read_text("utf-8"), newline=""))
    assert (float(first["coverage"]), first["pa_lo"]) == (13 / 18, "0.1812")
    assert (second["pa"], second["pa_lo"], second["diff_lo"]) == ("", "", "")


def test_csv_and_parquet_hold_the_pooled_cells_and_then_the_others(make_cell: MakeCell, make_report: MakeReport, tmp_path: Path) -> None:
    write_files(tmp_path, make_report(make_cell(), by_metric=(make_cell(task="*", undefined=True),)), JUDGMENTS)
    in_parquet = [row for _, row in read_rows(tmp_path / "report.parquet")]
    in_csv = list(csv.DictReader(io.StringIO((tmp_path / "report.csv").read_text("utf-8"), newline="")))
    assert [row["task"] for row in in_parquet] == [row["task"] for row in in_csv] == ["*", "summarize"]
    for one, other in zip(in_parquet, in_csv, strict=True):
        assert {name: str(one.get(name, "")) for name in CELL_COLUMNS} == dict(other)


def test_judgments_go_into_parquet(make_report: MakeReport, tmp_path: Path) -> None:
    write_files(tmp_path, make_report(), JUDGMENTS)
    rows = [row for _, row in read_rows(tmp_path / "judgments.parquet")]
    assert [(row["item_id"], row.get("score"), row.get("failure"), row.get("justification")) for row in rows] == [
        ("a", "2", None, "Dobré."),
        ("b", None, "not_json", None),
    ]


def test_no_judgments_are_a_table_without_rows(make_report: MakeReport, tmp_path: Path) -> None:
    write_files(tmp_path, make_report(), [])
    assert list(read_rows(tmp_path / "judgments.parquet")) == []


@pytest.mark.parametrize("name", ["=HYPERLINK(1)", "+1", "-1", "@x"])
def test_names_that_would_be_formulas_are_guarded_in_csv(make_cell: MakeCell, make_report: MakeReport, tmp_path: Path, name: str) -> None:
    write_files(tmp_path, make_report(make_cell(metric=name, task=name)), [])
    [row] = csv.DictReader(io.StringIO((tmp_path / "report.csv").read_text("utf-8"), newline=""))
    assert row["metric"] == row["task"] == f"'{name}"


def test_a_folder_that_cannot_be_written_is_said(make_report: MakeReport, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be written"):
        write_files(tmp_path / "file" / "run", make_report(), [])
