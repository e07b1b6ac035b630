"""Reads submissions of recorded scores, row by row, and turns them into judgments."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from harness.boards.card import CARD, JudgeCard, quote
from harness.boards.expected import ExpectedCalls
from harness.boards.problems import SubmissionProblems
from harness.boards.recorded import RecordedAnswer, ScoreRow, decode_score, questions, refuse_several_answers
from harness.boards.replies import read_lines
from harness.data.judgments import Judgments
from harness.errors import ContentError, UsageError
from harness.model import Failure, Judgment, Query, Scale


def read_scores(
    expected: ExpectedCalls, card: JudgeCard, path: Path, problems: SubmissionProblems
) -> dict[tuple[str, str], RecordedAnswer]:
    """Read a file of recorded scores and add its problems."""
    board_questions, outcomes, digest = questions(expected.queries), dict[tuple[str, str], RecordedAnswer](), hashlib.sha256()
    last: tuple[str, str] = ("", "")
    try:
        refuse_several_answers(expected.board, expected.queries)
        for number, line in read_lines(path, len(board_questions)):
            digest.update(line)
            try:
                row = decode_score(line)
            except (msgspec.MsgspecError, ValueError, RecursionError) as err:
                problems.add(path, number, f"not a row of recorded scores ({quote(str(err).replace('`', ''), 120)})")
                continue
            key = (row.item_id, row.metric)
            for message in _complaints(row, key, board_questions, outcomes, last, expected.label_scales):
                problems.add(path, number, message)
            last = key
            outcomes[key] = row.score if row.score is not None else Failure(str(row.failure))
    except ContentError as err:
        problems.add(err.path, err.line, str(err).rpartition(": ")[2], always=True)
        return outcomes
    except UsageError as err:
        problems.add(path, None, str(err))
        return outcomes
    if digest.hexdigest() != card.scores_sha256:
        problems.add(path, None, f"the hash of its lines is {digest.hexdigest()}, not scores_sha256 of {CARD}: one of the two was changed")
    if absent := len(board_questions.keys() - outcomes.keys()):
        problems.add(path, None, f"{absent:,} of {len(board_questions):,} questions are missing; every question of the board has a row")
    return outcomes


def _complaints(
    row: ScoreRow,
    key: tuple[str, str],
    board_questions: Mapping[tuple[str, str], Query],
    earlier: Mapping[tuple[str, str], RecordedAnswer],
    last: tuple[str, str],
    scales: Mapping[str, Scale],
) -> Iterator[str]:
    if key not in board_questions:
        yield f"'{quote(row.metric)}' of item '{quote(row.item_id)}' is no question of this board"
        return
    if key in earlier:
        yield f"'{quote(row.metric)}' of item '{quote(row.item_id)}' has a row already; every question has one"
    elif key < last:
        yield "rows should be in the order of item and metric; this one is not"
    if row.score is not None and not scales[row.metric].holds(row.score):
        yield f"score {row.score:g} is outside the scale of the labels ({scales[row.metric].describe()})"


def as_judgments(expected: ExpectedCalls, card: JudgeCard, outcomes: Mapping[tuple[str, str], RecordedAnswer]) -> Judgments:
    """Recorded scores as judgments under the board's only condition, so that they stand in its tables."""
    rows = []
    for (item, metric), query in questions(expected.queries).items():
        outcome = outcomes[item, metric]
        rows.append(
            Judgment(
                item_id=item,
                language=query.item.language,
                task=query.item.task,
                metric=metric,
                judge=card.name,
                condition=query.condition,
                repeat=query.repeat,
                score=None if isinstance(outcome, Failure) else outcome,
                failure=outcome if isinstance(outcome, Failure) else None,
                raw_choice=None,
                justification=None,
                call_id="",
            )
        )
    return Judgments.from_rows(rows)
