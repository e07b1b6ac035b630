"""The errors that people and recorded judges marked: the key `spans` of label and judgment rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from harness.data.columns import NO_VALUE, CodedColumn, Columns
from harness.errors import ContentError
from harness.model import ErrorSpan

OUTPUT = "output"
"""The text of an item in which errors are marked."""
_LIST = '\'spans\' should be a list of errors, such as {"severity": "minor", "start": 3, "end": 9}, with places in characters'


def checked_errors(rows: Columns, path: Path) -> CodedColumn:
    """Return the errors of each row, a tuple of `ErrorSpan`; no value for a row without the key. Raises ContentError with `file:line`."""
    column = rows["spans"]
    if not column.values:
        return column
    lists: list[tuple[ErrorSpan, ...] | None] = []
    for code, text in enumerate(column.values):
        try:
            lists.append(msgspec.json.decode(text, type=tuple[ErrorSpan, ...] | None))
        except msgspec.MsgspecError as err:
            raise ContentError(f"{_LIST}: {err}", path, int(rows.lines[int(np.argmax(column.codes == code))])) from None
    values = tuple(dict.fromkeys(errors for errors in lists if errors is not None))
    code_of = {errors: code for code, errors in enumerate(values)}
    codes = np.array([*(NO_VALUE if errors is None else code_of[errors] for errors in lists), NO_VALUE], np.int32)
    return CodedColumn(values, codes[column.codes])


def rows_with_errors(column: CodedColumn) -> Iterator[tuple[int, tuple[ErrorSpan, ...]]]:
    """Yield each row with at least one error, and its errors."""
    empty = np.array([*(not errors for errors in column.values), True])
    for row in np.flatnonzero(~empty[column.codes]).tolist():
        yield row, column.values[column.codes[row]]


def lies_in(span: ErrorSpan, text: str) -> bool:
    """Return True if an error has a place, and the place is in the text.

    >>> lies_in(ErrorSpan("minor", 0, 3), "cat"), lies_in(ErrorSpan("minor", 2, 4), "cat"), lies_in(ErrorSpan("minor", 2, 2), "cat")
    (True, False, False)
    """
    return span.start is not None and span.end is not None and 0 <= span.start < span.end <= len(text)
