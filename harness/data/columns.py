"""Dictionary-encoded columns for labels and judgments: each distinct value once, and a code of one to four bytes per row.

A million labels have only a few dozen distinct scores, metrics and annotators, so only the codes take memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from operator import attrgetter, is_
from pathlib import Path
from typing import Any, Self, TypeVar, get_args, get_origin

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.errors import ContentError, refuse_faults
from harness.row_files import json_batches, parquet_table, refuse_half_characters
from harness.text import in_nfc

Codes = NDArray[np.signedinteger[Any]]
Row = TypeVar("Row", bound=msgspec.Struct)

NO_VALUE = -1
_NAMES = ("item_id", "annotator_id", "judge", "metric")
"""Columns whose values name something. One name may be written in two forms of Unicode, so they are compared in NFC."""
_MAX_COMBINATIONS = 1 << 63  # that an int64 can number
_DENSE = 4  # up to this many possible numbers per row, distinct numbers are found by counting, else by sorting


class CodedColumn:
    """One column: the distinct `values` in the order of first use, and `codes` (rows,), -1 for no value.

    Equal numbers are one value: 1 and 1.0 are the same. Codes use the smallest integer type that fits, so widen them before you
    compute with them. In a constant column, `codes` is one number broadcast to all rows.

    >>> column = CodedColumn.from_values(["a", None, "a", "b"])
    >>> column.values, column.codes.tolist(), list(column)
    (('a', 'b'), [0, -1, 0, 1], ['a', None, 'a', 'b'])
    """

    __slots__ = ("codes", "values")

    def __init__(self, values: tuple[Any, ...], codes: Codes) -> None:
        self.values, self.codes = values, codes
        if not self._constant:
            self.codes = codes.astype(np.min_scalar_type(-max(len(values), 1)), copy=False)

    @classmethod
    def from_values(cls, rows: Iterable[Any]) -> Self:
        """Return the column with these `rows`; None is no value."""
        builder = ColumnBuilder()
        builder.add(list(rows))
        return cls(*builder.finish())

    @classmethod
    def empty(cls, rows: int) -> Self:
        """Return a column without values."""
        return cls((), _broadcast(NO_VALUE, rows))

    @classmethod
    def constant(cls, value: Any, rows: int) -> Self:
        """Return a column with the same value in every row."""
        return cls((value,), _broadcast(0, rows))

    @classmethod
    def concatenate(cls, columns: Sequence[CodedColumn]) -> Self:
        """Return columns one after the other."""
        index = {value: code for code, value in enumerate(dict.fromkeys(value for column in columns for value in column.values))}
        codes = np.concatenate([np.empty(0, np.int32), *(column.recode(index) for column in columns)])
        constant = len(codes) > 0 and codes.min() == codes.max()
        return cls(tuple(index), _broadcast(int(codes[0]), len(codes)) if constant else codes)

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[Any]:
        return map((*self.values, None).__getitem__, self.codes.tolist())  # code -1 is the last

    def in_nfc(self) -> CodedColumn:
        """Return the column with texts in Unicode's composed form: values that differ in it alone become one.

        >>> CodedColumn.from_values(["e\u0301", "\u00e9", None]).in_nfc().codes.tolist()
        [0, 0, -1]
        """
        values = [in_nfc(value) for value in self.values]
        if all(map(is_, values, self.values)):
            return self
        index = {value: code for code, value in enumerate(dict.fromkeys(values))}
        new_codes = np.array([*(index[value] for value in values), NO_VALUE], np.int32)
        return CodedColumn(tuple(index), new_codes[self.codes])

    @property
    def used(self) -> list[Any]:
        """Return the values that occur in a row."""
        return [self.values[code] for code in np.unique(self.codes).tolist() if code != NO_VALUE]

    def take(self, rows: Any) -> CodedColumn:
        """Return the column of some rows (a mask or row numbers)."""
        if self._constant:
            return CodedColumn(
                self.values, _broadcast(int(self.codes[0]), int(np.count_nonzero(rows)) if rows.dtype == bool else len(rows))
            )
        return CodedColumn(self.values, self.codes[rows])

    def without(self, value: Any) -> CodedColumn:
        """Return the column with `value` replaced by no value."""
        values = tuple(other for other in self.values if other != value)
        return CodedColumn(values, self.recode({other: code for code, other in enumerate(values)}))

    def recode(self, index: dict[Any, int]) -> Codes:
        """Return the codes of the rows under another numbering of values, -1 for values that `index` lacks.

        >>> CodedColumn.from_values(["b", "a", "c"]).recode({"a": 0, "b": 1}).tolist()
        [1, 0, -1]
        """
        new_codes = np.array([*(index.get(value, NO_VALUE) for value in self.values), NO_VALUE], np.int32)
        return _broadcast(int(new_codes[self.codes[0]]), len(self)) if self._constant else new_codes[self.codes]

    def at(self, row: int) -> Any:
        """Return the value of one row; None without one."""
        return self.values[self.codes[row]] if self.codes[row] >= 0 else None

    def equals(self, value: Any) -> NDArray[np.bool_]:
        """Mask of the rows with a value; for None, of those without one."""
        return np.asarray(self.codes == NO_VALUE if value is None else self.recode({value: 0}) == 0)

    def among(self, values: Iterable[Any]) -> NDArray[np.bool_]:
        """Mask of the rows with one of the values.

        >>> CodedColumn.from_values(["b", None, "a", "c"]).among("ab").tolist()
        [True, False, True, False]
        """
        return np.asarray(self.recode(dict.fromkeys(values, 0)) == 0)

    @property
    def _constant(self) -> bool:
        """Return True if the column is stored as one code for all of its rows."""
        return len(self.codes) > 0 and self.codes.strides == (0,)


def _broadcast(code: int, rows: int) -> Codes:
    return np.broadcast_to(np.int32(code), rows)


class ColumnBuilder:
    """Builds a `CodedColumn` from batches of rows."""

    def __init__(self) -> None:
        self._codes = _Numbering()
        self._parts: list[Codes] = []

    def add(self, rows: Sequence[Any]) -> None:
        self._parts.append(np.fromiter(map(self._codes.__getitem__, rows), np.int32, len(rows)))

    def add_same(self, value: Any, rows: int) -> None:
        """Add one value `rows` times."""
        self._parts.append(np.full(rows, self._codes[value], np.int32))

    def finish(self) -> tuple[tuple[Any, ...], Codes]:
        values = tuple(value for value in self._codes if value is not None)
        return values, np.concatenate(self._parts) if self._parts else np.empty(0, np.int32)


class _Numbering(dict[Any, int]):
    """The code of each value, given out at first use, in the order of the codes; of None, that of no value."""

    def __missing__(self, value: Any) -> int:
        code = self[_unsigned(value)] = NO_VALUE if value is None else len(self) - (None in self)
        return code


def _unsigned(value: Any) -> Any:
    """Return 0.0 for -0.0, which is the same score under another name, and any other value as it is."""
    return value + 0.0 if isinstance(value, float) else value


def combination_ids(columns: Iterable[CodedColumn], start: NDArray[Any]) -> NDArray[np.int64]:
    """For each row, the number of its combination of values. Distinct combinations are numbered from 0 in the order of their codes.

    The first column matters most. No value counts as a value below all others. `start` (rows,) are non-negative codes that matter
    more than all columns.

    >>> combination_ids([CodedColumn.from_values(["b", None, "b"]), CodedColumn.from_values([1, 1, 2])], np.zeros(3, np.int64)).tolist()
    [1, 0, 2]
    """
    return unique_integers(*_combined(columns, start))[1]


def sorted_rows(columns: Iterable[CodedColumn], start: NDArray[Any]) -> NDArray[np.int64]:
    """Return the row numbers sorted by `combination_ids`; equal rows keep their order.

    >>> sorted_rows([CodedColumn.from_values(["a", None, "a"])], np.array([1, 1, 0])).tolist()
    [2, 1, 0]
    """
    return np.argsort(_combined(columns, start)[0], kind="stable")


def _combined(columns: Iterable[CodedColumn], start: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Sort keys (rows,) with the order of `combination_ids`, and an upper bound for them."""
    key, size = start.astype(np.int64), int(start.max(initial=0)) + 1
    for column in columns:
        width = len(column.values) + 1
        if size * width >= _MAX_COMBINATIONS:
            key = unique_integers(key, size)[1]
            size = int(key.max(initial=0)) + 1
        key *= width
        key += column.codes
        key += 1
        size *= width
    return key, size


