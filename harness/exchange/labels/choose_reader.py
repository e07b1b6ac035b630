"""Chooses the reader of a source: by its name and first bytes, or as the user says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from harness.errors import ContentError, UsageError, unreadable
from harness.exchange.labels import argilla, label_sheets, label_studio, records
from harness.exchange.labels.cell_scores import is_blank
from harness.exchange.labels.source_table import SourceTable, with_conversations
from harness.exchange.labels.spreadsheets import OLD_EXCEL, open_book, read_delimited, read_xlsx
from harness.exchange.labels.table_options import SourceOptions

KINDS = ("csv", "tsv", "xlsx", "sheet", "jsonl", "json", "parquet", "hf", "label-studio", "argilla")
KIND_BY_SUFFIX = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "csv",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
}

_KINDS_OF_OPTIONS = {
    "sheet": ("xlsx",),
    "encoding": ("csv", "tsv"),
    "header_row": ("csv", "tsv", "xlsx"),
    "revision": ("hf",),
    "split": ("hf",),
}

_ROWS_OF_NAMES = 3  # at most, below the names of the columns
_IMPORT_ID = re.compile(r"\s*\{\s*['\"]ImportId['\"]")
_RESPONSE_ID = re.compile(r"R_\w+")
_RESPONSE_COLUMN = "ResponseId"


def read_source(
    source: str,
    options: SourceOptions = SourceOptions(),
    *,
    annotator: str | None = None,
) -> SourceTable:
    """Read a file, a folder or a data set of the hub. Options that its kind does not have are refused. Lists of messages become texts.

    Raises UsageError and ContentError.
    """
    path = Path(source)
    kind = options.kind or _detect_kind(source, path)
    for name, kinds in _KINDS_OF_OPTIONS.items():
        if getattr(options, name) is not None and kind not in kinds:
            raise UsageError(f"--{name.replace('_', '-')} is for {' and '.join(kinds)}, but {source} is read as {kind}")
    if kind != "hf":
        _require_file(path)
    if kind == "hf":
        is_remote = source.startswith(records.PREFIX)
        table = records.read_hub(source, options.revision, options.split) if is_remote else records.read_saved(path, options.split)
    elif kind == "xlsx":
        table = without_names_in_rows(read_xlsx(path, options.sheet, options.header_row))
    elif kind == "sheet":
        if not label_sheets.is_sheet(open_book(path)):
            raise ContentError("not a sheet that 'harness labels export' made: its hidden sheet is missing", path)
        table = label_sheets.read_sheet(path, annotator)
    elif kind in ("csv", "tsv"):
        table = without_names_in_rows(read_delimited(path, options.encoding, "\t" if kind == "tsv" else None, options.header_row))
    elif kind in ("jsonl", "parquet"):
        table = records.read_jsonl(path) if kind == "jsonl" else records.read_parquet(path)
    else:
        readers = {"label-studio": label_studio.read_export, "argilla": argilla.read_records}
        table = readers.get(kind, records.read_json)(path, records.load_json(path))
    return with_conversations(table)


def _require_file(path: Path) -> None:
    if not path.exists():
        raise UsageError(f"{path} does not exist")
    if not (path.is_file() or path.is_dir()):
        raise UsageError(f"{path} is a pipe or a device; save its content as a file first")
    if not path.is_file():
        raise UsageError(f"{path} is a folder; only folders written by save_to_disk of the datasets library can be read")


def _detect_kind(source: str, path: Path) -> str:
    if source.startswith(records.PREFIX):
        return "hf"
    if path.is_dir() and records.is_saved(path):
        return "hf"
    _require_file(path)
    suffix = next((end for end in reversed(path.suffixes) if end.lower() != ".gz"), "").lower()
    try:
        with path.open("rb") as file:
            start = file.read(8)
    except OSError as err:
        raise unreadable(err, path) from None
    if start.startswith(OLD_EXCEL):
        raise ContentError("an old Excel workbook (.xls), or one with a password; save it as .xlsx without one", path)
    guess = "xlsx" if start.startswith(b"PK\x03\x04") else "parquet" if start.startswith(b"PAR1") else None
    kind = guess or KIND_BY_SUFFIX.get(suffix)
    if kind is None:
        raise UsageError(f"{path}: unknown kind of file; pass --from; choose from: {', '.join(KINDS)}")
    if kind == "xlsx":
        return "sheet" if label_sheets.is_sheet(open_book(path)) else "xlsx"
    first = records.first_object(records.load_json(path)) if kind == "json" else {}
    return "label-studio" if label_studio.is_export(first) else "argilla" if argilla.is_record(first) else kind


def without_names_in_rows(table: SourceTable) -> SourceTable:
    """Return a table without rows that hold the texts and ids of questions in place of answers.

    They are known by the ids that Qualtrics imports, or, where somebody has taken these out, by a first row in which the column of the
    response's id holds no id.
    """
    names = next((index for index, record in enumerate(table.records[:_ROWS_OF_NAMES]) if _are_import_ids(record.cells)), None)
    if names is not None:
        count = names + 1
    else:
        ids = [record.cells.get(_RESPONSE_COLUMN) for record in table.records]
        are_ids = [isinstance(value, str) and _RESPONSE_ID.fullmatch(value) is not None for value in ids]
        count = 1 if len(are_ids) > 1 and not are_ids[0] and all(are_ids[1:]) and not is_blank(ids[0]) else 0
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
