"""The share of a class that a judge finds, against numbers of a separate derivation.

The cases come from the shared data, or from the file that the environment variable HARNESS_RECALL_FIXTURES names.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from harness.stats.intervals.recall_bar import share_found

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = ROOT.parent / "shared" / "data" / "decision_fixtures" / "recall.json"
FIXTURES = Path(os.environ.get("HARNESS_RECALL_FIXTURES", DEFAULT))
CASES: list[dict[str, Any]] = json.loads(FIXTURES.read_text("utf-8"))["cases"] if FIXTURES.is_file() else []


@pytest.mark.needs("shared data")
def test_there_are_cases() -> None:
    assert CASES, f"no cases in {FIXTURES}"


@pytest.mark.needs("shared data")
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    given, expected = case["inputs"], case["expected"]
    share = share_found(given["right"], given["group"])
    computed = {
        "share": share.share,
        "lower": share.lower(given["alpha"]),
        "upper": share.upper(given["alpha"]),
        "cap": share.cap,
        "df": share.freedom,
        "p_above": share.p_above(given["bar"]),
        "p_below": share.p_below(given["bar"]),
    }
    assert computed == {name: value if value is None else pytest.approx(value, abs=case["tolerance"]) for name, value in expected.items()}
