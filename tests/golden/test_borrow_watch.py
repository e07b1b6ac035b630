"""Borrowed strength against numbers of separate derivations."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.golden.calibration_borrow import CHECKS
from tests.golden.decision_values import assert_equal

DEFAULT = Path(__file__).resolve().parents[3] / "shared" / "data" / "calibration_fixtures" / "fixtures.json"
FIXTURES = Path(os.environ.get("HARNESS_CALIBRATION_FIXTURES", DEFAULT))
CASES: list[dict[str, Any]] = json.loads(FIXTURES.read_text("utf-8"))["cases"] if FIXTURES.is_file() else []
OURS = [case for case in CASES if any(case["id"].startswith(prefix) for prefix in CHECKS)]


@pytest.mark.needs("shared data")
@pytest.mark.parametrize("case", OURS, ids=[case["id"] for case in OURS])
def test_case(case: dict[str, Any]) -> None:
    prefix = max((prefix for prefix in CHECKS if case["id"].startswith(prefix)), key=len)
    assert_equal(CHECKS[prefix](case["inputs"]), case["expected"], case["tolerance"])
