"""A name means one commit, whatever tags and branches a contributor's repository holds."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.boards.allowed_changes import find_base
from harness.errors import UsageError

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    def run(*arguments: str) -> str:
        names = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
        return subprocess.run(["git", *names, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()

    return run


@pytest.fixture
def commits(git: Git) -> list[str]:
    """Three commits; `refs/remotes/origin/main` is the first, and the last is checked out on `mine`."""
    git("init", "-q", "-b", "mine")
    hashes = []
    for n in range(3):
        git("commit", "-q", "--allow-empty", "-m", str(n))
        hashes.append(git("rev-parse", "HEAD"))
    git("remote", "add", "origin", "nowhere")
    git("update-ref", "refs/remotes/origin/main", hashes[0])
    return hashes


def test_a_branch_of_a_remote_is_the_commit_of_the_remote(tmp_path: Path, commits: list[str]) -> None:
    base = find_base(tmp_path, "origin/main")
    assert (base.ref, base.commit) == ("refs/remotes/origin/main", commits[0])


@pytest.mark.parametrize("kind", ["tags", "heads"])
def test_a_tag_or_a_branch_of_the_same_name_elsewhere_is_refused(tmp_path: Path, commits: list[str], git: Git, kind: str) -> None:
    git("update-ref", f"refs/{kind}/origin/main", commits[2])
    with pytest.raises(UsageError) as refused:
        find_base(tmp_path, "origin/main")
    for words in (f"refs/{kind}/origin/main ({commits[2][:12]})", "write which one, for example --changed refs/remotes/origin/main"):
        assert words in str(refused.value)
    assert find_base(tmp_path, "refs/remotes/origin/main").commit == commits[0]
    assert find_base(tmp_path, commits[0]).commit == commits[0]


def test_a_tag_of_the_same_name_and_commit_does_no_harm(tmp_path: Path, commits: list[str], git: Git) -> None:
    git("tag", "origin/main", commits[0])
    assert find_base(tmp_path, "origin/main").commit == commits[0]


def test_a_tag_called_like_a_branch_that_was_not_fetched_is_refused(tmp_path: Path, commits: list[str], git: Git) -> None:
    git("tag", "origin/next", commits[2])
    with pytest.raises(UsageError, match="not a branch of the remote 'origin', although its name looks like one; fetch the branch"):
        find_base(tmp_path, "origin/next")
    assert find_base(tmp_path, "refs/tags/origin/next").commit == commits[2]


def test_a_tag_called_like_the_beginning_of_a_hash_is_refused(tmp_path: Path, commits: list[str], git: Git) -> None:
    assert find_base(tmp_path, commits[0][:10]).commit == commits[0]
    git("tag", commits[0][:10], commits[2])
    with pytest.raises(UsageError, match="may mean several commits"):
        find_base(tmp_path, commits[0][:10])


def test_a_tag_called_like_a_whole_hash_is_not_taken(tmp_path: Path, commits: list[str], git: Git) -> None:
    git("update-ref", f"refs/tags/{commits[0]}", commits[2])
    assert find_base(tmp_path, commits[0]).commit == commits[0]


@pytest.mark.parametrize(
    ("name", "nth"), [("HEAD", 2), ("HEAD~1", 1), ("mine^", 1), ("mine~2", 0), ("v1", 1), ("origin/main", 0), ("mine@{0}", 2)]
)
def test_usual_names_are_resolved(tmp_path: Path, commits: list[str], git: Git, name: str, nth: int) -> None:
    git("tag", "-a", "-m", "x", "v1", commits[1])
    assert find_base(tmp_path, name).commit == commits[nth]


@pytest.mark.parametrize("name", ["", "--output=x", "a..b", "nothing", "HEAD:x", "a b", "origin/nothing", "refs/heads/x", "^mine", "-1"])
def test_what_names_no_commit_is_refused(tmp_path: Path, commits: list[str], name: str) -> None:
    with pytest.raises(UsageError, match="commit"):
        find_base(tmp_path, name)


def test_a_replaced_commit_is_not_followed(tmp_path: Path, commits: list[str], git: Git) -> None:
    git("replace", commits[0], commits[2])
    assert find_base(tmp_path, "origin/main").commit == commits[0]
