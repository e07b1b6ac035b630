"""The runs of a results folder, and their batches, in the terminal."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from harness.render.fitted_table import FittedTable, output_width
from harness.reports.tables.text_table import Heading, TextTable
from harness.text import terminal_safe

_HEADINGS = tuple(Heading(name, name, key=name == "run") for name in ("run", "date", "judges", "languages", "state"))
_UNFINISHED = "not finished"


def print_runs(records: Mapping[str, Mapping[str, Any] | None], console: Console | None = None) -> None:
    """Print a table on a terminal; elsewhere the names alone, one a line, for other programs."""
    console = console or Console()
    if not console.is_terminal:
        print("".join(f"{terminal_safe(name)}\n" for name in records), end="")
        return
    rows = tuple((terminal_safe(name), *map(terminal_safe, _row(record or {}))) for name, record in records.items())
    console.print(FittedTable(TextTable(_HEADINGS, rows)))


def _row(record: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Date, judges, languages and state of a run, from its run.json; a run without one did not come to its end."""
    sessions, protocol = record.get("sessions") or [{}], record.get("protocol") or {}
    started = sessions[0].get("started")
    date = _local_time(started) if isinstance(started, (int, float)) else ""
    asked_judges = (f"{identity.get('provider')}/{identity.get('model')}" for identity in protocol.get("identities") or ())
    judges = ", ".join((*asked_judges, *(protocol.get("panels") or ())))
    missing = sum((record.get("missing") or {}).values())
    state = _UNFINISHED if not record else f"{missing:,} calls without an answer" if missing else "complete"
    return date, judges, " ".join(map(str, protocol.get("languages") or ())), state


def _local_time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def print_batches(rows: Sequence[Mapping[str, Any]]) -> None:
    """One line for each batch, in the order of submission, below its run and judge."""
    console = Console(markup=False, highlight=False)
    console.width = output_width(console)
    for (run, judge), batches in groupby(rows, lambda row: (row["run"], row["judge"])):
        console.print(terminal_safe(f"{run} · {judge}"), style="bold")
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        for row in batches:
            when = _local_time(row["submitted"])
            table.add_row(terminal_safe(row["batch"]), f"submitted {when}", f"{row['calls']} calls", terminal_safe(_batch_state(row)))
        console.print(Padding(table, (0, 0, 0, 2)))


def _batch_state(row: Mapping[str, Any]) -> str:
    """The state at the provider while the batch is open, and how it ended afterwards."""
    provider = row["provider"]
    if provider is None:
        return f"{row['state']} ({row['note']})" if row["note"] else str(row["state"])
    failed = f", {provider['failed']} failed" if provider["failed"] else ""
    return f"{provider['status']}, {provider['completed']} of {provider['total']} done{failed}"
