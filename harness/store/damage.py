"""Checking a store: its file, and every row that can be checked against something else."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from harness.model import Message
from harness.prompts.templates import PromptTemplate, prompt_hash
from harness.store.opening import checksum, explaining_errors
from harness.store.store import Store, decode_reply, unpack_call_ids

T = TypeVar("T")
_MOST_SHOWN = 10  # problems of one kind
_COUNTED = {
    "runs": "runs",
    "calls": "calls",
    "attempts": "attempts",
    "replies": "attempts WHERE reply IS NOT NULL",
    "lost": "attempts WHERE reply IS NULL",
}


class StoreReport(msgspec.Struct, frozen=True):
    """The number of rows of each kind (None if they cannot be counted), and one sentence for each problem."""

    counts: dict[str, int | None]
    problems: tuple[str, ...]


def check(folder: Path) -> StoreReport:
    """Check every row of a store at one moment. Raises StoreError when it cannot be opened at all."""
    with Store.reading(folder) as store, explaining_errors(folder):
        store.db.execute("BEGIN")  # a run may be writing to it
        problems = tuple(problem for find_problems in _CHECKS for problem in _first(find_problems(store.db)))
        counts = {name: _count(store.db, rows) for name, rows in _COUNTED.items()}
        return StoreReport(counts, problems)


def _count(db: sqlite3.Connection, rows: str) -> int | None:
    try:
        [[count]] = db.execute(f"SELECT COUNT(*) FROM {rows}")
    except sqlite3.DatabaseError:  # the checks have reported it
        return None
    return int(count)


def _first(problems: Iterator[str]) -> Iterator[str]:
    """Yield the first problems of a kind, and the number of the others. A damaged file ends the search."""
    try:
        yield from islice(problems, _MOST_SHOWN)
        if more := sum(1 for _ in problems):
            yield f"and {more} more of this kind"
    except sqlite3.DatabaseError as err:
        yield f"the file cannot be read to its end ({err}): restore it from a copy"


def _file(db: sqlite3.Connection) -> Iterator[str]:
    for (message,) in db.execute("PRAGMA integrity_check"):
        if message != "ok":
            yield f"the file is damaged: {' '.join(message.split())}"


def _attempts(db: sqlite3.Connection) -> Iterator[str]:
    query = "SELECT call_id, attempt, lost, CAST(reply AS BLOB), checksum FROM attempts"  # a damaged text may not be decodable
    for call_id, attempt, lost, reply, expected in db.execute(query):
        if (reply is None) == (lost is None):
            contents = "neither a reply nor a reason" if reply is None else "both a reply and a reason"
            yield f"attempt {attempt} of call {call_id} has {contents} why there is none"
        if reply is not None and (wrong := _try_to_read(decode_reply, reply)[1]):
            yield f"attempt {attempt} of call {call_id} has a reply that cannot be read: {wrong}"
        elif reply is not None and checksum(reply) != expected:
            yield f"attempt {attempt} of call {call_id} has a different reply than the one that was received: its checksum differs"


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
        yield f"there are attempts of call {call_id}, but the call is missing"


def _prompts_of_calls(db: sqlite3.Connection) -> Iterator[str]:
    query = "SELECT call_id, prompt_id FROM calls WHERE NOT EXISTS (SELECT 1 FROM prompts WHERE prompts.prompt_id = calls.prompt_id)"
    for call_id, prompt_id in db.execute(query):
        yield f"call {call_id} asks prompt {prompt_id}, which is missing"


class _Body(msgspec.Struct):
    messages: tuple[Message, ...]
    schema: dict[str, Any]


def _prompts(db: sqlite3.Connection) -> Iterator[str]:
    decode = msgspec.json.Decoder(_Body).decode

    def hashed(packed: bytes) -> str:
        body = decode(zlib.decompress(packed))
        return prompt_hash(body.messages, body.schema)

    for prompt_id, packed in db.execute("SELECT prompt_id, body FROM prompts"):
        body_hash, wrong = _try_to_read(hashed, packed)
        if wrong:
            yield f"prompt {prompt_id} cannot be read: {wrong}"
        elif body_hash != prompt_id:
            yield f"prompt {prompt_id} has a different text than it was made with: its hash is {body_hash}"


def _templates(db: sqlite3.Connection) -> Iterator[str]:
    decode = msgspec.json.Decoder(PromptTemplate).decode
    for key, template, expected in db.execute("SELECT key, frame, checksum FROM frames"):
        if wrong := _try_to_read(decode, template)[1]:
            yield f"the prompt template {key} cannot be read: {wrong}"
        elif checksum(template) != expected:
            yield f"the prompt template {key} is different from the one that was stored: its checksum differs"


def _runs_and_batches(db: sqlite3.Connection) -> Iterator[str]:
    spec = msgspec.json.Decoder(dict[str, Any]).decode
    for kind, query, decode in (
        ("the specification of run", "SELECT name, spec FROM runs ORDER BY number", spec),
        ("the list of calls of batch", "SELECT batch_id, calls FROM batches", unpack_call_ids),
    ):
        for name, stored in db.execute(query):
            if wrong := _try_to_read(decode, stored)[1]:
                yield f"{kind} {name} cannot be read: {wrong}"


def _try_to_read(read: Callable[[Any], T], stored: Any) -> tuple[T | None, str]:
    """Return the result of `read`, and what is wrong with the stored value, if anything."""
    try:
        return read(stored), ""
    except (msgspec.DecodeError, zlib.error, UnicodeDecodeError, TypeError) as err:
        return None, str(err) or type(err).__name__


_CHECKS = (_file, _attempts, _numbers, _calls, _prompts_of_calls, _prompts, _templates, _runs_and_batches)
