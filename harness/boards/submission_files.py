"""The files of a submission: which may be in its folder, the lines of its replies, and the problems found in them.

The replies (`replies.jsonl.gz`) have one line for each call of the board, with the raw reply, in the order of the call ids. The rows have
the format of `harness store export`, so that the judge `replay/<file>` can read them too.
"""

from __future__ import annotations

import gzip
import io
import json
import math
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from harness.boards.card import CARD, folder_complaint
from harness.content.problems import Problem
from harness.errors import ContentError, UsageError
from harness.model import Reply, Token, Usage
from harness.row_files import MAX_LINE_BYTES, open_bytes

REPLIES = "replies.jsonl.gz"
SCORES = "scores.jsonl.gz"  # of recorded scores, in place of replies
MAX_COMPRESSED = 64 << 20  # bytes
MAX_TEXT = 256 << 20  # bytes, uncompressed
SPARE_LINES = 1000  # lines that are read beyond one for each call: enough to report mistakes, few enough to read quickly
MAX_REPLY = 1_000_000  # characters of one reply: no judge writes so many, and readers of a board should not have to load them
_MAX_TOKENS = 10**9
_MAX_SECONDS = 10**7


class ReplyRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line: a call and its reply."""

    call_id: str
    prompt_id: str
    judge: str
    item_id: str
    metrics: str
    condition: str
    temperature: float
    repeat: int
    reply: Reply


class _StrictUsage(Usage, frozen=True, forbid_unknown_fields=True):
    pass


class _StrictToken(Token, frozen=True, array_like=True, forbid_unknown_fields=True):
    pass


class _StrictReply(Reply, frozen=True, forbid_unknown_fields=True):
    usage: _StrictUsage = _StrictUsage()
    tokens: tuple[_StrictToken, ...] = ()


class _StrictRow(ReplyRow, frozen=True, forbid_unknown_fields=True):
    """A row without unknown keys, also inside its reply."""

    reply: _StrictReply


decode_row = msgspec.json.Decoder(ReplyRow).decode
_decode_strict = msgspec.json.Decoder(_StrictRow).decode


def strict_row(line: bytes) -> ReplyRow:
    """Decode a line that holds a row and nothing else: no unknown key and no repeated key at any depth.

    Raises msgspec.MsgspecError or ValueError with the problem, RecursionError for a line that is nested too deeply.
    """
    row = decode_row(line)
    if msgspec.json.encode(row) != line.rstrip(b"\n"):  # equal to what 'harness submit' writes: nothing else can be in it
        _decode_strict(line)
        json.loads(line, object_pairs_hook=_refuse_repeated_key)
    return row


def _refuse_repeated_key(pairs: list[tuple[str, Any]]) -> None:
    keys = [key for key, _ in pairs]
    if repeated := next((key for key, count in Counter(keys).items() if count > 1), None):
        raise ValueError(f"the key '{repeated}' stands twice in one object")


def compress_lines(lines: Iterable[bytes]) -> bytes:
    """Lines as a gzip file; equal lines give equal bytes at any time and place. Raises UsageError if they exceed the limits."""
    out, size = io.BytesIO(), 0
    with gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0, compresslevel=9) as file:
        for line in lines:
            size += len(line)
            if len(line) > MAX_LINE_BYTES or size > MAX_TEXT or out.tell() > MAX_COMPRESSED:
                limits = f"{MAX_TEXT >> 20} MB, {MAX_COMPRESSED >> 20} MB compressed"
                raise UsageError(f"the replies are larger than the limits of a submission ({limits})")
            file.write(line)
    return out.getvalue()


def read_lines(path: Path, calls: int | None = None) -> Iterator[tuple[int, bytes]]:
    """The lines of a reply file with their numbers, from 1. Reading stops at the limits of a submission.

    `calls` is the number of calls of the board; None for a file whose lines were counted before. Raises ContentError with `file:line` if
    the gzip file is damaged or incomplete, is too large, or has too many lines.
    """
    number = size = 0
    with open_bytes(path, lambda: number + 1) as file:
        while line := file.readline(MAX_LINE_BYTES + 1):
            number += 1
            size += len(line)
            if len(line) > MAX_LINE_BYTES:
                raise ContentError(f"a line of more than {MAX_LINE_BYTES >> 20} MB", path, number)
            if size > MAX_TEXT:
                raise ContentError(f"more than {MAX_TEXT >> 20} MB when uncompressed; the rest was not read", path, number)
            if calls is not None and number > calls + SPARE_LINES:
                raise ContentError(f"the board has {calls:,} calls, and each has one line; the rest was not read", path, number)
            yield number, line


def impossible_numbers(reply: Reply) -> str:
    """Return those of a reply's numbers that no reply can have; empty if all are possible."""
    usage = reply.usage
    counts = (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens, usage.reasoning_tokens, reply.reasoning_room)
    if not all(0 <= count <= _MAX_TOKENS for count in counts):
        return f"token counts range from 0 to {_MAX_TOKENS:,}"
    if not 0 <= reply.seconds <= _MAX_SECONDS:
        return f"seconds range from 0 to {_MAX_SECONDS:,}"
    if any(not (math.isfinite(value) and value <= 1e-3) for token in reply.tokens for value in token.others.values()):
        return "logarithms of probabilities are 0 or less"
    return ""


