"""The items of an import, given separately or built from the rows of the labels, and its target folder: its content before the import, and
its `data.toml` after it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness.content import Library, tags
from harness.content.specs import DatasetCard, LabelMapping
from harness.conversations import as_text
from harness.data.dataset import load_bundled, load_folder, read_back, text_problems
from harness.data.folders import data_toml, located, locked_folder, table_file, write_folder
from harness.errors import ContentError, UsageError
from harness.exchange.labels.cell_scores import Unreadable, UnreadableScore, id_text, is_blank
from harness.exchange.labels.choose_reader import read_source
from harness.exchange.labels.columns_of_source import NO_ITEM_ID, ColumnPlan, find_columns
from harness.exchange.labels.pseudonyms import SALT_NOTE, Pseudonyms
from harness.exchange.labels.records import refuse_large
from harness.exchange.labels.source_table import Record
from harness.model import AnnotatorKind, Item, Scale
from harness.offensive_texts import refuse_in_repository
from harness.parse.language import other_language_of
from harness.row_files import find_table, open_bytes, read_rows, to_jsonl
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


class TargetFolder:
    """The folder before the import.

    Raises UsageError when it holds labels and neither `append` nor `second_round` is set, and for a second round without a first one.
    """

    def __init__(self, folder: Path, library: Library, *, append: bool, second_round: bool = False) -> None:
        self.folder = folder
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"--to {folder} is a file; name a folder")
        labels = find_table(folder, "labels") if folder.is_dir() else None
        has_labels = labels is not None and next(iter(read_rows(labels)), None) is not None  # a folder of items alone has no rows
        if append and second_round:
            raise UsageError("--append adds to the labels and --second-round writes beside them; pass one of the two")
        if second_round and not has_labels:
            raise UsageError(
                f"{folder} holds no labels, so a second round has nothing to be compared with; import the first round without it"
            )
        if has_labels and not (append or second_round):
            raise UsageError(
                f"{folder} already holds labels; pass --append to add to them, --second-round for further scores of the same items by "
                "another person or the same one, or choose another --to"
            )
        self.files = {name: table_file(folder, name) for name in ("items", "labels", "second_ratings", "refused", "comments")}
        if (has_labels or self.files["labels"].endswith(".parquet")) and (
            parquet := [name for name in self.files.values() if name.endswith(".parquet")]
        ):
            raise UsageError(f"--append works on JSONL files, but {folder} holds {', '.join(parquet)}; import into another folder")
        has_items = folder.is_dir() and find_table(folder, "items") is not None
        self.items = items_of_folder(folder, library) if has_items else GivenItems({})
        path = folder / self.files["labels"]
        self.labels: list[tuple[str, dict[str, Any]]] = [(f"{path}:{line}", row) for line, row in read_rows(path)] if has_labels else []
        again = folder / self.files["second_ratings"]
        self.second_ratings = [(f"{again}:{line}", row) for line, row in read_rows(again)] if second_round and again.is_file() else []

    @property
    def about(self) -> DatasetCard | None:
        """Its `data.toml`; None for a folder without items."""
        return self.items.about

    def require_same_items(self, rows: Mapping[str, dict[str, Any]]) -> None:
        """Raise UsageError when the folder has another version of a given item."""
        for name in rows.keys() & self.items.rows.keys():
            if rows[name] != self.items.rows[name]:
                raise UsageError(f"item '{name}' differs between --items and {self.folder}")

    def require_same_scales(self, scales: Mapping[str, Scale]) -> None:
        """Raise UsageError when a metric of the folder is given another scale. Its other metrics need not be among `scales`."""
        for name, scale in (self.about.metrics if self.about else {}).items():
            if (new_scale := scales.get(name, scale)) != scale:
                locations = [location for location, row in self.labels if row["metric"] == name]
                rows = f" ({locations[0]}{f' and {len(locations) - 1} more rows' if locations[1:] else ''})" if locations else ""
                raise UsageError(
                    f"'{name}' already has the scale {scale.describe()} in {self.folder}{rows}, and cannot have "
                    f"{new_scale.describe()} too; "
                    f"give the new scores another name (--rename {name}=NAME --scale NAME=…)"
                )

    def pseudonyms(self, salt_file: Path | None, *, keep: bool) -> Pseudonyms:
        """The pseudonyms of annotators. Raises UsageError when those in the folder were made with another salt."""
        earlier = [row["annotator_id"] for _, row in (*self.labels, *self.second_ratings)]
        pseudonyms = Pseudonyms.made_with(salt_file, outside=self.folder, keep=keep, earlier=earlier)
        notes = self.about.notes if self.about and self.labels and not keep else ()
        if any(note.startswith(SALT_NOTE) and note not in pseudonyms.notes for note in notes):
            raise UsageError(
                f"the pseudonyms of the annotators in {self.folder} were made with another salt, so the same people would look like "
                "different ones; pass the --salt-file of the first import"
            )
        return pseudonyms


def lines_of(folder: Path, name: str) -> bytes | None:
    """The existing lines of a table, unchanged; None if there is no such table."""
    path = folder / table_file(folder, name)
    if not path.is_file():
        return None
    if path.suffix == ".gz":
        refuse_large(path)
    with open_bytes(path) as file:
        data = file.read()
    return data if not data or data.endswith(b"\n") else data + b"\n"


def add_rows(folder: Path, tables: Mapping[str, Sequence[Any]], about: DatasetCard, library: Library) -> None:
    """Add rows to the tables of a folder, and write its `data.toml`: all of it or nothing. Items and labels get a table even without rows.

    Before anything is in place, the folder is read as a data folder, and each table has to hold the rows that were there and the new ones.
    Raises UsageError for offensive texts in a repository, StoreError when the folder cannot be written or could not be read afterwards.
    """
    refuse_in_repository(folder, about)
    with locked_folder(folder):
        files: dict[str, bytes] = {}
        expected: dict[str, int] = {}
        for name, rows in tables.items():
            lines = lines_of(folder, name)
            if rows or (lines is None and name in ("items", "labels")):
                files[table_file(folder, name)] = (lines or b"") + to_jsonl(rows)
                expected[name] = sum(bool(line.strip()) for line in (lines or b"").split(b"\n")) + len(rows)
            # After the items, before the labels: the folder loads even if writing stops here.
            files.setdefault("data.toml", data_toml(about).encode())
        write_folder(folder, files, read_back(folder, library, expected))


def digest_note(kind: str, source: str) -> str:
    """A note on the source of the labels. It leaves out the name of the file, which may be a person's."""
    path = Path(source)
    if not path.is_file():
        return f"imported from a source of kind {kind}"
    with path.open("rb") as file:
        return f"imported from a source of kind {kind}, SHA-256 {hashlib.file_digest(file, 'sha256').hexdigest()}"


