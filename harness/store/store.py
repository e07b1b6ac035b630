"""One results folder's store, opened to run or to look."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from filelock import FileLock

from harness.errors import StoreError
from harness.model import JudgeIdentity, Reply
from harness.store import lookup, schema
from harness.store.attempts import Attempt, AttemptWriter
from harness.store.opening import FILE, connect_to_look, connect_to_write, explained, hold, write_holder


class Store:
    """One results folder. Open it with `Store.writing(folder)` to run, or `Store.reading(folder)` to look."""

    def __init__(self, folder: Path, db: sqlite3.Connection, lock: FileLock | None) -> None:
        self.folder = folder
        self._db = db
        self._lock = lock
        self._attempts = AttemptWriter(db)

    @classmethod
    def writing(cls, folder: Path) -> Store:
        """Open for a run, creating it if need be. Raises StoreError when another run holds the folder, or it cannot be written."""
        path = folder / FILE
        with explained(path):
            folder.mkdir(parents=True, exist_ok=True)
            lock = hold(folder)
            try:
                db = connect_to_write(path)
                try:
                    schema.create(db)
                    schema.check_version(db, folder)
                    write_holder(db)
                except BaseException:
                    db.close()
                    raise
            except BaseException:
                lock.release()
                raise
            return cls(folder, db, lock)

    @classmethod
    def reading(cls, folder: Path) -> Store:
        """Open to look only. Raises StoreError when there is nothing."""
        path = folder / FILE
        if not path.is_file():
            raise StoreError(f"no results in {folder}: there is no store.sqlite; name the folder of an earlier run with --out")
        with explained(path):
            db = connect_to_look(path)
            try:
                schema.check_version(db, folder)
            except BaseException:
                db.close()
                raise
            return cls(folder, db, None)

    def close(self) -> None:
        self._db.close()
        if self._lock:
            self._lock.release()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_frame(self, key: str) -> bytes | None:
        with explained(self.folder):
            row = self._db.execute("SELECT frame FROM frames WHERE key = ?", (key,)).fetchone()
        return bytes(row[0]) if row else None

    def put_frame(self, key: str, frame: bytes) -> None:
        with explained(self.folder):
            self._db.execute("INSERT OR REPLACE INTO frames VALUES (?, ?)", (key, frame))

    def put_run(self, name: str, spec: bytes) -> None:
        with explained(self.folder):
            self._db.execute("INSERT OR IGNORE INTO runs VALUES (?, ?, ?)", (name, spec.decode(), time.time()))

    def runs(self) -> dict[str, str]:
        """`{run name: specification as JSON}`, oldest first."""
        with explained(self.folder):
            return dict(self._db.execute("SELECT name, spec FROM runs ORDER BY created, name"))

    def put_attempts(self, attempts: Sequence[Attempt], identity: JudgeIdentity) -> None:
        """Commit attempts, numbered within their calls in the order given, with their calls and prompts: all of it or nothing."""
        with explained(self.folder):
            self._attempts.write(attempts, identity)

    def last_attempts(self, call_ids: Iterable[str]) -> Iterator[int | None]:
        """For each id, in order, the number of its last attempt that has a reply; None where it has none. Streams."""
        return lookup.last_attempts(self._fetch, call_ids)

    def replies(self, call_ids: Iterable[str]) -> Iterator[Reply | None]:
        """For each id, in order, its last reply; None where it has none. Streams."""
        return lookup.replies(self._fetch, call_ids)

    def _fetch(self, query: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        with explained(self.folder):
            return self._db.execute(query, parameters).fetchall()

    def export(self, judge: str | None = None) -> Iterator[dict[str, Any]]:
        """Every call with its last reply, as rows that the judge `replay/<file>` reads; in order of call id."""
        query = (
            "SELECT call_id, prompt_id, judge, item_id, metrics, condition, temperature, repeat, reply "
            "FROM calls JOIN attempts a USING (call_id) WHERE reply IS NOT NULL "
            "AND attempt = (SELECT MAX(attempt) FROM attempts b WHERE b.call_id = a.call_id AND reply IS NOT NULL) "
            "AND (:judge IS NULL OR judge = :judge) ORDER BY call_id"
        )
        with explained(self.folder):
            cursor = self._db.execute(query, {"judge": judge})
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield dict(zip(names, row, strict=True)) | {"reply": msgspec.Raw(row[-1].encode())}
