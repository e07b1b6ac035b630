"""A report's files: `report.json`, `report.csv`, `report.parquet` and `judgments.parquet`. Same store, same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.analyse import Cell, Report
from harness.tables import to_csv, to_json, write_atomic, write_parquet
from harness.text import plain

_KEY_TYPES = {"temperature": "double", "top_p": "double", "repeat": "int64"}
_COUNTS = {"n_ref": "int64", "n": "int64", "coverage": "double", "groups": "int64", "design_effect": "double", "few_rare_cases": "bool"}
_VERSUS = ("pa", "diff", "lo", "hi", "p", "q")
_NESTED = ("failures", "distribution_labels", "distribution_judge", "distribution_by_agreement", "undefined")


def table_of(cells: Sequence[Cell]) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Cells as rows of a flat table, and the Arrow type of each column: intervals in two columns, what is nested as JSON text."""
    rows = [_flat(cell) for cell in cells]
    columns = {name: _KEY_TYPES.get(name, "string") for cell in cells for name in cell.key} | _COUNTS
    texts = ("baseline", *(("versus",) if any(cell.versus for cell in cells) else ()), *_NESTED)
    columns |= {name: "double" for row in rows for name in row if name not in columns and name not in texts}
    return rows, columns | dict.fromkeys(texts, "string")


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


def _difference(prefix: str, found: Mapping[str, Any]) -> dict[str, Any]:
    lo, hi = found["ci"] or (None, None)
    return {f"{prefix}_{name}": value for name, value in {**found, "lo": lo, "hi": hi}.items() if name in _VERSUS}


def cells_csv(cells: Sequence[Cell]) -> str:
    """Cells as CSV: names without control and bidi characters, and none that a spreadsheet would compute."""
    rows, columns = table_of(cells)
    safe = [{name: plain(value) if isinstance(value, str) else value for name, value in row.items()} for row in rows]
    return to_csv(safe, list(columns))


def report_csv(report: Report) -> str:
    """The cells of a report; where labels are sealed, how many answers could be read."""
    if not report.sealed:
        return cells_csv((*report.by_metric, *report.cells))
    rows = [msgspec.to_builtins(row) | {"coverage": row.coverage} for row in report.sealed]
    safe = [{name: plain(value) if isinstance(value, str) else value for name, value in row.items()} for row in rows]
    return to_csv([row | {"failures": msgspec.json.encode(row["failures"]).decode()} for row in safe], list(safe[0]))


def write_files(folder: Path, report: Report) -> None:
    """Write all of a run's derived files, each whole or not at all. Raises StoreError when the folder cannot be written."""
    rows, columns = table_of((*report.by_metric, *report.cells))
    write_atomic(folder / "report.json", to_json(report.as_json()))
    write_atomic(folder / "report.csv", report_csv(report))
    write_parquet(folder / "report.parquet", rows, columns)
