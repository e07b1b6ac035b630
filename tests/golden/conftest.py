"""What the golden tests share: the published data, read once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness import api
from harness.data import Dataset
from tests.conftest import SHARED_DATA


@pytest.fixture(scope="package", autouse=True)
def _published_data_are_read_once() -> Iterator[None]:
    """All commands and functions that compare the same published data get the same object, which nothing changes."""
    read, read_once = api.load, cache(api.load)

    def load(folder: Path | str, **card: Any) -> Dataset:
        return (read_once if SHARED_DATA in Path(folder).resolve().parents else read)(folder, **card)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "load", load)
        yield
