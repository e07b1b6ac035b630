"""Batches of calls that a provider has taken and will answer later, so that a later process can ask for their results."""

from __future__ import annotations

import sqlite3
import time
import zlib
from collections.abc import Sequence

import msgspec

from harness.errors import StoreError

SUBMITTED = "submitted"  # a batch's state until it is settled


class Batch(msgspec.Struct, frozen=True):
    """One batch: whose run and judge it belongs to, when it was handed in (seconds since 1970), its state, and its calls in order."""

    batch_id: str
    run: str
    judge: str
    submitted: float
    state: str
    calls: tuple[str, ...]


def put(db: sqlite3.Connection, batch_id: str, run: str, judge: str, calls: Sequence[str]) -> None:
    """Note a batch that was handed in; one that is noted already stays as it is."""
    packed = zlib.compress(msgspec.json.encode(calls), 1)
    db.execute("INSERT OR IGNORE INTO batches VALUES (?, ?, ?, ?, ?, ?)", (batch_id, run, judge, time.time(), SUBMITTED, packed))


def find(db: sqlite3.Connection, run: str, judge: str) -> list[Batch]:
    """The batches of a run and judge, in the order in which they were noted. Raises StoreError for one that is damaged."""
    query = "SELECT batch_id, submitted, state, calls FROM batches WHERE run = ? AND judge = ? ORDER BY rowid"
    rows = db.execute(query, (run, judge))
    try:
        return [Batch(batch_id, run, judge, submitted, state, unpack(calls)) for batch_id, submitted, state, calls in rows]
    except (zlib.error, msgspec.DecodeError) as err:
        raise StoreError(f"the calls of a batch of run {run} are damaged ({err}); 'harness store check' says which") from None


def unpack(calls: bytes) -> tuple[str, ...]:
    """The call ids of a batch. Raises zlib.error or msgspec.DecodeError where they are damaged."""
    return msgspec.json.decode(zlib.decompress(calls), type=tuple[str, ...])


def settle(db: sqlite3.Connection, batch_id: str, state: str) -> bool:
    """Give a batch its new state; False if there is no such batch."""
    return db.execute("UPDATE batches SET state = ? WHERE batch_id = ?", (state, batch_id)).rowcount == 1
