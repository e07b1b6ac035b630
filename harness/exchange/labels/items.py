"""The items of labels: given separately, or built from the rows of the labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness.content import Library, tags
from harness.content.specs import DatasetCard, LabelMapping
from harness.conversations import as_text
from harness.data import load_bundled, load_folder
from harness.data.dataset import text_problems
from harness.data.folders import located
from harness.errors import ContentError, UsageError
from harness.exchange.labels.cells import UnreadableScore, id_text
from harness.exchange.labels.columns_of_source import NO_ITEM_ID, ColumnPlan, find_columns
from harness.exchange.labels.read import read_source
from harness.exchange.labels.table import Record, Unreadable, is_blank
from harness.model import Item, Scale
from harness.parse.language import other_language_of
from harness.row_files import find_table, read_rows
from harness.text import normalised_id, quoted

_ITEM_ROLES = ("language", "task", "split", "group", "system", "parallel_id")


class GivenItems(NamedTuple):
    """Items that are known before the import: their rows in output form, and the `data.toml` and scales of their folder."""

    rows: dict[str, dict[str, Any]]
    about: DatasetCard | None = None
    scales: Mapping[str, Scale] = {}
    columns: Sequence[str] = ()  # if they come from a table

    def mapping_of_labels(self, mapping: LabelMapping, columns: Collection[str]) -> LabelMapping:
        """Return the mapping for a table of labels with these columns, without the columns of the table of items."""
        item_table_columns = {role: name for role, name in mapping.named_columns.items() if name not in columns and name in self.columns}
        label_columns = {role: name for role, name in mapping.columns.items() if role not in item_table_columns}
        short = {role: None for role in ("group", "system") if role in item_table_columns}
        texts = {field: name for field, name in mapping.texts.items() if name not in self.columns}
        return msgspec.structs.replace(mapping, columns=label_columns, texts=texts, **short)


def read_given_items(source: str, mapping: LabelMapping, library: Library) -> GivenItems:
    """Read items from a data folder, from `bundled`, or from a table with the columns of the mapping. By default, other columns are fields.

    Raises UsageError and ContentError.
    """
    if source == "bundled":
        data = load_bundled(library, library.pack_files)
        return GivenItems({item.item_id: item_row(item) for item in data.items})
    folder = located(Path(source), library)  # the name of a published set means its folder
    if folder.is_dir() and find_table(folder, "items"):
        return items_of_folder(folder, library)
    table = read_source(source)
    rows = ItemRows({}, mapping, library, closed=False)
    # Find the columns of a table of items: by the mapping, then by usual names. The rest are fields unless texts are named.
    if missing := [column for column in mapping.texts.values() if column not in table.columns]:
        raise ContentError(f"'{missing[0]}' is not a column; the columns are: {', '.join(table.columns)}", source)
    column_of_role = {
        role: column for role, column in mapping.named_columns.items() if column in table.columns and role in ("item_id", *_ITEM_ROLES)
    }
    roles = [role for role in ("item_id", *_ITEM_ROLES) if mapping.constant(role) is None]
    columns, _ = find_columns(table, column_of_role, roles, mapping.texts.values())
    if "item_id" not in columns:
        raise ContentError(f"{NO_ITEM_ID} (the columns are: {', '.join(table.columns)})", source)
    plan = ColumnPlan(columns, (), mapping.texts or {name: name for name in table.columns if name not in columns.values()}, {})
    for record in table.records:
        try:
            rows.require(mapping.item_prefix + id_text(record.cells.get(plan.columns["item_id"]), "item id"), record, plan)
        except UnreadableScore as error:
            raise ContentError(str(error), record.place()) from None
    return GivenItems(rows.rows, columns=table.columns)


def items_of_folder(folder: Path, library: Library) -> GivenItems:
    """Read the items of a data folder, with their rows unchanged. Raises UsageError and ContentError."""
    data = load_folder(folder, library)
    path = find_table(folder, "items")
    rows = {row["item_id"]: row for _, row in read_rows(path)} if path else {}
    return GivenItems(rows, data.about, data.scales)


def item_row(item: Item) -> dict[str, Any]:
    """An item as a row of items.jsonl."""
    row = {name: value for name, value in msgspec.structs.asdict(item).items() if name != "fields" and value is not None}
    return row | item.fields


class ItemRows:
    """The rows of the items to be written: given ones and, unless `closed`, new ones from the rows of labels."""

    def __init__(self, item_rows: Mapping[str, dict[str, Any]], mapping: LabelMapping, library: Library, *, closed: bool) -> None:
        self.rows = dict(item_rows)
        self._given = frozenset(item_rows)
        forms = Counter(map(normalised_id, item_rows))
        self._by_form = {form: name for name in item_rows if forms[form := normalised_id(name)] == 1}
        self._mapping = mapping
        self._tasks = {name: library.task(name) for name in library.task_files}
        self._closed = closed
        self._places: dict[str, str] = {}
        self.tags: dict[str, str] = {}  # written language: canonical tag, if they differ

    def known_id(self, item_id: str) -> str:
        """Return the id of the given item that `item_id` means: the same one, or the only one that has the same form; else `item_id`."""
        return item_id if item_id in self.rows else self._by_form.get(normalised_id(item_id), item_id)

    def require(self, item_id: str, record: Record, plan: ColumnPlan) -> None:
        """Make sure that an item is known.

        Raises UnreadableScore when it is unknown and cannot be built from the record, or when the record contradicts an earlier one.
        """
        if item_id in self._given:
            return
        if self._closed:
            raise UnreadableScore(f"there is no item '{item_id}'")
        constants = {"language": self._mapping.language, "task": self._mapping.task}
        row: dict[str, Any] = {"item_id": item_id}
        for role in _ITEM_ROLES:
            value = constants.get(role) or record.cells.get(plan.columns.get(role, ""))
            if not is_blank(value):
                row[role] = id_text(value, role)
        if "language" in row:
            text = row["language"]
            try:
                tag = tags.tag_of_cell(text)
            except UsageError as err:
                raise UnreadableScore(str(err)) from None
            if tag != text:
                self.tags[text] = tag
            row["language"] = tag
        for field, column in plan.texts.items():
            value = as_text(record.cells.get(column))
            if isinstance(value, Unreadable):
                raise UnreadableScore(f"'{field}': {value.reason}")
            if is_blank(value):
                row |= {field: ""} if self._mapping.empty_texts else {}
            else:
                row[field] = value if isinstance(value, (str, int, float, list, dict)) else str(value)
        before = self.rows.get(item_id)
        if before is None:
            for problem in self._find_problems(row):
                raise UnreadableScore(problem)
            self.rows[item_id] = row
            self._places[item_id] = record.place()
            return
        for name, value in row.items():
            if name in before and before[name] != value:
                raise UnreadableScore(f"'{name}' of item '{item_id}' differs from {self._places[item_id]}")
        before |= row

    def settle_languages(self) -> list[str]:
        """Write the new items of one language under one tag, and return a sentence on each language that has several.

        Raises UsageError for a code in the table (`kr`) that is also that of a country, if the texts look like the language of the country
        (Korean) and not like that of the code (Kanuri). Where the user stated the code, a sentence is returned.
        """
        new = [row for name, row in self.rows.items() if name not in self._given]
        sentences = []
        for tag in sorted({row["language"] for row in new}):
            texts = (
                text
                for row in new
                if row["language"] == tag
                for name, text in row.items()
                if name not in ("item_id", *_ITEM_ROLES) and isinstance(text, str)
            )
            if sentence := other_language_of(tag, texts):
                if tag != self._mapping.language:
                    raise UsageError(f"{sentence} in the table, or pass --language {tag} if they are {tags.english_name(tag)}")
                sentences.append(sentence)
        stated = {self.rows[name]["language"] for name in self._given}
        for codes in tags.codes_of_one_language({*stated, *(row["language"] for row in new)}):
            right = next((tag for tag in codes if tag in stated), codes[0])
            lookalikes = [tag for tag in codes if tag != right and tag not in stated]
            for row in new:
                row["language"] = right if row["language"] in lookalikes else row["language"]
            self.tags |= dict.fromkeys(lookalikes, right)
            sentences.append(f"{quoted(sorted(codes))} are codes of one language, {tags.english_name(right)}; the texts count as '{right}'")
        return sentences

    def _find_problems(self, row: dict[str, Any]) -> list[str]:
        for name in ("language", "task"):
            if name not in row:
                return [f"item '{row['item_id']}' has no {name}: the cell is empty"]
        about = {name: row[name] for name in ("item_id", *_ITEM_ROLES) if name in row}
        try:
            item = msgspec.convert({**about, "fields": {name: value for name, value in row.items() if name not in about}}, Item)
        except msgspec.ValidationError as err:
            return [f"not an item: {err}"]
        return list(text_problems(item, self._tasks[item.task])) if item.task in self._tasks else []
