"""A run on a board whose labels are sealed, in the terminal: coverage and failures, as agreement is not known here."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.analyse import Report
from harness.content.tags import english_name
from harness.render.terminal import percent
from harness.text import plain

SEALED = (
    "The labels of this board are sealed: how far a judge agrees with them is computed where the key is. Here is what could be read of its "
    "answers; 'harness submit' hands them in."
)


def print_covered(report: Report) -> None:
    """The table on stdout, and what is missing in it."""
    console = Console(highlight=False)
    console.print(Text(plain(report.title), style="bold"))
    console.print(Text(SEALED))
    console.print(_table(report))
    for judge, calls in report.missing.items():
        if calls:
            console.print(Text(plain(f"{judge}: {calls} calls have no answer")))
    for signature in report.signatures.values():
        console.print(Text(plain(f"signature  {signature}"), style="dim"), soft_wrap=True)


def _table(report: Report) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for heading in ("language", "judge", "condition"):
        table.add_column(heading, overflow="fold")
    for heading in ("judgments", "read", "coverage"):
        table.add_column(heading, justify="right")
    table.add_column("failures", overflow="fold")
    for row in report.sealed:
        top_p = "" if row.top_p is None else f" top_p={row.top_p:g}"
        failures = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in row.failures.items())
        texts = (
            f"{english_name(row.language)} ({row.language})",
            row.judge,
            f"{row.variant} T={row.temperature:g}{top_p}",
            str(row.asked),
            str(row.read),
            percent(row.coverage),
            failures or "–",
        )
        table.add_row(*(Text(plain(text)) for text in texts))
    return table
