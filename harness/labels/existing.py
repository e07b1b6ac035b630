"""What the target folder of an import holds before it, and what its `data.toml` says after it."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from harness.content import Library
from harness.content.specs import DataFolder
from harness.errors import UsageError
from harness.labels.folder import table_file
from harness.labels.items import Given, items_of_folder
from harness.labels.mapping import LabelMapping
from harness.model import AnnotatorKind, Scale
from harness.tables import find_table, read_rows

_SALT_NOTE = "annotators are pseudonyms made with the salt "


class Existing:
    """The folder as it is. Raises UsageError when it holds labels and they are not to be added to."""

    def __init__(self, folder: Path, library: Library, *, append: bool) -> None:
        self.folder = folder
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"--to {folder} is a file; name a folder")
        has_labels = folder.is_dir() and find_table(folder, "labels") is not None
        if has_labels and not append:
            raise UsageError(f"{folder} holds labels already; --append adds to them, another --to leaves them as they are")
        self.files = {name: table_file(folder, name) for name in ("items", "labels", "refused", "comments")}
        if has_labels and (parquet := [name for name in self.files.values() if name.endswith(".parquet")]):
            raise UsageError(f"--append adds to JSONL files, and {folder} holds {', '.join(parquet)}; import into a folder of its own")
        has_items = folder.is_dir() and find_table(folder, "items") is not None
        self.items = items_of_folder(folder, library) if has_items else Given({})
        path = folder / self.files["labels"]
        self.labels: list[tuple[str, dict[str, Any]]] = [(f"{path}:{line}", row) for line, row in read_rows(path)] if has_labels else []

    @property
    def about(self) -> DataFolder | None:
        """What it says about itself; None for a folder without items."""
        return self.items.about

    def require_same_items(self, rows: Mapping[str, dict[str, Any]]) -> None:
        """Raise UsageError when an item that is here is given as another one."""
        for name in rows.keys() & self.items.rows.keys():
            if rows[name] != self.items.rows[name]:
                raise UsageError(f"item '{name}' is another one in --items than in {self.folder}")

    def require_same_scales(self, scales: Mapping[str, Scale]) -> None:
        """Raise UsageError when a metric of this folder's own is given another scale."""
        for name, scale in (self.about.metrics if self.about else {}).items():
            if scales[name] != scale:
                raise UsageError(f"'{name}' has the scale {scale.describe()} in {self.folder} already")

    def require_same_salt(self, fingerprint: str) -> None:
        """Raise UsageError when the pseudonyms here were made with another salt."""
        notes = self.about.notes if self.about and self.labels else ()
        if any(note.startswith(_SALT_NOTE) and note != salt_note(fingerprint) for note in notes):
            raise UsageError(
                f"the annotators of {self.folder} have pseudonyms made with another salt, so that the same people would seem to be "
                "others; name the --salt-file of the first import"
            )

    def lines(self, name: str) -> bytes | None:
        """The lines that a table has already, as they are; None when it is not there."""
        path = self.folder / self.files[name]
        if not path.is_file():
            return None
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        return data if not data or data.endswith(b"\n") else data + b"\n"


def salt_note(fingerprint: str) -> str:
    return f"{_SALT_NOTE}{fingerprint}"


def digest_note(kind: str, source: str) -> str:
    """Where labels come from, without the name of the file: it may be a person's."""
    path = Path(source)
    if not path.is_file():
        return f"imported from a source of kind {kind}"
    with path.open("rb") as file:
        return f"imported from a source of kind {kind}, SHA-256 {hashlib.file_digest(file, 'sha256').hexdigest()}"


def about_after(
    existing: Existing,
    mapping: LabelMapping,
    origin: DataFolder | None,
    kind: AnnotatorKind,
    metrics: Mapping[str, Scale],
    notes: Iterable[str],
) -> DataFolder:
    """`data.toml` after the import: of the folder as it was, else new, with what `origin` (where the items come from) says about rights.

    Raises UsageError when the folder has labels and the mapping says something else about them.
    """
    about = existing.about
    if about is None:
        from_items = origin or DataFolder(id="none")
        about = DataFolder(
            id=existing.folder.resolve().name,
            title=from_items.title,
            licence=from_items.licence,
            citation=from_items.citation,
            get=from_items.get,
            group=from_items.group,
            annotators=kind,
        )
    said = {name: value for name in ("id", "title", "annotators", "source") if (value := getattr(mapping, name)) is not None}
    for name, value in said.items():
        if existing.labels and value != getattr(about, name):
            raise UsageError(f"{existing.folder} says {name} = '{getattr(about, name)}' already; '{value}' cannot be added to it")
    kept = about.notes
    added = tuple(note for note in notes if note not in kept)
    return msgspec.structs.replace(about, **said, metrics={**about.metrics, **metrics}, notes=(*kept, *added))
