"""Raw files that are plain tables: read by the mapping of their card, as `harness labels import` reads tables. They need no Python."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec

from harness.content.specs import DatasetCard, LabelMapping
from harness.errors import ContentError
from harness.exchange.labels.importing import ImportOptions, import_labels
from harness.published.raw import RawFiles, Tables
from harness.tables import find_table, read_rows

TABLES = ("items", "labels")


def convert(card: DatasetCard, mapping: LabelMapping, raw: RawFiles) -> Tables:
    """The items and labels of the raw files that are here, in the card's order. The scales and the annotators are those of the card.

    Raises ContentError with `file:line` for the first row that cannot be read: a published set is converted whole or not at all.
    """
    mapping = msgspec.structs.replace(mapping, metrics=card.metrics, source=card.source, annotators=card.annotators)
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        target, first = Path(folder) / card.id, True
        for source in card.sources:
            for file in source.files:
                if raw.has(file.path, source.repository):
                    _import(raw.file(file.path, source.repository), target, mapping, append=not first)
                    first = False
        tables = {name: find_table(target, name) for name in TABLES}
        return {name: [row for _, row in read_rows(path)] if path else [] for name, path in tables.items()}


def _import(path: Path, target: Path, mapping: LabelMapping, *, append: bool) -> None:
    imported = import_labels(path, target, mapping, ImportOptions(append=append, keep_annotators=True))
    if imported.refused:
        row, more = imported.refused[0], len(imported.refused) - 1
        raise ContentError(f"{row.reason}{f' (and {more} more rows)' if more else ''}", row.place)
