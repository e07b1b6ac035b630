"""Calls of git for the check of a change: output that does not depend on settings, and the one commit that a name means.

A contributor's repository may hold tags and branches with any name, also `origin/main`, and git prefers a tag to a remote's branch.
Therefore a name is looked up among all kinds of refs, and a name that may mean several commits is refused.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import msgspec

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
    refs = [] if _FULL_HASH.fullmatch(plain) else _refs(root, plain)
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


def _refs(root: Path, name: str) -> list[str]:
    """All refs that a name may mean; those of remotes come last."""
    if name.startswith("refs/"):
        candidates = [name]
    else:
        candidates = [f"refs/{name}", f"refs/tags/{name}", f"refs/heads/{name}", f"refs/remotes/{name}/HEAD", f"refs/remotes/{name}"]
    existing = git(root, "for-each-ref", "--format=%(refname)", *candidates).split("\n")
    return [ref for ref in candidates if ref in existing]


def _commit(root: Path, revision: str) -> str:
    missing = f"no commit '{revision}' in {root}; fetch it, or name another one"
    return git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", missing=missing).strip()
