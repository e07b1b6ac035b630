"""Prompt templates in the user's cache folder: programs that start a process for each score need not render them each time."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

from harness.errors import StoreError
from harness.judges.models import cache_folder
from harness.tables import write_atomic


class TemplateFolder:
    """Keeps encoded templates by key, one file for each. A folder that cannot be read or written keeps nothing.

    Templates hold no texts of items.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or cache_folder().with_name("templates")

    def get_template(self, key: str) -> bytes | None:
        try:
            return self._path(key).read_bytes()
        except OSError:
            return None

    def put_template(self, key: str, template: bytes) -> None:
        with suppress(OSError, StoreError):
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomic(self._path(key), template, private=True)

    def _path(self, key: str) -> Path:
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()}.json"
