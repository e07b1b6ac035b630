"""docs/replications.md shows what its commands print; `python docs/make_replications.py DATA` writes them anew."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "replications.md").read_text("utf-8")
BLOCKS = re.findall(r"```console\n\$ harness ((?:compare|labels check) .+)\n((?:.*\n)*?)```", PAGE)


def test_the_page_has_blocks() -> None:
    assert len(BLOCKS) >= 4


@pytest.mark.needs("shared data")
@pytest.mark.parametrize(("command", "shown"), BLOCKS, ids=[command[:40] for command, _ in BLOCKS])
def test_a_block_is_what_its_command_prints(
    cli: Callable[..., Any], shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, shown: str
) -> None:
    for folder in shared_data.iterdir():
        (tmp_path / folder.name).symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    done = cli(*shlex.split(command))
    assert done.code == 0, done.err
    assert [line.rstrip() for line in done.out.strip("\n").splitlines()] == shown.splitlines()
