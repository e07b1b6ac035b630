"""One results folder's store, opened to run or to look."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from harness.errors import StoreError
from harness.model import JudgeIdentity, Reply
from harness.store import batches, lookup, opening, schema
from harness.store.attempts import Attempt, AttemptWriter
from harness.store.batches import Batch
from harness.store.export import rows
from harness.store.opening import explained


class Store:
    """One results folder. Open it with `Store.writing(folder)` to run, or `Store.reading(folder)` to look.

    `db` is its connection, for the modules beside this one.
    """

    def __init__(self, folder: Path, db: sqlite3.Connection, held: ExitStack) -> None:
        self.folder = folder
        self.db = db
        self._held = held
        self._attempts = AttemptWriter(db)

    @classmethod
    def writing(cls, folder: Path) -> Store:
        """Open for a run: make it if need be, or bring one of an earlier version up to date.

        Raises StoreError when another process holds the folder, it cannot be written, or the store is of a newer version.
        """
        path = folder / opening.FILE
        with explained(path), ExitStack() as held:
            folder.mkdir(parents=True, exist_ok=True)
            held.callback(opening.hold(folder).release)
            db = opening.connect_to_write(path)
            held.callback(db.close)
            schema.bring_up_to_date(db, folder)
            opening.set_up_to_write(db)
            opening.write_holder(db)
            return cls(folder, db, held.pop_all())

    @classmethod
    def reading(cls, folder: Path) -> Store:
        """Open to look only; nothing is changed, whatever its version. Raises StoreError when there is nothing, or something newer."""
        path = opening.find(folder)
        with explained(path), ExitStack() as held:
            db = opening.connect_to_look(path)
            held.callback(db.close)
            schema.look_up_to_date(db, folder)
            opening.set_up_to_look(db)
            return cls(folder, db, held.pop_all())

    def close(self) -> None:
        self._held.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_frame(self, key: str) -> bytes | None:
        found = self._fetch("SELECT frame FROM frames WHERE key = ?", key)
        return bytes(found[0][0]) if found else None

    def put_frame(self, key: str, frame: bytes) -> None:
        with explained(self.folder):
            self.db.execute("INSERT OR REPLACE INTO frames VALUES (?, ?)", (key, frame))

    def put_run(self, name: str, spec: bytes) -> None:
        """Note a run, once; its place among the runs is the order of noting, whatever the clock says."""
        with explained(self.folder):
            self.db.execute("INSERT OR IGNORE INTO runs (name, spec, created) VALUES (?, ?, ?)", (name, spec.decode(), time.time()))

    def runs(self) -> dict[str, str]:
        """`{run name: specification as JSON}`, oldest first."""
        return dict(self._fetch("SELECT name, spec FROM runs ORDER BY number"))

    def put_attempts(self, attempts: Sequence[Attempt], identity: JudgeIdentity) -> None:
        """Commit attempts, numbered within their calls in the order given, with their calls and prompts: all of it or nothing."""
        with explained(self.folder):
            self._attempts.write(attempts, identity)

    def last_attempts(self, call_ids: Iterable[str]) -> Iterator[int | None]:
        """For each id, in order, the number of its last attempt that has a reply; None where it has none. Streams."""
        return lookup.last_attempts(self._fetch, call_ids)

    def replies(self, call_ids: Iterable[str]) -> Iterator[Reply | None]:
        """For each id, in order, its last reply; None where it has none. Streams. Raises StoreError for one that is damaged."""
        return lookup.replies(self._fetch, call_ids)

    def put_batch(self, batch_id: str, run: str, judge: str, calls: Sequence[str]) -> None:
        """Note a batch of calls that the provider has taken, in the state `submitted`; one that is noted already stays as it is."""
        with explained(self.folder):
            batches.put(self.db, batch_id, run, judge, calls)

    def batches(self, run: str, judge: str) -> list[Batch]:
        """The batches of a run and judge, in the order in which they were noted."""
        with explained(self.folder):
            return batches.find(self.db, run, judge)

    def settle_batch(self, batch_id: str, state: str) -> None:
        """Give a batch its new state, e.g. `fetched` or `expired`. Raises StoreError when there is no such batch."""
        with explained(self.folder):
            if not batches.settle(self.db, batch_id, state):
                raise StoreError(f"{self.folder}: no batch '{batch_id}' to settle; it was handed in from another results folder")

    def export(self, judge: str | None = None) -> Iterator[dict[str, Any]]:
        """Every call with its last reply, as rows that the judge `replay/<file>` reads; in order of call id. Streams."""
        with explained(self.folder):
            yield from rows(self.db, judge)

    def _fetch(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        with explained(self.folder):
            return self.db.execute(query, parameters).fetchall()
