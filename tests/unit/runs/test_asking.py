"""What happens beside the calls while judges are asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.runs import asking

JUDGE = """
def score(item, metric):
    return 1
"""


@pytest.mark.parametrize(("models", "loaded"), [([], 0), (["first_of_asking"], 1), (["first_of_asking", "second_of_asking"], 1)])
def test_the_libraries_of_the_report_are_loaded_once_a_model_has_answered(
    cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: list[str], loaded: int
) -> None:
    loads: list[bool] = []
    monkeypatch.setattr(asking, "_load_libraries", loads.append)
    monkeypatch.chdir(tmp_path)
    judges = [part for name in models for part in ("--judge", f"python:{name}:score")]
    for name in models:
        (tmp_path / f"{name}.py").write_text(JUDGE, "utf-8")
    done = cli("run", "--langs", "cs", "--judge", "baseline/random", *judges, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert len(loads) == loaded
