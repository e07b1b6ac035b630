"""docs/production.md shows what the commands of its run-through print; `python docs/make_watch.py DATA` writes them again."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.slow
@pytest.mark.needs("shared data")
def test_the_run_through_finds_the_planted_change(shared_data: Path, tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("make_watch", DOCS / "make_watch.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.simulate(tmp_path, shared_data)
    blocks = module.BLOCK.findall(module.PAGE.read_text("utf-8"))
    assert len(blocks) >= 8
    for command, shown in blocks:
        assert module.printed(command, tmp_path) == shown, command
    text = "".join(shown for _, shown in blocks)
    assert "No change of gpt-4o or of its texts is shown" in text and "gpt-4o has changed: the first alarm was on" in text
