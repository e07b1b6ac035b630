"""Reads CSV, TSV and similar files, plain or gzipped, and Excel workbooks.

It is strict about encoding, columns and quotes: a guess could move scores. A cell of a workbook has the value that people entered, or the
reason why it has no such value.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Literal
from xml.parsers import expat

from harness.csv_formulas import unguard_cell
from harness.errors import ContentError, UsageError
from harness.exchange.labels import source_table as limits
from harness.exchange.labels.cell_scores import MOST_CLASSES, Unreadable, UnreadableScore, is_blank
from harness.exchange.labels.program_layouts import distinct_names
from harness.exchange.labels.source_table import (
    Record,
    SourceTable,
    grouped_names,
    groups_note,
    header_index,
    header_note,
    two_row_names,
    two_row_note,
)
from harness.row_files import open_archive, open_bytes

_DELIMITERS = ",;\t|"
_SIGN = re.compile(r"[;\t|]|,\S")  # in a title a comma stands before a space
_LINES_OF_DELIMITER = 20
_READ_FOR_ENCODING = 1 << 18  # bytes of lines with other than ASCII letters: enough to identify a language


def read_delimited(path: Path, encoding: str | None = None, delimiter: str | None = None, header_row: int | None = None) -> SourceTable:
    """Read a table with a header in its first line or below a title. Without `delimiter`, it is the delimiter that the header uses most.

    Raises ContentError for an empty file, a header without rows, bytes outside the encoding, rows of unequal length, repeated columns.
    """
    text = decoded(path, unpacked(path), encoding)
    notes = []
    try:
        lines = list(_read_rows(path, text, delimiter))
    except ContentError as err:
        # In many TSV files they are part of the texts. Of other files, a cell with a delimiter in it needs them.
        lines = list(_read_rows(path, text, "\t", quoting=csv.QUOTE_NONE))
        if len(lines) < 2 or {len(row) for _, row in lines} != {max(len(lines[0][1]), 2)} or '"' in "".join(lines[0][1]):
            lines, marked = _read_bare_marks(path, text, delimiter, err)
            listed = f"{', '.join(map(str, marked[:3]))}{', …' if len(marked) > 3 else ''}"
            notes.append(f"{path}:{listed}: a quotation mark that opens no cell was read as part of the text")
        else:
            notes.append("quotation marks were read as part of the texts: with marks around cells, the file cannot be read")
    if not lines:
        raise ContentError("the file is empty; it needs a line with column names and rows below it", path)
    numbers = [number for number, _ in lines]
    header_at = header_index([sum(not is_blank(cell) for cell in row) for _, row in lines], numbers, header_row, str(path))
    header_line, header = numbers[header_at], [name.strip() for name in lines[header_at][1]]
    title = header_note(header_at, numbers)
    first = _row_of_groups(header_at, header_row)
    rows = [row for _, row in lines]
    try:
        grouped = grouped_names(rows[first], rows[first + 1], rows[first + 2 :]) if first is not None and len(rows) > first + 2 else None
    except UnreadableScore as err:
        raise ContentError(str(err), path, numbers[first or 0]) from None
    if first is not None and grouped:
        notes.append(groups_note(numbers[first]))
        header, header_at, title = grouped, first + 1, header_note(first, numbers)
    elif len(lines) > header_at + 2 and (joined := two_row_names(header, lines[header_at + 1][1])):
        notes.append(two_row_note(numbers[header_at + 1]))
        header, lines, numbers = (
            joined,
            [*lines[: header_at + 1], *lines[header_at + 2 :]],
            [*numbers[: header_at + 1], *numbers[header_at + 2 :]],
        )
    header = distinct_names(header)
    refuse_repeated(path, header, header_line)
    records = [Record(_name_cells(path, number, header, row), number, f"{path}:") for number, row in lines[header_at + 1 :]]
    if not records:
        raise ContentError("the file has column names but no rows", path, header_line)
    return SourceTable("csv", [name for name in header if name], records, [*notes, *title])


def _row_of_groups(header: int, stated: int | None) -> int | None:
    """Return the index of the row that may hold groups of columns; None where the user states the row of names."""
    return None if stated is not None else max(header - 1, 0)


def unpacked(path: Path) -> bytes:
    """Read the bytes of a file, gzipped or not. Raises ContentError if they exceed the limit or break off."""
    limit = limits.MAX_BYTES
    with open_bytes(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ContentError(f"larger than {limit >> 20} MiB{' unpacked' if path.suffix == '.gz' else ''}; import it in parts", path)
    return data


def decoded(path: Path, data: bytes, encoding: str | None) -> str:
    """Decode bytes in `encoding`; the default is UTF-8, or UTF-16 if there is its byte-order mark.

    Raises ContentError with the line of a wrong byte, UsageError for an unknown encoding.
    """
    if encoding is None:
        encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except LookupError:
        raise UsageError(f"--encoding {encoding} is not a known encoding; try cp1252, cp1250, shift_jis or gb18030") from None
    except UnicodeDecodeError as err:
        name = {"utf-8-sig": "UTF-8", "utf-8": "UTF-8", "utf-16": "UTF-16"}.get(encoding, encoding)
        byte = f"byte 0x{data[err.start]:02x}" if err.start < len(data) else "the end"
        if name == "UTF-8" and not data[: err.start].isascii():
            advice = ", though lines before it are: the file mixes encodings; save it again as UTF-8"
        else:
            advice = "; save the file as UTF-8 or name its encoding, e.g. --encoding cp1252"
        line = data[: err.start].decode(encoding, "replace").count("\n") + 1
        raise ContentError(f"{byte} is not {name}{advice}", path, line) from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise ContentError("a NUL character: not text, or UTF-16 without a byte-order mark (--encoding utf-16-le)", path, line)
    return text


def likely_encoding(path: Path) -> str | None:
    """Return the encoding that a file seems to have, if it is neither UTF-8 nor UTF-16 with a byte order mark; None where it is.

    Neighbours such as cp1250 and cp1252 differ in few letters, so the language of the text decides between them: the encoding is taken in
    which the text is in a language that office programs write in it.
    """
    data = unpacked(path)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return None
    try:
        data.decode("utf-8-sig")
        return None
    except UnicodeDecodeError:
        import charset_normalizer  # late: only for such files

        from harness.parse.language import identify_language

        best = charset_normalizer.from_bytes(data).best()
        guess = best.encoding if best else None
        lines = b"\n".join(line for line in data.splitlines() if not line.isascii())[:_READ_FOR_ENCODING]
        encodings = tomllib.loads(Path(__file__).with_name("office_encodings.toml").read_text("utf-8"))
        if guess is not None and not guess.startswith(("cp125", "iso8859", "latin", "mac", "cp437", "cp85", "cp86", "koi8")):
            # Several bytes a character are hardly to be mistaken, unless words of single bytes get a character of another script.
            language = identify_language(lines.decode(guess, "ignore"))[0]
            if guess.startswith("utf") or all(language not in languages for languages in encodings.values()):
                return guess
        fitting: dict[str, float] = {}
        for encoding, languages in encodings.items():
            try:
                text = lines.decode(encoding)
            except UnicodeDecodeError:
                continue
            special = [(before, letter) for before, letter in pairwise(f" {text}") if not letter.isascii()]
            if identify_language(re.sub(r"[\d,;]+", " ", text))[0] in languages:
                capital = sum(letter.isupper() and before.islower() for before, letter in special)  # within a word: of another encoding
                fitting[encoding] = (sum(letter.isalpha() for _, letter in special) - capital) / len(special)
        if not fitting or (guess in fitting and fitting[guess] == max(fitting.values())):
            return guess
        return max(fitting, key=lambda encoding: fitting[encoding])


def _read_rows(path: Path, text: str, delimiter: str | None, quoting: Literal[0, 3] = csv.QUOTE_MINIMAL) -> Iterator[tuple[int, list[str]]]:
    """Yield (first line of a row, its cells) for every row that is not empty. Raises ContentError for quotation marks that do not fit."""
    delimiter, declared = _find_delimiter(text, delimiter)
    before = csv.field_size_limit(limits.MAX_BYTES)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True, quoting=quoting)
    line = 1
    physical = list(io.StringIO(text, newline="")) if quoting == csv.QUOTE_MINIMAL and '"' in text else []
    several: list[tuple[int, int, list[str]]] = []  # rows of several lines: the first, the last, the cells
    values: dict[int, set[str]] = {}
    try:
        for row in reader:
            if delimiter == "\t" and any("\t" in cell and "\n" in cell for cell in row):
                raise ContentError(_TAKES_IN, path, line)
            if physical and reader.line_num > line:
                several.append((line, reader.line_num, row))
            elif physical:
                for index, cell in enumerate(row):
                    if len(cells := values.setdefault(index, set())) <= MOST_CLASSES:
                        cells.add(cell)
            if any(map(str.strip, row)) and not (declared and line == 1):
                yield line, row
            line = reader.line_num + 1
    except csv.Error as err:
        if "unexpected end" in str(err):
            raise ContentError("a quotation mark is opened here and never closed", path, line) from None
        raise ContentError(f"not a row of a table ({err}); is the quotation mark doubled inside quotation marks?", path, line) from None
    finally:
        csv.field_size_limit(before)
    # Lines of one row may be rows of their own: as many cells in each, and scores and classes where other rows have them.
    classes = [index for index, cells in values.items() if 1 < len(cells) <= MOST_CLASSES]
    for start, end, row in several if classes else ():
        rows = [_cells_of_line(text_line, delimiter) for text_line in physical[start - 1 : end]]
        if all(len(cells) == len(row) and all(cells[index] in values[index] for index in classes) for cells in rows):
            raise ContentError(_TAKES_IN, path, start)


_TAKES_IN = "a quotation mark that is opened here takes in the rows below it; double it inside quotation marks, or take it out"
_MOST_LINES_OF_ROW = 100
_MOST_MARKED = 100  # lines with such marks: a file with more has another form


def _cells_of_line(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line, in which a quotation mark that is not closed before a delimiter belongs to the text.

    >>> _cells_of_line('a,"b, c",12" disk,"x" y', ",")
    ['a', 'b, c', '12" disk', '"x" y']
    """
    cells, rest = [], line.rstrip("\r\n")
    end = re.escape(delimiter)
    while True:
        match = re.match(rf'"((?:[^"]|"")*)"(?={end}|$)', rest)
        cell = match[0] if match else rest.partition(delimiter)[0]
        cells.append(match[1].replace('""', '"') if match else cell)
        if len(cell) == len(rest):
            return cells
        rest = rest[len(cell) + 1 :]


