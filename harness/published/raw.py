"""The raw files of a published data set, as its authors released them: where they lie, and how they are read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from harness.errors import ContentError

Row = dict[str, Any]
Tables = Mapping[str, Iterable[Row]]
"""Table (`items`, `labels`, `judgments`, `second_ratings`, ...) -> its rows, in their final order, with keys in their final order."""


class RawFiles:
    """The raw files of one data set. A converter reads nothing else.

    Args:
        folders: repository (`OWNER/REPO`) -> folder that holds its files under their paths in the repository.
        paths: repository -> the paths that the card names, in the card's order.
        partial: whether files may be absent. A converter then leaves their rows out.
    """

    def __init__(self, folders: Mapping[str, Path], paths: Mapping[str, Sequence[str]], *, partial: bool = False) -> None:
        self._folders, self._paths, self.partial = folders, paths, partial

    def paths(self, pattern: str, repository: str = "") -> list[str]:
        """The paths of the card that match a pattern (`*` stays within a folder) and whose files are here, in the card's order."""
        named = self._paths[repository or self._only]
        return [path for path in named if PurePosixPath(path).match(pattern) and self.has(path, repository)]

    def has(self, path: str, repository: str = "") -> bool:
        """Whether the file is here. Only a partial set may lack one: elsewhere its absence is an error when it is read."""
        return not self.partial or self._file(path, repository).is_file()

    def text(self, path: str, repository: str = "") -> str:
        """A file as text, without a byte order mark; line ends as they are. Raises ContentError if it is absent or not UTF-8."""
        return self._decoded(path, repository, "utf-8-sig")

    def lines(self, path: str, repository: str = "") -> list[str]:
        """The lines of a file in which each line is a text, split at line feeds only. A U+FEFF at the start stays: it is part of a text."""
        return self._decoded(path, repository, "utf-8").removesuffix("\n").split("\n")

    def json(self, path: str, repository: str = "") -> Any:
        """A JSON file. Raises ContentError with the line where it is not JSON."""
        try:
            return json.loads(self.text(path, repository))
        except ValueError as err:
            raise ContentError(f"not JSON: {err}", self._file(path, repository), getattr(err, "lineno", None)) from None

    def json_lines(self, path: str, repository: str = "") -> Iterator[Any]:
        """The objects of a JSON lines file, split at line feeds only; empty lines are left out. Raises ContentError with the line."""
        for number, line in enumerate(self.text(path, repository).split("\n"), start=1):
            if line.strip():
                try:
                    yield json.loads(line)
                except ValueError as err:
                    raise ContentError(f"not JSON: {err}", self._file(path, repository), number) from None

    def table(self, path: str, repository: str = "", *, delimiter: str = ",") -> list[dict[str, str]]:
        """The rows of a CSV or TSV file with a header, by column. Quoted fields may hold line breaks."""
        return list(csv.DictReader(io.StringIO(self.text(path, repository), newline=""), delimiter=delimiter))

    def lists(self, path: str, repository: str = "", *, delimiter: str = ",") -> list[list[str]]:
        """The rows of a CSV or TSV file without a header."""
        return list(csv.reader(io.StringIO(self.text(path, repository), newline=""), delimiter=delimiter))

    @property
    def _only(self) -> str:
        (repository,) = self._folders  # a set of several repositories names one with each file
        return repository

    def _file(self, path: str, repository: str = "") -> Path:
        return self._folders[repository or self._only] / path

    def _decoded(self, path: str, repository: str, encoding: str) -> str:
        file = self._file(path, repository)
        try:
            return file.read_bytes().decode(encoding)
        except OSError as err:
            raise ContentError(f"cannot be read: {err.strerror or err}", file) from None
        except UnicodeDecodeError as err:
            raise ContentError(f"not UTF-8 at byte {err.start}; the released file is UTF-8", file) from None
