"""What every reader gives: named columns and numbered records, with the place of each cell for messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

MAX_BYTES = 512 * 1024 * 1024  # of a source once unpacked: far above any label set, far below what fills a machine


class Unreadable(NamedTuple):
    """A cell whose value cannot be taken as it stands, and why: a merged cell, a formula without its value."""

    reason: str


class Record(NamedTuple):
    """One row of a source: `cells` by column, and what its place is called (`ratings.csv:7`, `book.xlsx:Sheet1!C7`)."""

    cells: dict[str, Any]
    number: int
    head: str
    letters: Mapping[str, str] = {}
    tail: str = ""

    def place(self, column: str | None = None) -> str:
        """Where the record, or one of its cells, stands.

        >>> Record({}, 7, "book.xlsx:Sheet1!", {"score": "C"}).place("score")
        'book.xlsx:Sheet1!C7'
        """
        return f"{self.head}{self.letters.get(column or '', '')}{self.number}{self.tail}"


class Table(NamedTuple):
    """A source that has been read. `kind` says as what; `notes` is what a person should know about the reading."""

    kind: str
    columns: Sequence[str]
    records: Sequence[Record]
    notes: Sequence[str] = ()
    left_out: int = 0  # answers that are no labels by their kind: skipped tasks, comments, drawings
    about: Mapping[str, Any] = {}  # what the source itself says about its metrics and items; only a sheet of ours does


def is_blank(value: Any) -> bool:
    """Whether a cell holds nothing: no value, or white space.

    >>> is_blank(" "), is_blank(0)
    (True, False)
    """
    return value is None or (isinstance(value, str) and not value.strip())


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """All keys of the rows, in the order in which they first occur."""
    return list(dict.fromkeys(key for row in rows for key in row))


def flat(row: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """A row with its nested objects spread out under dotted names.

    >>> flat({"id": 1, "answer": {"fluency": 2}})
    {'id': 1, 'answer.fluency': 2}
    """
    spread: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, dict) and value:
            spread |= flat(value, f"{prefix}{key}.")
        else:
            spread[f"{prefix}{key}"] = value
    return spread
