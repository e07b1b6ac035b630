"""Check by git which files a contributor's change touches: it may add submissions, and may change nothing else.

A contributor's repository may hold tags and branches with any name, also `origin/main`, and git prefers a tag to a remote's branch.
Therefore a name is looked up among all kinds of refs, and a name that may mean several commits is refused.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import msgspec

from harness.content.problems import Problem
from harness.errors import UsageError

_REVISION = re.compile(r"(?P<name>[A-Za-z0-9_][\w./@+-]*?)(?P<suffix>(@\{[\w./-]*\}|[~^]\d*)*)")
_FULL_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHORT_HASH = re.compile(r"[0-9a-f]{4,63}")


class Base(msgspec.Struct, frozen=True):
    """The commit that a change is compared with: the given name, its ref (empty for a hash), and the commit."""

    name: str
    ref: str
    commit: str


def find_base(root: Path, name: str) -> Base:
    """Find the one commit that `name` means in the repository at `root`. A full hash means itself, and `refs/…` is one ref.

    Any other name is looked up among tags, branches and remotes' branches. Raises UsageError for an invalid name, for a name that means
    several commits, and for a name that begins with a remote's name but is not a branch of that remote.
    """
    parts = _REVISION.fullmatch(name)
    if not parts or ".." in name:
        raise UsageError(f"'{name}' is not a name of a commit; write a branch, a tag or a hash, such as origin/main")
    plain, suffix = parts["name"], parts["suffix"]
    # All refs that a name may mean; those of remotes come last.
    candidates = [f"refs/{plain}", f"refs/tags/{plain}", f"refs/heads/{plain}", f"refs/remotes/{plain}/HEAD", f"refs/remotes/{plain}"]
    candidates = [plain] if plain.startswith("refs/") else candidates
    existing = [] if _FULL_HASH.fullmatch(plain) else git(root, "for-each-ref", "--format=%(refname)", *candidates).split("\n")
    refs = [ref for ref in candidates if ref in existing]
    if not refs:
        return Base(name, "", _commit(root, name))
    commits = {meaning: _commit(root, meaning + suffix) for meaning in refs}
    if _SHORT_HASH.fullmatch(plain):
        commits |= {full: _commit(root, full + suffix) for full in git(root, "rev-parse", f"--disambiguate={plain}").split()}
    if len(set(commits.values())) > 1:
        meanings = ", ".join(f"{meaning} ({commit[:12]})" for meaning, commit in commits.items())
        raise UsageError(f"'{name}' may mean several commits: {meanings}; write which one, for example --changed {refs[-1]}{suffix}")
    remote = plain.partition("/")[0]
    if "/" in plain and refs[-1] != f"refs/remotes/{plain}" and not plain.startswith("refs/") and remote in git(root, "remote").split():
        raise UsageError(
            f"'{name}' is {refs[-1]} here and not a branch of the remote '{remote}', although its name looks like one; "
            f"fetch the branch with 'git fetch {remote}', or write {refs[-1]}"
        )
    return Base(name, refs[-1], commits[refs[-1]])


def git(folder: Path, *arguments: str, missing: str = "") -> str:
    """Run git without settings that change its output, and return what it prints. Raises UsageError with `missing` or git's message."""
    command = ["git", "--no-replace-objects", "-c", "core.quotepath=off", "-c", "core.fsmonitor=false", *arguments]
    try:
        process = subprocess.run(command, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    except OSError:
        raise UsageError("--changed needs git, which is not installed") from None
    if process.returncode:
        message = process.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise UsageError(missing or f"--changed needs a git repository around {folder} ({message})")
    return process.stdout.decode("utf-8", "surrogateescape")


def _commit(root: Path, revision: str) -> str:
    missing = f"no commit '{revision}' in {root}; fetch it, or name another one"
    return git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", missing=missing).strip()


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
    unrelated = f"'{base_commit.name}' and the checked-out commit have no common history"
    ancestors = git(root, "merge-base", "--all", base_commit.commit, "HEAD", missing=unrelated).split()
    if len(ancestors) > 1:
        raise UsageError(
            f"'{base_commit.name}' and the checked-out commit have {len(ancestors)} latest common commits, so that the change is "
            f"ambiguous; rebase it: git rebase {base_commit.name}"
        )
    begin = ancestors[0]
    # What happened to each path, and the paths that are links or submodules now. A renamed file counts as removed and added. `diff-tree` is
    # used because `diff` obeys settings, such as `ignore` in .gitmodules, and a change may bring its own.
    output = git(root, "diff-tree", "-r", "--raw", "--no-renames", "--no-relative", "--ignore-submodules=none", "-z", begin, "HEAD", "--")
    parts = output.split("\0")[:-1]
    touched, links = {}, []
    for raw, file in zip(parts[::2], parts[1::2], strict=True):
        _, mode, _, _, letter = raw.split(" ")
        touched[file] = _EVENTS.get(letter[:1], "changed")
        if mode in _LINKS:
            links.append(file)
            touched[file] += f" as {_LINKS[mode]}"
    names: dict[PurePosixPath, str] = {}  # of the boards, by their folders as git names them
    for name, board_folder in boards.items():
        resolved = board_folder.resolve()
        if not resolved.is_relative_to(root):
            message = f"the board '{name}' is at {resolved}, outside of the repository {root}; name the boards that should be checked"
            raise UsageError(message)
        names[PurePosixPath(resolved.relative_to(root).as_posix())] = name
    folders = [f"{folder / 'submissions'}/" for folder in names]
    earlier = {PurePosixPath(path) for path in git(root, "ls-tree", "--name-only", "-z", begin, "--", *folders).split("\0")[:-1]}
    unreadable = any(_submission_of(PurePosixPath(path), names) is None for path in links)
    uncommitted = git(root, "status", "--porcelain", "--no-renames", "--untracked-files=all", "-z", "--", *map(str, names)).count("\0")
    change = SubmittedChange(base_commit, begin, len(touched), {name: [] for name in boards}, [], [], uncommitted, unreadable)
    for file, event in touched.items():
        path = PurePosixPath(file)
        folder, submission = _board_folder_of(path, names), _submission_of(path, names)
        if folder and path == folder / TABLE:
            change.tables.append(names[folder])
        elif submission and submission in earlier:
            message = f"{event}, but submissions/{submission.name} existed before: a change may only add its own submission"
            change.problems.append(Problem(root / path, None, message))
        elif folder and submission:
            if root / submission not in change.submissions[names[folder]]:
                change.submissions[names[folder]].append(root / submission)
        else:
            message = f"{event}: a change with a submission may hold nothing else; put this into another change"
            change.problems.append(Problem(root / path, None, message))
    return change


def _board_folder_of(path: PurePosixPath, names: Mapping[PurePosixPath, str]) -> PurePosixPath | None:
    return next((folder for folder in names if folder in path.parents), None)


def _submission_of(path: PurePosixPath, names: Mapping[PurePosixPath, str]) -> PurePosixPath | None:
    """The submission's folder that a path lies in, or is; None for a path elsewhere."""
    folder = _board_folder_of(path, names)
    below = path.relative_to(folder).parts if folder else ()
    return folder / below[0] / below[1] if folder and len(below) >= 2 and below[0] == "submissions" else None
