"""Columns of a table that hold a judge's replies in words, such as `The text is fluent. Score: 4/5`: the score of each is read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import msgspec

from harness.content.column_words import column_words
from harness.content.scale_text import parse_scale
from harness.errors import UsageError
from harness.exchange.labels.cell_scores import cell_score
from harness.exchange.labels.table_columns import SourceColumn
from harness.exchange.labels.table_options import TableOptions
from harness.exchange.one_table.column_names import name_without_side, side_of
from harness.exchange.one_table.scales import read_scale
from harness.parse.prose import read_text
from harness.parse.vocabulary import bundled_vocabulary
from harness.text import one_line

_SHOWN = 60  # characters of a reply


def with_scores_of_replies(columns: Sequence[SourceColumn], options: TableOptions) -> tuple[list[SourceColumn], list[str]]:
    """Return the columns with scores in place of replies in words, where `--judge` names a column of such replies, and notes on them.

    A reply is read as one of a live judge is: by a score that it announces, on the scale that `--scale` states or people's scores show.
    A reply without a score is a failure of the judge; the note counts these.

    Raises:
        UsageError: where no score can be read in half of the replies or more.
    """
    named = [column for column in columns if column.name in options.judge and not column.is_numeric]
    people = [column for column in columns if column.name in options.human]
    people = people or [column for column in columns if side_of(column.name) == "human" and column.may_be_scores]
    if not named or not people:
        return list(columns), []
    verdicts = column_words().verdicts
    usual_words = verdicts.good.union(verdicts.bad, verdicts.first, verdicts.second, verdicts.tie, *(person.words for person in people))
    replies = []
    for column in named:
        said = ((cell_score(cell), count) for cell, count in column.counts.items())
        plain = sum(count for score, count in said if isinstance(score, float) or score in usual_words)
        if 2 * plain <= column.filled:  # most cells hold more than a number or a word of a verdict
            replies.append(column)
    if not replies:
        return list(columns), []
    vocabulary = bundled_vocabulary()
    read: dict[str, SourceColumn] = {}
    notes: list[str] = []
    for column in replies:
        metric = name_without_side(column.name)
        of_metric = [person for person in people if name_without_side(person.name) == metric] or people
        if len(metrics := {name_without_side(person.name) for person in of_metric}) > 1:
            continue  # nothing says which of several metrics the replies are about
        # A metric's name may stand before the scale: `fluency=1..5:best=5`.
        written = [re.fullmatch("(?:([^=:]+)=)?(.+)", text) for text in options.scale]
        stated = next((match[2] for match in written if match and (match[1] is None or metrics in ({match[1]}, {""}))), None)
        scale = parse_scale(stated, "--scale ") if stated else read_scale(column.name, of_metric, [], None, pair=False).scale
        readings = {reply: read_text(str(reply), scale, vocabulary) for reply in column.counts}
        # A reply without a score stays as it is: a failure of the judge, as in a run.
        scores = [cell if cell is None or (score := readings[cell].score) is None else score for cell in column.cells]
        failures = Counter(readings[cell].failure for cell in column.cells if cell is not None and readings[cell].failure is not None)
        scored = column.filled - failures.total()
        unread = next((f"'{one_line(str(cell))[:_SHOWN]}'" for cell, reading in readings.items() if reading.failure is not None), "")
        if 2 * scored <= column.filled and not column.is_text:
            continue  # words of another scale
        if 2 * scored <= column.filled:
            raise UsageError(
                f"--judge {column.name}: a score could be read in {scored:,} of {column.filled:,} replies, which is too few; the first "
                f"that could not be read is {unread}; write the scores into a column of their own"
            )
        example, first = next((one_line(str(cell)), reading.score) for cell, reading in readings.items() if reading.failure is None)
        note = (
            f"'{column.name}' holds replies in words: a score was read in {scored:,} of {column.filled:,}, "
            f"such as {first} in '…{example[-_SHOWN:]}'"
        )
        if failures:
            note += f"; the others are failures of the judge, such as {unread}"
        notes.append(note)
        read[column.name] = msgspec.structs.replace(column, cells=scores)
    return [read.get(column.name, column) for column in columns], notes
