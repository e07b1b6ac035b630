"""Importing the statistics, or the sections of reports that call them, loads numpy and nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["harness.stats", "harness.reports.sections.section_registry"])
def test_importing_is_numpy_only(module: str) -> None:
    heavy = ("scipy", "statsmodels", "sklearn", "pandas")
    code = f"import sys, {module}; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
