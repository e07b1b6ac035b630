"""The guarded test of a gap against a margin, computed elsewhere: `harness.stats.intervals.intervals` is the core that reproduces it.

The file is not part of the project: without it these tests are skipped.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.stats.core.groups import group_sums
from harness.stats.intervals.intervals import HallMean
from harness.stats.intervals.noninferiority import guarded_mean

pytestmark = pytest.mark.needs("shared data")

CASES = ("verdict/cell-single", "verdict/cell-groups", "verdict/cell-sparse", "verdict/cell-poor", "verdict/no-difference")


@pytest.fixture(scope="module")
def cases(shared_data: Path) -> dict[str, Any]:
    listed = json.loads((shared_data / "decision_fixtures" / "fixtures.json").read_text("utf-8"))["cases"]
    return {case["id"]: case for case in listed}


def guarded(case: dict[str, Any], margin: float) -> HallMean:
    """A whole item that the judge lost, the floor that the margin gives the variance, and the plain degrees of freedom."""
    differences = case["expected"].get("differences") or case["inputs"]["differences"]
    sums = group_sums(np.asarray(differences, float), case["inputs"]["group"])
    return guarded_mean(sums, variance="cr1").at(margin)


@pytest.mark.parametrize("name", CASES)
def test_the_guarded_test_of_a_margin(cases: dict[str, Any], name: str) -> None:
    case = cases[name]
    margins = {key.removeprefix("margin_"): value["guarded"] for key, value in case["expected"].items() if key.startswith("margin_")}
    for margin, wanted in (margins or {"0.1": case["expected"]["guarded"]}).items():
        found = guarded(case, float(margin))
        assert found.mean == pytest.approx(wanted["mean"], rel=1e-8)
        assert found.groups == wanted["groups"]
        assert found.deviation**2 == pytest.approx(max(wanted["variance"], wanted["floor"]), rel=1e-8)
        assert found.skewness == pytest.approx(wanted["skewness"], rel=1e-8)
        assert found.statistic(-float(margin)) == pytest.approx(wanted["t"], rel=1e-8)
        assert found.p_above(-float(margin)) == pytest.approx(wanted["p"], rel=1e-8)


@pytest.mark.parametrize("name", CASES)
def test_the_margin_that_would_just_be_shown(cases: dict[str, Any], name: str) -> None:
    """The floor moves with the margin, so the bound is searched for."""
    case = cases[name]
    bound = case["expected"]["lower_95"]
    assert guarded(case, -bound).p_above(bound) == pytest.approx(0.05, rel=1e-6)