def _read_bare_marks(path: Path, text: str, delimiter: str | None, refusal: ContentError) -> tuple[list[tuple[int, list[str]]], list[int]]:
    """Return the rows of a file with quotation marks that open no cell, and the numbers of the lines with such marks.

    A row is the shortest run of lines that have as many cells as the header with all marks in order; a line alone may have marks that
    belong to its texts, of several words. Raises the refusal where neither is so, and ContentError where both are.
    """
    delimiter, declared = _find_delimiter(text, delimiter)
    lines = list(io.StringIO(text, newline=""))
    first = next((index for index, line in enumerate(lines) if line.strip() and not (declared and not index)), 0)
    width = len(_cells_of_line(lines[first], delimiter))
    rows: list[tuple[int, list[str]]] = []
    marked: list[int] = []
    index = first
    while index < len(lines):
        if not lines[index].strip():
            index += 1
            continue
        in_order: tuple[int, list[str]] | None = None
        for end in range(index + 1, min(index + _MOST_LINES_OF_ROW, len(lines)) + 1):
            try:
                [cells] = csv.reader(io.StringIO("".join(lines[index:end]), newline=""), delimiter=delimiter, strict=True)
            except csv.Error as err:
                if "unexpected end" not in str(err):
                    break  # more lines would not bring it in order
            else:
                in_order = (end, cells) if len(cells) == width else None
                break
        alone = _cells_of_line(lines[index], delimiter)
        if in_order and (in_order[0] == index + 1 or len(alone) != width):
            rows.append((index + 1, in_order[1]))
            index = in_order[0]
        elif in_order:
            raise ContentError(_TAKES_IN, path, index + 1)
        elif len(alone) == width and len(marked) < _MOST_MARKED and all(len(cell.split()) > 1 for cell in alone if cell.startswith('"')):
            rows.append((index + 1, alone))
            marked.append(index + 1)
            index += 1
        else:
            raise refusal
    return rows, marked


