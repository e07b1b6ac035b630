"""The batches of one judge in the store, so that a later process goes on with them.

An uploaded file is recorded with its calls before a batch is made of it. If the process dies in between, the next one finds the record
and looks for the batch at the provider, instead of paying again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from msgspec.structs import replace

from harness.store import Store, StoredBatch
from harness.store.store import SUBMITTED

FILE = "file "  # begins the id of a record of an uploaded file
MADE = "made into "  # begins the state of such a record, once there is a batch
NOT_MADE = "not made into a batch"


class BatchRecord:
    """The batches of one judge in a results folder, of any run: runs share calls and pay for them once."""

    def __init__(self, store: Store, judge: str, run: str) -> None:
        self._store = store
        self._judge = judge
        self._run = run

    def open(self) -> list[StoredBatch]:
        """Batches and uploaded files that are not settled."""
        return open_batches(self._store, self._judge)

    def add_file(self, file_id: str, calls: Sequence[str]) -> StoredBatch:
        """Record an uploaded file, of which a batch is about to be made."""
        self._store.put_batch(FILE + file_id, self._run, self._judge, calls)
        return StoredBatch(FILE + file_id, self._run, self._judge, time.time(), SUBMITTED, tuple(calls))

    def add_batch(self, file: StoredBatch, batch_id: str) -> StoredBatch:
        """Record the batch that was made of a file. Returns the batch's own record."""
        self._store.put_batch(batch_id, file.run, self._judge, file.calls)
        self._store.settle_batch(file.batch_id, MADE + batch_id)
        return replace(file, batch_id=batch_id)

    def drop_file(self, file: StoredBatch) -> None:
        """Record that no batch was or will be made of a file."""
        self._store.settle_batch(file.batch_id, NOT_MADE)

    def settle(self, batch: StoredBatch, state: str) -> None:
        """Record that a batch has ended and its replies are in the store."""
        self._store.settle_batch(batch.batch_id, state)


def open_batches(store: Store, judge: str) -> list[StoredBatch]:
    """The batches of a judge that are not settled, of all runs of a results folder."""
    return [batch for run in store.runs() for batch in store.batches(run, judge) if is_open(batch)]


def is_open(batch: StoredBatch) -> bool:
    return batch.state == SUBMITTED


def is_file(batch: StoredBatch) -> bool:
    """Whether it is the record of an uploaded file."""
    return batch.batch_id.startswith(FILE)


def file_id(batch: StoredBatch) -> str:
    return batch.batch_id.removeprefix(FILE)
