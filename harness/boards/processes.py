"""Examine many submissions of one board, in as many processes as there are cores."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec

from harness.boards.examined_submission import ExaminedSubmission, examine
from harness.boards.expected import Baselines, ExpectedCalls, expected_calls
from harness.boards.replies import REPLIES
from harness.errors import HarnessError
from harness.judges import traits_of
from harness.runs import Prepared

_BYTES_PER_PROCESS = 4 << 20  # of replies: fewer are read before another process has started


def examine_all(
    prepared: Prepared, folders: Sequence[Path], *, judgments: bool = True, processes: int | None = None
) -> Iterator[ExaminedSubmission]:
    """Examine each submission, in order.

    Pass `judgments=False` to leave the judgments out: results of other processes are copied, and judgments are the largest part of them.
    """
    expected = expected_calls(prepared)
    baselines = Baselines(prepared, expected)
    examiner = partial(_examined, expected, judgments, None)  # without baselines it can be sent to another process
    for submission in _spread(examiner, folders, processes or _useful_processes(folders)):
        card = submission.card
        computed_again = card is not None and (card.recorded or traits_of(card.identity).is_baseline)
        yield _examined(expected, judgments, baselines, submission.folder) if computed_again else submission


def _examined(expected: ExpectedCalls, judgments: bool, baselines: Baselines | None, folder: Path) -> ExaminedSubmission:
    submission = examine(expected, folder, baselines)
    if judgments or submission.entry is None:
        return submission
    entry = msgspec.structs.replace(submission.entry, judgments=submission.entry.judgments.for_items(()))
    return msgspec.structs.replace(submission, entry=entry)


_Examiner = Callable[[Path], ExaminedSubmission]
_process_examiner: _Examiner  # in a process of the pool: what `_start_process` was given


def _start_process(examiner: _Examiner) -> None:
    """Give a new process the examiner once, instead of with every submission."""
    global _process_examiner
    _process_examiner = examiner
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the process that waits for this one


def _examine_in_process(folder: Path) -> ExaminedSubmission:
    return _process_examiner(folder)


def _spread(examiner: _Examiner, folders: Sequence[Path], processes: int) -> Iterator[ExaminedSubmission]:
    if processes < 2:
        yield from map(examiner, folders)
        return
    spawn = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
    with ProcessPoolExecutor(processes, mp_context=spawn, initializer=_start_process, initargs=(examiner,)) as pool:
        try:
            yield from pool.map(_examine_in_process, folders)
        except BrokenProcessPool:
            raise HarnessError("a process that was reading submissions died; is there enough memory? check fewer boards at once") from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _useful_processes(folders: Sequence[Path]) -> int:
    """Return how many processes save more time than their start takes."""
    size = 0
    for folder in folders:
        with suppress(OSError):
            size += (folder / REPLIES).lstat().st_size
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, len(folders), size // _BYTES_PER_PROCESS)
