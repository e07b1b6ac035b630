"""Data sets: items, labels and judgments as columns, read from data folders, `judgments.parquet` and pandas frames.

The names below are imported on first use, because they need numpy and importing this package should be fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.data.dataset import Dataset, load_bundled, load_folder

__all__ = ["Dataset", "load_bundled", "load_folder"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'harness.data' has no name '{name}'")
    from harness.data import dataset

    return getattr(dataset, name)
