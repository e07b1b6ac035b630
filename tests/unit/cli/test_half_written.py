"""Commands that write several files write all of them or none: a full disk or Ctrl-C in between leaves no part behind."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import write_rows

Cli = Callable[..., Any]
COMMANDS = {
    "pages": ("labels", "page", "data", "--annotators", "2", "--out", "new"),
    "language": ("new", "language", "sk", "--into", "new"),
    "promptfoo": ("export", "promptfoo-judge", "--judge", "openai/m", "--task", "open_prompt", "--metric", "task_quality", "--to", "new"),
    "Label Studio": ("labels", "export", "data", "--to", "new/tasks.json"),
}

ABOUT = """\
id = "made"
title = "Made"
[metrics.task_quality]
kind = "ordinal"
classes = [0, 1]
best = 1
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with data of two texts and a made board."""
    monkeypatch.chdir(tmp_path)
    items = [{"item_id": f"i{i}", "language": "cs", "task": "open_prompt", "prompt": "Kdo?", "output": f"Já {i}."} for i in range(2)]
    write_rows(tmp_path / "data" / "items.jsonl", items)
    (tmp_path / "data" / "data.toml").write_text(ABOUT)
    write_rows(tmp_path / "data" / "labels.jsonl", [{"item_id": "i0", "annotator_id": "a", "metric": "task_quality", "score": 1}])
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    ("what", "code"), [(OSError(errno.ENOSPC, "No space left on device"), 5), (KeyboardInterrupt(), 130)], ids=["full disk", "Ctrl-C"]
)
def test_all_files_or_none(cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch, name: str, what: BaseException, code: int) -> None:
    before = sorted(place.rglob("*"))
    flush, written = os.fsync, []

    def fill(handle: int) -> None:
        written.append(handle)
        if len(written) == 2:
            raise what
        flush(handle)

    monkeypatch.setattr(os, "fsync", fill)
    done = cli(*COMMANDS[name])
    assert (done.code, len(written)) == (code, 2), done.err
    assert sorted(place.rglob("*")) == before
    monkeypatch.setattr(os, "fsync", flush)
    assert cli(*COMMANDS[name]).code == 0
