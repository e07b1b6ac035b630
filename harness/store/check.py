"""Whether a store is whole: its file, and everything in it that can be checked against something else."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from harness.model import Message, Reply
from harness.prompts.frames import Frame, prompt_hash
from harness.store.batches import unpack
from harness.store.opening import explained
from harness.store.store import Store

T = TypeVar("T")
_SHOWN = 10  # problems of one kind
_COUNTED = {
    "runs": "runs",
    "calls": "calls",
    "attempts": "attempts",
    "replies": "attempts WHERE reply IS NOT NULL",
    "lost": "attempts WHERE reply IS NULL",
}


class Findings(msgspec.Struct, frozen=True):
    """How much a store holds (None where it cannot be counted), and what is wrong with it, one sentence a problem."""

    counts: dict[str, int | None]
    problems: tuple[str, ...]


def check(folder: Path) -> Findings:
    """Look at every row of a store, as it stands at one moment. Raises StoreError when it cannot be opened at all."""
    with Store.reading(folder) as store, explained(folder):
        store.db.execute("BEGIN")  # a run may go on writing
        problems = tuple(problem for look in _CHECKS for problem in _first(look(store.db)))
        return Findings({name: _count(store.db, rows) for name, rows in _COUNTED.items()}, problems)


def _count(db: sqlite3.Connection, rows: str) -> int | None:
    try:
        [[found]] = db.execute(f"SELECT COUNT(*) FROM {rows}")
    except sqlite3.DatabaseError:  # which the checks have reported
        return None
    return int(found)


def _first(problems: Iterator[str]) -> Iterator[str]:
    """The first problems of a kind, and how many more there are; a damaged file ends the looking."""
    try:
        yield from islice(problems, _SHOWN)
        if more := sum(1 for _ in problems):
            yield f"and {more} more of this kind"
    except sqlite3.DatabaseError as err:
        yield f"the file cannot be read to the end ({err}): restore it from a copy"


def _file(db: sqlite3.Connection) -> Iterator[str]:
    for (said,) in db.execute("PRAGMA integrity_check"):
        if said != "ok":
            yield f"the file is damaged: {' '.join(said.split())}"


def _attempts(db: sqlite3.Connection) -> Iterator[str]:
    decode = msgspec.json.Decoder(Reply).decode
    for call_id, attempt, lost, reply in db.execute("SELECT call_id, attempt, lost, reply FROM attempts"):
        if (reply is None) == (lost is None):
            what = "neither a reply nor a reason" if reply is None else "a reply and also a reason"
            yield f"attempt {attempt} of call {call_id} has {what} why there is none"
        if reply is not None and (wrong := _tried(decode, reply)[1]):
            yield f"attempt {attempt} of call {call_id} has a reply that cannot be read: {wrong}"


def _numbers(db: sqlite3.Connection) -> Iterator[str]:
    query = (
        "SELECT call_id, COUNT(*), MIN(attempt), MAX(attempt) FROM attempts GROUP BY call_id "
        "HAVING MIN(attempt) != 1 OR MAX(attempt) != COUNT(*)"
    )
    for call_id, count, first, last in db.execute(query):
        yield f"call {call_id} has {count} attempts, numbered from {first} to {last}; they should be numbered from 1 without a gap"


def _calls(db: sqlite3.Connection) -> Iterator[str]:
    query = "SELECT DISTINCT call_id FROM attempts WHERE NOT EXISTS (SELECT 1 FROM calls WHERE calls.call_id = attempts.call_id)"
    for (call_id,) in db.execute(query):
        yield f"there are attempts of call {call_id}, but no such call"


def _prompts_of_calls(db: sqlite3.Connection) -> Iterator[str]:
    query = "SELECT call_id, prompt_id FROM calls WHERE NOT EXISTS (SELECT 1 FROM prompts WHERE prompts.prompt_id = calls.prompt_id)"
    for call_id, prompt_id in db.execute(query):
        yield f"call {call_id} asks prompt {prompt_id}, which is not here"


class _Body(msgspec.Struct):
    messages: tuple[Message, ...]
    schema: dict[str, Any]


def _prompts(db: sqlite3.Connection) -> Iterator[str]:
    decode = msgspec.json.Decoder(_Body).decode

    def hashed(packed: bytes) -> str:
        body = decode(zlib.decompress(packed))
        return prompt_hash(body.messages, body.schema)

    for prompt_id, packed in db.execute("SELECT prompt_id, body FROM prompts"):
        found, wrong = _tried(hashed, packed)
        if wrong:
            yield f"prompt {prompt_id} cannot be read: {wrong}"
        elif found != prompt_id:
            yield f"prompt {prompt_id} has another text than it was made with: the hash of what is here is {found}"


def _rest(db: sqlite3.Connection) -> Iterator[str]:
    frame, spec = msgspec.json.Decoder(Frame).decode, msgspec.json.Decoder(dict[str, Any]).decode
    for what, query, decode in (
        ("the prompt frame", "SELECT key, frame FROM frames", frame),
        ("the specification of run", "SELECT name, spec FROM runs ORDER BY number", spec),
        ("the list of calls of batch", "SELECT batch_id, calls FROM batches", unpack),
    ):
        for name, found in db.execute(query):
            if wrong := _tried(decode, found)[1]:
                yield f"{what} {name} cannot be read: {wrong}"


def _tried(read: Callable[[Any], T], found: Any) -> tuple[T | None, str]:
    """What `read` makes of something, and what is wrong with it, if anything."""
    try:
        return read(found), ""
    except (msgspec.DecodeError, zlib.error, UnicodeDecodeError, TypeError) as err:
        return None, str(err) or type(err).__name__


_CHECKS = (_file, _attempts, _numbers, _calls, _prompts_of_calls, _prompts, _rest)
