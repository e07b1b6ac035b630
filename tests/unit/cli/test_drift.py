"""Drift: two runs of one name, the second made later, are compared with each other on the same items."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

JUDGE = "version = 1\nfrom pathlib import Path\ndef score(item):\n    return 1 if Path('drifted').exists() else 2\n"


def test_the_same_questions_asked_later_are_compared_with_the_first_answers(
    cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("drifting_judge.py").write_text(JUDGE, "utf-8")
    asked = ("run", "--langs", "cs", "--metrics", "task_quality", "--judge", "python:drifting_judge:score")
    assert cli(*asked).code == 0
    shutil.copytree("results", "before")
    Path("drifted").touch()
    assert cli(*asked, "--fresh").code == 0
    [name] = [path.name for path in Path("results/runs").iterdir()]
    new, old = f"results/runs/{name}", f"before/runs/{name}"
    done = cli("compare", new, "--versus", f"source={old}", "--json")
    assert done.code == 0, done.err
    cells = json.loads(done.out)["cells"]
    assert {cell["source"] for cell in cells} == {new, old}
    drifted = [cell["versus"] for cell in cells if cell["source"] == new]
    assert drifted and all(each["with"] == old and each["n"] > 0 and each["diff"] is not None for each in drifted)
    same = cli("compare", new, old, "--versus", f"source={old}", "--json")
    assert json.loads(same.out)["cells"] == cells
