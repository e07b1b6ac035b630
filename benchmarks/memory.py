"""The most memory that a process and those that it started hold at once."""

from __future__ import annotations

import threading
from pathlib import Path


class Memory:
    """The most that a process and all below it held at once, in MB, looked at every 50 ms."""

    def __init__(self, process: int) -> None:
        self.most = 0.0
        self._process = process
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(0.05):
            self.most = max(self.most, _held(self._process) / 1024)

    def end(self) -> float:
        self._ended.set()
        self._thread.join()
        return self.most


def _held(process: int) -> int:
    """KB of a process and those that it started; memory that they share counts for each."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return 0
    own = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")), 0)
    return own + sum(_held(int(child)) for child in children)