def _find_delimiter(text: str, stated: str | None) -> tuple[str, bool]:
    """Return the delimiter of a table, and whether its first line declares it, as Excel writes."""
    filled = [line for line in islice(io.StringIO(text), _LINES_OF_DELIMITER) if line.strip()]
    first = filled[0] if filled else ""
    declared = first.lower().startswith("sep=") and len(first.strip()) == 5
    if declared:
        return first[4], True
    header = next((line for line in filled if _SIGN.search(line)), first)
    outside_quotes = "".join(header.split('"')[::2])
    return stated or max(_DELIMITERS, key=outside_quotes.count), False


def refuse_repeated(path: Path | str, names: list[str], line: int | None = 1) -> None:
    """Raise ContentError when two columns have the same name, as such a name would be ambiguous."""
    for name, times in Counter(names).items():
        if name and times > 1:
            raise ContentError(f"{times} columns are called '{name}'; give each its own name", Path(path), line)


def _name_cells(path: Path, line: int, header: list[str], row: list[str]) -> dict[str, str]:
    if (len(row) != len(header) and any(map(str.strip, row[len(header) :]))) or len(row) < len(header):
        raise ContentError(f"{len(row)} cells where the header has {len(header)} columns; is a delimiter missing or unquoted?", path, line)
    return {name: unguard_cell(cell) for name, cell in zip(header, row, strict=False) if name and cell and not cell.isspace()}


