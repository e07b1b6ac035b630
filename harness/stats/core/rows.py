"""Items reduced to their distinct rows. Agreement statistics need nothing else.

To these statistics an item is a *pattern*: how many annotators chose each class, and the class that each judge chose.
A million labels of three annotators on three classes hold some dozen patterns. Coefficients are functions of sums over
patterns; a bootstrap of items is a multinomial draw of their weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, repeat
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.core.arrays import (
    MISSING,
    Floats,
    Ints,
    ScaleError,
    ShapeError,
    Weights,
    as_codes,
    as_index,
    as_labels,
    as_values,
    same_shape,
)

_DENSE = 1 << 22  # key spaces up to this size are counted by one bincount, larger ones by sorting
_KEYS = 1 << 62


@dataclass(frozen=True, slots=True)
class Rows:
    """Patterns and how often each occurs in every cell.

    Of the P patterns: `counts` (P, k), `judges` (P, J) with -1 for no readable score.
    Of the Q rows, sorted by cell, then group: `cell`, `group` (0 where every group of the cell is single), `pattern`
    (an index into the P) and `weight`, the number of such items or the sum of their weights; all (Q,). `clustered`
    (cells,): do groups hold several items, or have items weights?
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

    def of_cells(self, first: int, last: int) -> Rows:
        """The rows of the cells from `first` to `last` - 1, with all patterns."""
        ends = self.ends()
        span = slice(ends[first], ends[last])
        columns = (self.cell[span] - first, self.group[span], self.pattern[span], self.weight[span])
        return Rows(self.k, last - first, self.counts, self.judges, *columns, self.clustered[first:last])

    def ends(self) -> list[int]:
        """Return the first row of each cell, and the end of the last: length cells + 1."""
        ends: list[int] = np.searchsorted(self.cell, np.arange(self.cells + 1)).tolist()
        return ends


def count_classes(labels: ArrayLike, k: int) -> Ints:
    """Number of annotators who chose each class of each item.

    Args:
        labels: (items, raters) class codes, NaN or -1 where missing.

    Returns:
        (items, k) counts; a row of zeros is an item without labels.

    >>> count_classes([[0, 0, 2], [1, -1, -1]], k=3).tolist()
    [[2, 0, 1], [0, 1, 0]]
    """
    codes = as_labels(labels, k)
    return _count(np.arange(len(codes))[:, None] * (k + 1) + codes, len(codes), k)


def count_long(item: ArrayLike, code: ArrayLike, items: int, k: int) -> Ints:
    """`count_classes` of a long table: one `item` number (0 … items-1) and one class `code` for each label.

    >>> count_long(item=[0, 0, 0, 1], code=[0, 0, 2, 1], items=2, k=3).tolist()
    [[2, 0, 1], [0, 1, 0]]
    """
    where, what = np.asarray(item, np.int64), as_codes(code, k, "code")
    same_shape("one-dimensional and of one length", item=where, code=what)
    if where.size and not (where.min() >= 0 and where.max() < items):
        raise ShapeError(f"item numbers must be 0 to {items - 1}; found {where.min()} to {where.max()}")
    return _count(where * (k + 1) + what, items, k)


def distinct_counts(counts: ArrayLike) -> tuple[Ints, Ints]:
    """The distinct rows (patterns, k) of counts (items, k), in lexicographic order, and which of them each item has (items,).

    >>> [found.tolist() for found in distinct_counts([[1, 0], [0, 2], [1, 0]])]
    [[[0, 2], [1, 0]], [1, 0, 1]]
    """
    table = np.asarray(counts, np.int64)
    first, pattern, _ = _distinct(table.T, len(table))
    return table[first], pattern


