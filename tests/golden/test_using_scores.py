"""docs/using-scores.md shows what its commands print and what its Python returns; `python docs/make_using_scores.py` writes it anew."""

from __future__ import annotations

import doctest
import importlib.util
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_is_what_its_commands_print(cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location("make_using_scores", DOCS / "make_using_scores.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.simulate(tmp_path / "answers")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "88")  # as the page was made
    part = module.PART.search(module.PAGE.read_text("utf-8"))
    assert part
    blocks = module.BLOCK.findall(part[0])
    assert [command.split()[0] for command, _ in blocks] == ["correct", "accept", "certify", "certify"]
    for command, shown in blocks:
        done = cli(*shlex.split(command))
        assert done.code == 0, done.err
        assert [line.rstrip() for line in done.out.strip("\n").splitlines()] == shown.splitlines()
    found = doctest.testfile(str(module.PAGE), module_relative=False, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert found.failed == 0 and found.attempted > 5
