"""Rows and objects of raw files that know where they stand, so that an error in a converter can name the place."""

from __future__ import annotations

from pathlib import Path
from traceback import walk_tb
from typing import Any

from harness.errors import ContentError
from harness.foreign import message_of

_MOST_KEYS = 20


class RawRow(dict[str, Any]):
    """A row of a table or an object of JSON. A key that it lacks is a ContentError with the file, and with the line where it is known.

    >>> RawRow({"text": "a"}, Path("raw.csv"), 7)["score"]
    Traceback (most recent call last):
        ...
    harness.errors.ContentError: raw.csv:7: there is no 'score' here; there is: text
    """

    __slots__ = ("file", "line")

    def __init__(self, content: dict[str, Any], file: Path, line: int | None = None) -> None:
        super().__init__(content)
        self.file, self.line = file, line

    def __missing__(self, key: str) -> Any:
        there = [str(name) for name in self]
        shown = ", ".join(there[:_MOST_KEYS]) + (", …" if len(there) > _MOST_KEYS else "")
        raise ContentError(f"there is no '{key}' here; there is: {shown or 'nothing'}", self.file, self.line)


def error_in_row(err: Exception, name: str, last_read: Path | None) -> ContentError:
    """What a converter could not do, as one sentence with the place of the row that it was working on.

    The row is the last one that the code held when it failed; without one, the file is the one that was read last.
    """
    found = _row_of(err)
    value = f"the value {message_of(err)} is not known" if isinstance(err, (KeyError, IndexError)) else message_of(err)
    message = f"is not as the converter of '{name}' expects: {value or type(err).__name__}"
    return ContentError(message, found.file if found else last_read or Path(name), found.line if found else None)


def _row_of(err: Exception) -> RawRow | None:
    frames = [frame for frame, _ in walk_tb(err.__traceback__)]
    for frame in reversed(frames):
        for value in frame.f_locals.values():
            for held in value if isinstance(value, tuple) else (value,):
                if isinstance(held, RawRow):
                    return held
    return None
