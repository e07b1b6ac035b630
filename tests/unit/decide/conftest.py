"""The data sets of the tests of comparisons, and a data folder whose labels are a random sample."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import sources
from harness.measure.compare import Recording
from tests.judged_folder import judged_folder
from tests.unit.recordings import *  # noqa: F403 (fixtures)


@pytest.fixture
def recorded(tmp_path: Path) -> Callable[..., Recording]:
    """The recording of a folder that `judged_folder` writes."""

    def record(**options: Any) -> Recording:
        folder = judged_folder(tmp_path / f"folder{len(list(tmp_path.iterdir()))}", **options)
        return sources.open_sources([folder], None, tmp_path)[0].recording

    return record
