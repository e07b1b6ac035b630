"""Columns of text for lists in the terminal."""

from __future__ import annotations

from collections.abc import Sequence


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines that show rows of texts as columns; an East Asian letter takes two places."""
    from rich.cells import cell_len

    from harness.text import terminal_safe

    safe = [[terminal_safe(text) for text in row] for row in rows]
    widths = [max(cell_len(row[i]) for row in safe) for i in range(len(safe[0]))] if safe else []
    return ["  ".join(text + " " * (width - cell_len(text)) for text, width in zip(row, widths, strict=True)).rstrip() for row in safe]


def print_columns(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of texts as columns."""
    for line in columns(rows):
        print(line)
