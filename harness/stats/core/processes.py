"""Work on very many cells on all cores: the same numbers as on one.

This process computes a part of the cells, and workers compute the others. A worker is a fresh interpreter that reads its cells from a
pipe. It neither forks a process that may have threads nor runs the caller's script again, so that it is safe in notebooks and in scripts
without a guard.
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
from typing import Any, TypeVar

from harness.stats.core.rows import Rows
from harness.stats.core.statistic import Statistic
from harness.stats.intervals.bootstrap import intervals
from harness.stats.intervals.intervals import Interval

A = TypeVar("A")
T = TypeVar("T")
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
        drawing: only, level, seed and resamples, as `intervals`.

    Raises as `intervals`. Where no process can be started, or one dies, its cells are computed here.
    """
    count = min(processes or _cores(), rows.cells)
    if count < 2 or rows.cells <= MANY_CELLS:
        return intervals(statistics(), rows, **drawing)
    parts = [rows.of_cells(first, last) for first, last in pairwise(rows.cells * part // count for part in range(count + 1))]
    found = _side_by_side(_intervals, [(statistics, part, drawing) for part in parts])
    return {name: tuple(chain.from_iterable(part[name] for part in found)) for name in found[0]}


def on_all_cores(function: Callable[[Sequence[A]], list[T]], cells: Sequence[A], *, processes: int | None = None) -> list[T]:
    """`function(cells)`, each process computing a part of the cells, in as many processes as there are cores if there are many cells.

    Args:
        function: of a module, or a `functools.partial` of one, that gives a result for each cell: it is sent to the processes, as its
            arguments and what it returns are.
        cells: what the results are made of, one by one.
        processes: how many, if not one for each core.

    Raises what `function` raises. Where no process can be started, or one dies, its cells are computed here.
    """
    count = min(processes or _cores(), len(cells))
    if count < 2 or len(cells) <= MANY_CELLS:
        return function(cells)
    parts = [cells[len(cells) * part // count : len(cells) * (part + 1) // count] for part in range(count)]
    return list(chain.from_iterable(_side_by_side(function, [(part,) for part in parts])))


def _intervals(statistics: Callable[[], Sequence[Statistic]], rows: Rows, drawing: dict[str, Any]) -> dict[str, tuple[Interval, ...]]:
    return intervals(statistics(), rows, **drawing)


def _side_by_side(function: Callable[..., T], tasks: Sequence[tuple[Any, ...]]) -> list[T]:
    """What the function gives for each task: of the first in this process, of each other in a worker of its own."""
    with ThreadPoolExecutor(len(tasks) - 1) as pool:
        elsewhere = [pool.submit(_elsewhere, function, task) for task in tasks[1:]]
        return [function(*tasks[0]), *(one.result() for one in elsewhere)]


def _elsewhere(function: Callable[..., T], task: tuple[Any, ...]) -> T:
    """What a worker has computed; without one, what is computed here."""
    sent = pickle.dumps((function, task))
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _WORK], input=sent, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
        )
        found: T = pickle.loads(done.stdout)
    except (OSError, TypeError, subprocess.CalledProcessError):
        return function(*task)
    return found


def work() -> None:
    """What a worker does: its task comes on standard input, what it gives goes to standard output."""
    function, task = pickle.load(sys.stdin.buffer)
    sys.stdout.buffer.write(pickle.dumps(function(*task)))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
