"""The decision layer against numbers that other libraries or separate derivations gave.

The cases come from the shared data, or from the file that the environment variable HARNESS_FIXTURES names. Each is checked by the function
with the longest prefix of its id; a case that nothing checks fails.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.golden.decision_values import assert_equal

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = ROOT.parent / "shared" / "data" / "decision_fixtures" / "fixtures.json"
FIXTURES = Path(os.environ.get("HARNESS_FIXTURES", DEFAULT))
MODULES = [name for name in ("decisions_a", "decisions_b", "decisions_verdict") if find_spec(f"tests.golden.{name}")]
CASES: list[dict[str, Any]] = json.loads(FIXTURES.read_text("utf-8"))["cases"] if FIXTURES.is_file() else []


@pytest.fixture(scope="module")
def checks() -> dict[str, Callable[[dict[str, Any], Path], None]]:
    return {prefix: check for name in MODULES for prefix, check in importlib.import_module(f"tests.golden.{name}").CHECKS.items()}


@pytest.mark.needs("shared data")
def test_there_are_cases() -> None:
    assert CASES, f"no cases in {FIXTURES}"


@pytest.mark.needs("shared data")
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: dict[str, Any], checks: dict[str, Callable[[dict[str, Any], Path], None]], shared_data: Path) -> None:
    prefixes = [prefix for prefix in checks if case["id"].startswith(prefix)]
    assert prefixes, f"nothing checks {case['id']}"
    checks[max(prefixes, key=len)](case, shared_data)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (1.1, 1.0),
        (0.0, None),
        (float("nan"), 1.0),
        ([1.0], [1.0, 2.0]),
        ({"a": 1.0}, {"b": 1.0}),
        (True, False),
        ({"a": [1.0]}, {"a": [2.0]}),
    ],
)
def test_the_comparison_can_fail(found: Any, expected: Any) -> None:
    with pytest.raises(AssertionError):
        assert_equal(found, expected, 1e-6)
