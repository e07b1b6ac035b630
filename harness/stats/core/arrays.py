"""Input and output of all statistics: checked class codes with gaps; a number with its n and a reason if it is undefined."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

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
