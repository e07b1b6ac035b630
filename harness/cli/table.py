"""The table that a command is given in place of a data folder: the flags for its columns, and questions on a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from harness.cli.commands.find_out import Compare
from harness.cli.commands.use_scores import Probabilities
from harness.text import terminal_safe

if TYPE_CHECKING:
    from harness.exchange.one_table.options import Role
    from harness.exchange.one_table.read_table import OneTable
    from harness.sources import OpenedTable


def table_of_sources(arguments: Compare | Probabilities) -> tuple[OpenedTable | None, Any]:
    """Return the table among the sources, or the two that an id joins, with the block on its columns on stderr; None without a table."""
    from harness.sources import with_table

    opened, options = with_table(arguments.sources, arguments.options, arguments.table, ask_role if sys.stdin.isatty() else None)
    if opened is None:
        return None, options
    show_table(opened.table)
    if arguments.to is not None:
        opened.table.data.save(arguments.to)
        print(terminal_safe(f"kept as the data folder {arguments.to}"), file=sys.stderr)
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
