"""CSV, TSV and the like, plain or gzipped: strict about encoding, columns and quotation marks, since a guess would move scores."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from harness.errors import ContentError, UsageError
from harness.labels import table as limits
from harness.labels.table import Record, Table, is_blank
from harness.tables import opened

_DELIMITERS = ",;\t|"
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def read_delimited(path: Path, encoding: str | None = None, delimiter: str | None = None) -> Table:
    """A table with a header in its first line. The delimiter is the one that the header uses most, unless it is given.

    Raises ContentError for an empty file, a header alone, bytes that are not in the encoding, ragged rows, a column named twice.
    """
    text = decoded(path, unpacked(path), encoding)
    lines = _rows(path, text, delimiter)
    header_line, header = next(lines, (1, []))
    if not header:
        raise ContentError("the file is empty; a line with the columns' names and rows below it are needed", path)
    header = [name.strip() for name in header]
    refuse_repeated(path, header, header_line)
    records = [Record(_cells(path, number, header, row), number, f"{path}:") for number, row in lines if any(map(str.strip, row))]
    if not records:
        raise ContentError("only a line with the columns' names is here, and no rows", path, header_line)
    columns = [name for name in header if name]
    return Table("csv", columns, records)


def unpacked(path: Path) -> bytes:
    """A file's bytes, out of gzip if it is gzipped. Raises ContentError for what is larger than the limit or breaks off."""
    limit = limits.MAX_BYTES
    with opened(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ContentError(f"larger than {limit >> 20} MiB{' unpacked' if path.suffix == '.gz' else ''}; import it in parts", path)
    return data


def decoded(path: Path, data: bytes, encoding: str | None) -> str:
    """Text in `encoding`, by default UTF-8 or, where its byte-order mark says so, UTF-16. Raises ContentError with the line of a byte
    that does not fit, UsageError for an encoding that is none."""
    if encoding is None:
        encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except LookupError:
        raise UsageError(f"--encoding {encoding} is not a known encoding; try cp1252, cp1250, shift_jis or gb18030") from None
    except UnicodeDecodeError as err:
        raise ContentError(_undecodable(data, err, encoding), path, _line_of(data, err, encoding)) from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise ContentError("a NUL character: not text, or UTF-16 without a byte-order mark (--encoding utf-16-le)", path, line)
    return text


def _undecodable(data: bytes, err: UnicodeDecodeError, encoding: str) -> str:
    name = {"utf-8-sig": "UTF-8", "utf-8": "UTF-8", "utf-16": "UTF-16"}.get(encoding, encoding)
    byte = f"byte 0x{data[err.start]:02x}" if err.start < len(data) else "the end"
    if name == "UTF-8" and not data[: err.start].isascii():
        return f"{byte} is not {name}, though lines before it are: the file mixes encodings; save it as UTF-8 once more"
    return f"{byte} is not {name}; save the file as UTF-8 or name its encoding, e.g. --encoding cp1252"


def _line_of(data: bytes, err: UnicodeDecodeError, encoding: str) -> int:
    return data[: err.start].decode(encoding, "replace").count("\n") + 1


def _rows(path: Path, text: str, delimiter: str | None) -> Iterator[tuple[int, list[str]]]:
    """(line on which the row begins, its cells), from the first row that holds something."""
    first = next((line for line in io.StringIO(text) if line.strip()), "")
    declared = first.lower().startswith("sep=") and len(first.strip()) == 5  # Excel's own line about the delimiter
    delimiter = first[4] if declared else delimiter or _delimiter(first)
    before = csv.field_size_limit(limits.MAX_BYTES)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            if any(map(str.strip, row)) and not (declared and line == 1):
                yield line, row
            line = reader.line_num + 1
    except csv.Error as err:
        if "unexpected end" in str(err):
            raise ContentError("a quotation mark is opened here and never closed", path, line) from None
        raise ContentError(f"not a row of a table ({err}); is the quotation mark doubled inside quotation marks?", path, line) from None
    finally:
        csv.field_size_limit(before)


def _delimiter(header: str) -> str:
    outside = "".join(header.split('"')[::2])
    counts = Counter({sign: outside.count(sign) for sign in _DELIMITERS})
    return counts.most_common(1)[0][0]


def refuse_repeated(path: Path | str, names: list[str], line: int | None = 1) -> None:
    """Raise ContentError when two columns have one name: it could not be said which is meant."""
    for name, times in Counter(names).items():
        if name and times > 1:
            raise ContentError(f"{times} columns are called '{name}'; give each its own name", Path(path), line)


def _cells(path: Path, line: int, header: list[str], row: list[str]) -> dict[str, str]:
    if (len(row) != len(header) and any(map(str.strip, row[len(header) :]))) or len(row) < len(header):
        raise ContentError(f"{len(row)} cells where the header has {len(header)} columns; is a delimiter missing or unquoted?", path, line)
    return {name: _unguarded(cell) for name, cell in zip(header, row, strict=False) if name and not is_blank(cell)}


def _unguarded(cell: str) -> str:
    """The apostrophe away that keeps a spreadsheet from reading a formula (see `tables.to_csv`)."""
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(_FORMULA_STARTS) else cell
