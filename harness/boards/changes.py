"""What a change touches, as git has it: a contributor's change brings submissions of its own and moves nothing of others."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import msgspec

from harness.content.problem import Problem
from harness.errors import UsageError

_REVISION = re.compile(r"[A-Za-z0-9_][\w./@{}^~+-]*")
_WORDS = {"A": "added", "M": "changed", "D": "removed", "T": "made another kind of file"}
TABLE = "TABLE.md"


class Change(msgspec.Struct, frozen=True):
    """The files that a change touches, from the place where it began.

    `submissions` are those folders, by board, that it brings and nobody had before; `tables` the boards whose TABLE.md it touches;
    `problems` everything that is none of a contributor's business; `uncommitted` counts files of boards that no commit has as they are,
    which are no part of the change.
    """

    base: str  # the commit where it began
    files: int
    submissions: dict[str, list[Path]]
    tables: list[str]
    problems: list[Problem]
    uncommitted: int = 0


def change_since(base: str, boards: Mapping[str, Path]) -> Change:
    """What the commits since `base` touch. `boards` are the folders of boards by name, in one repository.

    Raises UsageError for a name that is no commit, and where there is no git or no repository.
    """
    root = _root(next(iter(boards.values())))
    begin = _begin(root, base)
    touched = _touched(root, begin)
    places = {PurePosixPath(folder.resolve().relative_to(root).as_posix()): name for name, folder in boards.items()}
    old = _submissions_at(root, begin, places)
    change = Change(begin, len(touched), {name: [] for name in boards}, [], [], _uncommitted(root, places))
    for path, word in touched.items():
        _sort(change, root, PurePosixPath(path), word, places, old)
    return change


def _sort(change: Change, root: Path, path: PurePosixPath, word: str, places: Mapping[PurePosixPath, str], old: set[PurePosixPath]) -> None:
    """Put one touched file where it belongs."""
    board = next((name for folder, name in places.items() if folder in path.parents), None)
    folder = next((folder for folder, name in places.items() if name == board), PurePosixPath("."))
    below = path.relative_to(folder).parts if board else ()
    if board and below == (TABLE,):
        change.tables.append(board)
    elif board and len(below) >= 2 and below[0] == "submissions":
        submission = folder / below[0] / below[1]
        if submission in old:
            change.problems.append(
                Problem(root / path, None, f"{word}, but submissions/{below[1]} was there before: a change brings its own submission only")
            )
        elif (root / submission) not in change.submissions[board]:
            change.submissions[board].append(root / submission)
    else:
        change.problems.append(Problem(root / path, None, f"{word}: a change that submits holds nothing else; make it a change of its own"))


def _root(folder: Path) -> Path:
    return Path(_git(folder, "rev-parse", "--show-toplevel").rstrip("\n")).resolve()


def _begin(root: Path, base: str) -> str:
    """The commit where what is checked out left `base`."""
    if not _REVISION.fullmatch(base) or ".." in base:
        raise UsageError(f"'{base}' is no name of a commit; write a branch, a tag or a hash, such as origin/main")
    revision = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    found = _git(root, *revision, missing=f"no commit '{base}' in {root}; fetch it, or name another").strip()
    return _git(root, "merge-base", found, "HEAD", missing=f"'{base}' and what is checked out have no common history").strip()


def _touched(root: Path, begin: str) -> dict[str, str]:
    """`{path: what happened to it}`; what is renamed was removed and added."""
    said = _git(root, "diff", "--name-status", "--no-renames", "--no-ext-diff", "--no-textconv", "-z", begin, "HEAD", "--")
    parts = said.split("\0")[:-1]
    return {path: _WORDS.get(letter[:1], "changed") for letter, path in zip(parts[::2], parts[1::2], strict=True)}


def _submissions_at(root: Path, commit: str, places: Mapping[PurePosixPath, str]) -> set[PurePosixPath]:
    """The submissions that there were."""
    folders = [f"{folder / 'submissions'}/" for folder in places]
    return {PurePosixPath(path) for path in _git(root, "ls-tree", "--name-only", "-z", commit, "--", *folders).split("\0")[:-1]}


def _uncommitted(root: Path, places: Mapping[PurePosixPath, str]) -> int:
    return _git(root, "status", "--porcelain", "--no-renames", "--untracked-files=all", "-z", "--", *map(str, places)).count("\0")


def _git(folder: Path, *arguments: str, missing: str = "") -> str:
    """What git prints, with nobody's settings for how. Raises UsageError with `missing`, or with what git says."""
    command = ["git", "-c", "core.quotepath=off", "-c", "core.fsmonitor=false", *arguments]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    except OSError:
        raise UsageError("--changed needs git, which is not here") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise UsageError(missing or f"--changed needs a git repository around {folder} ({said})")
    return done.stdout.decode("utf-8", "surrogateescape")