def unique_integers(key: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct integers in `key` (from 0 to `size` - 1), ascending, and for each row the index of its integer among them.

    >>> [result.tolist() for result in unique_integers(np.array([7, 2, 7]), 8)]
    [[2, 7], [1, 0, 1]]
    """
    if size > _DENSE * len(key):
        # What `np.unique` returns with `return_inverse`, in less memory.
        order = np.argsort(key)
        ascending = key[order]
        new = np.ones(len(key), bool)
        np.not_equal(ascending[1:], ascending[:-1], out=new[1:])
        values = ascending[new]
        del ascending
        index = np.empty(len(key), np.int64)
        index[order] = np.cumsum(new, dtype=np.int32)
        index -= 1
        return values, index
    used = np.zeros(size, bool)
    used[key] = True
    index = np.cumsum(used, dtype=np.int32)
    return np.flatnonzero(used), index[key].astype(np.int64) - 1


def last_matching_rows(key: NDArray[np.int64], among: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each row of `key` (see `combination_ids`), the last row in `among` with the same number; -1 if there is none.

    >>> last_matching_rows(np.array([0, 1, 0, 2]), np.array([1, 2])).tolist()
    [2, 1, 2, -1]
    """
    row = np.full(int(key.max(initial=-1)) + 1, -1, np.int64)
    row[key[among]] = among
    matches: NDArray[np.int64] = row[key]
    return matches


def first_rows(key: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first row of each number of `combination_ids`.

    >>> first_rows(np.array([1, 0, 1, 0])).tolist()
    [1, 0]
    """
    first = np.empty(int(key.max(initial=-1)) + 1, np.int64)
    first[key[::-1]] = np.arange(len(key), dtype=np.int32)[::-1]  # among equal numbers, the last assignment remains
    return first


def rows_by_number(key: NDArray[Any], count: int | None = None) -> list[NDArray[np.int64]]:
    """For each number from 0 to `count` - 1, its rows in ascending order. `count` defaults to the highest number + 1.

    >>> [rows.tolist() for rows in rows_by_number(np.array([2, 0, 2]), 3)]
    [[1], [], [0, 2]]
    """
    count = int(key.max(initial=-1)) + 1 if count is None else count
    key = key.astype(np.min_scalar_type(count))  # small integers are sorted faster, by counting
    order = np.argsort(key, kind="stable")
    return np.split(order, np.searchsorted(key[order], np.arange(1, count)))[:count]


def rows_by_values(columns: Mapping[str, CodedColumn], rows: int) -> Iterator[tuple[dict[str, Any], NDArray[np.int64]]]:
    """Yield each combination of the values of columns (rows,), in the order of `combination_ids`: `{name: value}`, and its rows, ascending.

    >>> [(key, rows.tolist()) for key, rows in rows_by_values({"a": CodedColumn.from_values(["x", None, "x"])}, 3)]
    [({'a': None}, [1]), ({'a': 'x'}, [0, 2])]
    """
    for equal_rows in rows_by_number(combination_ids(columns.values(), np.zeros(rows, np.int8))):
        yield {name: column.at(int(equal_rows[0])) for name, column in columns.items()}, equal_rows


class Columns(dict[str, CodedColumn]):
    """Columns by name, with the line numbers (`lines`) of their file."""

    def __init__(self, columns: dict[str, CodedColumn], lines: NDArray[np.int64]) -> None:
        super().__init__(columns)
        self.lines = lines


def read_columns(path: Path, row: type[Row], what: str) -> Columns:
    """Read a JSONL, gzipped JSONL or Parquet file into columns, one for each field of the struct `row`. Other keys are ignored.

    A list is stored as a tuple, an object as a tuple of pairs. `what` names a row in messages, such as `a label`. Raises ContentError with
    `file:line` for an unreadable file and for a row that does not fit `row`.
    """
    if path.suffix == ".parquet":
        table = parquet_table(path)
        fields = [field for field in msgspec.structs.fields(row) if field.name in table.column_names]
        columns = {field.name: (_as_json if field.type is msgspec.Raw else from_arrow)(table.column(field.name)) for field in fields}
        return checked_columns(columns, len(table), row, what, path)
    builders = {field.name: (ColumnBuilder(), _is_hashable(field.type)) for field in msgspec.structs.fields(row)}
    lines: list[NDArray[np.int64]] = []
    for numbers, batch in json_batches(path, row, what):
        lines.append(np.arange(numbers.start, numbers.stop, dtype=np.int64))
        for name, (builder, hashable) in builders.items():
            values = list(map(attrgetter(name), batch))
            if all(map(is_, values, repeat(values[0]))):  # of a key that no row has, all have the same default
                builder.add_same(values[0] if hashable else _hashable(values[0]), len(values))
            else:
                builder.add(values if hashable else [_hashable(value) for value in values])
    columns = {name: CodedColumn(*builder.finish()) for name, (builder, _) in builders.items()}
    columns |= {name: columns[name].in_nfc() for name in _NAMES if name in columns}
    return Columns(columns, np.concatenate(lines or [np.empty(0, np.int64)]))


def _is_hashable(kind: Any) -> bool:
    """Return True if a column can hold the values of a type as they are."""
    return not any(part is msgspec.Raw or get_origin(part) in (list, dict) for part in (kind, *get_args(kind)))


def _hashable(value: Any) -> Any:
    """Return a value that a column can hold: lists and objects as tuples, an object's of pairs."""
    if isinstance(value, dict):
        return tuple(value.items())
    if isinstance(value, msgspec.Raw):
        return bytes(value).decode() or None
    return tuple(value) if isinstance(value, list) else value


def _as_json(column: Any) -> CodedColumn:
    """Return a column of an Arrow table as JSON text; texts are JSON already."""
    values = column.to_pylist()
    return CodedColumn.from_values(
        value if value is None or isinstance(value, str) else msgspec.json.encode(value).decode() for value in values
    )


def checked_columns(source: Mapping[str, CodedColumn], rows: int, row: type[Row], what: str, path: Path) -> Columns:
    """Return columns from a Parquet table or frame, one for each field of `row`, with rows from 1. Each distinct value is checked once.

    Raises ContentError for missing columns, values of the wrong type, and gaps in required columns.
    """
    fields = msgspec.structs.fields(row)
    if missing := [f"'{field.name}'" for field in fields if field.required and field.name not in source]:
        raise ContentError(f"not {what}: no column{'s' if missing[1:] else ''} {', '.join(missing)}", path)
    columns, faults = {}, []
    for field in fields:
        name = field.name
        column = source[name] if name in source else CodedColumn.empty(rows)
        column = columns[name] = column.in_nfc() if name in _NAMES else column
        if field.type is msgspec.Raw:
            continue
        used, first_rows = np.unique(column.codes, return_index=True)
        first = dict(zip(used.tolist(), (first_rows + 1).tolist(), strict=True))  # the row of each code's first use
        for code, value in enumerate(column.values):
            try:
                msgspec.convert(dict(value) if _is_object(value) else value, field.type)
            except msgspec.ValidationError as err:
                faults.append((first.get(code, 1), f"not {what} ({err} in column '{name}')"))
            if not isinstance(value, (int, float)):
                refuse_half_characters(value, path, first.get(code, 1))
        if field.required and (column.codes == NO_VALUE).any():
            faults.append((int(np.argmax(column.codes == NO_VALUE)) + 1, f"not {what}: '{name}' is empty"))
    refuse_faults(faults, path)
    return Columns(columns, np.arange(1, rows + 1))


def _is_object(value: Any) -> bool:
    """Return True if `_hashable` made this value of an object."""
    return isinstance(value, tuple) and bool(value) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in value)


def from_arrow(column: Any) -> CodedColumn:
    """Return a column of an Arrow table or batch. NaN is a gap."""
    import pyarrow as pa

    if pa.types.is_nested(column.type):
        return CodedColumn.from_values(_hashable(value) for value in column.to_pylist())
    joined = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    coded = joined.dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):  # for an empty or very large column
        coded = coded.combine_chunks() if coded.num_chunks == 1 else pa.chunked_array(coded.chunks).unify_dictionaries().combine_chunks()
    values = [None if value != value else _unsigned(value) for value in coded.dictionary.to_pylist()]  # pandas writes a gap as NaN
    codes = arrow_codes(coded.indices)
    codes_by_value = {value: code for code, value in enumerate(dict.fromkeys(value for value in values if value is not None))}
    return CodedColumn(
        tuple(codes_by_value), np.array([*(codes_by_value.get(value, NO_VALUE) for value in values), NO_VALUE], np.int32)[codes]
    )


def arrow_codes(indices: Any) -> Codes:
    """Return the codes of an Arrow dictionary array, read from its buffers, because its `to_numpy` would import pandas."""
    if not len(indices):
        return np.empty(0, np.int32)
    gaps, numbers = indices.buffers()
    end = indices.offset + len(indices)
    codes = np.frombuffer(numbers, indices.type.to_pandas_dtype(), end)[indices.offset :].astype(np.int32)
    if indices.null_count:
        present = np.unpackbits(np.frombuffer(gaps, np.uint8), count=end, bitorder="little")[indices.offset :]
        codes[present == 0] = NO_VALUE
    return codes
