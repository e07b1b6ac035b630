"""The batches of a results folder, run by run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from harness.text import plain

_WIDTH = 160  # where nobody looks at a terminal


def print_batches(rows: Sequence[Mapping[str, Any]]) -> None:
    """A line a batch, in the order of submission, below its run and judge."""
    console = Console(markup=False, highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH
    for (run, judge), batches in groupby(rows, lambda row: (row["run"], row["judge"])):
        console.print(plain(f"{run} · {judge}"), style="bold")
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        for row in batches:
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(row["submitted"]))
            table.add_row(plain(row["batch"]), f"submitted {when}", f"{row['calls']} calls", plain(_state(row)))
        console.print(Padding(table, (0, 0, 0, 2)))


def _state(row: Mapping[str, Any]) -> str:
    """How it is at the provider while it is open, and how it ended afterwards."""
    there = row["provider"]
    if there is None:
        return f"{row['state']} ({row['note']})" if row["note"] else str(row["state"])
    failed = f", {there['failed']} failed" if there["failed"] else ""
    return f"{there['status']}, {there['completed']} of {there['total']} done{failed}"
