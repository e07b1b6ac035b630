"""The batches of a results folder, run by run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from harness.render.fitted_table import output_width
from harness.text import terminal_safe


def print_batches(rows: Sequence[Mapping[str, Any]]) -> None:
    """One line for each batch, in the order of submission, below its run and judge."""
    console = Console(markup=False, highlight=False)
    console.width = output_width(console)
    for (run, judge), batches in groupby(rows, lambda row: (row["run"], row["judge"])):
        console.print(terminal_safe(f"{run} · {judge}"), style="bold")
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        for row in batches:
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(row["submitted"]))
            table.add_row(terminal_safe(row["batch"]), f"submitted {when}", f"{row['calls']} calls", terminal_safe(_state(row)))
        console.print(Padding(table, (0, 0, 0, 2)))


def _state(row: Mapping[str, Any]) -> str:
    """The state at the provider while the batch is open, and how it ended afterwards."""
    provider = row["provider"]
    if provider is None:
        return f"{row['state']} ({row['note']})" if row["note"] else str(row["state"])
    failed = f", {provider['failed']} failed" if provider["failed"] else ""
    return f"{provider['status']}, {provider['completed']} of {provider['total']} done{failed}"
