"""A run on a board whose labels are sealed: coverage and failures, as agreement is not known here."""

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
HEADINGS = ("language", "judge", "condition", "judgments", "read", "coverage", "failures")
NUMBERS = ("judgments", "read", "coverage")


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


def covered_rows(report: Report) -> list[tuple[str, ...]]:
    """What could be read, as texts below `HEADINGS`."""
    return [
        (
            f"{english_name(row.language)} ({row.language})",
            row.judge,
            f"{row.variant} T={row.temperature:g}{'' if row.top_p is None else f' top_p={row.top_p:g}'}",
            str(row.asked),
            str(row.read),
            percent(row.coverage),
            ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in row.failures.items()) or "–",
        )
        for row in report.sealed
    ]


def _table(report: Report) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for heading in HEADINGS:
        table.add_column(heading, justify="right" if heading in NUMBERS else "left", overflow="fold")
    for row in covered_rows(report):
        table.add_row(*(Text(plain(text)) for text in row))
    return table
