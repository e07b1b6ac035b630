"""Columns of many rows: each value once, each row one to four bytes. What labels and judgments are kept in, and how they are read.

A million labels hold a few dozen scores, metrics and annotators; only their codes are long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.errors import ContentError
from harness.tables import json_rows, parquet_table

Codes = NDArray[np.signedinteger[Any]]
Row = TypeVar("Row", bound=msgspec.Struct)

NO_VALUE = -1
_MOST_COMBINATIONS = 1 << 63  # that an int64 can number
_DENSE = 4  # numbers a row that are counted out; more are sorted
_BATCH = 1 << 14  # rows held as objects at a time


class Coded:
    """One column: `values`, each distinct one once in the order of first use, and `codes` (rows,), -1 where there is no value.

    Equal numbers are one value: 1 and 1.0 are not told apart. Codes have as few bytes as the number of values takes, so widen them before
    you compute with them. Where all rows are the same, `codes` is one number, seen as often as there are rows.

    >>> column = Coded.of(["a", None, "a", "b"])
    >>> column.values, column.codes.tolist(), list(column)
    (('a', 'b'), [0, -1, 0, 1], ['a', None, 'a', 'b'])
    """

    __slots__ = ("codes", "values")

    def __init__(self, values: tuple[Any, ...], codes: Codes) -> None:
        self.values = values
        self.codes = codes if _is_constant(codes) else codes.astype(np.min_scalar_type(-max(len(values), 1)), copy=False)

    @classmethod
    def of(cls, rows: Iterable[Any]) -> Self:
        """The column that holds `rows`; None is no value."""
        coder = Coder()
        coder.add(list(rows))
        return cls(*coder.finish())

    @classmethod
    def empty(cls, rows: int) -> Self:
        """A column without a value."""
        return cls((), _all_the_same(NO_VALUE, rows))

    @classmethod
    def of_one(cls, value: Any, rows: int) -> Self:
        """A column that holds one value in every row."""
        return cls((value,), _all_the_same(0, rows))

    @classmethod
    def joined(cls, columns: Sequence[Coded]) -> Self:
        """Columns one after the other."""
        index = {value: code for code, value in enumerate(dict.fromkeys(value for column in columns for value in column.values))}
        codes = np.concatenate([np.empty(0, np.int32), *(column.recoded(index) for column in columns)])
        same = len(codes) > 0 and codes.min() == codes.max()
        return cls(tuple(index), _all_the_same(int(codes[0]), len(codes)) if same else codes)

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[Any]:
        values = (*self.values, None)  # code -1 is the last
        return (values[code] for code in self.codes.tolist())

    @property
    def used(self) -> list[Any]:
        """The values that a row has."""
        return [self.values[code] for code in np.unique(self.codes).tolist() if code != NO_VALUE]

    def take(self, rows: Any) -> Coded:
        """The same column of some rows (a mask or row numbers)."""
        if self._constant:
            return Coded(self.values, _all_the_same(int(self.codes[0]), int(np.count_nonzero(rows)) if rows.dtype == bool else len(rows)))
        return Coded(self.values, self.codes[rows])

    def without(self, value: Any) -> Coded:
        """The same column, where `value` is no value."""
        kept = tuple(each for each in self.values if each != value)
        return Coded(kept, self.recoded({each: code for code, each in enumerate(kept)}))

    def recoded(self, index: dict[Any, int]) -> Codes:
        """The rows as codes of another order, -1 for values that `index` does not have.

        >>> Coded.of(["b", "a", "c"]).recoded({"a": 0, "b": 1}).tolist()
        [1, 0, -1]
        """
        to = np.array([*(index.get(value, NO_VALUE) for value in self.values), NO_VALUE], np.int32)
        return _all_the_same(int(to[self.codes[0]]), len(self)) if self._constant else to[self.codes]

    @property
    def _constant(self) -> bool:
        """Whether it is known that all rows, of which there are some, are the same."""
        return _is_constant(self.codes)


def _is_constant(codes: Codes) -> bool:
    return len(codes) > 0 and codes.strides == (0,)


def _all_the_same(code: int, rows: int) -> Codes:
    return np.broadcast_to(np.int32(code), rows)


class Coder:
    """Builds a `Coded` column piece by piece."""

    def __init__(self) -> None:
        self._codes: dict[Any, int] = {}
        self._parts: list[Codes] = []

    def add(self, rows: Sequence[Any]) -> None:
        known, code = self._codes, self._codes.setdefault
        self._parts.append(np.array([NO_VALUE if v is None else code(v, len(known)) for v in rows], np.int32))

    def finish(self) -> tuple[tuple[Any, ...], Codes]:
        return tuple(self._codes), np.concatenate(self._parts) if self._parts else np.empty(0, np.int32)


def joint(columns: Iterable[Coded], start: NDArray[Any]) -> NDArray[np.int64]:
    """Numbers (rows,) of the distinct combinations of columns, from 0 and rising with their codes, the first column's before the others'.

    No value is a value of its own, below all others. `start` are codes (rows,), not negative, that count before all columns.

    >>> joint([Coded.of(["b", None, "b"]), Coded.of([1, 1, 2])], np.zeros(3, np.int64)).tolist()
    [1, 0, 2]
    """
    return distinct(*_combined(columns, start))[1]


def in_order(columns: Iterable[Coded], start: NDArray[Any]) -> NDArray[np.int64]:
    """The rows in the order of the numbers that `joint` would give them; equal ones as they stand.

    >>> in_order([Coded.of(["a", None, "a"])], np.array([1, 1, 0])).tolist()
    [2, 1, 0]
    """
    return np.argsort(_combined(columns, start)[0], kind="stable")


def _combined(columns: Iterable[Coded], start: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """A number (rows,) for every combination, rising as `joint` says, and how many numbers there could be."""
    key, size = start.astype(np.int64), int(start.max(initial=0)) + 1
    for column in columns:
        width = len(column.values) + 1
        if size * width >= _MOST_COMBINATIONS:
            key = distinct(key, size)[1]
            size = int(key.max(initial=0)) + 1
        key *= width
        key += column.codes
        key += 1
        size *= width
    return key, size


def distinct(key: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct ones of numbers from 0 to `size` - 1, rising, and the place of each number (rows,) among them.

    >>> [found.tolist() for found in distinct(np.array([7, 2, 7]), 8)]
    [[2, 7], [1, 0, 1]]
    """
    if size > _DENSE * len(key):
        found, place = np.unique(key, return_inverse=True)
        return found, place
    used = np.zeros(size, bool)
    used[key] = True
    place = np.cumsum(used, dtype=np.int32)
    return np.flatnonzero(used), place[key].astype(np.int64) - 1


