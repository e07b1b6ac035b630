"""Moves the store's log into its file in the background, so that no commit has to wait for it."""

from __future__ import annotations

import sqlite3
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from harness.store.opening import connect_to_write

# The log may have 4,000 pages before a commit moves it (`opening.set_up_to_write`). A short attempt needs 2.5 pages in a new store, and 4.6
# once 20,000 are stored.
_ATTEMPTS = 500


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