_ROWS_OF_SHEET = 100  # are looked at, to tell a table from a page of explanations
_MAX_MERGED_CELLS = 1_000_000
OLD_EXCEL = b"\xd0\xcf\x11\xe0"


def read_xlsx(path: Path, sheet: str | None = None, header_row: int | None = None) -> SourceTable:
    """Read the rows of one worksheet. Its first row that is not empty, or the first below a title, names the columns.

    `sheet` names the worksheet; the default is the first that holds a table, else the first that is not empty.
    Merged cells and formulas without a value become Unreadable.
    Raises ContentError for a file that is too large or not a workbook, UsageError for an unknown sheet.
    """
    book = open_book(path)
    titles = [sheet.title for sheet in book.worksheets]
    if not titles:
        raise ContentError("the workbook has no sheet with cells, only charts; it needs one with column names and rows below them", path)
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
        # A sheet of explanations may come first: a table has rows below its column names, and more than one column.
        first = next((sheet for sheet in filled_sheets if _is_table(sheet)), filled_sheets[0])
        unread = [sheet for sheet in filled_sheets if sheet is not first]
        listed = ", ".join(sheet.title for sheet in unread)
        chosen, notes = first, [f"the sheet '{first.title}' was read; choose another with --sheet ({listed})"] if unread else []
    cells = list(grid(chosen, path))
    if not cells:
        raise ContentError(f"the sheet '{chosen.title}' is empty; it needs a row with column names and rows below it", path)
    numbers = [number for number, _ in cells]
    # Filled cells of each row; a title that is merged over many cells fills one.
    filled = [len(row) - max(sum(isinstance(value, Unreadable) for value in row.values()) - 1, 0) for _, row in cells]
    header_at = header_index(filled, numbers, header_row, str(path))
    title = header_note(header_at, numbers)
    first = _row_of_groups(header_at, header_row)
    grouped = _join_groups(chosen, cells[first:], path) if first is not None else None
    if first is not None and grouped:
        notes, title, header_at = [*notes, groups_note(numbers[first])], header_note(first, numbers), first + 1
    (header_number, names), *rows = cells[header_at:]
    if grouped:
        names = grouped
    elif len(rows) > 1 and (joined := _join_two_rows(names, rows[0][1])):
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
    return SourceTable("xlsx", list(header.values()), records, [*notes, *title])


