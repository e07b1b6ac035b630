"""Problems in content: the fault, its file and its line; faults of scales among them.

`harness check` collects problems instead of stopping at the first error.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from harness.errors import ContentError
from harness.model import MOST_CLASSES, MOST_SCORE, Scale

# Messages about a TOML file, each with a regular expression for the line to correct.
Complaints = Iterator[tuple[str, str]]


class Problem(msgspec.Struct, frozen=True):
    """One thing to correct. `line` is None where no line is at fault, such as for a missing file."""

    path: Path
    line: int | None
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}" if self.line else f"{self.path}: {self.message}"


def problem_from_error(err: ContentError) -> Problem:
    """Return the problem that an error reports."""
    location = f"{err.path}:{err.line}" if err.line else f"{err.path}"
    return Problem(err.path, err.line, str(err).removeprefix(f"{location}: "))


def line_of(path: Path, pattern: str, nth: int = 1) -> int | None:
    """Return the line (from 1) of the `nth` match of a regular expression in a text file. TOML parsers do not keep line numbers.

    `^` matches at the beginning of a line; blanks and empty lines that begin a match do not count. None when there is no such match or no
    such file.
    """
    try:
        text = path.read_text("utf-8", errors="replace")
    except OSError:
        return None
    for count, match in enumerate(re.finditer(pattern, text, re.MULTILINE), start=1):
        if count == nth:
            begin = match.end() - len(match[0].lstrip())
            return text.count("\n", 0, begin) + 1
    return None


def key_pattern(name: str) -> str:
    """Return a regular expression for the line that sets a key (`name = ...`) or opens its table."""
    return rf"(?:^[ \t]*[\"']?{re.escape(name)}[\"']?[ \t]*=|^\[+(?:\w+\.)*{re.escape(name)}\]+)"


def duplicates(names: Iterable[str | int]) -> list[str | int]:
    """Names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def _size_complaints(scale: Scale) -> Complaints:
    """List what no rating has: more classes than tables of all pairs have room for, and scores whose squares are no numbers."""
    if len(scale.classes) > MOST_CLASSES:
        yield (
            f"{len(scale.classes):,} classes; at most {MOST_CLASSES} can be compared: join classes, or for scores that are numbers write "
            'kind = "interval" with min and max',
            key_pattern("classes"),
        )
    for name, score in (("min", scale.min), ("max", scale.max), *(("classes", score) for score in scale.classes)):
        if isinstance(score, (int, float)) and not abs(score) <= MOST_SCORE:
            yield f"{score:g} is too large for a score; the most is {MOST_SCORE:g}", key_pattern(name)
            return


def scale_complaints(scale: Scale, *, needs_best: bool = True) -> Complaints:
    """Yield what is wrong with a scale, each with a pattern for the line to correct."""
    yield from _size_complaints(scale)
    bounds = (scale.min, scale.max)
    if scale.kind == "interval":
        if scale.min is None or scale.max is None or scale.min >= scale.max:
            yield f"an interval scale needs min and max, with min below max; found {bounds[0]} and {bounds[1]}", key_pattern("kind")
        if scale.classes:
            yield "an interval scale has no classes; remove them, or change kind to 'ordinal'", key_pattern("classes")
    else:
        if len(scale.classes) < 2:
            yield f"a scale of kind '{scale.kind}' needs at least two classes; found: {scale.describe() or 'none'}", key_pattern("kind")
        if bounds != (None, None):
            yield f"min and max belong to interval scales, and this one is '{scale.kind}'; list classes only", key_pattern("kind")
        for repeated in duplicates(scale.classes):
            yield f"class {repeated!r} is listed twice", key_pattern("classes")
    if needs_best and scale.best is None and scale.kind != "nominal":
        yield f"a scale of kind '{scale.kind}' needs 'best', the most desirable score", key_pattern("kind")
    if scale.best is not None and not scale.holds(scale.best):
        yield f"best is {scale.best!r}, which is outside the scale ({scale.describe()})", key_pattern("best")
    names = {str(score) for score in scale.classes}
    for swapped_from, other in scale.swap.items():
        if not {swapped_from, other} <= names:
            yield f"swap turns '{swapped_from}' into '{other}', but the classes are: {scale.describe()}", key_pattern("swap")
        elif scale.swap.get(other, other) != swapped_from:
            yield f"swap turns '{swapped_from}' into '{other}' but not back; a second swap must undo the first", key_pattern("swap")
