"""docs/recipes.md: ten recipes of at most five lines, whose commands and cells run in the order of the page; so do those of docs/faq.md."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.fixture
def start_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a copy of the folder with the example tables."""
    folder = tmp_path / "start"
    shutil.copytree(DOCS / "start", folder)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    return folder


def test_there_are_ten_recipes_of_at_most_five_lines() -> None:
    recipes = (DOCS / "recipes.md").read_text("utf-8").split("\n## ")[1:]
    assert len(recipes) == 10
    for recipe in recipes:
        [(_, lines)] = BLOCK.findall(recipe)
        assert 1 <= len(lines.splitlines()) <= 5, recipe


@pytest.mark.parametrize("page", ["recipes", "faq"])
def test_the_commands_of_a_page_run(page: str, start_folder: Path, cli: Callable[..., Any]) -> None:
    blocks = BLOCK.findall((DOCS / f"{page}.md").read_text("utf-8"))
    assert blocks
    for language, lines in blocks:
        if language == "python":
            exec(lines, {})
            continue
        for line in lines.splitlines():
            program, *words = shlex.split(line)
            done = cli(*words)
            assert program == "harness" and done.code == 0, f"{line}\n{done.err}"
    assert page != "recipes" or {"answer.html", "pages", "gate.toml"} <= {path.name for path in start_folder.iterdir()}
