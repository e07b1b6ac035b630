"""The raw files of a published data set, as their authors released them: paths, readers, and rows that know where they stand."""

from __future__ import annotations

import csv
import io
import json
import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from traceback import walk_tb
from typing import Any, TypeVar

from harness.errors import ContentError, unreadable
from harness.plugins import message_of

Row = dict[str, Any]
Tables = Mapping[str, Iterable[Row]]
"""Table (`items`, `labels`, `judgments`, `second_ratings`, ...) -> its rows, in their final order, with keys in their final order."""

_MOST_KEYS = 20


class RawRow(dict[str, Any]):
    """A row of a table or an object of JSON. A key that it lacks is a ContentError with the file, and with the line where it is known.

    >>> RawRow({"text": "a"}, Path("raw.csv"), 7)["score"]
    Traceback (most recent call last):
        ...
    harness.errors.ContentError: raw.csv:7: there is no 'score' here; there is: text
    """

    __slots__ = ("file", "line")

    def __init__(self, content: dict[str, Any], file: Path, line: int | None = None) -> None:
        super().__init__(content)
        self.file, self.line = file, line

    def __missing__(self, key: str) -> Any:
        columns = [str(name) for name in self]
        column_list = ", ".join(columns[:_MOST_KEYS]) + (", …" if len(columns) > _MOST_KEYS else "")
        raise ContentError(f"there is no '{key}' here; there is: {column_list or 'nothing'}", self.file, self.line)


class RawFiles:
    """The raw files of one data set. A converter reads nothing else.

    Args:
        folders: repository (`OWNER/REPO`) -> folder that holds its files under their paths in the repository.
        paths: repository -> the paths that the card names, in the card's order.
        partial: whether files may be absent. A converter then leaves their rows out.
    """

    def __init__(self, folders: Mapping[str, Path], paths: Mapping[str, Sequence[str]], *, partial: bool = False) -> None:
        self._folders, self._paths, self.partial = folders, paths, partial
        self.last_read: Path | None = None

    def paths(self, pattern: str, repository: str = "") -> list[str]:
        """Return the paths of the card that match a pattern (`*` stays within a folder) and whose files are here, in the card's order."""
        paths = self._paths[repository or self._only]
        return [path for path in paths if PurePosixPath(path).match(pattern) and self.has(path, repository)]

    def has(self, path: str, repository: str = "") -> bool:
        """Return True if the file is here. Only a partial set may lack one: elsewhere its absence is an error when it is read."""
        return not self.partial or self.file(path, repository).is_file()

    def text(self, path: str, repository: str = "") -> str:
        """Return a file as text, without a byte order mark; line ends as they are. Raises ContentError if it is absent or not UTF-8."""
        return self._decoded(path, repository, "utf-8-sig")

    def lines(self, path: str, repository: str = "") -> list[str]:
        """Return the lines of a file in which each line is a text, split at line feeds only. A U+FEFF at the start stays: it is part of a
        text.
        """
        return self._decoded(path, repository, "utf-8").removesuffix("\n").split("\n")

    def json(self, path: str, repository: str = "") -> Any:
        """Return a JSON file. Raises ContentError with the line where it is not JSON; its objects raise it for a key that they lack."""
        return self._objects(self.text(path, repository), self.file(path, repository), None)

    def json_lines(self, path: str, repository: str = "") -> Iterator[Any]:
        """Yield the objects of a JSON lines file, split at line feeds only; empty lines are left out. Raises as `json`, with the line."""
        for number, line in enumerate(self.text(path, repository).split("\n"), start=1):
            if line.strip():
                yield self._objects(line, self.file(path, repository), number)

    def table(self, path: str, repository: str = "", *, delimiter: str = ",") -> list[RawRow]:
        """Return the rows of a CSV or TSV file with a header, by column. Quoted fields may hold line breaks.

        Raises ContentError for a row that is longer than the header; a row raises it for a column that it lacks, as short rows do.
        """
        file, rows = self.file(path, repository), []
        (line, header), *cells = self._cells(path, repository, delimiter) or [(1, [])]
        for line, row in cells:
            if len(row) > len(header):
                raise ContentError(f"has {len(row)} cells, but the header has {len(header)}", file, line)
            rows.append(RawRow(dict(zip(header, row, strict=False)), file, line))
        return rows

    def lists(self, path: str, repository: str = "", *, least: int, delimiter: str = ",") -> list[list[str]]:
        """Return the rows of a CSV or TSV file without a header. Raises ContentError for a row with fewer than `least` cells."""
        cells = self._cells(path, repository, delimiter)
        for line, row in cells:
            if len(row) < least:
                raise ContentError(f"has {len(row)} cells; the converter needs {least}", self.file(path, repository), line)
        return [row for _, row in cells]

    def _cells(self, path: str, repository: str, delimiter: str) -> list[tuple[int, list[str]]]:
        """Return the rows of a table with the number of their last line; empty lines are left out."""
        text = self.text(path, repository)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        longest = csv.field_size_limit(len(text) + 1)  # a model's endless answer may be longer than csv's limit
        try:
            return [(reader.line_num, row) for row in reader if row]
        except csv.Error as err:
            raise ContentError(f"is no table that can be read: {err}", self.file(path, repository), reader.line_num) from None
        finally:
            csv.field_size_limit(longest)

    def _objects(self, text: str, file: Path, line: int | None) -> Any:
        try:
            return json.loads(text, object_hook=lambda content: RawRow(content, file, line))
        except (ValueError, RecursionError) as err:
            raise ContentError(f"not JSON: {err}", file, line or getattr(err, "lineno", None)) from None

    @property
    def _only(self) -> str:
        (repository,) = self._folders  # a set of several repositories names one with each file
        return repository

    def file(self, path: str, repository: str = "") -> Path:
        """Return where a file is on this machine."""
        return self._folders[repository or self._only] / path

    def _decoded(self, path: str, repository: str, encoding: str) -> str:
        self.last_read = file = self.file(path, repository)
        try:
            return file.read_bytes().decode(encoding)
        except OSError as err:
            raise unreadable(err, file) from None
        except UnicodeDecodeError as err:
            raise ContentError(f"not UTF-8 at byte {err.start}; the released file is UTF-8", file) from None