def without_paths(text: str, paths: Iterable[Path]) -> str:
    """A text with the names of files in place of their paths on this machine."""
    for path in paths:
        text = text.replace(str(path), path.name)
    return text


def card_of_new_folder(folder: Path, items: DatasetCard | None, kind: AnnotatorKind) -> DatasetCard:
    """The `data.toml` of a new folder, which takes over what the folder of its `items` says about rights and groups of texts."""
    origin = items or DatasetCard(id="none")
    inherited = {name: getattr(origin, name) for name in ("title", "licence", "citation", "get", "group", "offensive")}
    return DatasetCard(id=folder.resolve().name, annotators=kind, **inherited)


def with_imported(about: DatasetCard, metrics: Mapping[str, Scale], notes: Iterable[str]) -> DatasetCard:
    """A `data.toml` with the scales and notes of an import; no note stands twice."""
    added = tuple(note for note in notes if note not in about.notes)
    return msgspec.structs.replace(about, metrics={**about.metrics, **metrics}, notes=(*about.notes, *added))


def updated_about(
    target: TargetFolder,
    mapping: LabelMapping,
    origin: DatasetCard | None,
    kind: AnnotatorKind,
    metrics: Mapping[str, Scale],
    notes: Iterable[str],
) -> DatasetCard:
    """Return `data.toml` after the import; `origin` is that of the items.

    Raises UsageError when the folder has labels and the mapping contradicts its `data.toml`.
    """
    about = target.about or card_of_new_folder(target.folder, origin, kind)
    hints = {name: value for name in ("id", "title", "annotators", "source", "sampling") if (value := getattr(mapping, name)) is not None}
    for name, value in hints.items():
        if target.labels and value != getattr(about, name):
            raise UsageError(f"{target.folder} already has {name} = '{getattr(about, name)}'; '{value}' cannot be added to it")
    return with_imported(msgspec.structs.replace(about, **hints), metrics, notes)
