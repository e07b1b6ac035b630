"""`replies.jsonl.gz` of a submission: every call of the board with its raw reply, one a line, in the order of the call ids.

The rows are those of `harness store export`, so that the judge `replay/<file>` reads them too.
"""

from __future__ import annotations

import gzip
import io
import math
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from harness.errors import ContentError, UsageError
from harness.model import Reply
from harness.tables import MAX_LINE_BYTES, opened

REPLIES = "replies.jsonl.gz"
MAX_COMPRESSED = 64 << 20  # bytes
MAX_TEXT = 256 << 20  # bytes, out of gzip
_MOST_TOKENS = 10**9
_MOST_SECONDS = 10**7


class ReplyRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line: which call, and what came back."""

    call_id: str
    prompt_id: str
    judge: str
    item_id: str
    metrics: str
    condition: str
    temperature: float
    repeat: int
    reply: Reply


decode_row = msgspec.json.Decoder(ReplyRow).decode


def compressed(lines: Iterable[bytes]) -> bytes:
    """Lines as a gzip file that is the same whenever and wherever it is made. Raises UsageError for more than a submission may hold."""
    out, size = io.BytesIO(), 0
    with gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0, compresslevel=9) as file:
        for line in lines:
            size += len(line)
            if len(line) > MAX_LINE_BYTES or size > MAX_TEXT or out.tell() > MAX_COMPRESSED:
                limits = f"{MAX_TEXT >> 20} MB, {MAX_COMPRESSED >> 20} MB compressed"
                raise UsageError(f"the replies are larger than a submission may be ({limits})")
            file.write(line)
    return out.getvalue()


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a reply file with their numbers, from 1. Never reads on behind the limits of a submission.

    Raises ContentError with `file:line` for what is no whole gzip file and for what is larger than a submission may be.
    """
    number = size = 0
    with opened(path, lambda: number + 1) as file:
        while line := file.readline(MAX_LINE_BYTES + 1):
            number += 1
            size += len(line)
            if len(line) > MAX_LINE_BYTES:
                raise ContentError(f"a line of more than {MAX_LINE_BYTES >> 20} MB", path, number)
            if size > MAX_TEXT:
                raise ContentError(f"more than {MAX_TEXT >> 20} MB when unpacked; the rest was not read", path, number)
            yield number, line


def impossible(reply: Reply) -> str:
    """What in a reply's numbers no reply can have; empty when nothing is."""
    usage = reply.usage
    counts = (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens, usage.reasoning_tokens, reply.reasoning_room)
    if not all(0 <= count <= _MOST_TOKENS for count in counts):
        return f"counts of tokens are from 0 to {_MOST_TOKENS:,}"
    if not 0 <= reply.seconds <= _MOST_SECONDS:
        return f"seconds are from 0 to {_MOST_SECONDS:,}"
    if any(not (math.isfinite(value) and value <= 1e-3) for token in reply.tokens for value in token.others.values()):
        return "logarithms of probabilities are 0 or less"
    return ""
