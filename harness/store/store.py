"""The store of one results folder, opened to write or only to read."""

from __future__ import annotations

import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from isal import isal_zlib

from harness.errors import StoreError
from harness.model import Call, JudgeIdentity, Reply
from harness.row_files import make_folder
from harness.store import database
from harness.store.database import checksum, connect_to_write, explaining_errors, transaction

# The log may have 4,000 pages before a commit moves it (`database.set_up_to_write`). A short attempt needs 2.5 pages in a new store, and
# 4.6 once 20,000 are stored.
_ATTEMPTS = 500

_REMEMBERED_IDS = 1 << 14


class Checkpoints:
    """Checkpoints of one file by a thread and a connection of their own, while another connection writes.

    They only save time: the commits of the other connection move what is left, and report what is wrong with the disk.
    """

    def __init__(self, path: Path) -> None:
        self._db = connect_to_write(path)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="checkpoints")
        self._running: Future[None] | None = None
        self._unmoved = 0  # attempts that were written since the last checkpoint began

    def count(self, attempts: int) -> None:
        """So many attempts were committed. Begins a checkpoint if it is time for one."""
        self._unmoved += attempts
        if self._unmoved >= _ATTEMPTS and (self._running is None or self._running.done()):
            self._unmoved = 0
            self._running = self._thread.submit(self._move)

    def close(self) -> None:
        """Wait for the checkpoint that runs, and close the connection."""
        self._thread.shutdown()
        self._db.close()

    def _move(self) -> None:
        with suppress(sqlite3.Error):
            self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


_IDS_PER_QUERY = 500
decode_reply = msgspec.json.Decoder(Reply).decode
SUBMITTED = "submitted"  # the state of a batch until it is settled
_EXPORT = """
SELECT call_id, prompt_id, judge, item_id, metrics, condition, temperature, repeat,
  (SELECT reply FROM attempts WHERE call_id = calls.call_id AND reply IS NOT NULL ORDER BY attempt DESC LIMIT 1) AS reply
FROM calls WHERE reply IS NOT NULL AND (:judge IS NULL OR judge = :judge) ORDER BY call_id
"""


class StoredBatch(msgspec.Struct, frozen=True):
    """A provider batch: its run and judge, when it was submitted (seconds since 1970), its state, and its call ids in order."""

    batch_id: str
    run: str
    judge: str
    submitted: float
    state: str
    calls: tuple[str, ...]


def _decoded(call_id: str, reply: str) -> Reply:
    """Return a stored reply. Raises StoreError for a damaged one."""
    try:
        return decode_reply(reply)
    except msgspec.DecodeError as err:
        raise StoreError(f"the reply of call {call_id} is damaged ({err}); 'harness store check' lists all damaged replies") from None


def unpack_call_ids(calls: bytes) -> tuple[str, ...]:
    """Return the call ids of a batch. Raises zlib.error or msgspec.DecodeError if they are damaged."""
    return msgspec.json.decode(zlib.decompress(calls), type=tuple[str, ...])


