"""docs/gate.md shows what its commands print, and its pipeline files are YAML with the steps that the page promises."""

from __future__ import annotations

import importlib.util
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_shows_the_three_outcomes_as_they_are(cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("make_gate", DOCS / "make_gate.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.simulate(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "88")  # as the page was made
    part = module.PART.search(module.PAGE.read_text("utf-8"))
    assert part
    codes = []
    for program, arguments, shown in module.BLOCK.findall(part[0]):
        if program == "cat":
            assert (tmp_path / arguments).read_text("utf-8") == shown
            continue
        done = cli(*shlex.split(arguments))
        codes.append(done.code)
        assert [line.rstrip() for line in done.out.strip("\n").splitlines()] == shown.splitlines(), done.err
    assert codes == [0, 0, 1, 7]


def test_the_pipelines_run_the_gate_and_keep_its_report() -> None:
    yaml = pytest.importorskip("yaml")
    github = yaml.safe_load((DOCS / "gate" / "github-workflow.yml").read_text("utf-8"))
    steps = github["jobs"]["gate"]["steps"]
    assert any("harness gate" in step.get("run", "") and "--junit gate.xml" in step["run"] for step in steps)
    assert [step["with"]["path"] for step in steps if "upload-artifact" in step.get("uses", "")] == ["gate.xml"]
    gitlab = yaml.safe_load((DOCS / "gate" / "gitlab-job.yml").read_text("utf-8"))["judge-gate"]
    assert gitlab["artifacts"]["reports"] == {"junit": "gate.xml"} and gitlab["allow_failure"] == {"exit_codes": [7]}
    assert any("harness gate" in line for line in gitlab["script"])
