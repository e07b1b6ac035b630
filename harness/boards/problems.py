"""Problems of a submission, as a list. Those of its folder are found without opening any file."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from harness.boards.card import CARD, folder_complaint
from harness.boards.replies import MAX_COMPRESSED, REPLIES, SCORES
from harness.content.problems import Problem

MAX_SHOWN = 20  # problems of one file that are listed
MAX_BYTES = {CARD: 64 << 10, REPLIES: MAX_COMPRESSED, SCORES: MAX_COMPRESSED}
FOLDER, FILE = "a folder", "a file"
_KINDS = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: FOLDER, stat.S_IFREG: FILE}


class SubmissionProblems:
    """Problems in the order in which they are found. The first 20 lines of one file are listed, further ones are counted."""

    def __init__(self) -> None:
        self._listed: list[Problem] = []
        self._lines: Counter[Path] = Counter()

    def add(self, path: Path, line: int | None, message: str, *, always: bool = False) -> None:
        """Add a problem. With `always` it is listed however many there are, because it concerns more than its line."""
        limited = line is not None and not always
        self._lines[path] += limited
        if not limited or self._lines[path] <= MAX_SHOWN:
            self._listed.append(Problem(path, line, message))

    def extend(self, problems: list[Problem]) -> None:
        for problem in problems:
            self.add(problem.path, problem.line, problem.message)

    @property
    def problems(self) -> list[Problem]:
        more = [
            Problem(path, None, f"and {count - MAX_SHOWN:,} more such lines of this file")
            for path, count in self._lines.items()
            if count > MAX_SHOWN
        ]
        return [*self._listed, *more]

    def __bool__(self) -> bool:
        return bool(self._listed)


def kind_of(path: Path) -> str:
    """Return the kind of what is at a path; links are not followed. Empty if there is nothing."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return ""
    return _KINDS.get(stat.S_IFMT(mode), "a special file")


def folder_problems(folder: Path) -> Iterator[Problem]:
    """List the problems of a submission's folder and its files, judged by their names, kinds and sizes."""
    if complaint := folder_complaint(folder.name):
        yield Problem(folder, None, complaint)
    if (kind := kind_of(folder)) != FOLDER:
        yield Problem(folder, None, f"{kind or 'nothing'} where a submission's folder should be; a submission holds {_allowed_files()}")
        return
    names = sorted(os.listdir(folder))
    for name in names:
        yield from _file_problems(folder / name)
    if CARD not in names:
        yield Problem(folder, None, f"no {CARD}; a submission holds {_allowed_files()}, as 'harness submit' writes them")
    if REPLIES not in names and SCORES not in names:
        yield Problem(folder, None, f"no {REPLIES}; a submission holds {_allowed_files()}, as 'harness submit' writes them")
    if REPLIES in names and SCORES in names:
        yield Problem(folder, None, f"both {REPLIES} and {SCORES}; a submission of replies needs no recorded scores")


def _file_problems(path: Path) -> Iterator[Problem]:
    if path.name not in MAX_BYTES:
        yield Problem(path, None, f"an unexpected file; a submission holds {_allowed_files()} and nothing else")
        return
    kind, limit = kind_of(path), MAX_BYTES[path.name]
    if kind != FILE:
        yield Problem(path, None, f"{kind} where a plain file should be; it is not read")
    elif (size := path.lstat().st_size) > limit:
        yield Problem(path, None, f"{size:,} bytes; the limit is {limit:,}. Is it the file that 'harness submit' wrote?")


def _allowed_files() -> str:
    return f"{CARD} and {REPLIES} (or, of recorded scores, {SCORES})"
