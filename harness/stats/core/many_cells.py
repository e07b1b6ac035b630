"""The computation of many cells at once: cells of one shape together, searches in lockstep, and parts on all cores."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")
Request = TypeVar("Request")
MANY_CELLS = 500
"""With more cells than this, other processes save more time than their start takes."""
_PACKAGES = str(Path(__file__).parents[3])
_WORK = f"import sys; sys.path.insert(0, {_PACKAGES!r}); from harness.stats.core.many_cells import work; work()"


def batch_by_shape(
    function: Callable[[list[T]], Iterable[R]], values: Sequence[T], shape: Callable[[T], Hashable], *, most: int | None = None
) -> list[R]:
    """Return `[function([value]) for value in values]`, by one call for the values of one shape.

    Args:
        function: gives as many results as it gets values.
        values: in any order.
        shape: values with the same key are computed together.
        most: how many of them at a time.

    >>> batch_by_shape(lambda batch: [sum(batch)] * len(batch), [1, 2, 3, 4], shape=lambda value: value % 2)
    [4, 6, 4, 6]
    """
    by_shape: dict[Hashable, list[int]] = {}
    for index, value in enumerate(values):
        by_shape.setdefault(shape(value), []).append(index)
    results: dict[int, R] = {}
    for indices in by_shape.values():
        step = most or len(indices)
        for first in range(0, len(indices), step):
            batch = indices[first : first + step]
            results |= zip(batch, function([values[index] for index in batch]), strict=True)
    return [results[index] for index in range(len(values))]


def windows(values: Iterable[T], size: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """Yield the values in order, many small ones or few large ones at a time: as many as are larger than `most` together.

    >>> list(windows([1, 1, 5, 1], size=int, most=4))
    [[1, 1, 5], [1]]
    """
    window: list[T] = []
    total = 0
    for value in values:
        window.append(value)
        total += size(value)
        if total > most:
            yield window
            window, total = [], 0
    if window:
        yield window


def run_lockstep(searches: Sequence[Generator[Request, Any, R]], answer: Callable[[list[Request]], Sequence[Any]]) -> list[R]:
    """Return the results of generators; what all of them request next is computed together.

    Args:
        searches: each yields its requests, and is sent the answers.
        answer: gives the answers to a list of requests, in the same order.

    >>> def doubled(times):
    ...     value = 1
    ...     for _ in range(times):
    ...         value = yield value
    ...     return value
    >>> run_lockstep([doubled(3), doubled(1)], lambda requests: [2 * value for value in requests])
    [8, 2]
    """
    results: dict[int, R] = {}
    answers: dict[int, Any] = dict.fromkeys(range(len(searches)))
    while answers:
        requests: dict[int, Request] = {}
        for index, value in answers.items():
            try:
                requests[index] = searches[index].send(value)
            except StopIteration as end:
                results[index] = end.value
        answers = dict(zip(requests, answer(list(requests.values())) if requests else (), strict=True))
    return [results[index] for index in range(len(searches))]


def on_all_cores(function: Callable[[Sequence[T]], list[R]], cells: Sequence[T], *, processes: int | None = None) -> list[R]:
    """Return `function(cells)`, in as many processes as there are cores if there are many cells.

    Args:
        function: of a module, or a `functools.partial` of one, that gives a result for each cell: it is sent to the processes, as its
            arguments and what it returns are.
        cells: what the results are computed from, one by one.
        processes: how many, if not one for each core.

    Raises what `function` raises. Where no process can be started, or one dies, its cells are computed here.
    """
    return list(chain.from_iterable(run_parts(function, [(cells[first:last],) for first, last in parts_of(len(cells), processes)])))


def parts_of(cells: int, processes: int | None) -> list[tuple[int, int]]:
    """Return the first and last index of each process's cells: one part unless there are many cells and several cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = min(processes or cores, cells) if cells > MANY_CELLS else 1
    return [(cells * part // count, cells * (part + 1) // count) for part in range(count)]


def run_parts(function: Callable[..., T], tasks: Sequence[tuple[Any, ...]]) -> list[T]:
    """Return the function's result for each task: of the first in this process, of every other in a worker, or here without one."""

    def in_worker(task: tuple[Any, ...]) -> T:
        message = pickle.dumps((function, task))
        try:
            process = subprocess.run(
                [sys.executable, "-P", "-c", _WORK], input=message, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
            )
            result: T = pickle.loads(process.stdout)
        except (OSError, TypeError, subprocess.CalledProcessError):
            return function(*task)
        return result

    if len(tasks) == 1:
        return [function(*tasks[0])]
    with ThreadPoolExecutor(len(tasks) - 1) as pool:
        futures = [pool.submit(in_worker, task) for task in tasks[1:]]
        return [function(*tasks[0]), *(future.result() for future in futures)]


def work() -> None:
    """Compute the task on standard input and write its result to standard output: the main function of a worker."""
    function, task = pickle.load(sys.stdin.buffer)
    sys.stdout.buffer.write(pickle.dumps(function(*task)))
