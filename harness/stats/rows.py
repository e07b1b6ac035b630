"""Items reduced to the distinct rows among them, which is all that an agreement statistic needs.

An item is, to these statistics, a *pattern*: how many annotators chose each class, and the class that each judge chose.
A million labels of three annotators on three classes hold some dozen patterns. Coefficients are functions of sums over
patterns; a bootstrap of items is a multinomial draw of their weights.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.arrays import Floats, Ints, ShapeError, as_codes, as_index, as_labels

_DENSE = 1 << 22  # key spaces up to this size are counted by one bincount, larger ones by sorting
_KEYS = 1 << 62


@dataclass(frozen=True, slots=True)
class Rows:
    """Patterns and how often each occurs in every cell.

    Of the P patterns: `counts` (P, k), `judges` (P, J) with -1 for no readable score.
    Of the Q rows, sorted by cell, then group: `cell`, `group` (0 where every group of the cell is single), `pattern`
    (an index into the P) and `weight`, the number of such items; all (Q,). `clustered` (cells,): do groups hold
    several items?
    """

    k: int
    cells: int
    counts: Ints
    judges: Ints
    cell: Ints
    group: Ints
    pattern: Ints
    weight: Floats
    clustered: tuple[bool, ...]

    @property
    def raters(self) -> Ints:
        """Number of annotators of each pattern, shape (P,)."""
        n: Ints = self.counts.sum(axis=1)
        return n

    def judge(self, column: int = 0) -> Ints:
        """One judge's class of each pattern, shape (P,)."""
        if not 0 <= column < self.judges.shape[1]:
            raise ShapeError(f"there is no judge {column}: the rows hold {self.judges.shape[1]}")
        return self.judges[:, column]

    def sums(self, features: Floats) -> Floats:
        """Sums of per-pattern `features` (P, m) over the items of each cell: shape (cells, m)."""
        patterns = len(self.counts)
        if self.cells * patterns <= _DENSE:
            key = self.cell * patterns + self.pattern
            table = np.bincount(key, self.weight, minlength=self.cells * patterns).reshape(self.cells, patterns)
            return table @ features
        ends = self.ends()
        return np.stack([self.weight[a:b] @ features[self.pattern[a:b]] for a, b in pairwise(ends)])

    def ends(self) -> list[int]:
        """Where each cell's rows begin, and the end of the last: length cells + 1."""
        ends: list[int] = np.searchsorted(self.cell, np.arange(self.cells + 1)).tolist()
        return ends


def count_classes(labels: ArrayLike, k: int) -> Ints:
    """Number of annotators who chose each class of each item.

    Args:
        labels: (items, raters) class codes, NaN or -1 where missing.
        k: number of classes of the scale.

    Returns:
        (items, k) counts; a row of zeros is an item without labels.

    >>> count_classes([[0, 0, 2], [1, -1, -1]], k=3).tolist()
    [[2, 0, 1], [0, 1, 0]]
    """
    codes = as_labels(labels, k)
    return _count(np.arange(len(codes))[:, None] * (k + 1) + codes, len(codes), k)


def count_long(item: ArrayLike, code: ArrayLike, items: int, k: int) -> Ints:
    """The same from a long table: one `item` number (0 … items-1) and one class `code` a label.

    >>> count_long(item=[0, 0, 0, 1], code=[0, 0, 2, 1], items=2, k=3).tolist()
    [[2, 0, 1], [0, 1, 0]]
    """
    where, what = np.asarray(item, np.int64), as_codes(code, k, "code")
    if where.shape != what.shape or where.ndim != 1:
        raise ShapeError(f"item {where.shape} and code {what.shape} must be one-dimensional and of one length")
    if where.size and not (where.min() >= 0 and where.max() < items):
        raise ShapeError(f"item numbers must be 0 to {items - 1}; found {where.min()} to {where.max()}")
    return _count(where * (k + 1) + what, items, k)


def distinct_counts(counts: ArrayLike) -> tuple[Ints, Ints]:
    """The distinct rows (patterns, k) of counts (items, k), in lexicographic order, and which of them each item has (items,).

    >>> [found.tolist() for found in distinct_counts([[1, 0], [0, 2], [1, 0]])]
    [[[0, 2], [1, 0]], [1, 0, 1]]
    """
    table = np.asarray(counts, np.int64)
    one, pattern, _ = _distinct(table.T, len(table))
    return table[one], pattern


