"""Writing attempts, and reading the last replies of calls.

Writing is the hot path: a call and its prompt are encoded once, not with every attempt.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec
from isal import isal_zlib

from harness.errors import StoreError
from harness.judges.usage import stored_reply
from harness.model import Call, JudgeIdentity, Prompt, Reply
from harness.store.opening import checksum, transaction

_REMEMBERED_IDS = 1 << 14


class Attempt(msgspec.Struct, frozen=True):
    """One attempt at a call: its reply, or the reason why there is none. Exactly one of the two is set."""

    call: Call
    reply: Reply | None
    lost: str | None


class RecentIds:
    """A set of the ids that were added last: at least `count` of them, and fewer than twice as many plus one addition."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._new: set[str] = set()
        self._old: set[str] = set()

    def __contains__(self, one: str) -> bool:
        return one in self._new or one in self._old

    def add(self, ids: Iterable[str]) -> None:
        self._new.update(ids)
        if len(self._new) >= self._count:
            self._new, self._old = set(), self._new


class AttemptWriter:
    """Writes attempts with their calls and prompts."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._calls = RecentIds(_REMEMBERED_IDS)
        self._prompts = RecentIds(_REMEMBERED_IDS)

    def write(self, calls: Iterable[Call], attempts: Sequence[Attempt], identity: JudgeIdentity) -> None:
        """Commit calls with their prompts, and attempts at them in the order given. Attempts are numbered within their call."""
        new = {call.call_id: call for call in calls if call.call_id not in self._calls}
        prompts = {call.prompt.prompt_id: call.prompt for call in new.values() if call.prompt.prompt_id not in self._prompts}
        now = time.time()
        with transaction(self._db):
            if new:
                self._insert_calls(new.values(), prompts, identity)
            self._db.executemany(
                "INSERT INTO attempts SELECT ?, 1 + COALESCE((SELECT MAX(attempt) FROM attempts WHERE call_id = ?), 0), ?, ?, ?, ?",
                [(a.call.call_id, a.call.call_id, now, a.lost, *_with_checksum(a.reply)) for a in attempts],
            )
        self._calls.add(new)
        self._prompts.add(prompts)

    def _insert_calls(self, calls: Iterable[Call], prompts: Mapping[str, Prompt], identity: JudgeIdentity) -> None:
        identity_json = msgspec.json.encode(identity, order="sorted").decode()
        self._db.executemany(
            "INSERT OR IGNORE INTO prompts VALUES (?, ?)", [(prompt_id, _packed(prompt)) for prompt_id, prompt in prompts.items()]
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [_call_row(call, identity.name, identity_json) for call in calls],
        )


def _with_checksum(reply: Reply | None) -> tuple[str | None, int | None]:
    if reply is None:
        return None, None
    encoded = msgspec.json.encode(reply)
    return encoded.decode(), checksum(encoded)


def _packed(prompt: Prompt) -> bytes:
    return isal_zlib.compress(msgspec.json.encode({"messages": prompt.messages, "schema": prompt.schema}), 1)


def _call_row(call: Call, judge: str, identity: str) -> tuple[object, ...]:
    query = call.query
    return (
        call.call_id,
        call.prompt.prompt_id,
        judge,
        identity,
        query.item.item_id,
        ",".join(query.metrics),
        str(query.condition),
        call.temperature,
        query.repeat,
        call.seed,
    )


FetchRows = Callable[..., list[tuple[Any, ...]]]  # the rows of a query with its parameters
_IDS_PER_QUERY = 500
_LAST_ATTEMPT = "SELECT MAX(attempt) FROM attempts WHERE call_id = value AND reply IS NOT NULL{since}"
_LAST_REPLY = "SELECT reply FROM attempts WHERE call_id = value AND reply IS NOT NULL{since} ORDER BY attempt DESC LIMIT 1"


def last_attempts(fetch: FetchRows, call_ids: Iterable[str], since: float | None = None) -> Iterator[int | None]:
    """For each id, in order, the number of its last attempt that has a reply; None if it has none. Streams."""
    return (attempt for _, attempt in _look_up(fetch, _LAST_ATTEMPT.format(since=_received_after(since)), call_ids))


def last_replies(fetch: FetchRows, call_ids: Iterable[str], since: float | None = None) -> Iterator[Reply | None]:
    """For each id, in order, its last reply; None if it has none. Streams. Raises StoreError for a damaged reply."""
    for call_id, reply in _look_up(fetch, _LAST_REPLY.format(since=_received_after(since)), call_ids):
        try:
            yield None if reply is None else stored_reply(reply)
        except msgspec.DecodeError as err:
            raise StoreError(f"the reply of call {call_id} is damaged ({err}); 'harness store check' lists all damaged replies") from None


def _received_after(since: float | None) -> str:
    return "" if since is None else f" AND received > {since!r}"


def _look_up(fetch: FetchRows, subquery: str, call_ids: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """`(call id, value of the subquery)`. Ids go to SQLite in chunks, as a JSON list, so a million ids need no more memory than 500."""
    remaining = iter(call_ids)
    while chunk := list(islice(remaining, _IDS_PER_QUERY)):
        rows = fetch(f"SELECT ({subquery}) FROM json_each(?) ORDER BY key", msgspec.json.encode(chunk).decode())
        yield from zip(chunk, (value for (value,) in rows), strict=True)
