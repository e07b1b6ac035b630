"""Reads Excel workbooks: values as people entered them, or the reason why a cell has no such value."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.parsers import expat

from harness.errors import ContentError, UsageError
from harness.exchange.labels import table as limits
from harness.exchange.labels.delimited import refuse_repeated
from harness.exchange.labels.table import Record, SourceTable, Unreadable, header_index, header_note, is_blank, two_row_names, two_row_note
from harness.row_files import open_archive

_MAX_MERGED_CELLS = 1_000_000
OLD_EXCEL = b"\xd0\xcf\x11\xe0"


def read_xlsx(path: Path, sheet: str | None = None, header_row: int | None = None) -> SourceTable:
    """Read the rows of one worksheet. Its first row that is not empty, or the first below a title, names the columns.

    `sheet` names the worksheet; the default is the first that is not empty. Merged cells and formulas without a value become Unreadable.
    Raises ContentError for a file that is too large or not a workbook, UsageError for an unknown sheet.
    """
    book = open_book(path)
    titles = [sheet.title for sheet in book.worksheets]
    if sheet is not None:
        if sheet not in titles:
            raise UsageError(f"--sheet {sheet}: {path} has no such sheet; choose from: {', '.join(titles)}")
        chosen, notes = book[sheet], []
    else:
        filled_sheets = [
            sheet for sheet in book.worksheets if sheet.sheet_state == "visible" and any(True for _ in _read_filled_rows(sheet))
        ]
        if not filled_sheets:
            raise ContentError("all sheets are empty; one of them needs a row with column names and rows below it", path)
        first, *unread = filled_sheets
        listed = ", ".join(sheet.title for sheet in unread)
        chosen, notes = first, [f"the sheet '{first.title}' was read; choose another with --sheet ({listed})"] if unread else []
    cells = list(grid(chosen, path))
    if not cells:
        raise ContentError(f"the sheet '{chosen.title}' is empty; it needs a row with column names and rows below it", path)
    numbers = [number for number, _ in cells]
    header_at = header_index([_count_filled(row) for _, row in cells], numbers, header_row, str(path))
    (header_number, names), *rows = cells[header_at:]
    if len(rows) > 1 and (joined := _join_two_rows(names, rows[0][1])):
        notes = [*notes, two_row_note(rows[0][0])]
        names, rows = joined, rows[1:]
    sheet_prefix = f"{path}:{chosen.title}!"
    # `{letter: name}` of the columns.
    location = f"{sheet_prefix}{header_number}"
    for value in names.values():
        if isinstance(value, Unreadable):
            raise ContentError(f"in the row of column names: {value.reason}", location)
    header = {letter: str(value).strip() for letter, value in names.items()}
    refuse_repeated(location, list(header.values()), None)
    records = [
        Record({header[k]: value for k, value in row.items() if k in header}, number, sheet_prefix, {n: k for k, n in header.items()})
        for number, row in rows
    ]
    if not records:
        raise ContentError("the sheet has column names but no rows", f"{sheet_prefix}{header_number}")
    return SourceTable("xlsx", list(header.values()), records, [*notes, *header_note(header_at, numbers)])


def _count_filled(row: dict[str, Any]) -> int:
    """Return the number of filled cells; a title that is merged over many cells fills one."""
    merged = sum(isinstance(value, Unreadable) for value in row.values())
    return len(row) - max(merged - 1, 0)


def open_book(path: Path) -> Any:
    """Open a workbook with its formulas. Raises ContentError for a file that is not a workbook or unpacks to more than the limit."""
    import openpyxl  # late: 0.2 s

    # Refuse small files that grow enormous: by unpacking, by XML entities, or by merged cells. Every part is read once within its stated
    # size, so that openpyxl meets no part whose size is false.
    with open_archive(path, limits.MAX_BYTES, "Excel workbook") as archive:
        if archive.stated > limits.MAX_BYTES:
            stated, most = archive.stated >> 20, limits.MAX_BYTES >> 20
            raise ContentError(f"unpacks to {stated} MiB, more than {most} MiB; save only the rows needed", path)
        for name in dict.fromkeys(archive.names):
            content = archive.read(name)
            if name.endswith((".xml", ".rels")):
                if _declares_type(content):
                    raise ContentError(f"the part {name} declares a document type or entities, which no spreadsheet program does", path)
                xml = content.replace(b"\0", b"")
                from openpyxl.utils import range_boundaries

                merged = 0
                for match in re.finditer(rb"<(?:\w+:)?mergeCell\s[^>]*?ref\s*=\s*[\"']([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})", xml):
                    first_column, top, right, bottom = range_boundaries(match[1].decode())
                    merged += (right - first_column + 1) * (bottom - top + 1)
                if merged > _MAX_MERGED_CELLS:  # openpyxl visits each of them
                    raise ContentError(f"{merged} cells are merged, more than {_MAX_MERGED_CELLS}; unmerge them", path)
    try:
        return openpyxl.load_workbook(io.BytesIO(path.read_bytes()))  # as bytes: given a path, openpyxl judges the file by its name
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError, IndexError, EOFError, OSError, SyntaxError) as err:
        # openpyxl has no error of its own for a damaged file; the error of ElementTree is a SyntaxError
        raise ContentError(f"not a readable Excel workbook ({type(err).__name__}: {err}); save it again as .xlsx", path) from None


class _Begun(Exception):
    """The first element of an XML file was reached: no document type can follow."""


def _declares_type(xml: bytes) -> bool:
    """Return whether an XML file has a document type, in which alone entities can be declared. A file that is no XML has none."""
    declares = False

    def declared(*_: object) -> None:
        nonlocal declares
        declares = True
        raise _Begun

    def begun(*_: object) -> None:
        raise _Begun

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler, parser.StartElementHandler = declared, begun
    with suppress(_Begun, expat.ExpatError, ValueError, LookupError):  # openpyxl refuses what is no XML
        parser.Parse(xml, True)
    return declares


def _read_filled_rows(sheet: Any) -> Iterator[list[Any]]:
    """The rows that are not empty, each as its cells. It visits only cells that the file has: openpyxl's own iteration creates all
    cells between them, which are 17 billion if one cell is in the last corner."""
    rows: dict[int, list[Any]] = {}
    for position in sorted(sheet._cells):
        rows.setdefault(position[0], []).append(sheet._cells[position])
    return (row for row in rows.values() if any(not is_blank(cell.value) for cell in row))


def grid(sheet: Any, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (row number, {column letter: value}) of every row that is not empty. Blank cells are left out unless they are merged."""
    merged = {
        (row, column): Unreadable(f"the cell is part of the merged range {area.coord}; unmerge it and fill every cell")
        for area in sheet.merged_cells.ranges
        for row in range(area.min_row, area.max_row + 1)
        for column in range(area.min_col, area.max_col + 1)
    }
    from openpyxl.utils import get_column_letter

    cached: dict[str, Any] | None = None
    for row in _read_filled_rows(sheet):
        values: dict[str, Any] = {}
        for cell in row:
            value: Any = merged.get((cell.row, cell.column), cell.value)
            if cell.data_type == "f" and not isinstance(value, Unreadable):
                if cached is None:
                    # The values that the formulas of a sheet had when the file was last saved, by coordinate. A formula without a stored
                    # value is left out. A stored empty text is the value "": openpyxl gives it no value, but keeps its type.
                    import openpyxl

                    book = openpyxl.load_workbook(io.BytesIO(path.read_bytes()), data_only=True)
                    stored = (cell for cell in book[sheet.title]._cells.values() if cell.value is not None or cell.data_type == "str")
                    cached = {cell.coordinate: "" if cell.value is None else cell.value for cell in stored}
                missing = f"the formula {_shorten_formula(cell.value)} has no stored value; open and save the file in a spreadsheet program"
                value = cached.get(cell.coordinate, Unreadable(missing))
            if cell.data_type == "e" or (isinstance(value, str) and value in _ERRORS):
                value = Unreadable(f"the cell holds Excel's error {value}")
            if not is_blank(value):
                values[get_column_letter(cell.column)] = value
        yield row[0].row, values


_ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A", "#SPILL!", "#CALC!", "#GETTING_DATA")


def _shorten_formula(formula: Any) -> str:
    text = str(getattr(formula, "text", formula))
    return text if len(text) <= 40 else f"{text[:40]}…"


def _join_two_rows(names: dict[str, Any], below: dict[str, Any]) -> dict[str, Any] | None:
    """Return the names of columns whose header takes two rows; None where the second row is one of answers, or a cell is merged."""
    from openpyxl.utils import column_index_from_string, get_column_letter

    if any(isinstance(value, Unreadable) for value in (*names.values(), *below.values())):
        return None
    letters = [get_column_letter(column) for column in range(1, 1 + max(map(column_index_from_string, (*names, *below))))]
    joined = two_row_names(*([str(row.get(letter, "")).strip() for letter in letters] for row in (names, below)))
    return dict(zip(letters, joined, strict=True)) if joined else None
