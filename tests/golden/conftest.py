"""What the golden tests share: the published data, read once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from harness import api


@pytest.fixture(scope="session", autouse=True)
def _data_are_read_once() -> Iterator[None]:
    """All commands and functions of a process that compare the same data folder get the same data, which nothing changes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "load", cache(api.load))
        yield
