"""Writing attempts. It is the hot path: a call and its prompt are encoded once, not with every attempt."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from isal import isal_zlib

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

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._new or call_id in self._old

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
            "INSERT OR IGNORE INTO prompts VALUES (?, ?)",
            [
                (prompt_id, isal_zlib.compress(msgspec.json.encode({"messages": prompt.messages, "schema": prompt.schema}), 1))
                for prompt_id, prompt in prompts.items()
            ],
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
