"""Commands take a run as its name, the beginning of it, the path of its folder, or a file in it: every command in the same way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
COMMANDS = {
    "report": ("report", "{}", "--json"),
    "compare": ("compare", "{}", "--json"),
    "correct": ("correct", "{}", "--json"),
    "submit": ("submit", "{}", "--board", "controls"),
    "collect": ("batch", "collect", "{}"),
}

CODES = {"submit": 2, "correct": 2}  # the board asks more; the items of the run are no random sample


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder with one small run."""
    from harness.api import run
    from harness.runs import RunSpec

    folder = tmp_path_factory.mktemp("kept") / "results"
    run(RunSpec(languages=("cs",), tasks=("open_prompt",), judges=("baseline/majority", "baseline/random")), folder)
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_a_run_is_found_by_name_and_by_path(cli: Cli, out: Path, command: str) -> None:
    [folder] = (out / "runs").iterdir()
    ways = [(folder.name, "--out", out), (folder.name[:6], "--out", out), (folder,), (folder / "run.json",)]
    shown = [cli(*(word.format(way[0]) for word in COMMANDS[command]), *way[1:]) for way in ways]
    assert len(set(shown)) == 1, shown
    assert shown[0].code == CODES.get(command, 0) and "no run" not in shown[0].err, shown[0]


def test_a_path_without_a_run_is_explained(cli: Cli, out: Path, tmp_path: Path) -> None:
    done = cli("correct", tmp_path / "nothing", "--out", out)
    assert done.code == 2 and "no run" in done.err
    done = cli("correct", tmp_path / "nothing", "--out", tmp_path)
    assert done.code == 2 and "not a data folder or a run's folder" in done.err
