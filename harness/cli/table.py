"""The table that a command is given in place of a data folder: the flags for its columns, and questions on a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from harness.cli.arguments import given_fields
from harness.cli.commands.find_out import Compare, CompareTable
from harness.cli.commands.use_scores import Probabilities
from harness.text import terminal_safe

if TYPE_CHECKING:
    from harness.exchange.one_table.read_table import OneTable
    from harness.exchange.one_table.roles import Role, TableOptions
    from harness.sources import OpenedTable


def table_of_sources(arguments: Compare | Probabilities) -> OpenedTable | None:
    """Return the table among the sources, or the two that an id joins, with the block on its columns on stderr; None without a table."""
    from harness.exchange.one_table.read_table import is_table_file
    from harness.sources import opened_table

    if not all(map(is_table_file, arguments.sources)):
        return None
    opened = opened_table(arguments.sources, table_options(arguments), ask_role if sys.stdin.isatty() else None)
    show_table(opened.table)
    if arguments.to is not None:
        opened.table.data.save(arguments.to)
        print(terminal_safe(f"kept as the data folder {arguments.to}"), file=sys.stderr)
    return opened


def show_table(table: OneTable) -> None:
    """Print to stderr how a table was read."""
    for line in table.lines:
        print(terminal_safe(line), file=sys.stderr)


def table_options(arguments: CompareTable) -> TableOptions:
    """Return what the flags say of the columns."""
    from harness.exchange.one_table.roles import TableOptions

    return TableOptions(**given_fields(arguments, TableOptions))


def ask_role(column: str) -> Role:
    """Ask on the terminal who gave the scores of a column."""
    roles: dict[str, Role] = {"p": "human", "h": "human", "j": "judge"}
    print(terminal_safe(f"'{column}' holds scores: of a person, of a judge, or neither? p, j, n "), end="", file=sys.stderr, flush=True)
    return roles.get(sys.stdin.readline().strip()[:1].casefold(), "unused")
