"""Examines a submission and reads its judgments from its raw replies. Only baselines are asked, and they cost nothing."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from harness.boards.card import CARD, JudgeCard, examine_card, quote
from harness.boards.expected_submission import Baselines, ExpectedCalls, expected_calls
from harness.boards.recorded_scores import RecordedAnswer, decode_score, differing, questions, refuse_several_answers
from harness.boards.submission_files import (
    MAX_REPLY,
    REPLIES,
    SCORES,
    ReplyRow,
    SubmissionProblems,
    folder_problems,
    impossible_numbers,
    read_lines,
    strict_row,
)
from harness.content.problems import Problem
from harness.data.columns import CodedColumn
from harness.data.judgments import Judgments, text_hash
from harness.errors import ContentError, HarnessError, UsageError
from harness.judges import traits_of
from harness.measure.item_table import AnswerCounts, count_all_answers
from harness.model import Failure, Judgment, Reply
from harness.runs import Prepared, RunAnswers, Spent, derive_judgments

_COUNTED = ("answered_by", "forms", "left_out")


class ScoredSubmission(msgspec.Struct, frozen=True):
    """One judge of a board: its card, and what its raw replies say."""

    card: JudgeCard
    judgments: Judgments
    answers: RunAnswers


class ExaminedSubmission(msgspec.Struct, frozen=True):
    """A submission and all its problems. It has an entry, and counts of its answers, only if it has no problem."""

    folder: Path
    card: JudgeCard | None = None
    entry: ScoredSubmission | None = None
    problems: list[Problem] = []
    answers: AnswerCounts | None = None

    @property
    def unread(self) -> AnswerCounts | None:
        """Return the answers that cannot be read, where these are most; None of a baseline."""
        is_broken = self.answers is not None and self.answers.mostly_unread
        return self.answers if is_broken and self.card and not traits_of(self.card.identity).is_baseline else None


def examine(expected: ExpectedCalls, folder: Path, baselines: Baselines | None = None) -> ExaminedSubmission:
    """Examine one submission: its folder, then its card, then every line of its replies.

    Without `baselines`, only the card of a baseline's submission is examined, because its replies have to be computed again.
    """
    if wrong_files := list(folder_problems(folder)):
        return ExaminedSubmission(folder, problems=wrong_files)
    card, card_problems = examine_card(folder / CARD)
    problems = SubmissionProblems()
    problems.extend(card_problems)
    entry = _read_entry(expected, folder, card, problems, baselines) if card is not None else None
    entry = None if problems else entry
    return ExaminedSubmission(folder, card, entry, problems.problems, count_all_answers(entry.judgments) if entry else None)


def _read_entry(
    expected: ExpectedCalls, folder: Path, card: JudgeCard, problems: SubmissionProblems, baselines: Baselines | None
) -> ScoredSubmission | None:
    """Read what a submission holds, and add its problems; None if there are any, or if only its card is examined."""
    right, wrong = (SCORES, REPLIES) if card.recorded else (REPLIES, SCORES)
    complaint = ""
    if not (folder / right).exists():
        complaint = f"this card is of a submission with {right}, and the folder has {wrong}"
    elif card.board != expected.board:
        complaint = f"this submission is for {card.board}, and the board is now {expected.board}; a new version needs new submissions"
    elif card.part is not None:
        expected = expected.of_part(card.part.languages, card.part.limit)
        complaint = "" if expected.queries else f"its part ({card.part.words}) has no question of {expected.board}"
    if not (complaint or card.recorded):
        try:
            expected = expected.for_judge(card.identity)
            expected = expected.with_token_probabilities() if card.token_probabilities else expected
        except UsageError as err:
            complaint = str(err)
    is_baseline = not card.recorded and traits_of(card.identity).is_baseline
    if not complaint and is_baseline and baselines is not None:
        complaint = baselines.complaint(card.identity)
    if complaint:
        problems.add(folder / CARD, None, complaint)
        return None
    if card.recorded:
        outcomes = read_scores(expected, card, folder / SCORES, problems)
        if baselines is not None and not problems and (difference := differing(card, outcomes, baselines.recorded)):
            problems.add(folder / SCORES, None, difference)
        if problems:
            return None
        judgments = as_judgments(expected, card, outcomes)
        language = {query.item.item_id: query.item.language for query in expected.queries}
        spent = {language[item]: Spent() for item in judgments.item.used}
        for item, failure in zip(judgments.item, judgments.failure, strict=True):
            if failure:
                _count_failure(spent[language[item]], str(failure))
        return ScoredSubmission(card, judgments, _answers(card.name, {}, spent))
    if is_baseline and baselines is None:
        return None
    reader = _ReplyReader(expected, card, folder / REPLIES, problems)
    reader.read(baselines.replies(card.identity) if is_baseline and baselines is not None else {})
    return None if problems else reader.entry()


def _answers(judge: str, counts: Mapping[str, Mapping[str, int]], spent: Mapping[str, Spent]) -> RunAnswers:
    """Read the scores from the replies of a whole submission; `counts` has calls by model, form and refused parameter."""
    counted: dict[str, Any] = {kind: {judge: dict(sorted(counts.get(kind, {}).items()))} for kind in _COUNTED}
    return RunAnswers(missing={judge: 0}, spent={judge: dict(sorted(spent.items()))}, **counted)


def _count_failure(spent: Spent, failure: str) -> None:
    spent.failures[failure] = spent.failures.get(failure, 0) + 1


class _ReplyReader:
    """Reads the replies of one submission. Each line is compared with its call and turned into judgments at once."""

    def __init__(self, expected: ExpectedCalls, card: JudgeCard, path: Path, problems: SubmissionProblems) -> None:
        self._expected = expected
        self._card = card
        self._identity = card.identity
        self._path = path
        self._problems = problems
        self._queries_by_call = expected.queries_by_call(self._identity)
        self._lines: dict[str, int] = {}  # call id -> number of its line
        self._judgments: dict[int, list[Judgment]] = {}  # by number of the query
        self._counts: dict[str, Counter[str]] = {kind: Counter() for kind in _COUNTED}
        self._spent: dict[str, Spent] = {}

    def read(self, recomputed: Mapping[str, Reply]) -> None:
        """Read all lines. `recomputed` are the replies of a baseline, computed again."""
        digest = hashlib.sha256()
        last = ""
        in_order = True
        try:
            for number, line in read_lines(self._path, len(self._queries_by_call)):
                digest.update(line)
                try:
                    row = strict_row(line)
                except (msgspec.MsgspecError, ValueError, RecursionError) as err:
                    reason = quote(str(err).replace("`", ""), 120)
                    self._problems.add(self._path, number, f"not a row of 'harness store export' ({reason})")
                    continue
                if in_order and row.call_id < last:
                    message = "lines should be in the order of their call ids; from this line on they are not"
                    self._problems.add(self._path, number, message, always=True)
                    in_order = False
                last = row.call_id
                if self._is_valid(number, row):
                    self._add(number, row, recomputed)
        except ContentError as err:
            location = f"{err.path}:{err.line}" if err.line else f"{err.path}"
            self._problems.add(err.path, err.line, str(err).removeprefix(f"{location}: "), always=True)
            return  # unread calls are not missing
        if digest.hexdigest() != self._card.replies_sha256:
            message = f"the hash of its lines is {digest.hexdigest()}, not replies_sha256 of {CARD}: one of the two was changed"
            self._problems.add(self._path, None, message)
        queries = self._expected.queries
        languages = {call_id: queries[numbers[0]].item.language for call_id, numbers in self._queries_by_call.items()}
        calls = Counter(languages.values())
        missing = Counter(language for call_id, language in languages.items() if call_id not in self._lines)
        for language, count in sorted(missing.items()):
            what = "the language is missing" if count == calls[language] else f"{count:,} of {calls[language]:,} calls are missing"
            self._problems.add(self._path, None, f"{language}: {what}; a submission has a reply to every call of the board")

    def _add(self, number: int, row: ReplyRow, recomputed: Mapping[str, Reply]) -> None:
        """Read the judgments of a row, for each query that it answers."""
        reply, expected = row.reply, self._expected
        correct = recomputed.get(row.call_id)
        if correct is not None and msgspec.structs.replace(reply, seconds=0.0) != correct:
            self._problems.add(self._path, number, f"{self._card.name} gives another reply when it is asked again: {quote(correct.text)}")
        for position, query_number in enumerate(self._queries_by_call[row.call_id]):
            query = expected.queries[query_number]
            spent = self._spent.setdefault(query.item.language, Spent())
            if position == 0:
                self._counts["answered_by"][reply.model] += 1
                self._counts["forms"][reply.form] += 1
                self._counts["left_out"].update(reply.left_out)
                spent.add(reply)
            language = expected.languages[query_number]
            read = derive_judgments(query, reply, row.call_id, self._identity, expected.rules, language, detect_language=False)
            self._judgments[query_number] = list(read)
            for judgment in self._judgments[query_number]:
                if judgment.failure:
                    _count_failure(spent, judgment.failure.value)

    def _is_valid(self, number: int, row: ReplyRow) -> bool:
        """Return whether a row is a call of the board, stands here for the first time, and agrees with what its call id stands for."""
        queries = self._queries_by_call.get(row.call_id)
        if queries is None:
            self._problems.add(
                self._path,
                number,
                f"call '{quote(row.call_id, 16)}' is not a call of {self._expected.board} for this judge; "
                f"if every line says this, provider, model or settings in {CARD} differ from those of the run",
            )
            return False
        if first := self._lines.get(row.call_id):
            self._problems.add(self._path, number, f"the same call as line {first}; each call has one reply")
            return False
        self._lines[row.call_id] = number
        expected = self._expected.rows[queries[0]]
        judge_field = ["judge"] if row.judge != self._card.name else []
        differing = judge_field + [name for name in expected.__struct_fields__ if getattr(row, name) != getattr(expected, name)]
        if differing:
            self._problems.add(self._path, number, f"differs from what its call id stands for in {', '.join(differing)}")
        if len(row.reply.text) > MAX_REPLY:
            self._problems.add(self._path, number, f"a reply of {len(row.reply.text):,} characters; the limit is {MAX_REPLY:,}")
            return False
        if complaint := impossible_numbers(row.reply):
            self._problems.add(self._path, number, f"impossible numbers: {complaint}")
            return False
        return not differing

    def entry(self) -> ScoredSubmission:
        judgments = Judgments.from_rows([judgment for number in range(len(self._expected.queries)) for judgment in self._judgments[number]])
        texts = judgments.justification
        hashed = Judgments(**judgments.columns | {"justification": CodedColumn(tuple(map(text_hash, texts.values)), texts.codes)})
        return ScoredSubmission(self._card, hashed, _answers(self._card.name, self._counts, self._spent))


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
            key, scale = (row.item_id, row.metric), expected.label_scales.get(row.metric)
            if key not in board_questions:
                problems.add(path, number, f"'{quote(row.metric)}' of item '{quote(row.item_id)}' is no question of this board")
            elif key in outcomes:
                message = f"'{quote(row.metric)}' of item '{quote(row.item_id)}' has a row already; every question has one"
                problems.add(path, number, message)
            elif key < last:
                problems.add(path, number, "rows should be in the order of item and metric; this one is not")
            if key in board_questions and row.score is not None and scale and not scale.holds(row.score):
                score = quote(row.score) if isinstance(row.score, str) else f"{row.score:g}"
                problems.add(path, number, f"score {score} is outside the scale of the labels ({scale.describe()})")
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


_BYTES_PER_PROCESS = 4 << 20  # of replies: fewer are read before another process has started


def examine_all(
    prepared: Prepared, folders: Sequence[Path], *, judgments: bool = True, processes: int | None = None
) -> Iterator[ExaminedSubmission]:
    """Examine each submission, in order.

    Pass `judgments=False` to leave the judgments out: results of other processes are copied, and judgments are the largest part of them.
    """
    expected = expected_calls(prepared)
    baselines = Baselines(prepared, expected)
    examiner = partial(_examined, expected, judgments, None)  # without baselines it can be sent to another process
    if processes is None:  # as many as save more time than their start takes
        size = 0
        for folder in folders:
            with suppress(OSError):
                size += (folder / REPLIES).lstat().st_size
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        processes = min(cores, len(folders), size // _BYTES_PER_PROCESS)
    for submission in _spread(examiner, folders, processes):
        card = submission.card
        computed_again = card is not None and (card.recorded or traits_of(card.identity).is_baseline)
        yield _examined(expected, judgments, baselines, submission.folder) if computed_again else submission


def _examined(expected: ExpectedCalls, judgments: bool, baselines: Baselines | None, folder: Path) -> ExaminedSubmission:
    submission = examine(expected, folder, baselines)
    if judgments or submission.entry is None:
        return submission
    entry = msgspec.structs.replace(submission.entry, judgments=submission.entry.judgments.for_items(()))
    return msgspec.structs.replace(submission, entry=entry)


_Examiner = Callable[[Path], ExaminedSubmission]
_process_examiner: _Examiner  # in a process of the pool: what `_start_process` was given


def _start_process(examiner: _Examiner) -> None:
    """Give a new process the examiner once, instead of with every submission."""
    global _process_examiner
    _process_examiner = examiner
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the process that waits for this one


def _examine_in_process(folder: Path) -> ExaminedSubmission:
    return _process_examiner(folder)


def _spread(examiner: _Examiner, folders: Sequence[Path], processes: int) -> Iterator[ExaminedSubmission]:
    if processes < 2:
        yield from map(examiner, folders)
        return
    spawn = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
    with ProcessPoolExecutor(processes, mp_context=spawn, initializer=_start_process, initargs=(examiner,)) as pool:
        try:
            yield from pool.map(_examine_in_process, folders)
        except BrokenProcessPool:
            raise HarnessError("a process that was reading submissions died; is there enough memory? check fewer boards at once") from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
