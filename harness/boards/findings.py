"""What is wrong with a submission: all of it, but no more of one file than anybody would read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from harness.content.problem import Problem

SHOWN = 20  # findings of one file that are shown


class Findings:
    """Findings in the order of finding. Of the lines of one file the first 20 are kept and the others counted."""

    def __init__(self) -> None:
        self._kept: list[Problem] = []
        self._lines: Counter[Path] = Counter()

    def add(self, path: Path, line: int | None, message: str, *, always: bool = False) -> None:
        """`always`: however many there are already, as it is about more than its line."""
        counted = line is not None and not always
        self._lines[path] += counted
        if not counted or self._lines[path] <= SHOWN:
            self._kept.append(Problem(path, line, message))

    def extend(self, problems: list[Problem]) -> None:
        for problem in problems:
            self.add(problem.path, problem.line, problem.message)

    @property
    def problems(self) -> list[Problem]:
        more = [
            Problem(path, None, f"and {count - SHOWN:,} more such lines of this file")
            for path, count in self._lines.items()
            if count > SHOWN
        ]
        return [*self._kept, *more]

    def __bool__(self) -> bool:
        return bool(self._kept)
