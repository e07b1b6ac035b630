"""Input and output of all statistics: checked class codes with gaps; a number with its n and a reason if it is undefined."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Kind = Literal["nominal", "ordinal", "interval"]
Weights = Literal["identity", "linear", "quadratic"]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DENSE = 4  # width of the codes per item up to which counting is used instead of sorting

MISSING = -1
"""The code of a missing label or score."""


class ShapeError(ValueError):
    """Arrays that should describe the same units have different shapes."""


class ScaleError(ValueError):
    """A code is not a class of the scale, or the scale does not have the statistic."""


class Estimate(NamedTuple):
    """One statistic: `value` (NaN if undefined), the number `n` of its units, and the reason if it is undefined."""

    value: float
    n: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Estimates:
    """One statistic for many cells: `value` (cells,), `n` (cells,), and a reason for each cell (None where defined)."""

    value: Floats
    n: Ints
    reason: tuple[str | None, ...]

    def __getitem__(self, cell: int) -> Estimate:
        return Estimate(float(self.value[cell]), int(self.n[cell]), self.reason[cell])


def undefined(n: int, reason: str) -> Estimate:
    """The estimate of a statistic without a value: NaN, never 0.

    >>> undefined(0, "no overlap")
    Estimate(value=nan, n=0, reason='no overlap')
    """
    return Estimate(math.nan, n, reason)


def same_shape(how: str = "of the same items", **arrays: NDArray[Any]) -> None:
    """Raises ShapeError unless the arrays are one-dimensional and of one length.

    >>> same_shape(x=np.zeros(2), y=np.zeros(3))
    Traceback (most recent call last):
    harness.stats.core.arrays.ShapeError: x (2,) and y (3,) must be of the same items
    """
    shapes = {array.shape for array in arrays.values()}
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        *names, last = (f"{name} {array.shape}" for name, array in arrays.items())
        raise ShapeError(f"{', '.join(names)} and {last} must be {how}")


def power(base: ArrayLike, exponent: ArrayLike) -> Floats:
    """`base ** exponent` as C computes it: `np.power` has another last digit on some processors.

    >>> power([4.0, 9.0], 1.5).tolist()
    [8.0, 27.0]
    """
    return np.asarray(np.float_power(base, exponent), np.float64)


def as_codes(labels: ArrayLike, k: int, name: str = "labels") -> Ints:
    """Class codes 0 … k-1 as integers, with -1 where missing.

    Args:
        labels: codes of any shape, int or float; NaN or -1 where missing.
        k: number of classes of the *scale*, used or not.
        name: the name of the array in error messages.

    Raises:
        ScaleError: for a code that is not a class of the scale, or not a whole number.

    >>> as_codes([[0.0, float("nan")], [2.0, 1.0]], k=3).tolist()
    [[0, -1], [2, 1]]
    """
    if k < 1:
        raise ScaleError(f"a scale needs at least one class, k is {k}")
    array = np.asarray(labels)
    if array.size == 0:
        return np.empty(array.shape, np.int64)
    if array.dtype.kind == "f":
        filled = np.where(np.isnan(array), MISSING, array)
        if np.isinf(filled).any():
            raise ScaleError(f"{name} must be class codes 0 to {k - 1}; found {filled[np.isinf(filled)].flat[0]}")
        codes = filled.astype(np.int64)
        if not np.array_equal(codes, filled):
            raise ScaleError(f"{name} must be class codes 0 to {k - 1}; found {filled[codes != filled].flat[0]}")
    elif array.dtype.kind in "iub":
        codes = array.astype(np.int64, copy=False)
    else:
        raise ScaleError(f"{name} must be class codes 0 to {k - 1}, NaN or -1 where missing; got dtype {array.dtype}")
    low, high = int(codes.min()), int(codes.max())
    if low < MISSING or high >= k:
        raise ScaleError(f"{name} must be class codes 0 to {k - 1}; found {low if low < MISSING else high}")
    return codes


def as_labels(labels: ArrayLike, k: int) -> Ints:
    """Codes of shape (items, raters); see `as_codes`."""
    codes = as_codes(labels, k)
    if codes.ndim != 2:
        raise ShapeError(f"labels must be items x raters, got shape {codes.shape}")
    return codes


def as_judge(judge: ArrayLike, k: int, items: int) -> Ints:
    """One judge's codes of shape (items,); see `as_codes`."""
    codes = as_codes(judge, k, "judge")
    if codes.shape != (items,):
        raise ShapeError(f"judge has shape {codes.shape}, labels are of {items} items")
    return codes


def as_values(values: ArrayLike | None, k: int) -> Floats:
    """The numbers that the k classes stand for: the given ones, or else the positions 0 … k-1.

    >>> as_values(None, 3).tolist()
    [0.0, 1.0, 2.0]
    """
    if values is None:
        return np.arange(k, dtype=np.float64)
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (k,) or not (np.diff(numbers) > 0).all():
        raise ScaleError(f"values must be {k} rising numbers, one a class; got {numbers.tolist()}")
    return numbers


def as_index(codes: ArrayLike | None, items: int, name: str) -> Ints:
    """Integer codes from 0 for any sortable codes (cells, groups): the rank of each code among the distinct codes."""
    if codes is None:
        return np.zeros(items, np.int64)
    array = np.asarray(codes)
    if array.shape != (items,):
        raise ShapeError(f"{name} has shape {array.shape}, expected ({items},)")
    if items and array.dtype.kind in "iu" and array.dtype != np.uint64:
        least = int(array.min())
        width = int(array.max()) - least + 1
        if width <= _DENSE * items:  # counting is faster than sorting
            above = array.astype(np.int64) - least
            used = np.zeros(width, np.int64)
            used[above] = 1
            ranks: Ints = np.cumsum(used) - 1
            index: Ints = ranks[above]
            return index
    inverse: NDArray[Any] = np.unique(array, return_inverse=True)[1]
    return inverse.astype(np.int64, copy=False)


T = TypeVar("T")
R = TypeVar("R")
Request = TypeVar("Request")
MANY_CELLS = 500
"""With more cells than this, other processes save more time than their start takes."""
_PACKAGES = str(Path(__file__).parents[3])
_WORK = f"import sys; sys.path.insert(0, {_PACKAGES!r}); from harness.stats.core.arrays import work; work()"


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
