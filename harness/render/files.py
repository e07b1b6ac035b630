"""A report's files: `report.json`, `report.csv`, `report.parquet` and `sections/*.csv`. The same store gives the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.measure.cells import Cell
from harness.model import CONDITION, SAMPLING
from harness.reports.run_report import Report
from harness.reports.tables.columns import CELL_TABLES, columns_in
from harness.reports.tables.text_table import cell_row
from harness.row_files import to_csv, to_json, write_atomic, write_parquet
from harness.text import terminal_safe

Rows = list[dict[str, Any]]
_KEY_TYPES = {**dict.fromkeys(SAMPLING, "double"), "repeat": "int64"}
_COUNTS = dict.fromkeys(("n_ref", "n", "n_asked", "not_asked"), "int64")
_COUNTS |= {"coverage": "double", "groups": "int64", "design_effect": "double", "few_rare_cases": "bool"}
_DIFFERENCE = ("pa", "diff", "lo", "hi", "p", "q")
_NESTED = ("failures", "distribution_labels", "distribution_judge", "distribution_by_agreement", "undefined")


def table_of(cells: Sequence[Cell]) -> tuple[Rows, dict[str, str]]:
    """Cells as rows of a flat table, and the Arrow type of each column: intervals in two columns, nested values as JSON text."""
    rows = [_flat(cell) for cell in cells]
    types = {name: _KEY_TYPES.get(name, "string") for cell in cells for name in cell.key} | _COUNTS
    texts = ("baseline", *(("versus",) if any(cell.versus for cell in cells) else ()), *_NESTED)
    types |= {name: "double" for row in rows for name in row if name not in types and name not in texts}
    added = {}  # the types of columns of the registry that cells do not store, where any row has a value
    for column in columns_in(*CELL_TABLES):
        if any(column.name in row for row in rows):
            continue
        values = [column.value_of(cell_row(cell)) for cell in cells]
        if any(value is not None for value in values):
            added[column.name] = column.format.csv_type
            for row, value in zip(rows, values, strict=True):
                row[column.name] = value
    return rows, types | dict.fromkeys(texts, "string") | added


def _flat(cell: Cell) -> dict[str, Any]:
    row = cell.key | {name: getattr(cell, name) for name in _COUNTS}
    for name, value in cell.values.items():
        row[name] = value
        if name in cell.intervals:
            row[f"{name}_lo"], row[f"{name}_hi"] = cell.intervals[name] or (None, None)
    row |= _difference("vs_baseline", cell.vs_baseline) | {"baseline": cell.vs_baseline["baseline"]}
    if cell.versus:
        row |= _difference("versus", cell.versus) | {"versus": cell.versus["with"]}
    return row | {name: msgspec.json.encode(getattr(cell, name)).decode() for name in _NESTED}


def _difference(prefix: str, difference: Mapping[str, Any]) -> dict[str, Any]:
    lo, hi = difference["ci"] or (None, None)
    return {f"{prefix}_{name}": value for name, value in {**difference, "lo": lo, "hi": hi}.items() if name in _DIFFERENCE}


def cells_csv(cells: Sequence[Cell]) -> str:
    """Cells as CSV: names without control and bidi characters, and none that a spreadsheet would compute."""
    rows, columns = table_of(cells)
    return to_csv(_plain_rows(rows), list(columns))


def _plain_rows(rows: Iterable[Mapping[str, Any]]) -> Rows:
    return [{name: terminal_safe(value) if isinstance(value, str) else value for name, value in row.items()} for row in rows]


def report_csv(report: Report) -> str:
    """Return the cells of a report; where labels are sealed, how many answers could be read."""
    if not report.sealed:
        return cells_csv((*report.by_metric, *report.cells))
    rows = _plain_rows(msgspec.to_builtins(row) | {"coverage": row.coverage} for row in report.sealed)
    axes, later = CONDITION[:3], CONDITION[3:]  # those that came later stand behind
    names = ("language", *axes, "asked", "read", "failures", *later, "coverage")
    return to_csv([row | {"failures": msgspec.json.encode(row["failures"]).decode()} for row in rows], names)


def section_csvs(sections: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """`{file name: CSV}` of every table of a report's sections: `minimal_pairs.csv`, `minimal_pairs.constructions.csv`."""
    tables = {}
    for name, section in sections.items():
        for part, rows in section.items():
            if isinstance(rows, (list, tuple)) and rows and all(isinstance(row, Mapping) for row in rows):
                flat = [_flat_row(row) for row in rows]
                columns = dict.fromkeys(name for row in flat for name in row)
                tables[f"{name}.csv" if part == "rows" else f"{name}.{part}.csv"] = to_csv(_plain_rows(flat), list(columns))
    return tables


def write_sections(folder: Path, sections: Mapping[str, Mapping[str, Any]]) -> list[Path]:
    """Write a CSV file for every table of the sections, and return their paths. Raises StoreError if the folder cannot be written."""
    tables = {folder / name: text for name, text in section_csvs(sections).items()}
    for path, text in tables.items():
        write_atomic(path, text, private=True)
    return list(tables)


def _flat_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with intervals in two columns and nested values as JSON text."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if name.endswith("_ci"):
            flat[f"{name[:-3]}_lo"], flat[f"{name[:-3]}_hi"] = value or (None, None)
        else:
            flat[name] = msgspec.json.encode(value).decode() if isinstance(value, (dict, list, tuple)) else value
    return flat


def write_files(folder: Path, report: Report) -> None:
    """Write all of a run's derived files, each whole or not at all. Raises StoreError when the folder cannot be written."""
    rows, columns = table_of((*report.by_metric, *report.cells))
    write_atomic(folder / "report.json", to_json(report.as_json()), private=True)
    write_atomic(folder / "report.csv", report_csv(report), private=True)
    write_sections(folder / "sections", report.ablations)
    write_parquet(folder / "report.parquet", rows, columns, private=True)