MAX_SHOWN = 20  # problems of one file that are listed
MAX_BYTES = {CARD: 64 << 10, REPLIES: MAX_COMPRESSED, SCORES: MAX_COMPRESSED}
FOLDER, FILE = "a folder", "a file"
_KINDS = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: FOLDER, stat.S_IFREG: FILE}


class SubmissionProblems:
    """Problems in the order in which they are found. The first 20 lines of one file are listed, further ones are counted."""

    def __init__(self) -> None:
        self._listed: list[Problem] = []
        self._lines: Counter[Path] = Counter()

    def add(self, path: Path, line: int | None, message: str, *, always: bool = False) -> None:
        """Add a problem. With `always` it is listed however many there are, because it concerns more than its line."""
        limited = line is not None and not always
        self._lines[path] += limited
        if not limited or self._lines[path] <= MAX_SHOWN:
            self._listed.append(Problem(path, line, message))

    def extend(self, problems: list[Problem]) -> None:
        for problem in problems:
            self.add(problem.path, problem.line, problem.message)

    @property
    def problems(self) -> list[Problem]:
        more = [
            Problem(path, None, f"and {count - MAX_SHOWN:,} more such lines of this file")
            for path, count in self._lines.items()
            if count > MAX_SHOWN
        ]
        return [*self._listed, *more]

    def __bool__(self) -> bool:
        return bool(self._listed)


def kind_of(path: Path) -> str:
    """Return the kind of what is at a path; links are not followed. Empty if there is nothing."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return ""
    return _KINDS.get(stat.S_IFMT(mode), "a special file")


def folder_problems(folder: Path) -> Iterator[Problem]:
    """List the problems of a submission's folder and its files, judged by their names, kinds and sizes."""
    if complaint := folder_complaint(folder.name):
        yield Problem(folder, None, complaint)
    if (kind := kind_of(folder)) != FOLDER:
        yield Problem(folder, None, f"{kind or 'nothing'} where a submission's folder should be; a submission holds {_allowed_files()}")
        return
    names = sorted(os.listdir(folder))
    for name in names:
        path = folder / name
        if name not in MAX_BYTES:
            yield Problem(path, None, f"an unexpected file; a submission holds {_allowed_files()} and nothing else")
        elif (kind := kind_of(path)) != FILE:
            yield Problem(path, None, f"{kind} where a plain file should be; it is not read")
        elif (size := path.lstat().st_size) > (limit := MAX_BYTES[name]):
            yield Problem(path, None, f"{size:,} bytes; the limit is {limit:,}. Is it the file that 'harness submit' wrote?")
    if CARD not in names:
        yield Problem(folder, None, f"no {CARD}; a submission holds {_allowed_files()}, as 'harness submit' writes them")
    if REPLIES not in names and SCORES not in names:
        yield Problem(folder, None, f"no {REPLIES}; a submission holds {_allowed_files()}, as 'harness submit' writes them")
    if REPLIES in names and SCORES in names:
        yield Problem(folder, None, f"both {REPLIES} and {SCORES}; a submission of replies needs no recorded scores")


def _allowed_files() -> str:
    return f"{CARD} and {REPLIES} (or, of recorded scores, {SCORES})"