def last_with(key: NDArray[np.int64], among: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each row of `key` (numbers of `joint`), the last of the rows `among` that has the same; -1 without one.

    >>> last_with(np.array([0, 1, 0, 2]), np.array([1, 2])).tolist()
    [2, 1, 2, -1]
    """
    row = np.full(int(key.max(initial=-1)) + 1, -1, np.int64)
    row[key[among]] = among
    found: NDArray[np.int64] = row[key]
    return found


def first_rows(key: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first row of each number of `joint`.

    >>> first_rows(np.array([1, 0, 1, 0])).tolist()
    [1, 0]
    """
    first = np.empty(int(key.max(initial=-1)) + 1, np.int64)
    first[key[::-1]] = np.arange(len(key), dtype=np.int32)[::-1]  # of equal ones the last that is written stays
    return first


def rows_of(key: NDArray[Any], many: int | None = None) -> list[NDArray[np.int64]]:
    """The rows, rising, of each of the numbers 0 to `many` - 1; by default to the highest one.

    >>> [rows.tolist() for rows in rows_of(np.array([2, 0, 2]), 3)]
    [[1], [], [0, 2]]
    """
    many = int(key.max(initial=-1)) + 1 if many is None else many
    key = key.astype(np.min_scalar_type(many))  # small numbers are sorted by counting
    order = np.argsort(key, kind="stable")
    return np.split(order, np.searchsorted(key[order], np.arange(1, many)))[:many]


class Columns(dict[str, Coded]):
    """Columns by name, with the `lines` (rows,) of the file that they come from."""

    def __init__(self, columns: dict[str, Coded], lines: NDArray[np.int64]) -> None:
        super().__init__(columns)
        self.lines = lines


def read_columns(path: Path, row: type[Row], what: str) -> Columns:
    """Read a JSONL, gzipped JSONL or Parquet file into columns, one a field of `row`; other keys are passed over.

    Args:
        path: of the file.
        row: a struct whose fields have the types that a row must have; a list-valued field is coded by its tuple.
        what: what a row is called in messages, such as `a label`.

    Raises:
        ContentError: with `file:line`, for what cannot be read and for a row that is not a `row`.
    """
    if path.suffix == ".parquet":
        return _from_parquet(path, row, what)
    coders = {name: Coder() for name in row.__struct_fields__}
    lines: list[NDArray[np.int64]] = []
    rows = json_rows(path, row, what)
    while batch := list(islice(rows, _BATCH)):
        lines.append(np.array([number for number, _ in batch], np.int64))
        for name, coder in coders.items():
            coder.add([_hashable(getattr(each, name)) for _, each in batch])
    return Columns({name: Coded(*coder.finish()) for name, coder in coders.items()}, np.concatenate(lines or [np.empty(0, np.int64)]))


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _from_parquet(path: Path, row: type[Row], what: str) -> Columns:
    table = parquet_table(path)
    names = [name for name in row.__struct_fields__ if name in table.column_names]
    return checked_columns({name: from_arrow(table.column(name)) for name in names}, len(table), row, what, path)


def checked_columns(given: Mapping[str, Coded], rows: int, row: type[Row], what: str, path: Path) -> Columns:
    """Columns of a table that is no JSON, one a field of `row`, numbered from 1; each distinct value is checked once.

    Raises ContentError for a column that is not there, a value of the wrong type and a gap where there may be none.
    """
    columns = {}
    for field in msgspec.structs.fields(row):
        name = field.name
        if name not in given:
            if field.required:
                raise ContentError(f"not {what}: no column '{name}'", path)
            columns[name] = Coded.empty(rows)
            continue
        column = columns[name] = given[name]
        for code, value in enumerate(column.values):
            try:
                msgspec.convert(value, field.type)
            except msgspec.ValidationError as err:
                raise ContentError(f"not {what} ({err} in column '{name}')", path, int(np.argmax(column.codes == code)) + 1) from None
        if field.required and (column.codes == NO_VALUE).any():
            raise ContentError(f"not {what}: '{name}' is empty", path, int(np.argmax(column.codes == NO_VALUE)) + 1)
    return Columns(columns, np.arange(1, rows + 1))


def from_arrow(column: Any) -> Coded:
    """A column of an Arrow table or batch; NaN is a gap."""
    import pyarrow as pa

    if pa.types.is_nested(column.type):
        return Coded.of(_hashable(value) for value in column.to_pylist())
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    coded = whole.dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):  # of an empty or very large column
        coded = coded.combine_chunks() if coded.num_chunks == 1 else pa.chunked_array(coded.chunks).unify_dictionaries().combine_chunks()
    values = [None if value != value else value for value in coded.dictionary.to_pylist()]  # pandas writes a gap as NaN
    codes = arrow_codes(coded.indices)
    kept = {value: code for code, value in enumerate(value for value in values if value is not None)}
    return Coded(tuple(kept), np.array([*(kept.get(value, NO_VALUE) for value in values), NO_VALUE], np.int32)[codes])


def arrow_codes(indices: Any) -> Codes:
    """The codes of an Arrow dictionary array, read from its buffers: its own `to_numpy` would import pandas."""
    if not len(indices):
        return np.empty(0, np.int32)
    gaps, numbers = indices.buffers()
    end = indices.offset + len(indices)
    codes = np.frombuffer(numbers, indices.type.to_pandas_dtype(), end)[indices.offset :].astype(np.int32)
    if indices.null_count:
        known = np.unpackbits(np.frombuffer(gaps, np.uint8), count=end, bitorder="little")[indices.offset :]
        codes[known == 0] = NO_VALUE
    return codes
