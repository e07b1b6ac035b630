"""Prompts are guidance programs, and guidance takes seconds to import: commands that ask nothing never import it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

RUN = "run --langs ja --judge baseline/length --out results"
SILENT = ["list judges", "check", "report --out results", "report --csv --out results", RUN, "compare {run}", "store check --out results"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a run is finished."""
    folder = tmp_path_factory.mktemp("finished")
    subprocess.run([sys.executable, "-m", "harness", *RUN.split()], cwd=folder, capture_output=True, check=True)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("command", SILENT)
def test_a_command_that_asks_nothing_imports_no_guidance(finished: Path, command: str) -> None:
    [run] = (finished / "results" / "runs").iterdir()
    words = command.format(run=run.relative_to(finished)).split()
    done = subprocess.run([sys.executable, "-X", "importtime", "-m", "harness", *words], cwd=finished, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-1000:]
    assert re.search(r"\| +harness", done.stderr)  # the list of imports is there
    assert not re.search(r"\| +guidance\b", done.stderr)
