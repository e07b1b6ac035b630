"""Calibrated scores and label sets against numbers of separate derivations.

The cases come from the shared data, or from the file that the environment variable HARNESS_CALIBRATION_FIXTURES names. Each is checked by
the function with the longest prefix of its id among `CHECKS` of the modules `calibration_*.py` of this folder; a case that nothing checks
fails.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.golden.decision_values import assert_equal

HERE = Path(__file__).resolve().parent
DEFAULT = HERE.parents[2] / "shared" / "data" / "calibration_fixtures" / "fixtures.json"
FIXTURES = Path(os.environ.get("HARNESS_CALIBRATION_FIXTURES", DEFAULT))
Check = Callable[[dict[str, Any]], Any]
CHECKS: dict[str, Check] = {}
for module in sorted(HERE.glob("calibration_*.py")):
    CHECKS |= importlib.import_module(f"tests.golden.{module.stem}").CHECKS
ALL: list[dict[str, Any]] = json.loads(FIXTURES.read_text("utf-8"))["cases"] if FIXTURES.is_file() else []


def _check_of(name: str) -> Check | None:
    prefixes = [prefix for prefix in CHECKS if name.startswith(prefix)]
    return CHECKS[max(prefixes, key=len)] if prefixes else None


@pytest.mark.needs("shared data")
def test_there_are_cases() -> None:
    assert ALL, f"no cases in {FIXTURES}"


@pytest.mark.needs("shared data")
@pytest.mark.parametrize("case", ALL, ids=[case["id"] for case in ALL])
def test_case(case: dict[str, Any]) -> None:
    check = _check_of(case["id"])
    assert check, f"nothing checks {case['id']}"
    found = check(case["inputs"])
    assert_equal(found, case["expected"], case["tolerance"])
    _assert_all_are_there(found, case["expected"])


def _assert_all_are_there(found: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        assert set(expected) <= set(found), f"not checked: {sorted(set(expected) - set(found))}"
        for name in expected:
            _assert_all_are_there(found[name], expected[name])
    elif isinstance(expected, list):
        for one, other in zip(found, expected, strict=True):
            _assert_all_are_there(one, other)