class Store:
    """The store of a results folder. Open it with `Store.writing(folder)` to run, or with `Store.reading(folder)` to read only.

    `db` is its connection, for the other modules of this package.
    """

    def __init__(self, folder: Path, db: sqlite3.Connection, resources: ExitStack, checkpoints: Checkpoints | None = None) -> None:
        self.folder = folder
        self.db = db
        self._resources = resources
        self._checkpoints = checkpoints
        self._writer = AttemptWriter(db)

    @classmethod
    def writing(cls, folder: Path) -> Store:
        """Open for a run. Creates the store if necessary.

        Raises StoreError when another process holds the folder, it cannot be written, or the store is of another version.
        """
        path = folder / database.FILE
        with explaining_errors(path), ExitStack() as resources:
            make_folder(folder, private=True)
            resources.callback(database.lock_folder(folder).release)
            db = database.connect_to_write(path)
            resources.callback(db.close)
            database.create(db, folder)
            database.set_up_to_write(db)
            database.write_holder(db)
            checkpoints = Checkpoints(path)
            resources.callback(checkpoints.close)
            return cls(folder, db, resources.pop_all(), checkpoints)

    @classmethod
    def reading(cls, folder: Path) -> Store:
        """Open to read only. Raises StoreError if there is no store, or one of another version."""
        path = database.store_path(folder)
        with explaining_errors(path), ExitStack() as resources:
            db = database.connect_to_read(path)
            resources.callback(db.close)
            database.check_version(db, folder)
            database.set_up_to_read(db)
            return cls(folder, db, resources.pop_all())

    def close(self) -> None:
        self._resources.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_template(self, key: str) -> bytes | None:
        """Return the prompt template under a key. Raises StoreError for a damaged one: prompts made from it would be different."""
        rows = self._fetch("SELECT frame, checksum FROM frames WHERE key = ?", key)
        if not rows:
            return None
        template, expected = rows[0]
        if checksum(template) != expected:
            raise StoreError(
                f"{self.folder}: the prompt template {key} is damaged, and prompts made from it would be different; "
                "restore the store from a copy ('harness store check' lists everything that is damaged)"
            )
        return bytes(template)

    def put_template(self, key: str, template: bytes) -> None:
        with explaining_errors(self.folder):
            self.db.execute("INSERT OR REPLACE INTO frames VALUES (?, ?, ?)", (key, template, checksum(template)))

    def put_run(self, name: str, spec: bytes) -> None:
        """Record a run, once. Runs are numbered in the order of recording, whatever the clock says."""
        with explaining_errors(self.folder):
            self.db.execute("INSERT OR IGNORE INTO runs (name, spec, created) VALUES (?, ?, ?)", (name, spec.decode(), time.time()))

    def drop_run(self, name: str) -> None:
        """Delete the record of a run; calls and replies stay."""
        with explaining_errors(self.folder):
            self.db.execute("DELETE FROM runs WHERE name = ?", (name,))

    def runs(self) -> dict[str, str]:
        """Return `{run name: specification as JSON}`, oldest first."""
        return dict(self._fetch("SELECT name, spec FROM runs ORDER BY number"))

    def note(self, key: str) -> str | None:
        """Return the note under a key; None if there is none."""
        rows = self._fetch("SELECT value FROM meta WHERE key = ?", key)
        return str(rows[0][0]) if rows else None

    def put_note(self, key: str, value: str | None) -> None:
        """Set the note under a key; None deletes it."""
        with explaining_errors(self.folder):
            if value is None:
                self.db.execute("DELETE FROM meta WHERE key = ?", (key,))
            else:
                self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def last_received(self) -> float:
        """When the last attempt was received, in seconds since 1970; 0 if there is none."""
        return float(self._fetch("SELECT COALESCE(MAX(received), 0) FROM attempts")[0][0])

    def put_calls(self, calls: Iterable[Call], identity: JudgeIdentity) -> None:
        """Commit calls with their prompts, all or nothing. Attempts at them are then stored faster."""
        with explaining_errors(self.folder):
            self._writer.write(calls, [], identity)

    def put_attempts(self, received: Sequence[Attempt], identity: JudgeIdentity) -> None:
        """Commit attempts with their calls and prompts, all or nothing. Attempts are numbered within their call, in the order given."""
        with explaining_errors(self.folder):
            self._writer.write((attempt.call for attempt in received), received, identity)
        if self._checkpoints is not None:
            self._checkpoints.count(len(received))

    def last_attempts(self, call_ids: Iterable[str], since: float | None = None) -> Iterator[int | None]:
        """For each id, in order, the number of its last attempt with a reply (received after `since`); None if it has none. Streams."""
        return (attempt for _, attempt in self._look_up("MAX(attempt)", call_ids, since))

    def replies(self, call_ids: Iterable[str], since: float | None = None) -> Iterator[Reply | None]:
        """For each id, in order, its last reply (received after `since`); None if it has none. Streams.

        Raises StoreError for a damaged reply.
        """
        for call_id, reply in self._look_up("reply", call_ids, since, "ORDER BY attempt DESC LIMIT 1"):
            yield None if reply is None else _decoded(call_id, reply)

    def earlier_replies(self, call_ids: Iterable[str]) -> Iterator[tuple[str, Reply]]:
        """Yield `(call id, reply)` of the replies that were replaced by a later one, because their call was asked again. Streams.

        Raises StoreError for a damaged reply.
        """
        if not self._fetch("SELECT 1 FROM attempts WHERE attempt > 1 LIMIT 1"):
            return
        last = "(SELECT MAX(attempt) FROM attempts AS later WHERE later.call_id = value AND later.reply IS NOT NULL)"
        of_calls = "json_each(?) JOIN attempts ON call_id = value"
        remaining = iter(call_ids)
        while chunk := list(islice(remaining, _IDS_PER_QUERY)):
            query = f"SELECT call_id, reply FROM {of_calls} WHERE reply IS NOT NULL AND attempt < {last} ORDER BY key, attempt"
            for call_id, reply in self._fetch(query, msgspec.json.encode(chunk).decode()):
                yield call_id, _decoded(call_id, reply)

    def _look_up(self, value: str, call_ids: Iterable[str], since: float | None, order: str = "") -> Iterator[tuple[str, Any]]:
        """Yield `(call id, value)` of attempts with a reply. Ids go to SQLite in chunks, so a million ids need no more memory than 500."""
        received = "" if since is None else f" AND received > {since!r}"
        query = f"SELECT {value} FROM attempts WHERE call_id = value AND reply IS NOT NULL{received} {order}"
        remaining = iter(call_ids)
        while chunk := list(islice(remaining, _IDS_PER_QUERY)):
            rows = self._fetch(f"SELECT ({query}) FROM json_each(?) ORDER BY key", msgspec.json.encode(chunk).decode())
            yield from zip(chunk, (stored for (stored,) in rows), strict=True)

    def put_batch(self, batch_id: str, run: str, judge: str, calls: Sequence[str]) -> None:
        """Record a submitted batch in the state `submitted`. A batch that is already recorded stays as it is."""
        with explaining_errors(self.folder):
            packed = zlib.compress(msgspec.json.encode(calls), 1)
            row = (batch_id, run, judge, time.time(), SUBMITTED, packed)
            self.db.execute("INSERT OR IGNORE INTO batches VALUES (?, ?, ?, ?, ?, ?)", row)

    def batches(self, run: str, judge: str) -> list[StoredBatch]:
        """Return the batches of a run and judge, in the order of recording. Raises StoreError for a damaged one."""
        query = "SELECT batch_id, submitted, state, calls FROM batches WHERE run = ? AND judge = ? ORDER BY rowid"
        rows = self._fetch(query, run, judge)
        try:
            return [
                StoredBatch(batch_id, run, judge, submitted, state, unpack_call_ids(calls)) for batch_id, submitted, state, calls in rows
            ]
        except (zlib.error, msgspec.DecodeError) as err:
            raise StoreError(f"the calls of a batch of run {run} are damaged ({err}); 'harness store check' names the batch") from None

    def settle_batch(self, batch_id: str, state: str) -> None:
        """Set the state of a batch, e.g. `fetched` or `expired`. Raises StoreError if there is no such batch."""
        with explaining_errors(self.folder):
            changed = self.db.execute("UPDATE batches SET state = ? WHERE batch_id = ?", (state, batch_id)).rowcount
            if changed != 1:
                raise StoreError(f"{self.folder}: no batch '{batch_id}'; it was submitted from another results folder")

    def export(self, judge: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield every call (of one judge) with its last reply, as rows that the judge `replay/<file>` reads, in order of call id.

        Streams.
        """
        with explaining_errors(self.folder):
            cursor = self.db.execute(_EXPORT, {"judge": judge})
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield dict(zip(names, row, strict=True)) | {"reply": msgspec.Raw(row[-1].encode())}

    def _fetch(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        with explaining_errors(self.folder):
            return self.db.execute(query, parameters).fetchall()


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
                    [_call_row(call, identity.name, identity_json) for call in new.values()],
                )
            replies = [None if attempt.reply is None else msgspec.json.encode(attempt.reply) for attempt in attempts]
            self._db.executemany(
                "INSERT INTO attempts SELECT ?, 1 + COALESCE((SELECT MAX(attempt) FROM attempts WHERE call_id = ?), 0), ?, ?, ?, ?",
                [
                    (a.call.call_id, a.call.call_id, now, a.lost, *((None, None) if reply is None else (reply.decode(), checksum(reply))))
                    for a, reply in zip(attempts, replies, strict=True)
                ],
            )
        self._calls.add(new)
        self._prompts.add(prompts)


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
