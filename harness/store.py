"""The results folder's store: calls, attempts and raw replies of all runs made there, in one SQLite file.

A reply is committed before its slot is freed, so killing the process loses nothing that was received and repeats at most what was in
flight. Everything else in a results folder is derived from here and may be deleted.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
from filelock import FileLock, Timeout

from harness.errors import StoreError
from harness.model import Call, JudgeIdentity, Reply

SCHEMA_VERSION = 1
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE frames (key TEXT PRIMARY KEY, frame BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE runs (name TEXT PRIMARY KEY, spec TEXT NOT NULL, created REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE prompts (prompt_id TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE calls (
  call_id TEXT PRIMARY KEY, prompt_id TEXT NOT NULL, judge TEXT NOT NULL, identity TEXT NOT NULL, item_id TEXT NOT NULL,
  metrics TEXT NOT NULL, condition TEXT NOT NULL, temperature REAL NOT NULL, repeat INTEGER NOT NULL, seed INTEGER
) WITHOUT ROWID;
CREATE TABLE attempts (
  call_id TEXT NOT NULL, attempt INTEGER NOT NULL, received REAL NOT NULL, lost TEXT, reply TEXT,
  PRIMARY KEY (call_id, attempt)
) WITHOUT ROWID;
"""


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what SQLite and the disk say into one sentence with what to do."""
    try:
        yield
    except sqlite3.DatabaseError as err:
        said = str(err)
        advice = {
            "disk I/O error": "is the disk full, or failing? Make room, then run the same command again: what was received is kept",
            "disk is full": "make room, then run the same command again: what was received is kept",
            "readonly": "choose a folder that can be written with --out",
            "unable to open": "choose a folder that can be written with --out",
            "not a database": "it is no store of this program; move it away",
            "no such table": "it is no store of this program; move it away",
            "malformed": "the file is damaged; move it away, or restore it from a copy",
        }
        what = next((advice[words] for words in advice if words in said), "is the disk healthy?")
        raise StoreError(f"{path}: {said}; {what}") from None
    except OSError as err:
        raise StoreError(f"{path} cannot be used ({err.strerror or err}); choose a folder that can be written with --out") from None


class Store:
    """One results folder. Open it with `Store.writing(folder)` to run, or `Store.reading(folder)` to look."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, lock: FileLock | None) -> None:
        self.folder = folder
        self._db = connection
        self._lock = lock

    @classmethod
    def writing(cls, folder: Path) -> Store:
        """Open for a run, creating it if need be. Raises StoreError when another run holds the folder, or it cannot be written."""
        path = folder / "store.sqlite"
        with _explained(path):
            folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(folder / ".lock")
            try:
                lock.acquire(timeout=0)
            except Timeout:
                raise StoreError(
                    f"{folder} is in use by another run{_holder(path)}; wait for it, or choose another folder with --out"
                ) from None
            try:
                store = cls(folder, sqlite3.connect(path, timeout=10), lock)
            except BaseException:
                lock.release()
                raise
            return store._opened(store._prepare)

    @classmethod
    def reading(cls, folder: Path) -> Store:
        """Open to look only. Raises StoreError when there is nothing."""
        path = folder / "store.sqlite"
        if not path.is_file():
            raise StoreError(f"no results in {folder}: there is no store.sqlite; name the folder of an earlier run with --out")
        with _explained(path):
            store = cls(folder, _connect_to_look(path), None)
            return store._opened(store._check_version)

    def _opened(self, first: Callable[[], None]) -> Store:
        try:
            first()
        except BaseException:
            self.close()
            raise
        return self

    def _prepare(self) -> None:
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            self._db.executescript(f"BEGIN; {_SCHEMA} INSERT INTO meta VALUES ('schema_version', '{SCHEMA_VERSION}'); COMMIT;")
        self._check_version()
        holder = json.dumps({"pid": os.getpid(), "command": " ".join(sys.argv[1:])[:200]})
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('holder', ?)", (holder,))
        self._db.commit()

    def _check_version(self) -> None:
        found = self._db.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
        if not found or int(found[0]) != SCHEMA_VERSION:
            raise StoreError(
                f"{self.folder}: a store of version {found and found[0]}; this program reads version {SCHEMA_VERSION}: "
                "use the one it was made with"
            )

    def close(self) -> None:
        self._db.close()
        if self._lock:
            self._lock.release()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_frame(self, key: str) -> bytes | None:
        with _explained(self.folder):
            row = self._db.execute("SELECT frame FROM frames WHERE key = ?", (key,)).fetchone()
        return bytes(row[0]) if row else None

    def put_frame(self, key: str, frame: bytes) -> None:
        with _explained(self.folder):
            self._db.execute("INSERT OR REPLACE INTO frames VALUES (?, ?)", (key, frame))
            self._db.commit()

    def put_run(self, name: str, spec: bytes) -> None:
        with _explained(self.folder):
            self._db.execute("INSERT OR IGNORE INTO runs VALUES (?, ?, ?)", (name, spec.decode(), time.time()))
            self._db.commit()

    def runs(self) -> dict[str, str]:
        """`{run name: specification as JSON}`, oldest first."""
        with _explained(self.folder):
            return dict(self._db.execute("SELECT name, spec FROM runs ORDER BY created, name"))

    def put_calls(self, calls: Iterable[Call], identity: JudgeIdentity) -> None:
        """Write down what is about to be asked, in one transaction."""
        described = msgspec.json.encode(identity, order="sorted").decode()
        with _explained(self.folder):
            for call in calls:
                body = zlib.compress(msgspec.json.encode({"messages": call.prompt.messages, "schema": call.prompt.schema}), 1)
                self._db.execute("INSERT OR IGNORE INTO prompts VALUES (?, ?)", (call.prompt.prompt_id, body))
                ask = call.ask
                self._db.execute(
                    "INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        call.call_id,
                        call.prompt.prompt_id,
                        identity.name,
                        described,
                        ask.item.item_id,
                        ",".join(ask.metrics),
                        str(ask.condition),
                        call.temperature,
                        ask.repeat,
                        call.seed,
                    ),
                )
            self._db.commit()

    def put_attempts(self, attempts: Sequence[tuple[str, Reply | None, str | None]]) -> None:
        """Commit attempts `(call_id, reply, why it was lost)`, of which the reply or the reason is None."""
        now = time.time()
        rows = [(call, call, now, lost, msgspec.json.encode(reply).decode() if reply else None) for call, reply, lost in attempts]
        with _explained(self.folder):
            self._db.executemany(
                "INSERT INTO attempts SELECT ?, 1 + COALESCE((SELECT MAX(attempt) FROM attempts WHERE call_id = ?), 0), ?, ?, ?", rows
            )
            self._db.commit()

    def replies(self, call_ids: Iterable[str]) -> dict[str, Reply]:
        """`{call_id: its last reply}` for those calls that have one."""
        decode = msgspec.json.Decoder(Reply).decode
        with _explained(self.folder):
            self._want(call_ids)
            rows = self._db.execute(
                "SELECT call_id, reply FROM wanted JOIN attempts USING (call_id) WHERE reply IS NOT NULL ORDER BY call_id, attempt"
            )
            return {call: decode(reply) for call, reply in rows}

    def answered(self, call_ids: Iterable[str]) -> set[str]:
        """Those calls that have a reply."""
        with _explained(self.folder):
            self._want(call_ids)
            rows = self._db.execute("SELECT DISTINCT call_id FROM wanted JOIN attempts USING (call_id) WHERE reply IS NOT NULL")
            return {call for (call,) in rows}

    def _want(self, call_ids: Iterable[str]) -> None:
        self._db.execute("CREATE TEMP TABLE IF NOT EXISTS wanted (call_id TEXT PRIMARY KEY) WITHOUT ROWID")
        self._db.execute("DELETE FROM wanted")
        self._db.executemany("INSERT OR IGNORE INTO wanted VALUES (?)", ((call,) for call in call_ids))

    def export(self, judge: str | None = None) -> Iterator[dict[str, Any]]:
        """Every call with its last reply, as rows that the judge `replay/<file>` reads; in order of call id."""
        query = (
            "SELECT call_id, prompt_id, judge, item_id, metrics, condition, temperature, repeat, reply "
            "FROM calls JOIN attempts a USING (call_id) WHERE reply IS NOT NULL "
            "AND attempt = (SELECT MAX(attempt) FROM attempts b WHERE b.call_id = a.call_id AND reply IS NOT NULL) "
            "AND (:judge IS NULL OR judge = :judge) ORDER BY call_id"
        )
        with _explained(self.folder):
            cursor = self._db.execute(query, {"judge": judge})
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield dict(zip(names, row, strict=True)) | {"reply": msgspec.Raw(row[-1].encode())}


def _connect_to_look(path: Path) -> sqlite3.Connection:
    """Open read-only. Where nothing can be written, SQLite has to be told that nobody else writes either."""
    settled = not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists()
    return sqlite3.connect(f"{path.resolve().as_uri()}?{'immutable=1' if settled else 'mode=ro'}", uri=True)


def _holder(path: Path) -> str:
    try:
        with closing(_connect_to_look(path)) as connection:
            [[found]] = connection.execute("SELECT value FROM meta WHERE key = 'holder'")
        holder = json.loads(found)
        return f" (process {holder['pid']}: harness {holder['command']})"
    except (sqlite3.Error, ValueError, KeyError):
        return ""
