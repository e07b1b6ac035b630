"""Sources of every kind, written by the test that reads them, and imports with a salt of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.content import Library
from harness.content.specs import LabelMapping
from harness.data import Dataset, load_folder
from harness.exchange.labels.label_import import ImportSummary, import_labels
from harness.exchange.labels.table_options import ImportOptions
from harness.model import Scale

TONE = Scale(kind="ordinal", classes=(0, 1, 2), best=2)


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No salt of the person who runs the tests."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Write a file: text as UTF-8, bytes as they are, anything else as JSON."""

    def write(name: str, content: Any) -> Path:
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False), encoding="utf-8")
        return path

    return write


@pytest.fixture
def workbook(tmp_path: Path) -> Callable[..., Path]:
    """Write a workbook of one sheet; `change` may do anything to it before it is saved."""

    def write(rows: list[list[Any]], change: Callable[[Any], None] = lambda sheet: None, name: str = "book.xlsx") -> Path:
        import openpyxl

        book = openpyxl.Workbook()
        book.active.title = "Scores"
        for row in rows:
            book.active.append(row)
        change(book.active)
        book.save(tmp_path / name)
        return tmp_path / name

    return write


class Into:
    """Imports into one folder, with answers as short as the tests need them."""

    def __init__(self, folder: Path, library: Library) -> None:
        self.folder = folder
        self._library = library

    def __call__(self, source: Path | str, mapping: Mapping[str, Any] | None = None, **options: Any) -> ImportSummary:
        """`mapping` is laid over one that gives language, task and the scale of `tone`; readable rows come in without the others."""
        base: dict[str, Any] = {"language": "en", "task": "chat", "metrics": {"tone": TONE}} | dict(mapping or {})
        kept = {"keep_annotators": True, "allow_refused": True} | options
        return import_labels(
            source, self.folder, LabelMapping(**{k: v for k, v in base.items() if v is not None}), ImportOptions(**kept), self._library
        )

    @property
    def data(self) -> Dataset:
        return load_folder(self.folder, self._library)

    @property
    def labels(self) -> list[tuple[Any, ...]]:
        return [(x.item_id, x.annotator_id, x.metric, x.score) for x in self.data.labels]

    @property
    def refused(self) -> list[dict[str, Any]]:
        path = self.folder / "refused.jsonl"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []

    @property
    def about(self) -> str:
        return (self.folder / "data.toml").read_text("utf-8")


@pytest.fixture
def into(tmp_path: Path, library: Library) -> Into:
    return Into(tmp_path / "data", library)
