"""docs/improve.md shows what its commands print, on a copy of the published judgments, and the tables of the simulation."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cascade_folder import cascade_folder

PAGE = Path(__file__).resolve().parents[2] / "docs" / "improve.md"


@pytest.mark.needs("shared data")
@pytest.mark.parametrize(("name", "data"), [("improve", "alttest"), ("explain", "hanna")])
def test_the_page_shows_what_its_commands_print(
    name: str, data: str, cli: Callable[..., Any], shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(shared_data / data, tmp_path / data)
    _shows(name, cli, "--card", data)


def test_the_page_shows_the_invented_cascade(cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cascade_folder(tmp_path / "invented")
    _shows("accept", cli)


def _shows(name: str, cli: Callable[..., Any], *more: str) -> None:
    [(command, shown)] = re.findall(rf"```console\n\$ harness ({name} .+)\n((?:.*\n)*?)```", PAGE.read_text("utf-8"))
    done = cli(*shlex.split(command), *more)
    assert done.code == 0, done.err
    printed = [line.rstrip() for line in done.out.splitlines() if not line.startswith("signature")]
    assert printed == shown.rstrip("\n").splitlines()
