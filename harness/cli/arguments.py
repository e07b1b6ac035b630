"""What several commands make of their arguments: a page, a figure, the run or data folder whose judgments they use, a table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import sources
from harness.cli.command import value_of
from harness.cli.streams import print_message
from harness.errors import UsageError
from harness.text import quoted, terminal_safe

if TYPE_CHECKING:
    from harness.correction.certify import JudgedRun
    from harness.exchange.labels.table_options import Role, TableOptions
    from harness.exchange.one_table.read_table import OneTable
    from harness.measure.compare import Recording
    from harness.runs import RunResult
    from harness.sources import OpenedTable, Selection


def page_path(name: str | None, default: Path | None = None) -> Path | None:
    """The file to write a page to: None without the flag, `default` for a flag without a name. Raises UsageError for another file type."""
    if not name:
        return None if name is None else default
    if not name.endswith((".html", ".htm")):
        raise UsageError(f"'{name}' cannot be the name of a page; it must end in .html")
    return Path(name)


def check_figure(path: Path | None) -> None:
    """Refuse the name of a figure without a known ending before anything that takes time. Raises UsageError."""
    if path:
        from harness.render.figures import form_of

        form_of(path)


def opened_source(arguments: Any) -> sources.OpenedSource:
    """Return the source that `source`, `--card` and `--out` name."""
    return sources.open_sources([arguments.source], value_of(arguments, "card"), arguments.out)[0]


def asked_source(arguments: Any) -> tuple[Recording, JudgedRun | None]:
    """The judgments of the source, and how they were asked where it is a run."""
    source = opened_source(arguments)
    return source.recording, judged_run(source.run)


def judged_run(run: RunResult | None) -> JudgedRun | None:
    """Return the run as a certificate records it."""
    from harness.correction.certify import JudgedRun

    return JudgedRun(run.protocol, run.prepared.library) if run else None


def table_of_sources(
    sources: Sequence[str], options: Selection, table: TableOptions, to: Path | None
) -> tuple[OpenedTable | None, Selection]:
    """Return the table that the sources are, or the two that an id joins, and the options without the judges that name its columns.

    How it was read goes to stderr, and its data folder to `to`. Without a table: None, and the options as they are; then `to` raises
    UsageError, as nothing would be kept.
    """
    from harness.sources import with_table

    opened, options = with_table(sources, options, table, ask_role if sys.stdin.isatty() else None)
    if opened is None:
        if to is not None:
            raise UsageError(f"--to {to} keeps a table as a data folder, and {quoted(sources)} is no table; leave --to out")
        return None, options
    show_table(opened.table)
    if to is not None:
        opened.table.data.save(to)
        print_message(f"kept as the data folder {to}")
    return opened, options


def show_table(table: OneTable) -> None:
    """Print to stderr how a table was read."""
    from harness.render.terminal import print_lines  # late: with rich

    print_lines(table.lines, stderr=True)


def ask_role(column: str) -> Role:
    """Ask on the terminal who gave the scores of a column, or who a rater is."""
    roles: dict[str, Role] = {"p": "human", "h": "human", "j": "judge"}
    print(terminal_safe(f"'{column}': scores of a person, of a judge, or neither? p, j, n "), end="", file=sys.stderr, flush=True)
    return roles.get(sys.stdin.readline().strip()[:1].casefold(), "unused")
