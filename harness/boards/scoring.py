"""A submission's raw replies become the numbers of a board: every judgment is read from them again, and nobody is asked."""

from __future__ import annotations

from pathlib import Path

import msgspec

from harness.answers import Answers
from harness.boards.card import JudgeCard
from harness.content import Board
from harness.content.recorded import Judgments
from harness.protocol import Prepared


class Entry(msgspec.Struct, frozen=True):
    """One judge of a board, as its raw replies say."""

    card: JudgeCard
    judgments: Judgments
    answers: Answers


def score(board: Board, prepared: Prepared, folder: Path) -> Entry:
    """The entry of one submission. Raises ContentError with `file:line` for the first thing that is wrong with it."""
    raise NotImplementedError
