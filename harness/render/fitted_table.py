"""A text table in a terminal of any width: cells are broken between words only, and columns without room go on below the first ones."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text

from harness.render.folding import LONGEST_WORD, fold, split_pieces
from harness.reports.answer.parts import SIGNS
from harness.reports.tables.text_table import TextTable

STYLES = {"good": "blue", "bad": "dark_orange3"}
"""Colours of what is for a judge, and of what is against it."""
PIPE_WIDTH = 200  # of output that no terminal shows: little is broken there
_HEADING_WIDTH = 13  # headings up to this width stay on one line where there is room
_SENTENCE_WIDTH = 26  # characters of a line in a column of sentences, at least
_WIDE = 120  # characters of a terminal from which columns stand further apart


def plain_table(
    headings: Iterable[str], rows: Iterable[Iterable[RenderableType]], numbers: Collection[int] = (), unbroken: Collection[int] = ()
) -> Table:
    """Return a table without lines between its cells.

    `numbers` are the places of columns that are set to the right, `unbroken` those of columns that others make room for.
    """
    table = Table(box=None, pad_edge=False)
    for column, heading in enumerate(headings):
        table.add_column(heading, justify="right" if column in numbers else "left", no_wrap=column in unbroken)
    for row in rows:
        table.add_row(*row)
    return table


def output_width(console: Console) -> int:
    """Characters in a line: those of the terminal or of COLUMNS; without both, `PIPE_WIDTH`."""
    return console.width if console.is_terminal or os.environ.get("COLUMNS", "").isdigit() else PIPE_WIDTH


def gap_between(width: int) -> int:
    """Characters between columns in a terminal of a width."""
    return 1 if width < _WIDE else 2


@dataclass(frozen=True)
class FittedTable:
    """A table that rich draws in the width that it has. Columns that name the rows are repeated where others go on below.

    `title` stands above it, `line_headings` above rows, by their number. `widths` are the most that columns take, by name. Columns of
    `sentences` are wider, as lines of one word each would be unreadable; those that are `unbroken` stay on one line.
    """

    table: TextTable
    title: str = ""
    widths: Mapping[str, int] = field(default_factory=dict)
    sentences: Collection[str] = ()
    unbroken: Collection[str] = ()
    line_headings: Mapping[int, str] = field(default_factory=dict)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        gap = gap_between(options.max_width)
        # Of each column the least width, the one in which its texts have one line, and the one in which its heading has few lines too.
        least, content, full = list[int](), list[int](), list[int]()
        for column, heading in enumerate(self.table.headings):
            texts = [row[column] for row in self.table.rows] + ([] if column else list(self.line_headings.values()))
            limit = self.widths.get(heading.name, 10**6)
            widest = max(map(cell_len, texts), default=0)
            narrow = widest if heading.name in self.unbroken else min(_longest_word(texts), LONGEST_WORD)
            if heading.name in self.sentences:
                narrow = max(narrow, min(widest, _SENTENCE_WIDTH))
            words = min(_longest_word([heading.text]), LONGEST_WORD)
            least.append(min(max(narrow, words, 1), limit))
            content.append(min(widest, limit))
            full.append(min(_HEADING_WIDTH, cell_len(heading.text), limit))
        keys = [column for column, heading in enumerate(self.table.headings) if heading.key]
        for number, columns in enumerate(_blocks(least, keys, options.max_width, gap)):
            if number or self.title:
                yield Text(self.title if not number else "", style="italic")
            room = options.max_width - gap * (len(columns) - 1)
            widths = [least[column] for column in columns]
            for goal in (content, full):  # what is left of the line goes to columns that need more, from the left
                for index, column in enumerate(columns):
                    widths[index] += max(0, min(goal[column] - widths[index], room - sum(widths)))
            frame = Table(box=None, pad_edge=False, header_style="bold", padding=(0, gap, 0, 0))
            for column, width in zip(columns, widths, strict=True):
                heading = self.table.headings[column]
                frame.add_column(fold(heading.text, width), justify="right" if heading.number else "left", width=width, no_wrap=True)
            for line, row in enumerate(self.table.rows):
                if line in self.line_headings:
                    frame.add_row(Text(fold(self.line_headings[line], widths[0]), style="italic"))
                cells = []
                for column, width in zip(columns, widths, strict=True):
                    # A cell that has the sign of one style of verdicts has its colour; words and signs say the same.
                    styles = [style for style in STYLES if SIGNS[style] in row[column]]
                    cells.append(Text(fold(row[column], width), STYLES[styles[0]] if len(styles) == 1 else ""))
                frame.add_row(*cells, style="dim" if self.table.faint and self.table.faint[line] else "")
            yield frame


def _blocks(least: Sequence[int], keys: Sequence[int], width: int, gap: int) -> Iterator[list[int]]:
    """Yield the columns that stand side by side, block by block: in each the keys, and at least one other."""
    block: list[int] = []
    for column in range(len(least)):
        if column not in keys:
            taken = sum(least[other] + gap for other in (*keys, *block))
            if block and taken + least[column] > width:
                yield sorted((*keys, *block))
                block = []
            block.append(column)
    if block or keys:
        yield sorted((*keys, *block))


def _longest_word(texts: Sequence[str]) -> int:
    return max((cell_len(piece.rstrip()) for text in texts for piece in split_pieces(text)), default=0)
