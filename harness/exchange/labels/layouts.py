"""Other layouts of labels, turned into one record a score: ids made of several columns, a row a person and a column an item (forms), and
Potato's scores as keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import ContentError, UsageError
from harness.exchange.labels.scores import UnreadableScore, id_text
from harness.exchange.labels.table import Record, SourceTable, Unreadable, is_blank
from harness.patterns import TOO_SLOW, Pattern, SlowPattern
from harness.text import quoted

_POTATO = ("instance_id", "user_id")
_ON = ("on", "true", "1")


ROW_NUMBER = "#"
ITEM_ID = "item_id"


def with_ids(table: SourceTable, columns: Sequence[str], location: str) -> SourceTable:
    """The table with a column `item_id`: the values of `columns`, joined by a hyphen; `#` is the number of the row.

    A record that lacks one of them has no id, and is refused later. Raises ContentError for a column that the table does not have.

    >>> table = SourceTable("csv", ["question", "system"], [Record({"question": 3, "system": "A"}, 2, "x.csv:")])
    >>> with_ids(table, ["question", "system"], "x.csv").records[0].cells["item_id"]
    '3-A'
    """
    if missing := [name for name in columns if name not in (*table.columns, ROW_NUMBER)]:
        raise ContentError(f"--id-from: {quoted(missing)} is not a column; the columns are: {', '.join(table.columns)}", location)
    records = []
    parts_of: dict[str, tuple[str, ...]] = {}  # of a joined id: 1-2 and 3 make the same as 1 and 2-3
    for record in table.records:
        cells = {name: value for name, value in record.cells.items() if name != ITEM_ID}
        parts = [record.number if name == ROW_NUMBER else record.cells.get(name) for name in columns]
        if not any(map(is_blank, parts)):
            cells[ITEM_ID] = _join_parts(parts, parts_of)
        records.append(record._replace(cells=cells))
    return table._replace(columns=list(dict.fromkeys([*table.columns, ITEM_ID])), records=records)


def _join_parts(parts: Sequence[Any], parts_of: dict[str, tuple[str, ...]]) -> str | Unreadable:
    try:
        texts = tuple(id_text(part, "item id") for part in parts)
    except UnreadableScore as err:
        return Unreadable(str(err))
    joined = "-".join(texts)
    if (earlier := parts_of.setdefault(joined, texts)) != texts:
        return Unreadable(f"the item id '{joined}' joins {quoted(texts)} here and {quoted(earlier)} in an earlier row; they are two items")
    return joined


def one_record_per_item(table: SourceTable, pattern: str, location: str) -> SourceTable:
    """A form's answers, a row a person: each column whose whole name matches `pattern` has the scores of one item; others stay.

    `pattern` is a regular expression with the group `item`, and `metric` where there are several; `place` is that of the header. Raises
    UsageError for a pattern that cannot be, ContentError if no column matches.
    """
    try:
        names = Pattern(pattern)
    except ValueError as err:
        raise UsageError(f"--wide-items {pattern}: {err}") from None
    if "item" not in names.names or names.names - {"item", "metric"}:
        raise UsageError(rf"--wide-items {pattern}: name the item's part, such as \[(?P<item>[^]]+)\] (?P<metric>.+)")
    try:
        matches = {column: match for column in table.columns if (match := names.full_match(column))}
    except SlowPattern:
        raise UsageError(f"--wide-items {pattern} {TOO_SLOW} the name of a column ({location})") from None
    if not matches:
        raise ContentError(f"no column matches --wide-items {pattern}; the columns are: {', '.join(table.columns)}", location)
    shared_columns = [column for column in table.columns if column not in matches]
    records = []
    for record in table.records:
        shared_cells = {column: record.cells[column] for column in shared_columns if column in record.cells}
        for column, match in matches.items():
            if is_blank(record.cells.get(column)):
                continue
            cells = {"item_id": match["item"].strip(), "score": record.cells[column], **shared_cells}
            if "metric" in names.names and match["metric"] is not None:
                cells["metric"] = match["metric"].strip()
            letters = {"score": record.letters[column]} if column in record.letters else {}
            tail = record.tail if letters else f" (column {list(table.columns).index(column) + 1})"
            records.append(Record(cells, record.number, record.head, letters, tail))
    columns = ["item_id", *(["metric"] if "metric" in names.names else []), "score", *shared_columns]
    return table._replace(columns=columns, records=records)


def is_potato(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether flat rows are annotations of Potato: the score is a key, and its value says that it was chosen."""
    keys = {name for row in rows for name in row}
    return keys.issuperset(_POTATO) and any(_read_chosen(row) for row in rows)


def from_potato(table: SourceTable) -> SourceTable:
    """One record a chosen score: `labels.fluency.2 = "on"` (JSON) and `fluency.2 = "on"` (CSV) are the score 2 on `fluency`."""
    records = [
        record._replace(
            cells={"item_id": record.cells["instance_id"], "annotator_id": record.cells["user_id"], "metric": metric, "score": score}
        )
        for record in table.records
        for metric, score in _read_chosen(record.cells)
    ]
    return table._replace(columns=["item_id", "annotator_id", "metric", "score"], records=records)


def _read_chosen(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """`(scheme, score)` of every key that was chosen."""
    chosen = []
    for name, value in row.items():
        scheme, dot, score = name.removeprefix("labels.").rpartition(".")
        if dot and isinstance(value, str) and value.strip().casefold() in _ON:
            chosen.append((scheme, score))
    return chosen


def unwrapped_result(value: Any) -> Any:
    """The score in a cell of Label Studio's JSON-MIN: a rating is a list with one object, `[{"rating": 5}]`.

    >>> unwrapped_result([{"rating": 5}]), unwrapped_result([{"a": 1, "b": 2}]), unwrapped_result("2")
    (5, [{'a': 1, 'b': 2}], '2')
    """
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict) and len(value[0]) == 1:
        [(kind, score)] = value[0].items()
        if kind in ("rating", "number", "choices"):
            return score[0] if isinstance(score, list) and len(score) == 1 else score
    return value
