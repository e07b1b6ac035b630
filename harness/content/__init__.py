"""Content: tasks, languages, rubrics, boards and data folders, read from TOML and JSONL and checked as they are read."""

from harness.content.dataset import Dataset, load_bundled, load_folder
from harness.content.library import Library
from harness.content.specs import Board, Pack, Rubric, Task

__all__ = ["Board", "Dataset", "Library", "Pack", "Rubric", "Task", "load_bundled", "load_folder"]
