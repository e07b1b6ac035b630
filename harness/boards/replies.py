"""The replies of a submission (`replies.jsonl.gz`): one line for each call of the board, with the raw reply, in the order of the call ids.

The rows have the format of `harness store export`, so that the judge `replay/<file>` can read them too.
"""

from __future__ import annotations

import gzip
import io
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

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
