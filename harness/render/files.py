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

CELL_COLUMNS = {
    "language": "string",
    "task": "string",
    "metric": "string",
    "judge": "string",
    "variant": "string",
    "temperature": "double",
    "n_ref": "int64",
    "n": "int64",
    "coverage": "double",
    "groups": "int64",
    "pa": "double",
    "pa_lo": "double",
    "pa_hi": "double",
    "pa_failed_wrong": "double",
    "pa_failed_wrong_lo": "double",
    "pa_failed_wrong_hi": "double",
    "design_effect": "double",
    "few_rare_cases": "bool",
    "baseline": "string",
    "baseline_pa": "double",
    "diff": "double",
    "diff_lo": "double",
    "diff_hi": "double",
    "failures": "string",
    "distribution_labels": "string",
    "distribution_judge": "string",
    "undefined": "string",
}


def flat(cell: Cell) -> dict[str, Any]:
    """A cell as one row: intervals in two columns, counts as JSON text."""
    row = msgspec.structs.asdict(cell)
    versus = row.pop("vs_baseline")
    pairs = {"pa": row.pop("pa_ci"), "pa_failed_wrong": row.pop("pa_failed_wrong_ci"), "diff": versus["ci"]}
    for name, pair in pairs.items():
        row[f"{name}_lo"], row[f"{name}_hi"] = pair or (None, None)
    row |= {"baseline": versus["baseline"], "baseline_pa": versus["pa"], "diff": versus["diff"]}
    for name in ("failures", "distribution_labels", "distribution_judge", "undefined"):
        row[name] = msgspec.json.encode(row[name]).decode()
    return row


def write_files(folder: Path, report: Report, judgments: Sequence[Judgment]) -> None:
    """Write all of a run's derived files, each whole or not at all. Raises StoreError when the folder cannot be written."""
    rows = [flat(cell) for cell in (*report.by_metric, *report.cells)]
    write_atomic(folder / "report.json", to_json(report))
    write_atomic(folder / "report.csv", to_csv(rows, list(CELL_COLUMNS)))
    write_parquet(folder / "report.parquet", rows, CELL_COLUMNS)
    write_parquet(folder / "judgments.parquet", judging.rows(judgments), judging.PARQUET_COLUMNS)
