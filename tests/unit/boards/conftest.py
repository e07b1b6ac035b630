"""A board of few calls, and submissions to it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.api import run
from harness.boards.check import whole_board
from harness.boards.submit import About, submit
from harness.protocol import Prepared, RunSpec
from harness.runner import RunResult

BOARD = """id = "mini"
version = "1.0.0"
title = "Mini (constructed labels)"
description = "Three texts in two languages."
data = "bundled"
variants = ["single"]
temperature = 0
repeats = 2
majority = "drop"
annotators = ""
statistics = ["pa_failed_wrong"]
rank_by = "pa_failed_wrong"
[tasks]
open_prompt = "1.0.0"
[rubrics]
linguistic_acceptability = "1.0.0"
task_quality = "1.0.0"
[languages]
cs = "1.0.0"
en = "1.0.0"
[items]
cs = ["cs-op-1-partly-on-task", "cs-op-2-fluent", "cs-op-3-small-errors"]
en = ["en-op-1-partly-on-task", "en-op-2-fluent", "en-op-3-small-errors"]
"""
BASELINES = ("baseline/majority", "baseline/random", "baseline/length")


@pytest.fixture(scope="session")
def content(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A content folder with the board."""
    folder = tmp_path_factory.mktemp("content")
    board = folder / "leaderboards" / "mini"
    board.mkdir(parents=True)
    (board / "board.toml").write_text(BOARD, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def mini(content: Path) -> Prepared:
    return whole_board("mini", [content])


@pytest.fixture(scope="session")
def result(content: Path, tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    """A run of several baselines on it."""
    return run(RunSpec(board="mini", content=(content,), judges=BASELINES), tmp_path_factory.mktemp("results"))


@pytest.fixture
def submitted(result: RunResult, tmp_path: Path) -> Callable[..., list[Path]]:
    """The folders of the run's submissions, anew for each test."""

    def write(about: About = About(), *judges: str) -> list[Path]:  # noqa: B008 (frozen)
        into = tmp_path / "into"
        into.mkdir(exist_ok=True)
        out = result.folder.parent.parent
        found = submit(result, out, "mini", about if about.into else About(into=into), judges)
        return [one.folder for one in found]

    return write
