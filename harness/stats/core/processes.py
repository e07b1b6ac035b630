"""Intervals of very many cells on all cores: the same numbers as `intervals` on one.

A worker is a fresh interpreter that reads its cells from a pipe. It neither forks a process that may have threads nor runs the caller's
script again, so that it is safe in notebooks and in scripts without a guard.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from harness.stats.core.rows import Rows
from harness.stats.core.statistic import Statistic
from harness.stats.intervals.bootstrap import intervals
from harness.stats.intervals.intervals import Interval

MANY_CELLS = 500
"""With more cells than this, other processes save more time than their start takes."""
_PACKAGES = str(Path(__file__).parents[3])
_WORK = f"import sys; sys.path.insert(0, {_PACKAGES!r}); from harness.stats.core.processes import work; work()"


def intervals_on_all_cores(
    statistics: Callable[[], Sequence[Statistic]], rows: Rows, *, processes: int | None = None, **drawing: Any
) -> dict[str, tuple[Interval, ...]]:
    """`intervals` of the statistics that a function returns, in as many processes as there are cores if there are many cells.

    Args:
        statistics: a function of a module, or a `functools.partial` of one: it is sent to the processes.
        rows: from `tabulate`.
        processes: how many, if not one for each core.
        drawing: level, seed and resamples, as `intervals`.

    Raises as `intervals`. Where no process can be started, or one dies, its cells are computed here.
    """
    count = min(processes or _cores(), rows.cells)
    if count < 2 or rows.cells <= MANY_CELLS:
        return intervals(statistics(), rows, **drawing)
    parts = [rows.of_cells(first, last) for first, last in pairwise(rows.cells * part // count for part in range(count + 1))]
    with ThreadPoolExecutor(count) as pool:
        found = list(pool.map(lambda part: _elsewhere(statistics, part, drawing), parts))
    return {name: tuple(chain.from_iterable(part[name] for part in found)) for name in found[0]}


def _elsewhere(statistics: Callable[[], Sequence[Statistic]], rows: Rows, drawing: dict[str, Any]) -> dict[str, tuple[Interval, ...]]:
    """Intervals that a worker has computed; without one, those computed here."""
    task = pickle.dumps((statistics, rows, drawing))
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _WORK], input=task, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
        )
        found: dict[str, tuple[Interval, ...]] = pickle.loads(done.stdout)
    except (OSError, TypeError, subprocess.CalledProcessError):
        return intervals(statistics(), rows, **drawing)
    return found


def work() -> None:
    """What a worker does: its cells come on standard input, their intervals go to standard output."""
    statistics, rows, drawing = pickle.load(sys.stdin.buffer)
    sys.stdout.buffer.write(pickle.dumps(intervals(statistics(), rows, **drawing)))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