def tabulate(
    counts: ArrayLike,
    judges: ArrayLike | None = None,
    *,
    cell: ArrayLike | None = None,
    cells: int | None = None,
    group: ArrayLike | None = None,
    pattern: ArrayLike | None = None,
) -> Rows:
    """Reduce items to distinct rows per cell (and per group, where groups hold several items).

    Args:
        counts: (items, k) from `count_classes` or `count_long`; with `pattern` (patterns, k) from `distinct_counts`.
        judges: (items,) or (items, J) class codes, NaN or -1 where there is no readable score.
        cell: (items,) integer cell numbers from 0; default all items in cell 0.
        cells: how many cells there are, if the last ones may be empty.
        group: (items,) any sortable codes of what items share; default every item its own group.
        pattern: (items,) which row of `counts` each item has; default each its own.

    Raises:
        ShapeError: if the arrays are not of the same items.
        ScaleError: if a judge's code is off the scale.

    >>> rows = tabulate(count_classes([[0, 0], [0, 0], [0, 1]], k=2), judges=[0, 0, 1])
    >>> rows.counts.tolist(), rows.judges.tolist(), rows.weight.tolist()
    ([[1, 1], [2, 0]], [[1], [0]], [1.0, 2.0])
    """
    table = np.asarray(counts, np.int64)
    if table.ndim != 2:
        raise ShapeError(f"counts must be items x classes, got shape {table.shape}")
    k = table.shape[1]
    own = None if pattern is None else np.asarray(pattern)
    items = len(table) if own is None else len(own)
    scores = np.empty((items, 0), np.int64) if judges is None else as_codes(judges, k, "judges")
    scores = scores[:, None] if scores.ndim == 1 else scores
    where = np.zeros(items, np.int64) if cell is None else np.asarray(cell, np.int64)
    if len(scores) != items or where.shape != (items,):
        raise ShapeError(f"counts are of {items} items, judges of {len(scores)}, cell has shape {where.shape}")
    total = max(int(where.max()) + 1 if items else 0, cells or 0, 1)
    groups = as_index(group, items, "group")
    kind, kinds, _ = _distinct([*(table.T if own is None else [own]), *(scores.T + 1)], items)
    table = table[kind if own is None else own[kind]]
    cells_of = [_of_cell(groups[at], kinds[at], group is not None) for at in _split(where, total)]
    cell_of = np.repeat(np.arange(total), [len(weight) for _, _, weight, _ in cells_of])
    grouped, patterns, weights = (np.concatenate([of[part] for of in cells_of]) for part in range(3))
    return Rows(k, total, table, scores[kind], cell_of, grouped, patterns, weights, tuple(clustered for *_, clustered in cells_of))


def _count(key: Ints, items: int, k: int) -> Ints:
    """Counts of class c of item i from keys i (k + 1) + c; class -1 lands in a column of its own that is dropped."""
    return np.bincount((key + 1).ravel(), minlength=items * (k + 1)).reshape(items, k + 1)[:, 1:]


def _split(cell: Ints, cells: int) -> list[Ints]:
    """The items of each cell."""
    narrow = cell.astype(np.min_scalar_type(cells))  # small numbers are sorted by counting
    order = np.argsort(narrow, kind="stable")
    return np.split(order, np.searchsorted(narrow[order], np.arange(1, cells)))


def _of_cell(group: Ints, pattern: Ints, grouped: bool) -> tuple[Ints, Ints, Floats, bool]:
    """The distinct (group, pattern) of one cell's items in order, how many items each has, and whether groups hold several items.

    Where every group is single, the group is 0.
    """
    clustered = grouped and len(np.unique(group)) < len(group)
    wide = int(pattern.max(initial=0)) + 1
    key, times = np.unique(group * wide + pattern if clustered else pattern, return_counts=True)
    return key // wide, key % wide, times.astype(np.float64), clustered


def _distinct(columns: Iterable[Ints], items: int) -> tuple[Ints, Ints, Ints]:
    """Distinct rows of non-negative integer columns, in lexicographic order.

    Returns one item of each, the distinct row of every item, and how many items each has.
    """
    key, radix = np.zeros(items, np.int64), 1
    for column in columns if items else ():
        size = int(column.max()) + 1
        if radix > _KEYS // size:  # the key would overflow: its rank says the same
            seen, key = np.unique(key, return_inverse=True)
            radix = len(seen)
        key, radix = key * size + column, radix * size
    if radix > _DENSE or radix > 8 * items + 1024:
        _, one, where, count = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        return one, where, count
    every = np.bincount(key, minlength=radix)
    one, used = np.empty(radix, np.int64), every > 0
    one[key] = np.arange(items)
    return one[used], (np.cumsum(used) - 1)[key], every[used]
