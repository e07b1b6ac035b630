"""A submission's raw replies become the numbers of a board: every judgment is read from them again, and nobody is asked."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import msgspec

from harness.answers import Answers, Spent
from harness.boards.anew import BASELINE, Baselines
from harness.boards.card import CARD, JudgeCard, examine_card, plainly
from harness.boards.findings import Findings
from harness.boards.replies import REPLIES, ReplyRow, decode_row, impossible, lines_of
from harness.boards.structure import folder_problems
from harness.boards.wanted import Expected, Wanted, wanted_by
from harness.columns import Coded
from harness.content import Board
from harness.content.problem import Problem
from harness.content.recorded import Judgments
from harness.errors import ContentError
from harness.judgments import derive
from harness.judgments.file import text_hash
from harness.model import Judgment, Reply
from harness.protocol import Prepared


class Entry(msgspec.Struct, frozen=True):
    """One judge of a board, as its raw replies say."""

    card: JudgeCard
    judgments: Judgments
    answers: Answers


class Examined(msgspec.Struct, frozen=True):
    """A submission that was looked through: what it says, and all that is wrong with it. There is an entry where nothing is."""

    folder: Path
    card: JudgeCard | None = None
    entry: Entry | None = None
    problems: list[Problem] = []


def score(board: Board, prepared: Prepared, folder: Path) -> Entry:
    """The entry of one submission. `prepared` is the whole board; of one board, prompts are worded once.

    Raises ContentError with `file:line` for the first thing that is wrong with it.
    """
    wanted = wanted_by(prepared)
    found = examine(wanted, folder, Baselines(prepared, wanted))
    for problem in found.problems:
        raise ContentError(problem.message, problem.path, problem.line)
    assert found.entry is not None
    return found.entry


def examine(wanted: Wanted, folder: Path, baselines: Baselines | None = None) -> Examined:
    """Look through one submission: first what its folder holds, then the card, then every line of the replies.

    Without `baselines` one of a baseline is looked at no further than its card, as it has to be asked anew.
    """
    if problems := list(folder_problems(folder)):
        return Examined(folder, problems=problems)
    card, problems = examine_card(folder / CARD)
    findings = Findings()
    findings.extend(problems)
    if card is None:
        return Examined(folder, problems=findings.problems)
    if card.board != wanted.board:
        findings.add(folder / CARD, None, f"it is of {card.board}, and the board here is {wanted.board}: results on it start afresh")
        return Examined(folder, card, problems=findings.problems)
    anew: Mapping[str, Reply] = {}
    if card.provider == BASELINE:
        if baselines is None:
            return Examined(folder, card, problems=findings.problems)
        if complaint := baselines.complaint(card.identity):
            findings.add(folder / CARD, None, complaint)
            return Examined(folder, card, problems=findings.problems)
        anew = baselines.replies(card.identity)
    reading = _Reading(wanted, card, folder / REPLIES, findings)
    reading.read(anew)
    return Examined(folder, card, None if findings else reading.entry(), findings.problems)


class _Reading:
    """The replies of one submission as they are read: each line is held against its call and becomes judgments at once."""

    def __init__(self, wanted: Wanted, card: JudgeCard, path: Path, findings: Findings) -> None:
        self._wanted = wanted
        self._card = card
        self._identity = card.identity
        self._path = path
        self._findings = findings
        self._places = wanted.places(self._identity)
        self._lines: dict[str, int] = {}  # call id -> the line that it stands in
        self._judgments: dict[int, list[Judgment]] = {}  # by ask
        self._counts: dict[str, Counter[str]] = {what: Counter() for what in ("answered_by", "forms", "left_out")}
        self._spent: dict[str, Spent] = {}

    def read(self, anew: Mapping[str, Reply]) -> None:
        """Read all lines. `anew`: what this judge, asked again here, answers."""
        digest = hashlib.sha256()
        last = ""
        in_order = True
        try:
            for number, line in lines_of(self._path):
                digest.update(line)
                row = self._decoded(number, line)
                if row is None:
                    continue
                if in_order and row.call_id < last:
                    message = "lines are in the order of their call ids, and from here on they are not"
                    self._findings.add(self._path, number, message, always=True)
                    in_order = False
                last = row.call_id
                if self._belongs(number, row):
                    self._take(number, row, anew)
        except ContentError as err:
            self._findings.add(err.path, err.line, _message(err), always=True)
            return  # what was not read is not missing
        if digest.hexdigest() != self._card.replies_sha256:
            now = digest.hexdigest()
            message = f"its lines have the hash {now}, and replies_sha256 in {CARD} says another: one of the two was changed"
            self._findings.add(self._path, None, message)
        self._missing()

    def _decoded(self, number: int, line: bytes) -> ReplyRow | None:
        try:
            return decode_row(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as err:
            reason = plainly(str(err).replace("`", ""), 120)
            self._findings.add(self._path, number, f"not a row of 'harness store export' ({reason})")
            return None

    def _belongs(self, number: int, row: ReplyRow) -> bool:
        """Whether a row is one of the board's calls, for the first time, and says what that call was."""
        places = self._places.get(row.call_id)
        if places is None:
            self._findings.add(
                self._path,
                number,
                f"call '{plainly(row.call_id, 16)}' is none of {self._wanted.board} for this judge; "
                f"if that is so of every line, provider, model or settings in {CARD} are not those that it was asked with",
            )
            return False
        if first := self._lines.get(row.call_id):
            self._findings.add(self._path, number, f"the call of line {first} again; each call has one reply")
            return False
        self._lines[row.call_id] = number
        wrong = _differences(row, self._wanted.expected[places[0]], self._card.name)
        if wrong:
            self._findings.add(self._path, number, f"its {', '.join(wrong)} not what its call id stands for")
        if problem := impossible(row.reply):
            self._findings.add(self._path, number, f"no reply has such numbers: {problem}")
            return False
        return not wrong

    def _take(self, number: int, row: ReplyRow, anew: Mapping[str, Reply]) -> None:
        """Read the judgments of a row, for each of the asks that it answers."""
        reply, wanted = row.reply, self._wanted
        expected = anew.get(row.call_id)
        if expected is not None and msgspec.structs.replace(reply, seconds=0.0) != expected:
            said = plainly(expected.text)
            self._findings.add(self._path, number, f"not what {self._card.name} answers when it is asked anew: {said}")
        for nth, at in enumerate(self._places[row.call_id]):
            ask = wanted.asks[at]
            spent = self._spent.setdefault(ask.item.language, Spent())
            if nth == 0:
                self._counts["answered_by"][reply.model] += 1
                self._counts["forms"][reply.form] += 1
                self._counts["left_out"].update(reply.left_out)
                spent.add(reply)
            found = list(derive(ask, reply, row.call_id, self._identity, wanted.scales, wanted.languages[at], tell=False))
            for judgment in found:
                if judgment.failure:
                    spent.failures[judgment.failure.value] = spent.failures.get(judgment.failure.value, 0) + 1
            self._judgments[at] = found

    def _missing(self) -> None:
        asks = self._wanted.asks
        left = Counter(asks[places[0]].item.language for call_id, places in self._places.items() if call_id not in self._lines)
        of = Counter(asks[places[0]].item.language for places in self._places.values())
        for language, count in sorted(left.items()):
            what = "the language is missing" if count == of[language] else f"{count:,} of {of[language]:,} calls are missing"
            self._findings.add(self._path, None, f"{language}: {what}; a board is answered whole")

    def entry(self) -> Entry:
        name = self._card.name
        judgments = Judgments.of([judgment for at in range(len(self._wanted.asks)) for judgment in self._judgments[at]])
        reasons = judgments.justification
        hashed = Judgments(**judgments.columns | {"justification": Coded(tuple(map(text_hash, reasons.values)), reasons.codes)})
        counts = {what: {name: dict(sorted(found.items()))} for what, found in self._counts.items()}
        return Entry(self._card, hashed, Answers(missing={name: 0}, spent={name: dict(sorted(self._spent.items()))}, **counts))


def _differences(row: ReplyRow, call: Expected, judge: str) -> list[str]:
    """What a row says otherwise than the call that it names."""
    if row.judge == judge and all(getattr(row, name) == getattr(call, name) for name in call.__struct_fields__):
        return []
    found = ["judge"] if row.judge != judge else []
    found += [name for name in call.__struct_fields__ if getattr(row, name) != getattr(call, name)]
    return [*found[:-1], f"{found[-1]} is" if len(found) == 1 else f"{found[-1]} are"]


def _message(err: ContentError) -> str:
    where = f"{err.path}:{err.line}" if err.line else f"{err.path}"
    return str(err).removeprefix(f"{where}: ")
