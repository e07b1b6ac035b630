"""Columns of text for lists in the terminal."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence

from harness.text import broken_command

_GAP = 2  # between columns
_LEAST_CUT = 12  # characters of a column whose texts are cut


def columns(rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> list[str]:
    """Lines that show rows of texts as columns; an East Asian letter takes two places. Columns with a heading of `right` are numbers."""
    from rich.cells import cell_len

    from harness.text import terminal_safe

    safe = [[terminal_safe(text) for text in row] for row in rows]
    widths = [max(cell_len(row[i]) for row in safe) for i in range(len(safe[0]))] if safe else []
    numbers = {column for column, heading in enumerate(safe[0]) if heading in right} if safe else set()

    def padded(column: int, text: str) -> str:
        blanks = " " * (widths[column] - cell_len(text))
        return blanks + text if column in numbers else text + blanks

    return [(" " * _GAP).join(padded(column, text) for column, text in enumerate(row)).rstrip() for row in safe]


def known_width() -> int | None:
    """Characters in a line of the terminal, or in COLUMNS; None for a pipe without it, whose lines are never broken."""
    has_width = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
    return shutil.get_terminal_size().columns if has_width else None


def in_lines(text: str, width: int | None) -> Iterator[str]:
    """A sentence in lines of a width, broken between words."""
    from rich.cells import cell_len

    line = ""
    for word in re.split(" (?!%)", text):
        if width and line and cell_len(f"{line} {word}") > width:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


def hanging(rows: Sequence[tuple[str, Sequence[str]]], width: int | None) -> Iterator[str]:
    """A name and its parts in a row; parts without room in the width go on below the first one, and none is broken."""
    from rich.cells import cell_len

    gap = " " * _GAP
    indent = max((cell_len(name) for name, _ in rows), default=0) + _GAP
    for name, parts in rows:
        line = name + " " * (indent - cell_len(name) - _GAP)
        for part in parts:
            if width and line.strip() and cell_len(line + gap + part) > width and cell_len(line) >= indent:
                yield line
                line = " " * (indent - _GAP)
            line += gap + part
        yield line


def step_lines(text: str, command: str, width: int | None) -> Iterator[str]:
    """Return a next step with its command, which stands below, as a shell reads it, where it has no room behind the sentence."""
    from rich.cells import cell_len

    if not width or not command or cell_len(f"{text}: {command}") <= width:
        yield from in_lines(f"{text}: {command}" if command else text, width)
        return
    yield from in_lines(f"{text}:", width)
    yield from (f"  {part}" for part in broken_command(command, width - 2))


def fitting(rows: Sequence[Sequence[str]], first: Sequence[str], cut: str, width: int | None) -> tuple[list[list[str]], list[str]]:
    """The columns of a table that have room in a width, and the headings of the others.

    Args:
        rows: the headings, then the rows.
        first: the headings of the columns that are kept before others, in this order; then those from the left.
        cut: the heading of the column whose texts are cut where they have no room; it is kept always, with the room that columns before it
            leave, at least a little.
        width: of a line; None for any width.
    """
    from rich.cells import cell_len

    columns_of = dict(zip(rows[0], map(list, zip(*rows, strict=True)), strict=True))
    remaining = (width or 10**6) + _GAP
    reserved = min(_LEAST_CUT, max(map(cell_len, columns_of[cut]))) + _GAP if cut in columns_of else 0
    remaining -= reserved
    fitted = []
    for name in sorted(columns_of, key=lambda name: first.index(name) if name in first else len(first)):
        if name == cut:
            remaining += reserved
            columns_of[name] = [cut_to(text, max(remaining - _GAP, len(name))) for text in columns_of[name]]
        needed = max(map(cell_len, columns_of[name])) + _GAP
        if needed <= remaining or name == cut:
            fitted.append(name)
            remaining -= needed
    columns = [columns_of[name] for name in rows[0] if name in fitted]
    return [list(row) for row in zip(*columns, strict=True)], [name for name in rows[0] if name not in fitted]


def cut_to(text: str, most: int) -> str:
    """A text of so many places at most."""
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= most else f"{set_cell_size(text, most - 1).rstrip()}…"


def print_signed(lines: Iterable[str]) -> None:
    """Print lines of which the first is a title. On a terminal the signs ✓, (✓), ✗ and ○ are coloured; words say the same."""
    from rich.console import Console
    from rich.text import Text

    from harness.text import terminal_safe

    console = Console(highlight=False)
    for number, line in enumerate(lines):
        text = Text(terminal_safe(line), style="" if number else "bold")
        for pattern, style in (("✓", "blue"), (r"\(✓\)", "dim"), ("✗", "dark_orange3"), ("○", "dim")):
            text.highlight_regex(pattern, style)
        console.print(text, soft_wrap=True)


def print_columns(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of texts as columns."""
    for line in columns(rows):
        print(line)
