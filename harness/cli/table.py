"""The table that a command is given in place of a data folder: the flags for its columns, and questions on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.text import terminal_safe

if TYPE_CHECKING:
    from harness.exchange.one_table.options import Role, TableOptions
    from harness.exchange.one_table.read_table import OneTable
    from harness.sources import OpenedTable, Selection


def table_of_sources(
    sources: Sequence[str], options: Selection, table: TableOptions, to: Path | None
) -> tuple[OpenedTable | None, Selection]:
    """Return the table that the sources are, or the two that an id joins, and the options without the judges that name its columns.

    How it was read goes to stderr, and its data folder to `to`. Without a table: None, and the options as they are.
    """
    from harness.sources import with_table

    opened, options = with_table(sources, options, table, ask_role if sys.stdin.isatty() else None)
    if opened is not None:
        show_table(opened.table)
        if to is not None:
            opened.table.data.save(to)
            print(terminal_safe(f"kept as the data folder {to}"), file=sys.stderr)
    return opened, options


def show_table(table: OneTable) -> None:
    """Print to stderr how a table was read."""
    for line in table.lines:
        print(terminal_safe(line), file=sys.stderr)


def ask_role(column: str) -> Role:
    """Ask on the terminal who gave the scores of a column."""
    roles: dict[str, Role] = {"p": "human", "h": "human", "j": "judge"}
    print(terminal_safe(f"'{column}' holds scores: of a person, of a judge, or neither? p, j, n "), end="", file=sys.stderr, flush=True)
    return roles.get(sys.stdin.readline().strip()[:1].casefold(), "unused")
