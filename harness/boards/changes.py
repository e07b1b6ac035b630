"""The files that a contributor's change touches, by git: it may add submissions, and may change nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import msgspec

from harness.boards.git import Base, find_base, git
from harness.content.problems import Problem
from harness.errors import UsageError

_EVENTS = {"A": "added", "M": "changed", "D": "removed", "T": "made another kind of file"}
_LINKS = {"120000": "a symbolic link", "160000": "a submodule"}  # modes of git
TABLE = "TABLE.md"


class SubmittedChange(msgspec.Struct, frozen=True):
    """The files that a change touches, from the commit where it began.

    `submissions` are the new folders, by board. `tables` are the boards whose TABLE.md it touches. `problems` are all other files: a
    contributor may not change them. `uncommitted` counts files of boards that differ from the last commit; they are not part of the
    change. `unreadable` is True if it holds links or submodules outside of submissions; then none of its files may be opened.
    """

    base: Base  # what the change is compared with
    begin: str  # the commit where the change began
    files: int
    submissions: dict[str, list[Path]]
    tables: list[str]
    problems: list[Problem]
    uncommitted: int = 0
    unreadable: bool = False


def change_since(base: str, boards: Mapping[str, Path]) -> SubmittedChange:
    """List what the commits since `base` touch. `boards` are the folders of boards by name, in one repository.

    Raises UsageError for a name that is not a commit or may mean several, and without git or a repository.
    """
    root = Path(git(next(iter(boards.values())), "rev-parse", "--show-toplevel").rstrip("\n")).resolve()
    base_commit = find_base(root, base)
    begin = _first_commit(root, base_commit)
    touched, links = _touched_files(root, begin)
    names = {_path_in_repository(root, name, folder): name for name, folder in boards.items()}
    earlier = _submissions_at(root, begin, names)
    unreadable = any(_submission_of(PurePosixPath(path), names) is None for path in links)
    uncommitted = git(root, "status", "--porcelain", "--no-renames", "--untracked-files=all", "-z", "--", *map(str, names)).count("\0")
    change = SubmittedChange(base_commit, begin, len(touched), {name: [] for name in boards}, [], [], uncommitted, unreadable)
    for path, event in touched.items():
        _add_file(change, root, PurePosixPath(path), event, names, earlier)
    return change


def _path_in_repository(root: Path, name: str, folder: Path) -> PurePosixPath:
    """The folder of a board as git names it."""
    resolved = folder.resolve()
    if not resolved.is_relative_to(root):
        raise UsageError(f"the board '{name}' is at {resolved}, outside of the repository {root}; name the boards that should be checked")
    return PurePosixPath(resolved.relative_to(root).as_posix())


def _board_folder_of(path: PurePosixPath, names: Mapping[PurePosixPath, str]) -> PurePosixPath | None:
    return next((folder for folder in names if folder in path.parents), None)


def _submission_of(path: PurePosixPath, names: Mapping[PurePosixPath, str]) -> PurePosixPath | None:
    """The submission's folder that a path lies in, or is; None for a path elsewhere."""
    folder = _board_folder_of(path, names)
    below = path.relative_to(folder).parts if folder else ()
    return folder / below[0] / below[1] if folder and len(below) >= 2 and below[0] == "submissions" else None


def _add_file(
    change: SubmittedChange, root: Path, path: PurePosixPath, event: str, names: Mapping[PurePosixPath, str], earlier: set[PurePosixPath]
) -> None:
    """Add one touched file to the tables, the submissions or the problems of a change."""
    folder, submission = _board_folder_of(path, names), _submission_of(path, names)
    if folder and path == folder / TABLE:
        change.tables.append(names[folder])
    elif folder and submission in earlier:
        message = f"{event}, but submissions/{submission.name} existed before: a change may only add its own submission"
        change.problems.append(Problem(root / path, None, message))
    elif folder and submission:
        if root / submission not in change.submissions[names[folder]]:
            change.submissions[names[folder]].append(root / submission)
    else:
        message = f"{event}: a change with a submission may hold nothing else; put this into another change"
        change.problems.append(Problem(root / path, None, message))


def _first_commit(root: Path, base: Base) -> str:
    """The commit where the checked-out branch left `base`."""
    unrelated = f"'{base.name}' and the checked-out commit have no common history"
    ancestors = git(root, "merge-base", "--all", base.commit, "HEAD", missing=unrelated).split()
    if len(ancestors) > 1:
        raise UsageError(
            f"'{base.name}' and the checked-out commit have {len(ancestors)} latest common commits, so that the change is ambiguous; "
            f"rebase it: git rebase {base.name}"
        )
    return ancestors[0]


def _touched_files(root: Path, begin: str) -> tuple[dict[str, str], list[str]]:
    """`{path: what happened to it}`, and the paths that are links or submodules now. A renamed file counts as removed and added.

    `diff-tree` is used because `diff` obeys settings, such as `ignore` in .gitmodules, and a change may bring its own.
    """
    output = git(root, "diff-tree", "-r", "--raw", "--no-renames", "--no-relative", "--ignore-submodules=none", "-z", begin, "HEAD", "--")
    parts = output.split("\0")[:-1]
    touched, links = {}, []
    for raw, path in zip(parts[::2], parts[1::2], strict=True):
        _, mode, _, _, letter = raw.split(" ")
        touched[path] = _EVENTS.get(letter[:1], "changed")
        if mode in _LINKS:
            links.append(path)
            touched[path] += f" as {_LINKS[mode]}"
    return touched, links


def _submissions_at(root: Path, commit: str, names: Mapping[PurePosixPath, str]) -> set[PurePosixPath]:
    folders = [f"{folder / 'submissions'}/" for folder in names]
    return {PurePosixPath(path) for path in git(root, "ls-tree", "--name-only", "-z", commit, "--", *folders).split("\0")[:-1]}
