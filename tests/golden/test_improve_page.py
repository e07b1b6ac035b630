"""docs/improve.md shows what its commands print, on a copy of the published judgments, and the tables of the simulation."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "improve.md"


@pytest.mark.needs("shared data")
@pytest.mark.parametrize(("name", "data"), [("improve", "alttest"), ("explain", "hanna")])
def test_the_page_shows_what_its_commands_print(
    name: str, data: str, cli: Callable[..., Any], shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "88")  # as the page was made
    shutil.copytree(shared_data / data, tmp_path / data)
    _shows(name, cli, "--card", data)


@pytest.mark.needs("shared data")
def test_the_page_shows_six_recorded_judges_by_price(
    cli: Callable[..., Any], shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "88")  # as the page was made
    shutil.copytree(shared_data / "alttest", tmp_path / "alttest")
    command = _shows("accept alttest", cli, "--card", "alttest")
    every = json.loads(cli(*command[: command.index("--where")], "--card", "alttest", "--json").out)
    metrics = [each["metric"] for each in every["cascades"] if each["upper"] is not None]
    assert "four of twelve metrics get a chain" in PAGE.read_text("utf-8") and len(every["cascades"]) == 12
    assert metrics == ["consistency", "food", "noise", "service"]


def _shows(name: str, cli: Callable[..., Any], *more: str) -> list[str]:
    """Run the command of the page that begins with this name, compare, and return its arguments."""
    [(command, shown)] = re.findall(rf"```console\n\$ harness ({name} .+)\n((?:.*\n)*?)```", PAGE.read_text("utf-8"))
    done = cli(*shlex.split(command), *more)
    assert done.code == 0, done.err
    printed = [line.rstrip() for line in done.out.splitlines() if not line.startswith("signature")]
    expected = shown.rstrip("\n").splitlines()
    assert printed[: len(expected) - 1] == expected[:-1] if expected[-1] == "…" else printed == expected
    return shlex.split(command)
