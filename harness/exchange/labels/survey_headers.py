"""Tables of survey programs that have further rows of names: Qualtrics writes the texts of the questions and their ids below the names."""

from __future__ import annotations

import re
from typing import Any

from harness.exchange.labels.table import SourceTable, is_blank

_ROWS_OF_NAMES = 3  # at most, below the names of the columns
_IMPORT_ID = re.compile(r"\s*\{\s*['\"]ImportId['\"]")
_RESPONSE_ID = re.compile(r"R_\w+")
_RESPONSE_COLUMN = "ResponseId"


def without_names_in_rows(table: SourceTable) -> SourceTable:
    """Return a table without rows that hold the texts and ids of questions in place of answers.

    They are known by the ids that Qualtrics imports, or, where somebody has taken these out, by a first row in which the column of the
    response's id holds no id.
    """
    names = next((index for index, record in enumerate(table.records[:_ROWS_OF_NAMES]) if _are_import_ids(record.cells)), None)
    count = names + 1 if names is not None else _count_rows_before_ids([record.cells.get(_RESPONSE_COLUMN) for record in table.records])
    if not count or count == len(table.records):
        return table
    first, last = table.records[0], table.records[count - 1]
    rows = f"{first.place()} is" if count == 1 else f"{first.place()} to {last.number} are"
    return table._replace(
        records=table.records[count:], notes=[*table.notes, f"{rows} Qualtrics' texts and ids of the questions, no answers"]
    )


def _are_import_ids(cells: dict[str, Any]) -> bool:
    filled = [cell for cell in cells.values() if not is_blank(cell)]
    return bool(filled) and all(isinstance(cell, str) and _IMPORT_ID.match(cell) for cell in filled)


def _count_rows_before_ids(ids: list[Any]) -> int:
    are_ids = [isinstance(value, str) and _RESPONSE_ID.fullmatch(value) is not None for value in ids]
    return 1 if len(are_ids) > 1 and not are_ids[0] and all(are_ids[1:]) and not is_blank(ids[0]) else 0
