"""Content: tasks, languages, rubrics, recipes, boards and data folders, read from TOML and JSONL and checked as they are read.

Data sets hold columns, and so need numpy; they are imported on first use, as listing content should cost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.content.library import Library
from harness.content.specs import Board, Pack, Rubric, Task

if TYPE_CHECKING:
    from harness.content.dataset import Dataset, load_bundled, load_folder

__all__ = ["Board", "Dataset", "Library", "Pack", "Rubric", "Task", "load_bundled", "load_folder"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'harness.content' has no name '{name}'")
    from harness.content import dataset

    return getattr(dataset, name)
