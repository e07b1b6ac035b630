"""Lines of a width for texts in a table's cells: what stays together, and where a line breaks."""

from __future__ import annotations

import re

from rich.cells import cell_len, chop_cells

from harness.reports.tables.columns import FEW_RARE_CASES, NO_INTERVAL
from harness.text import terminal_safe

LONGEST_WORD = 24  # characters; a longer word is broken where it is wider than its column
_GLUED = ("%", NO_INTERVAL, FEW_RARE_CASES)  # stay behind the number before them


def split_pieces(text: str) -> list[str]:
    """Return what stays together: a word, a number with its sign, the whole of an interval. A line may break behind the dash of a pair of
    words.

    >>> split_pieces("61 % [+6 to +14] judge–person pairs")
    ['61 % ', '[+6 to +14] ', 'judge–', 'person ', 'pairs ']
    """
    pieces: list[str] = []
    for word in text.split():
        before = pieces[-1] if pieces else ""
        in_interval = before.startswith("[") and not before.endswith("] ") and len(before) < LONGEST_WORD
        first, dash, second = word.partition("–")
        if in_interval or word in _GLUED:
            pieces[-1:] = [f"{before}{word} "]
        elif first.isalpha() and second.isalpha():
            pieces += [first + dash, f"{second} "]
        else:
            pieces.append(f"{word} ")
    return pieces


def _broken(word: str, width: int) -> list[str]:
    """Return a word that is too long for its column, in lines: behind its signs (`-`, `/`, `_`) where that is possible.

    >>> _broken("local/qwen2.5-coder-1.5b", 12)
    ['local/', 'qwen2.5-', 'coder-1.5b']
    """
    lines = [""]
    for part in re.findall(r"[^-/_]*[-/_]+|[^-/_]+", word):
        if cell_len(lines[-1] + part) <= width:
            lines[-1] += part
        else:
            lines += chop_cells(part, width)
    return [line for line in lines if line]


def fold(text: str, width: int) -> str:
    """Return a text in lines of at most `width` cells, broken between words; a longer word is broken where it has to be."""
    lines = [""]
    for piece in split_pieces(text):
        if cell_len((lines[-1] + piece).rstrip()) <= width:
            lines[-1] += piece
        elif cell_len(piece.rstrip()) <= width:
            lines.append(piece)
        else:
            lines += _broken(piece.rstrip(), width)
            lines[-1] += " "
    return terminal_safe("\n".join(line.rstrip() for line in lines if line))
