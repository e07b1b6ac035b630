"""The pages of docs show what their commands print; `python docs/make_blocks.py DATA` writes them again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = "compare|labels check|labels needed|correct|accept|certify|study"
BLOCK = re.compile(rf"```console\n\$ harness ((?:{COMMANDS}) .+)\n((?:.*\n)*?)```")
BLOCKS = {page.stem: BLOCK.findall(page.read_text("utf-8")) for page in sorted((ROOT / "docs").glob("*.md"))}
del BLOCKS["using-scores"]  # its data are simulated; test_using_scores.py runs its blocks
EVERY = [(page, *block) for page, blocks in BLOCKS.items() for block in blocks]


@pytest.mark.parametrize(("page", "fewest"), [("replications", 4), ("decisions", 2)])
def test_a_page_has_blocks(page: str, fewest: int) -> None:
    assert len(BLOCKS[page]) >= fewest


@pytest.mark.slow
@pytest.mark.needs("shared data")
@pytest.mark.parametrize(("page", "command", "shown"), EVERY, ids=[f"{page}-{command[:40]}" for page, command, _ in EVERY])
def test_a_block_is_what_its_command_prints(
    cli: Callable[..., Any], shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str, command: str, shown: str
) -> None:
    for folder in shared_data.iterdir():
        (tmp_path / folder.name).symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    done = cli(*shlex.split(command))
    assert done.code == 0, done.err
    assert [line.rstrip() for line in done.out.strip("\n").splitlines()] == shown.splitlines()