def error_in_row(err: Exception, name: str, last_read: Path | None) -> ContentError:
    """Return what a converter could not do, as one sentence with the place of the row that it was working on.

    The row is the last one that the code held when it failed; without one, the file is the one that was read last.
    """
    row = _row_of(err)
    value = f"the value {message_of(err)} is not known" if isinstance(err, (KeyError, IndexError)) else message_of(err)
    message = f"is not as the converter of '{name}' expects: {value or type(err).__name__}"
    return ContentError(message, row.file if row else last_read or Path(name), row.line if row else None)


def _row_of(err: Exception) -> RawRow | None:
    frames = [frame for frame, _ in walk_tb(err.__traceback__)]
    for frame in reversed(frames):
        for value in frame.f_locals.values():
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, RawRow):
                    return part
    return None


Id = TypeVar("Id", int, str)


def label(item_id: str, annotator_id: str, metric: str, score: Any, **more: Any) -> Row:
    """Return a row of `labels`, with its keys in their order; `more` keys stand behind them."""
    return {"item_id": item_id, "annotator_id": annotator_id, "metric": metric, "score": score, **more}


def judgment(item_id: str, judge: str, variant: str, metric: str, score: Any, **more: Any) -> Row:
    """Return a row of `judgments`, with its keys in their order; `more` keys stand behind them."""
    return {"item_id": item_id, "judge": judge, "variant": variant, "metric": metric, "score": score, **more}


def whole(number: float) -> int | float:
    """Return the number, as an integer if it is whole, so that it is written without a decimal point.

    >>> whole(4.0), whole(2.5), whole(-0.0)
    (4, 2.5, 0)
    """
    return int(number) if math.isfinite(number) and number == int(number) else number


def rounded(number: float, digits: int) -> int | float:
    """Return the number with at most `digits` decimals; an integer if it is whole.

    >>> rounded(4.6666666666667, 6), rounded(3.0000000001, 6)
    (4.666667, 3)
    """
    return whole(round(number, digits))


def nfc(text: str) -> str:
    """Return the text in Unicode's composed form. Nothing else changes."""
    return unicodedata.normalize("NFC", text)


def numbered(ids: Iterable[Id], prefix: str, digits: int = 1) -> dict[Id, str]:
    """Names for annotators whose ids are not to be passed on: `prefix` and the id's place, from 1, in the order of first appearance.

    >>> numbered(["B7", "A1", "B7"], "de-w", digits=2)
    {'B7': 'de-w01', 'A1': 'de-w02'}
    """
    return {old_id: f"{prefix}{number:0{digits}d}" for number, old_id in enumerate(dict.fromkeys(ids), start=1)}
