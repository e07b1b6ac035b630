"""Held-out labels by the command: sealed, asked about without a label, checked where the key is, opened, and refused in words."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow  # each test makes and runs a board

CANARY = "A canary for tests: these rows should never appear in training corpora, 4d1f"
Cli = Callable[..., Any]
Refused = Callable[..., None]


@pytest.fixture
def owner(make_key: Callable[..., Any]) -> Any:
    return make_key("owner")


@pytest.fixture
def held(own_board: Any, owner: Any, cli: Cli) -> Any:
    flags = ("--labels", own_board.labels, "--recipient", owner.recipient, "--canary", CANARY)
    done = cli("board", "seal", "held", *flags, "--content", own_board.content)
    assert done.code == 0, done.err
    assert "120 labels of 60 items are sealed" in done.out and "no canary in" not in done.out
    return own_board


@pytest.fixture
def ran(held: Any, cli: Cli, endpoint: Any, out: Path) -> str:
    """The name of a run on the sealed board."""
    judge = ("--judge", "openai/tester-2024-01-01", "--base-url", endpoint.url)
    done = cli("run", "--board", "held", "--content", held.content, *judge, "--out", out)
    assert done.code == 0, done.err
    [folder] = (out / "runs").iterdir()
    return folder.name


@pytest.mark.needs("pyrage")
def test_a_run_on_a_sealed_board_says_coverage_and_failures_and_that_labels_are_sealed(
    held: Any, cli: Cli, endpoint: Any, out: Path
) -> None:
    endpoint.script = lambda request: endpoint.saying("I would rather not.") if int(request.key, 16) % 10 == 0 else endpoint.good(request)
    judge = ("--judge", "openai/tester-2024-01-01", "--base-url", endpoint.url)
    done = cli("run", "--board", "held", "--content", held.content, *judge, "--out", out)
    assert done.code == 0, done.err
    assert "The labels of this board are sealed" in done.out
    assert re.search(r"Dutch \(nl\) .* 60 +\d\d +\d\d % +not json *\n +temperature +\d+ *\n +0 *\n", done.out), done.out
    assert "PA" not in done.out
    [folder] = (out / "runs").iterdir()
    report = json.loads((folder / "report.json").read_bytes())
    assert report["cells"] == report["verdicts"] == []
    assert [(row["language"], row["asked"]) for row in report["sealed"]] == [("nl", 60), ("sv", 60)]
    assert report["constructed_labels"] is False
    page = out / "page.html"
    assert cli("report", folder.name, "--out", out, "--html", page).code == 0
    markdown, table = (cli("report", folder.name, "--out", out, form).out for form in ("--md", "--csv"))
    for text in (page.read_text("utf-8"), markdown):
        assert "labels of this board are sealed" in text and "Dutch (nl)" in text.replace("\\", "") and "Nothing was answered" not in text
    assert table.splitlines()[0] == "language,judge,variant,temperature,asked,read,failures,top_p,coverage" and len(table.splitlines()) == 3
    assert cli("report", folder.name, "--out", out, "--latex").code == 2
    again = cli("report", folder.name, "--out", out)
    assert (again.code, again.out) == (0, done.out)


@pytest.mark.needs("pyrage")
def test_a_submission_to_a_sealed_board_is_checked_with_and_without_the_key(ran: str, held: Any, cli: Cli, out: Path, owner: Any) -> None:
    assert cli("submit", ran, "--board", "held", "--out", out).code == 0
    before = held.tree()
    without = cli("board", "check", "held", "--content", held.content)
    assert (without.code, without.out) == (0, "")
    assert "held: the labels are sealed; replies were checked, but numbers need --key FILE" in without.err
    opened = cli("board", "check", "held", "--content", held.content, "--key", owner.file)
    assert opened.code == 0 and "held: the sealed labels match their commitment" in opened.err
    assert held.tree() == before, "labels are read in memory only"


@pytest.mark.needs("pyrage")
def test_every_refusal_is_in_words_ends_with_3_and_leaves_everything_as_it_was(
    held: Any, cli: Cli, owner: Any, make_key: Callable[..., Any], tmp_path: Path, refused: Refused
) -> None:
    check = ("board", "check", "held", "--content", held.content, "--key")
    other, junk = make_key("other"), tmp_path / "junk"
    junk.write_bytes(b"\xff" * 50)
    before = held.tree()
    refused(cli(*check, tmp_path / "none"), 3, "the key cannot be read")
    refused(cli(*check, junk), 3, "not a key file of age", "age-keygen")
    refused(cli(*check, other.file), 3, "not the key of", owner.recipient)
    refused(
        cli("board", "rotate", "held", "--key", other.file, "--recipient", other.recipient, "--content", held.content), 3, "not the key of"
    )
    refused(cli("board", "open", "held", "--key", other.file, "--to", tmp_path / "x", "--content", held.content), 3, "not the key of")
    assert held.tree() == before and not (tmp_path / "x").exists()
    path = held.folder / "labels.age"
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    refused(cli(*check, owner.file), 3, "damaged, or changed since it was sealed")
    path.unlink()
    refused(cli(*check, owner.file), 3, "no labels.age in this folder")
    refused(cli("board", "check", "--key", owner.file), 2, "belong to one board; name the board")


@pytest.mark.needs("pyrage")
def test_opened_labels_are_what_sha256sum_says(held: Any, cli: Cli, owner: Any, tmp_path: Path) -> None:
    done = cli("board", "open", "held", "--key", owner.file, "--to", tmp_path / "opened", "--content", held.content)
    assert done.code == 0, done.err
    text = b"".join((tmp_path / "opened" / name).read_bytes() for name in ("salt.txt", "labels.jsonl"))
    assert f'commitment = "{hashlib.sha256(text).hexdigest()}"' in held.toml.read_text("utf-8")


@pytest.mark.needs("pyrage")
def test_after_a_rotation_the_new_key_opens_and_the_old_one_does_not(
    held: Any, cli: Cli, owner: Any, make_key: Callable[..., Any], refused: Refused
) -> None:
    new = make_key("new")
    done = cli("board", "rotate", "held", "--key", owner.file, "--recipient", new.recipient, "--content", held.content)
    assert done.code == 0 and "earlier copies of it still open with the earlier keys" in done.out
    check = ("board", "check", "held", "--content", held.content, "--key")
    assert cli(*check, new.file).code == 0
    refused(cli(*check, owner.file), 3, "not the key of")


@pytest.mark.needs("pyrage")
def test_standings_of_a_sealed_board_are_made_where_the_key_is(
    ran: str, held: Any, cli: Cli, out: Path, owner: Any, tmp_path: Path, refused: Refused
) -> None:
    assert cli("submit", ran, "--board", "held", "--out", out).code == 0
    where, before = ("--content", held.content), held.tree()
    for command in (("show", "held"), ("build", "held", "--site", tmp_path / "site")):
        refused(cli("board", *command, *where), 2, "labels of the board 'held' are sealed", "--key FILE")
    assert held.tree() == before and not (tmp_path / "site").exists()
    shown = cli("board", "show", "held", *where, "--key", owner.file, "--json")
    assert shown.code == 0, shown.err
    pooled = [table for table in json.loads(shown.out)["tables"] if table["metric"] == "*"]
    assert [table["language"] for table in pooled] == ["nl", "sv"] and all(table["rows"][0]["value"] is not None for table in pooled)
    built = cli("board", "build", "held", *where, "--key", owner.file, "--site", tmp_path / "site")
    assert built.code == 0, built.err
    assert set(held.tree()) - set(before) == {"leaderboards/held/TABLE.md"}
    written = [held.folder / "TABLE.md", *(path for path in (tmp_path / "site").rglob("*") if path.is_file())]
    assert len(written) > 2 and not any(b"annotator_id" in path.read_bytes() for path in written)


@pytest.mark.needs("pyrage")
def test_labels_are_never_said(held: Any, cli: Cli, owner: Any, tmp_path: Path, ran: str, out: Path) -> None:
    """No output of any command, with or without a key, has a label's row; the results folder has none either."""
    where = ("--content", held.content)
    said = [
        cli("board", "check", "held", *where, "--key", owner.file),
        cli("board", "check", "held", *where, "--key", owner.file, "--json"),
        cli("board", "show", "held", *where, "--key", owner.file, "--json"),
        cli("board", "open", "held", "--key", owner.file, "--to", tmp_path / "opened", *where),
        cli("report", ran, "--out", out, "--json"),
    ]
    for result in said:
        assert "annotator_id" not in result.out + result.err
    for path in out.rglob("*"):
        assert not path.is_file() or b"annotator_id" not in path.read_bytes()


def test_without_the_package_it_is_said_what_to_install(
    own_board: Any, cli: Cli, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.boards.sealed_labels.find_spec", lambda name: None)
    flags = ("--labels", own_board.labels, "--recipient", "age1x", "--content", own_board.content)
    refused(cli("board", "seal", "held", *flags), 2, "need the package 'pyrage'", 'pip install "judge-harness[sealed]"')


@pytest.mark.needs("pyrage")
def test_a_sealed_board_in_another_place_can_be_run_by_who_has_no_key(held: Any, command: Cli, tmp_path: Path) -> None:
    copy = shutil.copytree(held.content, tmp_path / "copy")
    done = command("run", "--board", "held", "--content", copy, "--judge", "baseline/constant-best", "--out", tmp_path / "elsewhere")
    assert done.returncode == 0 and "The labels of this board are sealed" in done.stdout