def tabulate(
    counts: ArrayLike,
    judges: ArrayLike | None = None,
    *,
    cell: ArrayLike | None = None,
    cells: int | None = None,
    group: ArrayLike | None = None,
) -> Rows:
    """Reduce items to distinct rows per cell (and per group, where groups hold several items).

    Args:
        counts: (items, k) from `count_classes` or `count_long`.
        judges: (items,) or (items, J) class codes, NaN or -1 where there is no readable score.
        cell: (items,) integer cell numbers from 0; default all items in cell 0.
        cells: how many cells there are, if the last ones may be empty.
        group: (items,) any sortable codes of what items share; default every item its own group.

    >>> rows = tabulate(count_classes([[0, 0], [0, 0], [0, 1]], k=2), judges=[0, 0, 1])
    >>> rows.counts.tolist(), rows.judges.tolist(), rows.weight.tolist()
    ([[1, 1], [2, 0]], [[1], [0]], [1.0, 2.0])
    """
    table = np.asarray(counts, np.int64)
    if table.ndim != 2:
        raise ShapeError(f"counts must be items x classes, got shape {table.shape}")
    items, k = table.shape
    scores = np.empty((items, 0), np.int64) if judges is None else as_codes(judges, k, "judges")
    scores = scores[:, None] if scores.ndim == 1 else scores
    where = np.zeros(items, np.int64) if cell is None else np.asarray(cell, np.int64)
    if len(scores) != items or where.shape != (items,):
        raise ShapeError(f"counts are of {items} items, judges of {len(scores)}, cell has shape {where.shape}")
    total = max(int(where.max()) + 1 if items else 0, cells or 0, 1)
    groups = as_index(group, items, "group")
    kind, kinds, _ = _distinct([*table.T, *(scores.T + 1)], items)
    narrow = where.astype(np.min_scalar_type(total))  # small numbers are sorted by counting
    order = np.argsort(narrow, kind="stable")
    items_of_cells = np.split(order, np.searchsorted(narrow[order], np.arange(1, total)))
    parts = [_of_cell(groups[rows], kinds[rows], group is not None) for rows in items_of_cells]
    return _rows(k, parts, lambda chosen: (table[kind], scores[kind], chosen))


