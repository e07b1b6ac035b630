"""What the store knows of the batches of one judge, so that a later process goes on with them.

Before a batch is made of an uploaded file, the file is noted with its calls: a process that dies in between leaves a note that there may
be a batch, and the next one looks for it at the provider instead of paying again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from msgspec.structs import replace

from harness.store import Batch, Store
from harness.store.batches import SUBMITTED

FILE = "file "  # begins the id of a note that is about an uploaded file
MADE = "made into "  # begins the state of such a note, once there is a batch
NOT_MADE = "not made into a batch"


class BatchRecord:
    """The batches of one judge in a results folder, whichever run submitted them: runs share calls, and pay for them once."""

    def __init__(self, store: Store, judge: str, run: str) -> None:
        self._store = store
        self._judge = judge
        self._run = run

    def open(self) -> list[Batch]:
        """What has not come to its end, uploaded files included."""
        return open_batches(self._store, self._judge)

    def uploaded(self, file_id: str, calls: Sequence[str]) -> Batch:
        """A batch is about to be made of that file."""
        self._store.put_batch(FILE + file_id, self._run, self._judge, calls)
        return Batch(FILE + file_id, self._run, self._judge, time.time(), SUBMITTED, tuple(calls))

    def made(self, file: Batch, batch_id: str) -> Batch:
        """That batch has been made of the file; returns its own record."""
        self._store.put_batch(batch_id, file.run, self._judge, file.calls)
        self._store.settle_batch(file.batch_id, MADE + batch_id)
        return replace(file, batch_id=batch_id)

    def not_made(self, file: Batch) -> None:
        """There is no batch of that file, and there will be none."""
        self._store.settle_batch(file.batch_id, NOT_MADE)

    def ended(self, batch: Batch, state: str) -> None:
        """The batch has come to its end, and what it answered is in the store."""
        self._store.settle_batch(batch.batch_id, state)


def open_batches(store: Store, judge: str) -> list[Batch]:
    """What any run of a results folder submitted for a judge, and has not come to its end."""
    return [batch for run in store.runs() for batch in store.batches(run, judge) if is_open(batch)]


def is_open(batch: Batch) -> bool:
    return batch.state == SUBMITTED


def is_file(batch: Batch) -> bool:
    """Whether it is the note on an uploaded file."""
    return batch.batch_id.startswith(FILE)


def file_id(batch: Batch) -> str:
    return batch.batch_id.removeprefix(FILE)
