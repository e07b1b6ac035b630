"""A run without labels, because they are sealed or because there are none: coverage and failures, as agreement is not known here."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from harness.content.tags import english_name
from harness.render.fitted_table import FittedTable
from harness.render.terminal import dim_lines
from harness.reports.run_report import Report
from harness.reports.tables.column import TableName
from harness.reports.tables.columns import columns_in
from harness.reports.tables.text_table import TextTable, tabulate
from harness.text import terminal_safe

SEALED = (
    "The labels of this board are sealed: agreement is computed where the key is. The table shows how many answers could be read; "
    "'harness submit' hands the answers in."
)
UNLABELLED = "No item has a label, so there is no agreement to show. The table shows how many answers could be read."


def print_sealed(report: Report) -> None:
    """The table on stdout, and what is missing in it."""
    console = Console(highlight=False)
    table = sealed_table(report)
    for part in (Text(terminal_safe(report.title), style="bold"), Text(reason_without_agreement(report)), FittedTable(table)):
        console.print(part)
    console.print(dim_lines(table.legend))
    for judge, calls in report.missing.items():
        if calls:
            console.print(Text(terminal_safe(f"{judge}: {calls} calls have no answer")))
    for signature in report.signatures.values():
        console.print(Text(terminal_safe(f"signature  {signature}"), style="dim"), soft_wrap=True)


def reason_without_agreement(report: Report) -> str:
    """Why a report shows no agreement: the labels are sealed, or there are none. Empty if it shows agreement."""
    return "" if not report.sealed else UNLABELLED if report.unlabelled else SEALED


def sealed_table(report: Report) -> TextTable:
    """How many answers of each judge could be read, language by language."""
    rows = []
    for row in report.sealed:
        counts = {name: getattr(row, name) for name in ("judge", "asked", "read", "coverage", "failures")}
        rows.append(counts | {"language": f"{english_name(row.language)} ({row.language})", "condition": row.condition.words()})
    return tabulate(rows, columns_in(TableName.SEALED), ("language", "judge", "condition"))
