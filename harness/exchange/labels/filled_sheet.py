"""Reads a filled sheet: the scores that people chose, their names and their comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import ContentError
from harness.exchange.labels.sheet import FIRST_ROW, MARKER, NAME_CELL, NAMES_ROW, SCHEMA_VERSION
from harness.exchange.labels.table import Record, SourceTable, Unreadable, columns_of, is_blank
from harness.exchange.labels.xlsx import grid, open_book
from harness.model import Scale


def is_sheet(book: Any) -> bool:
    """Return whether a workbook was made by `sheet.make_sheet`."""
    return MARKER in book.sheetnames and book[MARKER]["A1"].value == "judge-harness sheet"


def read_sheet(path: Path, annotator: str | None = None) -> SourceTable:
    """Read a filled sheet in long form: one record for each item and metric, blank if no score was chosen.

    The annotator is `annotator`, or the name in the sheet. Raises ContentError when there is no name, or when needed parts of the sheet
    are missing.
    """
    book = open_book(path)
    marker = book[MARKER]
    if marker["B1"].value != SCHEMA_VERSION:
        raise ContentError(f"the sheet has version {marker['B1'].value}; this program reads version {SCHEMA_VERSION}", path)
    try:
        about = msgspec.json.decode(str(marker["A2"].value), type=_SheetInfo)
    except msgspec.DecodeError:
        raise ContentError(f"the hidden sheet '{MARKER}' was changed; export the sheet again and copy the answers over", path) from None
    item_of_key = {str(row[0]): row[1:4] for row in marker.iter_rows(min_row=3, max_col=4, values_only=True) if row[0] is not None}
    sheets = [book[name] for name in about.sheets if name in book.sheetnames]
    if not sheets:
        raise ContentError(f"the sheets with the answers were removed or renamed: {', '.join(about.sheets)}", path)
    records: list[Record] = []
    comments: list[dict[str, Any]] = []
    for sheet in sheets:
        annotator_name = annotator or _name_in(sheet) or _name_in(sheets[0])
        if not annotator_name:
            location = f"{path}:{sheet.title}!{NAME_CELL}"
            raise ContentError("the sheet has no name; write one into this cell or pass --annotator NAME", location)
        sheet_records = list(_read_records(sheet, path, item_of_key, annotator_name))
        records += sheet_records
        comments += [
            {"key": record.cells["item_id"], "annotator": annotator_name, "comment": record.cells["comment"]}
            for record in sheet_records
            if "comment" in record.cells
        ]
    if not any("score" in record.cells for record in records):
        raise ContentError("nothing is filled in yet", path)
    sheet_info = {"scales": about.scales, "comments": [*{(c["key"], c["annotator"]): c for c in comments}.values()]}
    return SourceTable("sheet", columns_of([record.cells for record in records]), records, about=sheet_info)


class _SheetInfo(msgspec.Struct):
    sheets: list[str]
    scales: dict[str, Scale]


def _name_in(sheet: Any) -> str:
    return str(sheet[NAME_CELL].value or "").strip()


def _read_records(sheet: Any, path: Path, item_of_key: Mapping[str, Any], annotator_name: str) -> Iterator[Record]:
    rows = dict(grid(sheet, path))
    names = {letter: str(name) for letter, name in rows.get(NAMES_ROW, {}).items()}
    if "key" not in names.values():
        location = f"{path}:{sheet.title}!{NAMES_ROW}"
        raise ContentError("the hidden row that names the columns was changed; export the sheet again", location)
    letters = {name: letter for letter, name in names.items()}
    for number, row in rows.items():
        if number < FIRST_ROW:
            continue
        cells = {names[letter]: value for letter, value in row.items() if letter in names}
        item_id, language, task = item_of_key.get(str(cells.get("key", "")), (None, None, None))
        about = {"language": language, "task": task, "annotator_id": annotator_name, "comment": cells.get("comment")}
        texts = {name[5:]: value for name, value in cells.items() if name.startswith("text:")}
        if item_id is None:
            item_id = Unreadable("this row does not belong to the sheet: its hidden key is missing or was changed")
        for name, letter in letters.items():
            if name.startswith("metric:"):
                values = {"item_id": item_id, **about, **texts, "metric": name[7:], "score": cells.get(name)}
                cells_with_values = {key: value for key, value in values.items() if not is_blank(value)}
                yield Record(cells_with_values, number, f"{path}:{sheet.title}!", {"score": letter})
