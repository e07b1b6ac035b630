"""Content: what authors write. Tasks, languages, rubrics, boards and dataset cards, read from TOML and checked as they are read."""

from harness.content.library import Library
from harness.content.specs import Board, Pack, Rubric, Task

__all__ = ["Board", "Library", "Pack", "Rubric", "Task"]
