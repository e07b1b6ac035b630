"""The batches of a results folder as a table."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from harness.text import plain

_COLUMNS = ("batch", "run", "judge", "submitted", "calls", "here", "at the provider")


def print_batches(rows: Sequence[Mapping[str, Any]]) -> None:
    """One line a batch, in the order of submission."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in _COLUMNS:
        table.add_column(column, justify="right" if column == "calls" else "left", overflow="fold")
    for row in rows:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(row["submitted"]))
        table.add_row(
            *(plain(str(cell)) for cell in (row["batch"], row["run"], row["judge"], when, row["calls"], row["state"], _there(row)))
        )
    Console(markup=False, highlight=False).print(table)


def _there(row: Mapping[str, Any]) -> str:
    there = row["provider"]
    if there is None:
        return row["note"] or ""
    failed = f", {there['failed']} failed" if there["failed"] else ""
    return f"{there['status']}, {there['completed']} of {there['total']} done{failed}"
