"""The items that labels are about: given beside them, or built from the rows that the labels stand in."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.content import Library, load_bundled, load_folder, tags
from harness.content.dataset import text_problems
from harness.content.specs import DataFolder
from harness.errors import ContentError, UsageError
from harness.labels.mapping import LabelMapping
from harness.labels.plan import NO_ITEM_ID, Plan, find_columns
from harness.labels.read import read_source
from harness.labels.scores import Refusal, id_text
from harness.labels.table import Record, Table, Unreadable, is_blank
from harness.model import Item, Scale
from harness.tables import find_table, read_rows

_ABOUT = ("language", "task", "split", "group", "system", "parallel_id")


class Given:
    """Items that are known beforehand: their rows as they are to be written, what their folder says, and its scales."""

    def __init__(
        self,
        rows: dict[str, dict[str, Any]],
        about: DataFolder | None = None,
        scales: Mapping[str, Scale] | None = None,
        columns: Sequence[str] = (),
    ) -> None:
        self.rows = rows
        self.about = about
        self.scales = dict(scales or {})
        self.columns = columns  # of a table of items

    def mapping_of_labels(self, mapping: LabelMapping, columns: Collection[str]) -> LabelMapping:
        """What the mapping says about a table of labels with these columns: without what it says about the table of items."""
        elsewhere = {role: name for role, name in mapping.named_columns.items() if name not in columns and name in self.columns}
        own = {role: name for role, name in mapping.columns.items() if role not in elsewhere}
        short = {role: None for role in ("group", "system") if role in elsewhere}
        texts = {field: name for field, name in mapping.texts.items() if name not in self.columns}
        return msgspec.structs.replace(mapping, columns=own, texts=texts, **short)


def read_given(source: str, mapping: LabelMapping, library: Library) -> Given:
    """Items of a data folder, of `bundled`, or of a table whose columns the mapping names (by default, all others become fields).

    Raises UsageError and ContentError.
    """
    if source == "bundled":
        data = load_bundled(library, library.pack_files)
        return Given({item.item_id: _row_of(item) for item in data.items})
    if Path(source).is_dir() and find_table(Path(source), "items"):
        return items_of_folder(Path(source), library)
    table = read_source(source)
    rows = Rows({}, mapping, library, closed=False)
    plan = _item_plan(table, mapping, source)
    for record in table.records:
        try:
            rows.require(id_text(record.cells.get(plan.columns["item_id"]), "item id"), record, plan)
        except Refusal as why:
            raise ContentError(str(why), record.place()) from None
    return Given(rows.rows, columns=table.columns)


def items_of_folder(folder: Path, library: Library) -> Given:
    """The items of a data folder, whose rows are kept as they are. Raises UsageError and ContentError."""
    data = load_folder(folder, library)
    path = find_table(folder, "items")
    rows = {row["item_id"]: row for _, row in read_rows(path)} if path else {}
    return Given(rows, data.about, data.scales)


def _row_of(item: Item) -> dict[str, Any]:
    row = {name: value for name, value in msgspec.structs.asdict(item).items() if name != "fields" and value is not None}
    return row | item.fields


def _item_plan(table: Table, mapping: LabelMapping, source: str) -> Plan:
    """The plan of a table of items: columns of the mapping that it has, usual names, and the rest as fields unless texts are named."""
    if missing := [column for column in mapping.texts.values() if column not in table.columns]:
        raise ContentError(f"'{missing[0]}' is no column here; the columns are: {', '.join(table.columns)}", source)
    named = {role: column for role, column in mapping.named_columns.items() if column in table.columns and role in ("item_id", *_ABOUT)}
    wanted = [role for role in ("item_id", *_ABOUT) if mapping.constant(role) is None]
    columns, _ = find_columns(table, named, wanted, mapping.texts.values())
    if "item_id" not in columns:
        raise ContentError(f"{NO_ITEM_ID} (the columns are: {', '.join(table.columns)})", source)
    return Plan(columns, (), mapping.texts or {name: name for name in table.columns if name not in columns.values()}, {})


class Rows:
    """The rows of the items to be written: given ones, and, unless `closed`, new ones from the rows of labels."""

    def __init__(self, given: Mapping[str, dict[str, Any]], mapping: LabelMapping, library: Library, *, closed: bool) -> None:
        self.rows = dict(given)
        self._given = frozenset(given)
        self._mapping = mapping
        self._tasks = {name: library.task(name) for name in library.task_files}
        self._closed = closed
        self._places: dict[str, str] = {}
        self.tags: dict[str, str] = {}  # language as written: canonical tag, where they differ

    def require(self, item_id: str, record: Record, plan: Plan) -> None:
        """See to it that an item is known. Raises Refusal when it is not and cannot be made of the record, or when the record says
        something else about it than an earlier one."""
        if item_id in self._given:
            return
        if self._closed:
            raise Refusal(f"no item is called '{item_id}'")
        row = self._row(item_id, record, plan)
        before = self.rows.get(item_id)
        if before is None:
            for problem in self._problems(row):
                raise Refusal(problem)
            self.rows[item_id] = row
            self._places[item_id] = record.place()
            return
        for name, value in row.items():
            if name in before and before[name] != value:
                raise Refusal(f"'{name}' of item '{item_id}' is another one than in {self._places[item_id]}")
        before |= row

    def _row(self, item_id: str, record: Record, plan: Plan) -> dict[str, Any]:
        constants = {"language": self._mapping.language, "task": self._mapping.task}
        row: dict[str, Any] = {"item_id": item_id}
        for role in _ABOUT:
            value = constants.get(role) or record.cells.get(plan.columns.get(role, ""))
            if not is_blank(value):
                row[role] = id_text(value, role)
        if "language" in row:
            row["language"] = self._tag(row["language"])
        for field, column in plan.texts.items():
            value = record.cells.get(column)
            if isinstance(value, Unreadable):
                raise Refusal(f"'{field}': {value.reason}")
            if not is_blank(value):
                row[field] = value if isinstance(value, (str, int, float, list, dict)) else str(value)
        return row

    def _tag(self, text: str) -> str:
        try:
            tag = tags.canonical(text)
            tags.require_canonical(tag)
        except UsageError as err:
            raise Refusal(str(err)) from None
        if tag != text:
            self.tags[text] = tag
        return tag

    def _problems(self, row: dict[str, Any]) -> list[str]:
        for name in ("language", "task"):
            if name not in row:
                return [f"item '{row['item_id']}' has no {name}: the cell is empty"]
        fields = {name: value for name, value in row.items() if name not in ("item_id", *_ABOUT)}
        try:
            about = {name: row[name] for name in ("item_id", *_ABOUT) if name in row}
            item = msgspec.convert({**about, "fields": fields}, Item)
        except msgspec.ValidationError as err:
            return [f"not an item: {err}"]
        return list(text_problems(item, self._tasks[item.task])) if item.task in self._tasks else []
