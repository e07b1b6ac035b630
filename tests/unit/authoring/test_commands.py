"""`harness new` writes where the author is, and `harness check --accept` accepts nothing while something is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]


@pytest.mark.parametrize(("kind", "name", "file"), [("language", "ko", "languages/ko/pack.toml"), ("rubric", "tone", "rubrics/tone.toml")])
def test_new_content_is_written_here(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, name: str, file: str) -> None:
    monkeypatch.chdir(tmp_path)
    done = cli("new", kind, name)
    assert (done.code, done.out.splitlines()[0]) == (0, file) and (tmp_path / file).is_file()
    assert "harness check --content . says what is missing" in done.err


def test_a_language_says_first_what_a_whole_pack_takes(cli: Cli, tmp_path: Path) -> None:
    done = cli("new", "language", "ko", "--into", tmp_path)
    assert done.err.startswith("A full pack is 18 texts (3 tasks, 6 texts each) in 6 versions (the text, and 5 with one defect each)")
    assert cli("check", "--content", tmp_path).code == 0


def test_a_rubric_says_that_a_task_has_to_list_it(cli: Cli, tmp_path: Path) -> None:
    assert "add 'tone' to 'metrics' of a tasks/<task>/task.toml" in cli("new", "rubric", "tone", "--into", tmp_path).err
    assert "no task lists 'tone'" in cli("check", "--content", tmp_path).out


def test_inside_a_checkout_new_content_belongs_to_the_checkout(
    cli: Cli, root: Path, monkeypatch: pytest.MonkeyPatch, edit: Callable[[Path, str, str], None]
) -> None:
    monkeypatch.chdir(root / "tasks")
    assert cli("new", "language", "ko").code == 0 and (root / "languages/ko/pack.toml").is_file()
    lock = (root / "content.lock").read_bytes()
    edit(root / "languages/ko/pack.toml", 'script = "Kore"', 'script = "Latn"')
    refused = cli("check", "--accept", "--content", root)
    assert refused.code == 1 and refused.out.count("\n") == 1 and "script 'Latn'" in refused.out
    assert refused.err == "1 problem; nothing was accepted: mend them first\n"
    assert (root / "content.lock").read_bytes() == lock
    edit(root / "languages/ko/pack.toml", 'script = "Latn"', 'script = "Kore"')
    assert cli("check", "--accept", "--content", root).code == 0
    assert b"languages/ko 0.1.0 " in (root / "content.lock").read_bytes()
