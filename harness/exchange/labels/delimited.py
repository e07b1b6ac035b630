"""Reads CSV, TSV and similar files, plain or gzipped. It is strict about encoding, columns and quotes: a guess could move scores."""

from __future__ import annotations

import codecs
import csv
import io
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Literal

from harness.errors import ContentError, UsageError
from harness.exchange.labels import table as limits
from harness.exchange.labels.layouts import distinct_names
from harness.exchange.labels.table import Record, SourceTable, header_index, header_note, is_blank, two_row_names, two_row_note
from harness.row_files import open_bytes, unguard_cell

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
    except ContentError:
        # In many TSV files they are part of the texts. Of other files, a cell with a delimiter in it needs them.
        lines = list(_read_rows(path, text, "\t", quoting=csv.QUOTE_NONE))
        if len(lines) < 2 or {len(row) for _, row in lines} != {max(len(lines[0][1]), 2)} or '"' in "".join(lines[0][1]):
            raise
        notes.append("quotation marks were read as part of the texts: with marks around cells, the file cannot be read")
    if not lines:
        raise ContentError("the file is empty; it needs a line with column names and rows below it", path)
    numbers = [number for number, _ in lines]
    header_at = header_index([sum(not is_blank(cell) for cell in row) for _, row in lines], numbers, header_row, str(path))
    header_line, header = numbers[header_at], [name.strip() for name in lines[header_at][1]]
    if len(lines) > header_at + 2 and (joined := two_row_names(header, lines[header_at + 1][1])):
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
    return SourceTable("csv", [name for name in header if name], records, [*notes, *header_note(header_at, numbers)])


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
        raise ContentError(
            _describe_undecodable(data, err, encoding), path, data[: err.start].decode(encoding, "replace").count("\n") + 1
        ) from None
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


def _describe_undecodable(data: bytes, err: UnicodeDecodeError, encoding: str) -> str:
    name = {"utf-8-sig": "UTF-8", "utf-8": "UTF-8", "utf-16": "UTF-16"}.get(encoding, encoding)
    byte = f"byte 0x{data[err.start]:02x}" if err.start < len(data) else "the end"
    if name == "UTF-8" and not data[: err.start].isascii():
        return f"{byte} is not {name}, though lines before it are: the file mixes encodings; save it again as UTF-8"
    return f"{byte} is not {name}; save the file as UTF-8 or name its encoding, e.g. --encoding cp1252"


def _read_rows(path: Path, text: str, delimiter: str | None, quoting: Literal[0, 3] = csv.QUOTE_MINIMAL) -> Iterator[tuple[int, list[str]]]:
    """Yield (first line of a row, its cells) for every row that is not empty. Raises ContentError for quotation marks that do not fit."""
    filled = [line for line in islice(io.StringIO(text), _LINES_OF_DELIMITER) if line.strip()]
    first = filled[0] if filled else ""
    declared = first.lower().startswith("sep=") and len(first.strip()) == 5  # a line that Excel writes to declare the delimiter
    delimiter = first[4] if declared else delimiter or _guess_delimiter(next((line for line in filled if _SIGN.search(line)), first))
    before = csv.field_size_limit(limits.MAX_BYTES)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True, quoting=quoting)
    line = 1
    try:
        for row in reader:
            if delimiter == "\t" and any("\t" in cell and "\n" in cell for cell in row):
                what = "a quotation mark that is opened here takes in the rows below it"
                raise ContentError(f"{what}; double it inside quotation marks, or take it out", path, line)
            if any(map(str.strip, row)) and not (declared and line == 1):
                yield line, row
            line = reader.line_num + 1
    except csv.Error as err:
        if "unexpected end" in str(err):
            raise ContentError("a quotation mark is opened here and never closed", path, line) from None
        raise ContentError(f"not a row of a table ({err}); is the quotation mark doubled inside quotation marks?", path, line) from None
    finally:
        csv.field_size_limit(before)


def _guess_delimiter(header: str) -> str:
    outside = "".join(header.split('"')[::2])
    counts = Counter({sign: outside.count(sign) for sign in _DELIMITERS})
    return counts.most_common(1)[0][0]


def refuse_repeated(path: Path | str, names: list[str], line: int | None = 1) -> None:
    """Raise ContentError when two columns have the same name, as such a name would be ambiguous."""
    for name, times in Counter(names).items():
        if name and times > 1:
            raise ContentError(f"{times} columns are called '{name}'; give each its own name", Path(path), line)


def _name_cells(path: Path, line: int, header: list[str], row: list[str]) -> dict[str, str]:
    if (len(row) != len(header) and any(map(str.strip, row[len(header) :]))) or len(row) < len(header):
        raise ContentError(f"{len(row)} cells where the header has {len(header)} columns; is a delimiter missing or unquoted?", path, line)
    return {name: unguard_cell(cell) for name, cell in zip(header, row, strict=False) if name and not is_blank(cell)}
