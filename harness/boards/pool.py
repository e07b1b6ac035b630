"""Many submissions of one board, looked through by as many processes as there are cores."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path

import msgspec

from harness.boards.anew import BASELINE, Baselines
from harness.boards.replies import REPLIES
from harness.boards.scoring import Examined, examine
from harness.boards.wanted import Wanted, wanted_by
from harness.errors import HarnessError
from harness.protocol import Prepared

_WORTH_A_PROCESS = 4 << 20  # bytes of replies: what is less is read before another process has started


def look_through(
    prepared: Prepared, folders: Sequence[Path], *, judgments: bool = True, processes: int | None = None
) -> Iterator[Examined]:
    """Each submission as `examine` sees it, in order. What is read in a process of its own is sent back whole, so that who does not need
    the judgments says so: entries are then without."""
    wanted = wanted_by(prepared)
    baselines = Baselines(prepared, wanted)
    look = _Look(wanted, judgments)
    for found in _spread(look, folders, processes or _useful(folders)):
        asked_anew = found.card is not None and found.card.provider == BASELINE
        yield _Look(wanted, judgments, baselines)(found.folder) if asked_anew else found


class _Look:
    """Looks through one submission; can be sent to another process while it has no baselines."""

    def __init__(self, wanted: Wanted, judgments: bool, baselines: Baselines | None = None) -> None:
        self._wanted = wanted
        self._judgments = judgments
        self._baselines = baselines

    def __call__(self, folder: Path) -> Examined:
        found = examine(self._wanted, folder, self._baselines)
        if self._judgments or found.entry is None:
            return found
        entry = msgspec.structs.replace(found.entry, judgments=found.entry.judgments.of_items(()))
        return msgspec.structs.replace(found, entry=entry)


_here: Callable[[Path], Examined]


def _begin(look: _Look) -> None:
    """What a process is given once, and not with every submission."""
    global _here
    _here = look
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits for this one


def _look_here(folder: Path) -> Examined:
    return _here(folder)


def _spread(look: _Look, folders: Sequence[Path], processes: int) -> Iterator[Examined]:
    if processes < 2:
        yield from map(look, folders)
        return
    spawn = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
    with ProcessPoolExecutor(processes, mp_context=spawn, initializer=_begin, initargs=(look,)) as pool:
        try:
            yield from pool.map(_look_here, folders)
        except BrokenProcessPool:
            raise HarnessError("a process that looked through submissions has died; is there enough memory? check fewer boards") from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _useful(folders: Sequence[Path]) -> int:
    """How many processes are worth their start."""
    size = 0
    for folder in folders:
        with suppress(OSError):
            size += (folder / REPLIES).lstat().st_size
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, len(folders), size // _WORTH_A_PROCESS)
