"""Content, written by authors: tasks, languages, rubrics, boards and dataset cards. They are read from TOML and checked."""

from harness.content.library import Library
from harness.content.specs import Board, Pack, Rubric, Task

__all__ = ["Board", "Library", "Pack", "Rubric", "Task"]
