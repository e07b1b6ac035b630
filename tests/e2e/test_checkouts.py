"""A contributor's checkout is checked by a program that is installed elsewhere: its boards are read, and its code is not run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.content.library import bundled_root

pytestmark = pytest.mark.slow  # another installation and whole checkouts

OK, FOUND, USAGE = 0, 1, 2


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Another copy of the project whose code must not be run, as a git repository with the branch main checked out."""
    folder = tmp_path / "contributor"
    for kind in ("tasks", "languages", "rubrics", "catalog", "leaderboards"):
        shutil.copytree(bundled_root() / kind, folder / kind, ignore=shutil.ignore_patterns("submissions"))
    shutil.copy(bundled_root() / "content.lock", folder)
    (folder / "harness").mkdir()
    (folder / "harness" / "__init__.py").write_text('raise SystemExit("code of the checkout was run")\n', encoding="utf-8")
    _git(folder, "init", "-q", "-b", "main")
    _commit(folder)
    return folder


def _git(folder: Path, *arguments: str) -> None:
    names = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True)


def _commit(folder: Path) -> None:
    _git(folder, "add", "-A")
    _git(folder, "commit", "-qm", "Change")


def _installed(folder: Path, *arguments: str) -> Any:
    """The installed command, run in another folder; `-P` keeps that folder's modules out, as the installed script does."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "harness", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )


def test_a_contributors_checkout_is_checked_by_another_installation(checkout: Path, cli: Callable[..., Any], out: Path) -> None:
    assert cli("run", "--judge", "baseline/majority", "--out", out).code == OK
    assert cli("submit", "controls", "--board", "controls", "--out", out, "--into", checkout).code == OK
    _git(checkout, "switch", "-qc", "submit")
    _commit(checkout)
    done = _installed(checkout, "board", "check", "--changed", "main", "--content", ".")
    assert (done.returncode, done.stdout) == (OK, ""), done.stderr
    assert "controls/baseline-majority: baseline/majority" in done.stderr and "2 files changed" in done.stderr
    card = checkout / "leaderboards" / "controls" / "submissions" / "baseline-majority" / "judge.toml"
    card.write_text(card.read_text("utf-8").replace("learnt_from", "learnt"), encoding="utf-8")
    (checkout / "harness" / "judges.py").write_text("", encoding="utf-8")
    _commit(checkout)
    done = _installed(checkout, "board", "check", "--changed", "main", "--content", ".", "--json")
    assert done.returncode == FOUND
    said = [problem["message"] for problem in json.loads(done.stdout)["problems"]]
    assert any("a change with a submission may hold nothing else" in message for message in said)
    assert any("on this board baseline/majority has the settings" in message for message in said)


def test_a_language_of_a_checkout_is_written_and_checked_there(checkout: Path) -> None:
    """`new` writes into the checkout around, and the `check` that it names reads it; nothing is accepted while a problem stands."""
    told = _installed(checkout / "rubrics", "new", "language", "ko").stderr
    assert told.splitlines()[-1] == "harness check says what is missing"
    found = _installed(checkout / "rubrics", "check")
    assert (
        found.returncode == FOUND and "languages/ko is new, not in content.lock" in found.stdout and "(to be written)" not in found.stdout
    )
    assert _installed(checkout, "check", "--accept").returncode == OK
    assert "languages/ko" in (checkout / "content.lock").read_text("utf-8")
    assert _installed(checkout, "new", "rubric", "tone").returncode == OK
    refused = _installed(checkout, "check", "--accept")
    assert refused.returncode == FOUND and "no task lists 'tone'" in refused.stdout and "nothing was accepted" in refused.stderr
    assert "rubrics/tone" not in (checkout / "content.lock").read_text("utf-8")


def test_a_checkout_is_read_in_the_place_of_the_bundled_content(checkout: Path) -> None:
    shutil.rmtree(checkout / "rubrics")
    done = _installed(checkout, "list", "rubrics", "--content", ".", "--json")
    assert done.returncode == OK and json.loads(done.stdout) == []


def test_commands_about_boards_read_the_checkout_that_they_are_called_in(
    checkout: Path, cli: Callable[..., Any], out: Path, tmp_path: Path
) -> None:
    """Without a flag: `submit` writes into that checkout, and `board check` reads it, from any of its folders."""
    assert cli("run", "--judge", "baseline/majority", "--out", out).code == OK
    done = _installed(checkout / "rubrics", "submit", "controls", "--board", "controls", "--out", str(out))
    written = checkout / "leaderboards" / "controls" / "submissions" / "baseline-majority"
    assert done.returncode == OK and str(written) in done.stdout and (written / "judge.toml").is_file(), done.stderr
    done = _installed(checkout / "languages", "board", "check")
    assert done.returncode == OK and f"content: that of the checkout {checkout}\n" in done.stderr
    assert "1 submissions, no problems" in done.stderr
    (written / "judge.toml").write_text("", encoding="utf-8")
    assert _installed(checkout, "board", "check").returncode == FOUND
    shutil.rmtree(written)
    done = _installed(checkout, "board", "check", "controls")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (OK, f"no submissions in {checkout / 'leaderboards'}")
    shutil.rmtree(checkout / "leaderboards" / "controls")
    done = _installed(checkout, "submit", "controls", "--board", "controls", "--out", str(out))
    assert done.returncode == USAGE and "has no board 'controls'" in done.stderr


def test_another_content_folder_does_not_hide_the_checkout(checkout: Path, tmp_path: Path) -> None:
    more = tmp_path / "more" / "tasks"
    more.mkdir(parents=True)
    done = _installed(checkout, "board", "check", "--content", str(more.parent))
    assert done.returncode == OK and f"no submissions in {checkout / 'leaderboards'}" in done.stderr
