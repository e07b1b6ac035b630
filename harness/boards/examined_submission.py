"""Examines a submission and reads its judgments from its raw replies. Only baselines are asked, and they cost nothing."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import msgspec

from harness.boards.card import CARD, JudgeCard, examine_card, quote
from harness.boards.expected import Baselines, ExpectedCalls, ExpectedRow, expected_calls
from harness.boards.problems import SubmissionProblems, folder_problems
from harness.boards.recorded import differing
from harness.boards.recorded_scores import as_judgments, read_scores
from harness.boards.replies import REPLIES, SCORES, ReplyRow, impossible_numbers, read_lines, strict_row
from harness.content import Board
from harness.content.problems import Problem
from harness.data.columns import CodedColumn
from harness.data.judgment_file import text_hash
from harness.data.judgments import Judgments
from harness.errors import ContentError
from harness.judges import traits_of
from harness.model import Judgment, Reply
from harness.runs import Prepared, RunAnswers, Spent, derive_judgments


class ScoredSubmission(msgspec.Struct, frozen=True):
    """One judge of a board: its card, and what its raw replies say."""

    card: JudgeCard
    judgments: Judgments
    answers: RunAnswers


class ExaminedSubmission(msgspec.Struct, frozen=True):
    """A submission and all its problems. It has an entry only if it has no problem."""

    folder: Path
    card: JudgeCard | None = None
    entry: ScoredSubmission | None = None
    problems: list[Problem] = []


def score(board: Board, prepared: Prepared, folder: Path) -> ScoredSubmission:
    """Read one submission. `prepared` is the whole board; its prompts are rendered only once.

    Raises ContentError with `file:line` for the first problem of the submission.
    """
    expected = expected_calls(prepared)
    examined = examine(expected, folder, Baselines(prepared, expected))
    for problem in examined.problems:
        raise ContentError(problem.message, problem.path, problem.line)
    assert examined.entry is not None
    return examined.entry


def examine(expected: ExpectedCalls, folder: Path, baselines: Baselines | None = None) -> ExaminedSubmission:
    """Examine one submission: its folder, then its card, then every line of its replies.

    Without `baselines`, only the card of a baseline's submission is examined, because its replies have to be computed again.
    """
    if wrong_files := list(folder_problems(folder)):
        return ExaminedSubmission(folder, problems=wrong_files)
    card, card_problems = examine_card(folder / CARD)
    problems = SubmissionProblems()
    problems.extend(card_problems)
    if card is not None and not (folder / (SCORES if card.recorded else REPLIES)).exists():
        wrong, right = (REPLIES, SCORES) if card.recorded else (SCORES, REPLIES)
        problems.add(folder / CARD, None, f"this card is of a submission with {right}, and the folder has {wrong}")
        return ExaminedSubmission(folder, card, problems=problems.problems)
    if card is None:
        return ExaminedSubmission(folder, problems=problems.problems)
    if card.board != expected.board:
        message = f"this submission is for {card.board}, and the board is now {expected.board}; a new version needs new submissions"
        problems.add(folder / CARD, None, message)
        return ExaminedSubmission(folder, card, problems=problems.problems)
    if card.part is not None:
        expected = expected.of_part(card.part.languages, card.part.limit)
        if not expected.queries:
            problems.add(folder / CARD, None, f"its part ({card.part.words}) has no question of {expected.board}")
            return ExaminedSubmission(folder, card, problems=problems.problems)
    if card.recorded:
        return _examine_recorded(expected, folder, card, problems, baselines)
    recomputed: Mapping[str, Reply] = {}
    if traits_of(card.identity).is_baseline:
        if baselines is None:
            return ExaminedSubmission(folder, card, problems=problems.problems)
        if complaint := baselines.complaint(card.identity):
            problems.add(folder / CARD, None, complaint)
            return ExaminedSubmission(folder, card, problems=problems.problems)
        recomputed = baselines.replies(card.identity)
    reader = _ReplyReader(expected, card, folder / REPLIES, problems)
    reader.read(recomputed)
    return ExaminedSubmission(folder, card, None if problems else reader.entry(), problems.problems)


def _examine_recorded(
    expected: ExpectedCalls, folder: Path, card: JudgeCard, problems: SubmissionProblems, baselines: Baselines | None
) -> ExaminedSubmission:
    """Examine recorded scores; where the board's data folder holds judgments of the judge, they are compared with these."""
    found = read_scores(expected, card, folder / SCORES, problems)
    if baselines is not None and not problems and (difference := differing(card, found, baselines.recorded)):
        problems.add(folder / SCORES, None, difference)
    if problems:
        return ExaminedSubmission(folder, card, problems=problems.problems)
    spent: dict[str, Spent] = {}
    judgments = as_judgments(expected, card, found)
    for language, failure in zip(_languages(expected, judgments), judgments.failure, strict=True):
        own = spent.setdefault(language, Spent())
        if failure:
            own.failures[str(failure)] = own.failures.get(str(failure), 0) + 1
    answers = RunAnswers({card.name: 0}, {card.name: {}}, {card.name: {}}, {card.name: {}}, {card.name: dict(sorted(spent.items()))})
    return ExaminedSubmission(folder, card, ScoredSubmission(card, judgments, answers))