def _join_groups(sheet: Any, cells: list[tuple[int, dict[str, Any]]], path: Path) -> dict[str, Any] | None:
    """Return the names of columns that stand below a row of groups, whose cells may be merged; None where the first row is no such row."""
    from openpyxl.utils import column_index_from_string, get_column_letter

    if len(cells) < 3:
        return None
    (number, _), (below, _), *rows = cells
    if below != number + 1:
        return None
    merged: dict[tuple[int, str], Any] = {}  # a group stands in all columns over which it is merged, a name in its upper row
    for area in sheet.merged_cells.ranges:
        if area.min_row in (number, below) and area.max_row <= below:
            for column in range(area.min_col, area.max_col + 1):
                for row in range(area.min_row, area.max_row + 1):
                    cell = sheet.cell(area.min_row, area.min_col).value if row == area.min_row else None
                    merged[row, get_column_letter(column)] = cell
    last = max(column_index_from_string(letter) for _, row in cells for letter in row)
    letters = [get_column_letter(column) for column in range(1, last + 1)]
    upper, lower = (
        [str(merged.get((row, letter), values.get(letter)) or "").strip() for letter in letters] for row, values in (cells[0], cells[1])
    )
    wide = any(area.min_row == number and area.max_col > area.min_col for area in sheet.merged_cells.ranges)
    try:
        joined = grouped_names(upper, lower, [[values.get(letter, "") for letter in letters] for _, values in rows], merged=wide)
    except UnreadableScore as err:
        raise ContentError(str(err), f"{path}:{sheet.title}!{number}") from None
    return dict(zip(letters, joined, strict=True)) if joined else None


def open_book(path: Path) -> Any:
    """Open a workbook with its formulas. Raises ContentError for a file that is not a workbook or unpacks to more than the limit."""
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
        return _load_workbook(path)
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError, IndexError, EOFError, OSError, SyntaxError) as err:
        # openpyxl has no error of its own for a damaged file; the error of ElementTree is a SyntaxError
        raise ContentError(f"not a readable Excel workbook ({type(err).__name__}: {err}); save it again as .xlsx", path) from None


def _load_workbook(path: Path, data_only: bool = False) -> Any:
    """Load the worksheets of a workbook. A sheet that is a chart keeps its name alone: openpyxl cannot read one without a drawing."""
    from openpyxl.chartsheet import Chartsheet
    from openpyxl.reader.excel import ExcelReader

    class WorksheetReader(ExcelReader):  # type: ignore[misc]
        def read_chartsheet(self, sheet: Any, rel: Any) -> None:
            self.wb._add_sheet(Chartsheet(parent=self.wb, title=sheet.name))

    reader = WorksheetReader(io.BytesIO(path.read_bytes()), data_only=data_only)  # as bytes: given a path, openpyxl judges it by its name
    reader.read()
    return reader.wb


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


def _is_table(sheet: Any) -> bool:
    return sum(sum(not is_blank(cell.value) for cell in row) > 1 for row in islice(_read_filled_rows(sheet), _ROWS_OF_SHEET)) > 1


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
                    book = _load_workbook(path, data_only=True)
                    stored = (cell for cell in book[sheet.title]._cells.values() if cell.value is not None or cell.data_type == "str")
                    cached = {cell.coordinate: "" if cell.value is None else cell.value for cell in stored}
                formula = str(getattr(cell.value, "text", cell.value))
                formula = formula if len(formula) <= 40 else f"{formula[:40]}…"
                missing = f"the formula {formula} has no stored value; open and save the file in a spreadsheet program"
                value = cached.get(cell.coordinate, Unreadable(missing))
            if cell.data_type == "e" or (isinstance(value, str) and value in _ERRORS):
                value = Unreadable(f"the cell holds Excel's error {value}")
            if not is_blank(value):
                values[get_column_letter(cell.column)] = value
        yield row[0].row, values


_ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A", "#SPILL!", "#CALC!", "#GETTING_DATA")


def _join_two_rows(names: dict[str, Any], below: dict[str, Any]) -> dict[str, Any] | None:
    """Return the names of columns whose header takes two rows; None where the second row is one of answers, or a cell is merged."""
    from openpyxl.utils import column_index_from_string, get_column_letter

    if any(isinstance(value, Unreadable) for value in (*names.values(), *below.values())):
        return None
    letters = [get_column_letter(column) for column in range(1, 1 + max(map(column_index_from_string, (*names, *below))))]
    joined = two_row_names(*([str(row.get(letter, "")).strip() for letter in letters] for row in (names, below)))
    return dict(zip(letters, joined, strict=True)) if joined else None
