"""Judges most of whose answers cannot be read: a set-up that does not work says nothing of a judge, so no number rests on its cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from harness.data.judgments import NO_VARIANT
from harness.decide.sentences import REPAIR, unread_sentence, unread_words
from harness.errors import JudgeError
from harness.measure.answer_counts import AnswerCounts, total_answers
from harness.measure.item_table import ItemTable
from harness.model import SIDE, JudgeCondition


class UnreadCells(msgspec.Struct, frozen=True):
    """Cells that were left out, because more than half of a judge's answers cannot be read.

    Attributes:
        key: the judge and its condition; of one cell alone its language and metric too.
        answers: how many could not be read, why, and one of them as it was written.
    """

    key: dict[str, Any]
    answers: AnswerCounts

    @property
    def of_all(self) -> bool:
        """True if it is about all cells of the judge."""
        return "metric" not in self.key

    def covers(self, key: Mapping[str, Any]) -> bool:
        """Return True if a cell with this key is among them."""
        return all(key.get(name) == value for name, value in self.key.items())

    @property
    def reason(self) -> str:
        return unread_words(self.answers)

    def sentence(self) -> str:
        """Say what was left out, and why."""
        where = "" if self.of_all else f" in {self.key['language']}/{self.key['metric']}"
        return unread_sentence(self.answers, f"nothing is said of {judge_words(self.key)}{where}")

    def flat(self) -> dict[str, Any]:
        """Return one object for programs."""
        return {**self.key, **msgspec.to_builtins(self.answers)}


def judge_words(key: Mapping[str, Any]) -> str:
    """Name the judge of a key, with its condition where it has one.

    >>> judge_words({"judge": "openai/one", "variant": "joint", "temperature": 0.7})
    'openai/one (joint, temperature 0.7)'
    """
    words = JudgeCondition.of({name: value for name, value in key.items() if value != NO_VARIANT}).words()
    return f"{key['judge']} ({words})" if words else str(key["judge"])


def split_unread(cells: Iterable[ItemTable]) -> tuple[list[ItemTable], tuple[UnreadCells, ...]]:
    """Divide cells into those that numbers may rest on, and what is left out: a judge with all its cells, or one cell of it."""
    sides: dict[tuple[Any, ...], list[ItemTable]] = {}
    for cell in cells:
        sides.setdefault(tuple(cell.key.get(name) for name in ("source", *SIDE)), []).append(cell)
    readable, unread = list[ItemTable](), list[UnreadCells]()
    for of_judge in sides.values():
        answers = total_answers(cell.counts for cell in of_judge)
        if answers.mostly_unread:
            key = {name: value for name, value in of_judge[0].key.items() if name in ("source", *SIDE)}
            unread.append(UnreadCells(key, answers))
            continue
        readable += [cell for cell in of_judge if not cell.counts.mostly_unread]
        unread += [UnreadCells(cell.key, cell.counts) for cell in of_judge if cell.counts.mostly_unread]
    return readable, tuple(unread)


def refuse_unread(cells: Iterable[ItemTable], what: str) -> tuple[list[ItemTable], tuple[UnreadCells, ...]]:
    """Divide cells as `split_unread`; `what` would rest on them.

    Raises JudgeError where nothing is left of any judge, baselines aside.
    """
    readable, unread = split_unread(cells)
    if unread and all(cell.is_baseline for cell in readable):
        words = unread_words(total_answers(cells_unread.answers for cells_unread in unread))
        judges = ", ".join(dict.fromkeys(str(cells_unread.key["judge"]) for cells_unread in unread))
        raise JudgeError(f"{words}: {what} of {judges}. {REPAIR}")
    return readable, unread
