"""What the golden tests share: the published data, read once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness import sources
from harness.data import Dataset
from tests.conftest import SHARED_DATA

_READ = sources.load
_READ_ONCE = cache(sources.load)


def _load(folder: Path | str, **card: Any) -> Dataset:
    return (_READ_ONCE if SHARED_DATA in Path(folder).resolve().parents else _READ)(folder, **card)


@pytest.fixture(autouse=True)
def _published_data_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All commands and functions that compare the same published data get the same object, which nothing changes."""
    monkeypatch.setattr(sources, "load", _load)
