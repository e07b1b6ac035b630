"""Counts of answers that could not be read: where most of them cannot, its set-up does not work, and no number rests on it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import msgspec
import numpy as np

from harness.data.judgments import Judgments
from harness.model import LONGEST_EXCERPT
from harness.stats.core.arrays import Ints
from harness.text import one_line


class AnswerCounts(msgspec.Struct, frozen=True):
    """Counts of a judge's answers, and of those that could not be read.

    Attributes:
        asked: answers of a cell, those that could not be read included.
        unread: how many could not be read, by kind of failure.
        example: one of the commonest kind: what stood where the score should be, else how the reply begins, at most 80 characters; None of
            empty replies, and where neither was recorded.
    """

    asked: int
    unread: dict[str, int]
    example: str | None = None

    @property
    def mostly_unread(self) -> bool:
        """True if more than half of the answers could not be read."""
        return 2 * sum(self.unread.values()) > self.asked


def count_answers(judgments: Judgments, total: int, unread: Ints) -> AnswerCounts:
    """Return the counts of some judgments, `total` in number, of which the rows `unread` have no score."""
    kinds = judgments.failure.take(unread)
    counts = np.bincount(kinds.codes[kinds.codes >= 0], minlength=len(kinds.values)).tolist()
    failures = {str(kind): count for kind, count in sorted(zip(kinds.values, counts, strict=True)) if count}
    example = None
    if failures:
        commonest = max(failures, key=lambda kind: failures[kind])
        rows = unread[kinds.equals(commonest)]
        written = chain(judgments.raw_choice.take(rows), judgments.excerpt.take(rows))
        example = next((str(value) for value in written if value is not None), None)
    return AnswerCounts(total, failures, example and one_line(example)[:LONGEST_EXCERPT])


def count_all_answers(judgments: Judgments) -> AnswerCounts:
    """Return the counts of all of these judgments."""
    return count_answers(judgments, len(judgments), np.flatnonzero(judgments.score.codes < 0))


def total_answers(cells: Iterable[AnswerCounts]) -> AnswerCounts:
    """Return the counts of several cells together, with the example of the cell that has the most unread answers.

    >>> total_answers([AnswerCounts(3, {"refused": 1}), AnswerCounts(5, {"off_scale": 4, "refused": 1}, "9")])
    AnswerCounts(asked=8, unread={'refused': 2, 'off_scale': 4}, example='9')
    """
    total, unread, examples = 0, dict[str, int](), list[tuple[int, str]]()
    for cell in cells:
        total += cell.asked
        for kind, count in cell.unread.items():
            unread[kind] = unread.get(kind, 0) + count
        if cell.example is not None:
            examples.append((sum(cell.unread.values()), cell.example))
    return AnswerCounts(total, unread, max(examples, key=lambda example: example[0])[1] if examples else None)
