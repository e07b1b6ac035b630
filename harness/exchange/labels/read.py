"""Chooses the reader of a source: by its name and first bytes, or as the user says."""

from __future__ import annotations

from pathlib import Path

import msgspec

from harness.errors import ContentError, UsageError, unreadable
from harness.exchange.labels import argilla, filled_sheet, hub, label_studio, records
from harness.exchange.labels.delimited import read_delimited
from harness.exchange.labels.survey_headers import without_names_in_rows
from harness.exchange.labels.table import SourceTable
from harness.exchange.labels.xlsx import OLD_EXCEL, open_book, read_xlsx

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


class SourceOptions(msgspec.Struct, frozen=True):
    """Options to read a source. `kind` is one of KINDS; without it, the source decides."""

    kind: str | None = None
    sheet: str | None = None
    encoding: str | None = None
    revision: str | None = None
    split: str | None = None
    header_row: int | None = None


def read_source(
    source: str,
    options: SourceOptions = SourceOptions(),
    *,
    annotator: str | None = None,
) -> SourceTable:
    """Read a file, a folder or a data set of the hub. Options that its kind does not have are refused.

    Raises UsageError and ContentError.
    """
    path = Path(source)
    kind = options.kind or _detect_kind(source, path)
    for name, kinds in _KINDS_OF_OPTIONS.items():
        if getattr(options, name) is not None and kind not in kinds:
            raise UsageError(f"--{name.replace('_', '-')} is for {' and '.join(kinds)}, but {source} is read as {kind}")
    if kind == "hf" and source.startswith(hub.PREFIX):
        return hub.read_hub(source, options.revision, options.split)
    if kind == "hf":
        return hub.read_saved(path, options.split)
    _require_file(path)
    if kind == "xlsx":
        return without_names_in_rows(read_xlsx(path, options.sheet, options.header_row))
    if kind == "sheet":
        if not filled_sheet.is_sheet(open_book(path)):
            raise ContentError("not a sheet that 'harness labels export' made: its hidden sheet is missing", path)
        return filled_sheet.read_sheet(path, annotator)
    if kind in ("csv", "tsv"):
        return without_names_in_rows(read_delimited(path, options.encoding, "\t" if kind == "tsv" else None, options.header_row))
    if kind in ("jsonl", "parquet"):
        return records.read_jsonl(path) if kind == "jsonl" else records.read_parquet(path)
    readers = {"label-studio": label_studio.read_export, "argilla": argilla.read_records}
    return readers.get(kind, records.read_json)(path, records.load_json(path))


def _require_file(path: Path) -> None:
    if not path.exists():
        raise UsageError(f"{path} does not exist")
    if not (path.is_file() or path.is_dir()):
        raise UsageError(f"{path} is a pipe or a device; save its content as a file first")
    if not path.is_file():
        raise UsageError(f"{path} is a folder; only folders written by save_to_disk of the datasets library can be read")


def _detect_kind(source: str, path: Path) -> str:
    if source.startswith(hub.PREFIX):
        return "hf"
    if path.is_dir() and hub.is_saved(path):
        return "hf"
    _require_file(path)
    suffix = next((end for end in reversed(path.suffixes) if end.lower() != ".gz"), "").lower()
    kind = _guess_kind(path) or KIND_BY_SUFFIX.get(suffix)
    if kind is None:
        raise UsageError(f"{path}: unknown kind of file; pass --from; choose from: {', '.join(KINDS)}")
    if kind == "xlsx":
        return "sheet" if filled_sheet.is_sheet(open_book(path)) else "xlsx"
    first = records.first_object(records.load_json(path)) if kind == "json" else {}
    return "label-studio" if label_studio.is_export(first) else "argilla" if argilla.is_record(first) else kind


def _guess_kind(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            start = file.read(8)
    except OSError as err:
        raise unreadable(err, path) from None
    if start.startswith(OLD_EXCEL):
        raise ContentError("an old Excel workbook (.xls), or one with a password; save it as .xlsx without one", path)
    return "xlsx" if start.startswith(b"PK\x03\x04") else "parquet" if start.startswith(b"PAR1") else None
