"""Columns of a table that hold a judge's replies in words, such as `The text is fluent. Score: 4/5`: the score of each is read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import msgspec

from harness.content.scale_text import parse_scale
from harness.errors import UsageError
from harness.exchange.labels.table_columns import SourceColumn
from harness.exchange.labels.table_options import TableOptions
from harness.exchange.one_table.column_names import side_of
from harness.exchange.one_table.scales import read_scale
from harness.parse.prose import read_text
from harness.parse.vocabulary import bundled_vocabulary
from harness.text import one_line

_SHOWN = 60  # characters of a reply


def with_scores_of_replies(columns: Sequence[SourceColumn], options: TableOptions) -> tuple[list[SourceColumn], list[str]]:
    """Return the columns with scores in place of replies in words, where `--judge` names a column of such replies, and notes on them.

    A reply is read as one of a live judge is: by a score that it announces, on the scale that `--scale` states or people's scores show.
    What cannot be read is no answer; the note counts these.

    Raises:
        UsageError: where no score can be read in half of the replies or more.
    """
    people = [column for column in columns if column.name in options.human]
    people = people or [column for column in columns if side_of(column.name) == "human" and column.may_be_scores]
    replies = [column for column in columns if column.name in options.judge and column.is_text and not column.may_be_scores]
    if not people or not replies:
        return list(columns), []
    # A metric's name may stand before the scale: `fluency=1..5:best=5`.
    stated = parse_scale(re.sub("^[^=:]+=", "", options.scale[0]), "--scale ") if options.scale else None
    scale = stated or read_scale(people[0].name, people, [], None, pair=False).scale
    vocabulary = bundled_vocabulary()
    read: dict[str, SourceColumn] = {}
    notes: list[str] = []
    for column in replies:
        readings = {reply: read_text(str(reply), scale, vocabulary) for reply in column.counts}
        scores = [None if cell is None else readings[cell].score for cell in column.cells]
        failures = Counter(readings[cell].failure for cell in column.cells if cell is not None and readings[cell].failure is not None)
        scored = column.filled - failures.total()
        unread = next((f"'{one_line(str(cell))[:_SHOWN]}'" for cell, reading in readings.items() if reading.failure is not None), "")
        if 2 * scored <= column.filled:
            raise UsageError(
                f"--judge {column.name}: a score could be read in {scored:,} of {column.filled:,} replies, which is too few; the first "
                f"that could not be read is {unread}; write the scores into a column of their own"
            )
        example, score = next((one_line(str(cell)), reading.score) for cell, reading in readings.items() if reading.failure is None)
        note = (
            f"'{column.name}' holds replies in words: a score was read in {scored:,} of {column.filled:,}, "
            f"such as {score} in '…{example[-_SHOWN:]}'"
        )
        if failures:
            note += f"; the others are no answer, such as {unread}"
        notes.append(note)
        read[column.name] = msgspec.structs.replace(column, cells=scores)
    return [read.get(column.name, column) for column in columns], notes