def tabulate_cells(
    counts: Ints, cells: Iterable[tuple[Ints, Ints, NDArray[np.integer[Any]]]], weights: Iterable[Floats | None] | None = None
) -> Rows:
    """`tabulate` of one judge for many items: cells are read one at a time, and none of them is kept in memory.

    Args:
        counts: (patterns, k) from `distinct_counts`.
        cells: of each cell's items (items,): the pattern, the judge's class code (-1 without a readable score), the group (codes from 0).
        weights: of each cell's items, their weights with the mean 1, or None; sums are then weighted, and every cell with weights is
            resampled by groups, with replacement. Without it every item counts once.

    Reference: with-replacement resampling of groups with their weights, Rao & Wu (1988); safe for a stratified draw.

    >>> rows = tabulate_cells(np.array([[1, 1], [2, 0]]), [(np.array([1, 1, 0]), np.array([0, 0, 1]), np.array([0, 1, 2]))])
    >>> rows.counts.tolist(), rows.judges.tolist(), rows.weight.tolist()
    ([[1, 1], [2, 0]], [[1], [0]], [1.0, 2.0])
    """
    k = counts.shape[1]
    parts = [
        _of_cell(group.astype(np.int64), pattern * (k + 1) + as_codes(judge, k, "judges") + 1, True, weight)
        for (pattern, judge, group), weight in zip(cells, repeat(None) if weights is None else weights, strict=False)
    ]

    def kinds(chosen: Ints) -> tuple[Ints, Ints, Ints]:
        codes, kind = np.unique(chosen, return_inverse=True)
        return counts[codes // (k + 1)], (codes % (k + 1) - 1)[:, None], kind

    return _rows(k, parts, kinds)


def _count(key: Ints, items: int, k: int) -> Ints:
    """Counts of class c of item i from keys i (k + 1) + c; class -1 goes into a column that is dropped."""
    return np.bincount((key + 1).ravel(), minlength=items * (k + 1)).reshape(items, k + 1)[:, 1:]


_Part = tuple[Ints, Ints, Floats, bool]


def _of_cell(group: Ints, kind: Ints, grouped: bool, weight: Floats | None = None) -> _Part:
    """The distinct (group, kind) of one cell's items in order, how many items each has, and whether groups hold several items.

    Where every group is single, the group is 0. With weights, groups are kept and each pair has the sum of its items' weights.
    """
    wide = int(kind.max(initial=0)) + 1
    if weight is not None:
        key, index = np.unique(group * wide + kind, return_inverse=True)
        return key // wide, key % wide, np.bincount(index, weight, len(key)).astype(np.float64), True
    clustered = grouped and len(np.unique(group)) < len(group)
    key, times = np.unique(group * wide + kind if clustered else kind, return_counts=True)
    return key // wide, key % wide, times.astype(np.float64), clustered


def _rows(k: int, parts: Sequence[_Part], patterns: Callable[[Ints], tuple[Ints, Ints, Ints]]) -> Rows:
    """Rows of all cells; `patterns` gives counts and judges of the distinct kinds, and which of them each row is."""
    cell = np.repeat(np.arange(len(parts)), [len(weight) for _, _, weight, _ in parts])
    group, kind, weight = (np.concatenate([np.empty(0, np.int64), *(part[column] for part in parts)]) for column in range(3))
    counts, judges, pattern = patterns(kind.astype(np.int64))
    return Rows(k, len(parts), counts, judges, cell, group, pattern, weight.astype(np.float64), tuple(part[3] for part in parts))


def _distinct(columns: Iterable[Ints], items: int) -> tuple[Ints, Ints, Ints]:
    """Distinct rows of non-negative integer columns, in lexicographic order.

    Returns one item of each, the distinct row of every item, and how many items each has.
    """
    key, radix = np.zeros(items, np.int64), 1
    for column in columns if items else ():
        size = int(column.max()) + 1
        if radix > _KEYS // size:  # the key would overflow; its rank has the same order
            seen, key = np.unique(key, return_inverse=True)
            radix = len(seen)
        key, radix = key * size + column, radix * size
    if radix > _DENSE or radix > 8 * items + 1024:
        _, first, where, count = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        return first, where, count
    frequency = np.bincount(key, minlength=radix)
    first, used = np.empty(radix, np.int64), frequency > 0
    first[key] = np.arange(items)
    return first[used], (np.cumsum(used) - 1)[key], frequency[used]


Rule = Literal["drop", "median", "strict"]

NO_MAJORITY = -2
"""The aggregate of an item that has labels but no unique mode."""


def aggregate(labels: ArrayLike, k: int, rule: Rule = "drop") -> Ints:
    """The class that stands for an item's annotators.

    `drop` and `strict`: the unique mode. Two annotators who differ, or a tie of 2-2, have no mode (-2). `pa` leaves such an
    item out under `drop`, and counts it as disagreement under `strict`.
    `median`: the lower median of the codes, which always exists. For ordinal and interval scales only.

    Args:
        labels: (items, raters) class codes, NaN or -1 where missing.
        rule: `drop`, `median` or `strict`.

    Returns:
        (items,) class codes; -1 for an item without labels, -2 for one without a majority.

    Raises:
        ValueError: for an unknown rule.

    >>> labels = [[0, 2, 2], [0, 1, 2], [1, 0, -1], [-1, -1, -1]]
    >>> aggregate(labels, k=3).tolist()
    [2, -2, -2, -1]
    >>> aggregate(labels, k=3, rule="median").tolist()
    [2, 1, 0, -1]
    """
    return aggregate_counts(count_classes(labels, k), rule)


def aggregate_counts(counts: Ints, rule: Rule) -> Ints:
    """`aggregate` of class counts (items, k).

    >>> aggregate_counts(count_classes([[0, 2, 2], [0, 1, -1]], k=3), "drop").tolist()
    [2, -2]
    """
    raters = counts.sum(axis=1)
    if rule == "median":
        # position (n - 1) // 2 of the sorted labels: the first class whose cumulated count exceeds it
        middle = np.argmax(np.cumsum(counts, axis=1) > ((raters - 1) // 2)[:, None], axis=1)
        return np.where(raters > 0, middle, MISSING)
    if rule not in ("drop", "strict"):
        raise ValueError(f"unknown rule '{rule}' for the aggregate; there are drop, median and strict")
    most = counts.max(axis=1, initial=0)
    unique = (counts == most[:, None]).sum(axis=1) == 1
    return np.where(raters == 0, MISSING, np.where(unique, np.argmax(counts, axis=1), NO_MAJORITY))


@dataclass(frozen=True, slots=True)
class Joint:
    """[used, k x k cells]: items by aggregate (row) and judge (column), of items with both."""

    rule: Rule = "drop"
    judge: int = 0

    def __call__(self, rows: Rows, /) -> Floats:
        reference, score = aggregate_counts(rows.counts, self.rule), rows.judge(self.judge)
        used = np.flatnonzero((reference >= 0) & (score >= 0))
        out = np.zeros((len(reference), 1 + rows.k**2))
        out[used, 0] = 1.0
        out[used, 1 + reference[used] * rows.k + score[used]] = 1.0
        return out


def coincidences(rows: Rows, /) -> Floats:
    """[two labels or more, k x k coincidences of values within an item, each divided by n_i - 1]."""
    return _pairs(rows, power=1)


def annotator_pairs(rows: Rows, /) -> Floats:
    """[two labels or more, k x k shares of an item's ordered pairs, k labels, labelled at all, k shares of labels].

    The k labels are of items with two or more (Fleiss' margins), the k shares of items with one or more (Gwet's).
    """
    n = rows.raters[:, None]
    shares = rows.counts / np.maximum(n, 1)
    return np.concatenate([_pairs(rows, power=2), np.where(n >= 2, rows.counts, 0), n >= 1, shares], axis=1)


def _pairs(rows: Rows, power: int) -> Floats:
    n, c = rows.raters, rows.counts.astype(np.float64)
    pairs = c[:, :, None] * c[:, None, :]
    diagonal = np.arange(rows.k)
    pairs[:, diagonal, diagonal] = c * (c - 1)
    pairs /= np.maximum((n - 1) * n ** (power - 1), 1)[:, None, None]
    used = (n >= 2).astype(np.float64)
    return np.concatenate([used[:, None], pairs.reshape(len(n), rows.k**2) * used[:, None]], axis=1)


def square(sums: Floats) -> Floats:
    """The k x k table in sums (..., 1 + k²), from the second column on."""
    k = round((sums.shape[-1] - 1) ** 0.5)
    return sums[..., 1:].reshape(*sums.shape[:-1], k, k)


def split_pairs(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Return from sums of `annotator_pairs`: mean pair shares (..., k, k), Fleiss' margins (..., k), Gwet's margins (..., k)."""
    k = round((sums.shape[-1] - 1) ** 0.5) - 1  # 1 + k² + k + 1 + k = (k + 1)² + 1
    pairs = sums[..., 1 : 1 + k * k].reshape(*sums.shape[:-1], k, k)
    labels, shares = sums[..., 1 + k * k : 1 + k * k + k], sums[..., -k:]
    return (
        pairs / np.maximum(sums[..., 0], 1)[..., None, None],
        labels / np.maximum(labels.sum(axis=-1, keepdims=True), 1),
        shares / np.maximum(sums[..., -k - 1], 1)[..., None],
    )


def agreement_weights(k: int, weights: Weights = "identity", values: ArrayLike | None = None) -> Floats:
    """Weights w of shape (k, k) over the classes of the scale, used or not.

    identity: 1 if c = d else 0.  linear: 1 - |v_c - v_d| / (v_max - v_min).  quadratic: 1 - that fraction squared.

    Args:
        weights: `identity`, `linear` or `quadratic`.

    Raises:
        ScaleError: for values that are not k rising numbers, or unknown weights.

    Reference: Cohen (1968).

    >>> agreement_weights(3, "quadratic").tolist()
    [[1.0, 0.75, 0.0], [0.75, 1.0, 0.75], [0.0, 0.75, 1.0]]
    """
    if weights == "identity":
        return np.eye(k)
    v = as_values(values, k)
    distance = np.abs(v[:, None] - v) / (v[-1] - v[0]) if k > 1 else np.zeros((1, 1))
    if weights == "linear":
        return 1.0 - distance
    if weights == "quadratic":
        return 1.0 - distance**2
    raise ScaleError(f"unknown weights '{weights}'; choose from: identity, linear, quadratic")
