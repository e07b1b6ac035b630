"""What a submission's folder may hold, looked at without opening anything: two plain files of a decent size and nothing else."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from harness.boards.card import CARD, folder_complaint
from harness.boards.replies import MAX_COMPRESSED, REPLIES
from harness.content.problem import Problem

LARGEST = {CARD: 64 << 10, REPLIES: MAX_COMPRESSED}  # bytes
_KINDS = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a folder", stat.S_IFREG: "a file"}


def kind_of(path: Path) -> str:
    """What is at a path itself, where a link leads or not; empty when nothing is."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return ""
    return _KINDS.get(stat.S_IFMT(mode), "a special file")


def folder_problems(folder: Path) -> Iterator[Problem]:
    """What is wrong with a submission's folder and the files in it, by their names, kinds and sizes."""
    if complaint := folder_complaint(folder.name):
        yield Problem(folder, None, complaint)
    if (kind := kind_of(folder)) != "a folder":
        yield Problem(folder, None, f"{kind or 'nothing'} where a submission's folder should be; a submission holds {_allowed()}")
        return
    names = sorted(os.listdir(folder))
    for name in names:
        yield from _file_problems(folder / name)
    for name in sorted(LARGEST.keys() - set(names)):
        yield Problem(folder, None, f"no {name}; a submission holds {_allowed()}, as 'harness submit' writes them")


def _file_problems(path: Path) -> Iterator[Problem]:
    if path.name not in LARGEST:
        yield Problem(path, None, f"an unexpected file; a submission holds {_allowed()} and nothing else")
        return
    kind, most = kind_of(path), LARGEST[path.name]
    if kind != "a file":
        yield Problem(path, None, f"{kind} where a plain file should be; nothing of it is read")
    elif (size := path.lstat().st_size) > most:
        yield Problem(path, None, f"{size:,} bytes, and {most:,} at most are read; is it what 'harness submit' wrote?")


def _allowed() -> str:
    return " and ".join(sorted(LARGEST))
