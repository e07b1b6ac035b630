"""Importing the statistics loads numpy and nothing heavy."""

from __future__ import annotations

import subprocess
import sys


def test_importing_is_numpy_only() -> None:
    heavy = ("scipy", "statsmodels", "sklearn", "pandas")
    code = f"import sys, harness.stats; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