def _languages(expected: ExpectedCalls, judgments: Judgments) -> list[str]:
    language = {query.item.item_id: query.item.language for query in expected.queries}
    return [language[item] for item in judgments.item]


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
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in ("answered_by", "forms", "left_out")}
        self._spent: dict[str, Spent] = {}

    def read(self, recomputed: Mapping[str, Reply]) -> None:
        """Read all lines. `recomputed` are the replies of a baseline, computed again."""
        digest = hashlib.sha256()
        last = ""
        in_order = True
        try:
            for number, line in read_lines(self._path, len(self._queries_by_call)):
                digest.update(line)
                row = self._decode(number, line)
                if row is None:
                    continue
                if in_order and row.call_id < last:
                    message = "lines should be in the order of their call ids; from this line on they are not"
                    self._problems.add(self._path, number, message, always=True)
                    in_order = False
                last = row.call_id
                if self._is_valid(number, row):
                    self._add(number, row, recomputed)
        except ContentError as err:
            self._problems.add(err.path, err.line, _message(err), always=True)
            return  # unread calls are not missing
        if digest.hexdigest() != self._card.replies_sha256:
            message = f"the hash of its lines is {digest.hexdigest()}, not replies_sha256 of {CARD}: one of the two was changed"
            self._problems.add(self._path, None, message)
        self._report_missing()

    def _decode(self, number: int, line: bytes) -> ReplyRow | None:
        try:
            return strict_row(line)
        except (msgspec.MsgspecError, ValueError, RecursionError) as err:
            reason = quote(str(err).replace("`", ""), 120)
            self._problems.add(self._path, number, f"not a row of 'harness store export' ({reason})")
            return None

    def _is_valid(self, number: int, row: ReplyRow) -> bool:
        """Whether a row is a call of the board, stands here for the first time, and agrees with what its call id stands for."""
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
        differing = _differing_fields(row, self._expected.rows[queries[0]], self._card.name)
        if differing:
            self._problems.add(self._path, number, f"differs from what its call id stands for in {', '.join(differing)}")
        if complaint := impossible_numbers(row.reply):
            self._problems.add(self._path, number, f"impossible numbers: {complaint}")
            return False
        return not differing

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
            judgments = list(read)
            for judgment in judgments:
                if judgment.failure:
                    spent.failures[judgment.failure.value] = spent.failures.get(judgment.failure.value, 0) + 1
            self._judgments[query_number] = judgments

    def _report_missing(self) -> None:
        queries = self._expected.queries
        languages = {call_id: queries[numbers[0]].item.language for call_id, numbers in self._queries_by_call.items()}
        calls = Counter(languages.values())
        missing = Counter(language for call_id, language in languages.items() if call_id not in self._lines)
        for language, count in sorted(missing.items()):
            what = "the language is missing" if count == calls[language] else f"{count:,} of {calls[language]:,} calls are missing"
            self._problems.add(self._path, None, f"{language}: {what}; a submission has a reply to every call of the board")

    def entry(self) -> ScoredSubmission:
        name = self._card.name
        judgments = Judgments.from_rows([judgment for number in range(len(self._expected.queries)) for judgment in self._judgments[number]])
        texts = judgments.justification
        hashed = Judgments(**judgments.columns | {"justification": CodedColumn(tuple(map(text_hash, texts.values)), texts.codes)})
        counts = {kind: {name: dict(sorted(count.items()))} for kind, count in self._counts.items()}
        spent = {name: dict(sorted(self._spent.items()))}
        return ScoredSubmission(
            self._card, hashed, RunAnswers({name: 0}, counts["answered_by"], counts["forms"], counts["left_out"], spent)
        )


def _differing_fields(row: ReplyRow, expected: ExpectedRow, judge: str) -> list[str]:
    judge_field = ["judge"] if row.judge != judge else []
    return judge_field + [name for name in expected.__struct_fields__ if getattr(row, name) != getattr(expected, name)]


def _message(err: ContentError) -> str:
    """The message of an error without its place, which a problem names itself."""
    place = f"{err.path}:{err.line}" if err.line else f"{err.path}"
    return str(err).removeprefix(f"{place}: ")
