"""The decision table: every rule, their order, and thresholds that are met exactly."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.decide.options import DecisionOptions
from harness.decide.verdict_rule import NOBODY, DecisionInputs, decide, has_enough, passes_controls
from harness.errors import UsageError
from harness.options import fields_named

GOOD = DecisionInputs("native", 200, 200, False, 0.99, 1.0, 0.01, 1.0, 1.0, "random", 1.3)
DEFAULT = DecisionOptions()


def changed(**fields: Any) -> DecisionInputs:
    return msgspec.structs.replace(GOOD, **fields)


@pytest.mark.parametrize(
    ("fields", "verdict", "reason"),
    [
        ({}, "use", ""),
        ({"labels": "people"}, "use", ""),
        ({"labels": "constructed"}, "no verdict", "labels are not native"),
        ({"labels": "mixed"}, "no verdict", "labels are not native"),
        ({"interval": True, "n": 0}, "no verdict", "nobody to compare with"),
        ({"interval": True, "n": 29}, "too few labels", "fewer than 30 items with two annotators"),
        ({"n": 0}, "too few labels", "fewer than 30 items with two annotators"),
        ({"n": 29}, "too few labels", "fewer than 30 items with two annotators"),
        ({"groups": 19}, "too few labels", "fewer than 20 independent texts"),
        ({"one_class": True}, "do not use", "one class for everything"),
        ({"coverage": 0.6, "coverage_upper": 0.79}, "do not use", "fails too often"),
        ({"coverage": 0.6, "coverage_upper": 0.8, "sampling": "unknown"}, "too few labels", "neither is shown"),
        ({"q_use": 0.05}, "use", ""),
        ({"q_use": 0.051}, "use corrected", "as it is: not shown"),
        ({"q_use": 0.5, "q_worse": 0.05}, "use corrected", "as it is: shown worse"),
        ({"q_use": 0.5, "q_worse": 0.05, "gain": 1.09}, "do not use", "shown worse than people by more than the margin"),
        ({"q_use": 0.5, "q_base_worse": 0.05, "sampling": "convenience"}, "do not use", "shown worse than the baseline"),
        ({"coverage": 0.94, "sampling": "unknown"}, "too few labels", "neither is shown"),
    ],
)
def test_the_first_rule_that_applies_decides(fields: dict[str, Any], verdict: str, reason: str) -> None:
    assert decide(changed(**fields), DEFAULT) == (verdict, reason)


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        (DecisionOptions(items=201), "too few labels"),
        (DecisionOptions(groups=201), "too few labels"),
        (DecisionOptions(alpha=0.005), "use corrected"),
        (DecisionOptions(alpha=0.005, gain=1.31), "too few labels"),
        (DecisionOptions(coverage=1.0), "use corrected"),
    ],
)
def test_every_threshold_counts(options: DecisionOptions, verdict: str) -> None:
    assert decide(GOOD, options).verdict == verdict


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_more_evidence_never_takes_a_use_back(q_use: float, smaller: float, coverage: float) -> None:
    cell = changed(q_use=q_use, coverage=coverage, coverage_upper=1.0)
    better = changed(q_use=q_use * smaller, coverage=max(coverage, 0.95), coverage_upper=1.0)
    assert decide(cell, DEFAULT).verdict != "use" or decide(better, DEFAULT).verdict == "use"


@pytest.mark.parametrize(
    ("q_better", "fields", "result"),
    [
        (0.05, {}, "passes"),
        (0.051, {}, "not shown"),
        (0.01, {"coverage": 0.94}, "not shown"),
        (1.0, {"q_base_worse": 0.05}, "fails"),
        (0.01, {"one_class": True}, "fails"),
    ],
)
def test_controls_are_passed_failed_or_neither(q_better: float, fields: dict[str, Any], result: str) -> None:
    assert passes_controls(q_better, changed(labels="constructed", **fields), DEFAULT) == result


def test_enough_is_items_and_groups() -> None:
    assert has_enough(changed(n=30, groups=20), DEFAULT)
    assert not has_enough(changed(n=29, groups=20), DEFAULT) and not has_enough(changed(n=30, groups=19), DEFAULT)


@pytest.mark.parametrize(
    "fields",
    [
        {"margin": 0.0},
        {"margin": 1.0},
        {"alpha": -0.1},
        {"power": 1.0},
        {"coverage": 1.1},
        {"coverage": 0.7},
        {"items": 1},
        {"gain": 0.9},
        {"bar_correlation": 1.5},
    ],
    ids=str,
)
def test_thresholds_that_make_no_sense_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(fields))):
        DecisionOptions(**fields)


def test_all_thresholds_are_in_the_text_of_the_signature() -> None:
    text = str(DecisionOptions(margin=0.05, bar=".9"))
    assert text.startswith("margin=0.05 alpha=0.05 ") and all(
        f"{name}=" in text for name in fields_named(DecisionOptions) if name != "equal_scores"
    )
    assert "equal_scores=own" in str(DecisionOptions(equal_scores="own"))
    assert "bar" not in str(DecisionOptions())  # it moves no verdict that rests on people's agreement
    assert "bar_correlation=0.3" in str(DecisionOptions(bar_correlation=0.3)) and " bar=" not in str(DecisionOptions(bar_correlation=0.3))


def test_released_scores_of_several_people_have_no_verdict() -> None:
    """One whole number a text, made from several people: nobody's agreement with anybody is known. Constructed labels are not meant."""
    released = msgspec.structs.replace(GOOD, n=0, groups=0, aggregate=True)
    assert decide(released, DecisionOptions()) == NOBODY
    assert decide(msgspec.structs.replace(released, aggregate=False), DecisionOptions()).verdict == "too few labels"
    assert decide(msgspec.structs.replace(released, labels="constructed"), DecisionOptions()).reason == "labels are not native"
    assert decide(msgspec.structs.replace(GOOD, aggregate=True), DecisionOptions()).verdict == "use"
