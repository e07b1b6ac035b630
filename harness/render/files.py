"""A report's files: `report.json`, `report.csv`, `report.parquet` and `judgments.parquet`. Same store, same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness import judgments as judging
from harness.analyse import Cell, Report
from harness.model import Judgment
from harness.tables import to_csv, to_json, write_atomic, write_parquet

_KEY_TYPES = {"temperature": "double", "repeat": "int64"}
_COUNTS = {"n_ref": "int64", "n": "int64", "coverage": "double", "groups": "int64", "design_effect": "double", "few_rare_cases": "bool"}
_VERSUS = ("pa", "diff", "lo", "hi", "p", "q")
_NESTED = ("failures", "distribution_labels", "distribution_judge", "distribution_by_agreement", "undefined")


def table_of(cells: Sequence[Cell]) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Cells as rows of a flat table, and the Arrow type of each column: intervals in two columns, what is nested as JSON text."""
    rows = [_flat(cell) for cell in cells]
    columns = {name: _KEY_TYPES.get(name, "string") for cell in cells for name in cell.key} | _COUNTS
    columns |= {name: "double" for row in rows for name in row if name not in columns and name not in ("baseline", *_NESTED)}
    return rows, columns | dict.fromkeys(("baseline", *_NESTED), "string")


def _flat(cell: Cell) -> dict[str, Any]:
    row = cell.key | {name: getattr(cell, name) for name in _COUNTS}
    for name, value in cell.values.items():
        row[name] = value
        if name in cell.intervals:
            row[f"{name}_lo"], row[f"{name}_hi"] = cell.intervals[name] or (None, None)
    versus = cell.vs_baseline
    lo, hi = versus["ci"] or (None, None)
    row |= {f"vs_baseline_{name}": value for name, value in (versus | {"lo": lo, "hi": hi}).items() if name in _VERSUS}
    row["baseline"] = versus["baseline"]
    return row | {name: msgspec.json.encode(getattr(cell, name)).decode() for name in _NESTED}


def write_files(folder: Path, report: Report, judgments: Sequence[Judgment]) -> None:
    """Write all of a run's derived files, each whole or not at all. Raises StoreError when the folder cannot be written."""
    rows, columns = table_of((*report.by_metric, *report.cells))
    write_atomic(folder / "report.json", to_json(report.as_json()))
    write_atomic(folder / "report.csv", to_csv(rows, list(columns)))
    write_parquet(folder / "report.parquet", rows, columns)
    write_parquet(folder / "judgments.parquet", judging.rows(judgments), judging.PARQUET_COLUMNS)
