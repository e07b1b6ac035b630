"""A board of few calls, and submissions to it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.api import run
from harness.boards.board import whole_board
from harness.boards.submission_options import SubmitterStatement
from harness.boards.submit import submit
from harness.runs import Prepared, RunResult, RunSpec

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
linguistic_acceptability = "1.0.1"
task_quality = "1.0.1"
[languages]
cs = "2.1.0"
en = "2.1.0"
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
    """Writes the run's submissions, for each test again, and returns their folders."""

    def write(about: SubmitterStatement = SubmitterStatement(), *judges: str) -> list[Path]:  # noqa: B008 (frozen)
        into = tmp_path / "into"
        into.mkdir(exist_ok=True)
        out = result.folder.parent.parent
        written = submit(result, out, "mini", about if about.into else SubmitterStatement(into=into), judges)
        return [one.folder for one in written]

    return write
