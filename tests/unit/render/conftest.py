"""Reports made by hand, so that what is shown does not depend on how it is computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.analyse import Cell, Comparison, Report, Verdict
from harness.analyse.cells import NAMES

KEY: dict[str, Any] = {
    "language": "cs",
    "task": "summarize",
    "metric": "task_quality",
    "judge": "openai/one",
    "variant": "single",
    "temperature": 0.0,
}
CELL: dict[str, Any] = {
    "n_ref": 18,
    "n": 13,
    "coverage": 13 / 18,
    "failures": {"not_json": 3, "truncated": 2},
    "groups": 12,
    "design_effect": 1.2,
    "few_rare_cases": True,
    "distribution_labels": {"0": 3 / 18, "1": 3 / 18, "2": 12 / 18},
    "distribution_judge": {"0": 0.0, "1": 1 / 13, "2": 12 / 13},
    "distribution_by_agreement": None,
    "vs_baseline": {
        "baseline": "majority",
        "pa": 0.6667,
        "diff": -0.3333,
        "ci": (-0.5401, -0.1299),
        "p": 0.004,
        "q": 0.0123,
        "n": 18,
        "reason": None,
        "hypothesis": "H0",
    },
    "undefined": {},
}
VALUES = {"pa": 0.4567, "pa_failed_wrong": 0.3333, "pa_pairwise": 0.4, "human_pa": 0.6, "cohen_kappa": 0.21, "leniency": 0.25}
INTERVALS = {"pa": (0.1812, 0.7689), "pa_failed_wrong": (0.1351, 0.6149), "cohen_kappa": (-0.1, 0.4), "leniency": (0.1, 0.4)}
NOTHING: dict[str, Any] = {
    "n": 0,
    "coverage": 0.0,
    "design_effect": None,
    "distribution_judge": None,
    "vs_baseline": {
        **dict.fromkeys(("diff", "ci", "p", "q")),
        "baseline": "majority",
        "pa": 0.5,
        "n": 0,
        "reason": "too few independent texts",
        "hypothesis": "H0",
    },
    "undefined": {"pa": "no answer could be read", "pa_failed_wrong_ci": "too few independent texts"},
}


@pytest.fixture
def make_cell() -> Callable[..., Cell]:
    """A cell with everything in it, or with nothing that can be computed. Keywords are names of its key, its fields or its statistics."""

    def make(*, undefined: bool = False, **other: Any) -> Cell:
        fields = CELL | (NOTHING if undefined else {})
        values: dict[str, Any] = dict.fromkeys(NAMES) | ({"pa_failed_wrong": 0.0} if undefined else VALUES)
        intervals: dict[str, Any] = dict.fromkeys(NAMES) | ({} if undefined else INTERVALS)
        fields |= {"key": KEY | {name: other.pop(name) for name in [*KEY] if name in other}}
        values |= {name: other.pop(name) for name in NAMES if name in other}
        intervals |= {name: other.pop(f"{name}_ci") for name in NAMES if f"{name}_ci" in other}
        return Cell(**(fields | other), values=values, intervals=intervals)

    return make


@pytest.fixture
def make_comparison() -> Callable[..., Comparison]:
    """A comparison of some cells."""

    def make(*cells: Cell, **other: Any) -> Comparison:
        return Comparison(**({"signature": "data:d|seed:0", "ci_method": "95%", "cells": cells} | other))

    return make


@pytest.fixture
def make_report(make_cell: Callable[..., Cell]) -> Callable[..., Report]:
    """A report of one judge in one language."""

    def make(*cells: Cell, **other: Any) -> Report:
        shown = cells or (make_cell(), make_cell(undefined=True, metric="hallucination"))
        first = shown[0]
        verdict = Verdict(
            first["language"],
            first["judge"],
            first["variant"],
            first["temperature"],
            36,
            13,
            0.25,
            0.5,
            (),
            (),
            (),
            False,
            f"{first['judge']} is not usable.",
        )
        fields: dict[str, Any] = {
            "schema_version": 2,
            "run": "run",
            "title": "A title",
            "constructed_labels": False,
            "unreviewed": (),
            "signatures": {first["judge"]: "judge:openai/one|data:d"},
            "ci_method": "95%",
            "verdicts": (verdict,),
            "by_metric": (),
            "cells": shown,
            "missing": {},
        }
        return Report(**(fields | other))

    return make
