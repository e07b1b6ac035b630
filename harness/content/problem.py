"""Something wrong in the content, and where: what `check` collects instead of stopping at the first."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from harness.errors import ContentError


class Problem(msgspec.Struct, frozen=True):
    """One thing to put right. `line` is None where no line is to blame, such as for a file that is missing."""

    path: Path
    line: int | None
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}" if self.line else f"{self.path}: {self.message}"


def from_error(err: ContentError) -> Problem:
    """The same complaint, to be collected instead of raised."""
    where = f"{err.path}:{err.line}" if err.line else f"{err.path}"
    return Problem(err.path, err.line, str(err).removeprefix(f"{where}: "))


def line_of(path: Path, pattern: str, nth: int = 1) -> int | None:
    """The line (from 1) of a text file in which the `nth` match of a regular expression stands, as TOML parsers do not keep it.

    `^` is the beginning of a line. None when there is no such match, or no such file.
    """
    try:
        text = path.read_text("utf-8", errors="replace")
    except OSError:
        return None
    for count, found in enumerate(re.finditer(pattern, text, re.MULTILINE), start=1):
        if count == nth:
            return text.count("\n", 0, found.start()) + 1
    return None
