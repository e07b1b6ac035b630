"""Writing attempts down: the hot path, so a call and its prompt are worked on once and not with every attempt."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Sequence

import msgspec
from isal import isal_zlib

from harness.model import Call, JudgeIdentity, Prompt, Reply
from harness.store.opening import transaction

_REMEMBERED = 1 << 14


class Attempt(msgspec.Struct, frozen=True):
    """One try at a call: its reply, or the reason why there is none; exactly one of the two is set."""

    call: Call
    reply: Reply | None
    lost: str | None


class Recent:
    """The ids that were added last: at least `count` of them, and less than twice as many and one addition."""

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
    """Writes attempts with the calls and prompts that they belong to."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._calls = Recent(_REMEMBERED)
        self._prompts = Recent(_REMEMBERED)

    def write(self, attempts: Sequence[Attempt], identity: JudgeIdentity) -> None:
        """Commit attempts, numbered within their calls in the order given, and what is not yet known of their calls and prompts."""
        calls = {attempt.call.call_id: attempt.call for attempt in attempts if attempt.call.call_id not in self._calls}
        prompts = {call.prompt.prompt_id: call.prompt for call in calls.values() if call.prompt.prompt_id not in self._prompts}
        described = msgspec.json.encode(identity, order="sorted").decode()
        now = time.time()
        with transaction(self._db):
            self._db.executemany("INSERT OR IGNORE INTO prompts VALUES (?, ?)", [(name, _body(prompt)) for name, prompt in prompts.items()])
            self._db.executemany(
                "INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [_row(call, identity.name, described) for call in calls.values()],
            )
            self._db.executemany(
                "INSERT INTO attempts SELECT ?, 1 + COALESCE((SELECT MAX(attempt) FROM attempts WHERE call_id = ?), 0), ?, ?, ?",
                [(a.call.call_id, a.call.call_id, now, a.lost, _text(a.reply)) for a in attempts],
            )
        self._calls.add(calls)
        self._prompts.add(prompts)


def _text(reply: Reply | None) -> str | None:
    return None if reply is None else msgspec.json.encode(reply).decode()


def _body(prompt: Prompt) -> bytes:
    return isal_zlib.compress(msgspec.json.encode({"messages": prompt.messages, "schema": prompt.schema}), 1)


def _row(call: Call, judge: str, identity: str) -> tuple[object, ...]:
    ask = call.ask
    return (
        call.call_id,
        call.prompt.prompt_id,
        judge,
        identity,
        ask.item.item_id,
        ",".join(ask.metrics),
        str(ask.condition),
        call.temperature,
        ask.repeat,
        call.seed,
    )
