"""`harness check`, `new`, `list` and `doctor` as an author of content uses them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
BROKEN_TASK = 'id = "limerick"\nversion = "1"\n'


def test_the_bundled_content_is_in_order(command: Cli) -> None:
    done = command("check")
    assert (done.returncode, done.stdout) == (0, ""), done.stdout
    assert "all content is in order" in done.stderr


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A content folder with a task whose version is none."""
    folder = tmp_path / "content"
    (folder / "tasks" / "limerick").mkdir(parents=True)
    (folder / "tasks" / "limerick" / "task.toml").write_text(BROKEN_TASK, encoding="utf-8")
    (folder / "tasks" / "limerick" / "CARD.md").write_text("# Limerick\n", encoding="utf-8")
    return folder


def test_a_broken_file_is_named_with_its_line(cli: Cli, broken: Path) -> None:
    done = cli("check", "--content", broken)
    assert done.code == 1
    [line] = [line for line in done.out.splitlines() if str(broken) in line]
    assert line.startswith(f"{broken / 'tasks' / 'limerick' / 'task.toml'}:2: ")
    assert "1 problem" in done.err and "Traceback" not in done.err


def test_problems_for_programs_are_json(cli: Cli, broken: Path) -> None:
    done = cli("check", "--content", broken, "--json")
    assert done.code == 1
    [problem] = [problem for problem in json.loads(done.out) if str(broken) in problem["path"]]
    assert problem["line"] == 2 and problem["message"]


NEW = {
    "language": ("ko", "languages/ko/pack.toml"),
    "task": ("limerick", "tasks/limerick/task.toml"),
    "rubric": ("wit", "rubrics/wit.toml"),
}


@pytest.mark.parametrize("kind", NEW)
def test_new_content_is_started_once(cli: Cli, kind: str, tmp_path: Path, refused: Callable[..., None]) -> None:
    name, main = NEW[kind]
    folder = tmp_path / "content"
    done = cli("new", kind, name, "--into", folder)
    assert done.code == 0, done.err
    made = sorted(Path(line) for line in done.out.splitlines())
    assert made == sorted(path for path in folder.rglob("*") if path.is_file()) and folder / main in made
    before = {path: path.read_bytes() for path in made}
    refused(cli("new", kind, name, "--into", folder), 2, name)
    assert {path: path.read_bytes() for path in made} == before


def test_new_content_is_known_at_once_and_checked_until_it_is_written(cli: Cli, tmp_path: Path) -> None:
    cli("new", "language", "ko", "--into", tmp_path)
    cli("new", "task", "limerick", "--into", tmp_path)
    assert any(line.startswith("ko ") and "한국어" in line for line in cli("list", "languages", "--content", tmp_path).out.splitlines())
    done = cli("check", "--content", tmp_path)
    assert done.code == 1 and str(tmp_path) in done.out


@pytest.mark.parametrize(("kind", "name"), [("language", "jp"), ("language", "../ko"), ("task", "../x"), ("task", ""), ("rubric", "a b")])
def test_new_content_with_a_name_that_can_be_none_is_refused(
    cli: Cli, kind: str, name: str, tmp_path: Path, refused: Callable[..., None]
) -> None:
    folder = tmp_path / "content"
    refused(cli("new", kind, name, "--into", folder), 2)
    assert list(tmp_path.rglob("*.toml")) == []


LISTED = {
    "languages": "日本語",
    "tasks": "open_prompt@",
    "rubrics": "hallucination@",
    "boards": "controls-full@",
    "judges": "baseline/majority",
}


@pytest.mark.parametrize("kind", LISTED)
def test_lists_hold_what_there_is(cli: Cli, kind: str) -> None:
    assert LISTED[kind] in cli("list", kind).out
    assert LISTED[kind] in cli("list", kind, "--json").out
    assert len(json.loads(cli("list", kind, "--json").out)) == len(cli("list", kind).out.splitlines())


def test_the_doctor_shows_whether_keys_are_set_and_never_what_they_are(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-4711-secret")
    for words in ((), ("--json",)):
        done = cli("doctor", *words)
        assert done.code == 0
        assert "4711" not in done.out + done.err
    facts = json.loads(done.out)
    assert facts["environment"]["OPENAI_API_KEY"] == "set" and facts["environment"]["HF_TOKEN"] == "not set"
    assert facts["packages"]["openai"] and facts["folders"]["models"]


def test_the_doctor_says_how_to_fetch_a_model_and_fetches_none(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    assert "not here: harness models pull smollm2-135m" in cli("doctor").out
    assert list(tmp_path.iterdir()) == []


def test_a_check_says_where_the_content_of_this_folder_was_not_read(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "--content" not in cli("check").err
    assert cli("new", "rubric", "tone").code == 0
    assert "that of this folder: harness check --content .\n" in cli("check").err
    assert "that of this folder" not in cli("check", "--content", ".").err
