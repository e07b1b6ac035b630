"""The target folder of an import: its content before the import, and its `data.toml` after it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.content import Library
from harness.content.specs import DatasetCard, LabelMapping
from harness.data.folder_writer import data_toml, locked_folder, table_file, write_folder
from harness.data.read_back import read_back
from harness.errors import UsageError
from harness.exchange.labels.items import GivenItems, items_of_folder
from harness.exchange.labels.pseudonyms import SALT_NOTE, Pseudonyms
from harness.exchange.labels.records import refuse_large
from harness.model import AnnotatorKind, Scale
from harness.offensive import refuse_in_repository
from harness.row_files import find_table, open_bytes, read_rows, to_jsonl


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
