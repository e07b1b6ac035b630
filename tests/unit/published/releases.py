"""Small invented releases for tests of converters: files in the raw format, written to a folder."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from harness.published.fetch import tables_of
from harness.published.raw import RawFiles, Row


class Release:
    """Writes invented raw files and reads them as a converter does. Files that a test does not write are absent, as in a partial set."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: dict[str, list[str]] = {}

    def text(self, path: str, text: str, repository: str = "people/labels") -> None:
        file = self._folder / repository.replace("/", "+") / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
        self._paths.setdefault(repository, []).append(path)

    def json(self, path: str, data: Any, repository: str = "people/labels") -> None:
        self.text(path, json.dumps(data, ensure_ascii=False), repository)

    def json_lines(self, path: str, rows: Sequence[Any], repository: str = "people/labels") -> None:
        self.text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), repository)

    def csv(self, path: str, rows: Sequence[Sequence[Any]], repository: str = "people/labels", *, delimiter: str = ",") -> None:
        out = io.StringIO()
        csv.writer(out, delimiter=delimiter).writerows(rows)
        self.text(path, out.getvalue(), repository)

    def raw(self) -> RawFiles:
        folders = {repository: self._folder / repository.replace("/", "+") for repository in self._paths}
        return RawFiles(folders, self._paths, partial=True)

    def convert(self, name: str) -> dict[str, list[Row]]:
        """The tables that the converter of this name makes of the files."""
        convert = import_module(f"harness.published.{name}").convert
        return {table: list(rows) for table, rows in tables_of(name, convert, self.raw()).items()}

    def files(self) -> dict[Path, str]:
        """The texts of all files that were written."""
        return {path: path.read_text("utf-8") for path in sorted(self._folder.rglob("*")) if path.is_file()}
