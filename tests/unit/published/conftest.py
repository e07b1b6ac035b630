"""What the tests of converters share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.published.releases import Release


@pytest.fixture
def release(tmp_path: Path) -> Release:
    """An empty release, to which a test writes invented files."""
    return Release(tmp_path / "release")
