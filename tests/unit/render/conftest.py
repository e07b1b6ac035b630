"""Reports made by hand, so that what is shown does not depend on how it is computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.analyse import Cell, Report, Verdict

CELL: dict[str, Any] = {
    "language": "cs",
    "task": "summarize",
    "metric": "task_quality",
    "judge": "openai/one",
    "variant": "single",
    "temperature": 0.0,
    "n_ref": 18,
    "n": 13,
    "coverage": 13 / 18,
    "failures": {"not_json": 3, "truncated": 2},
    "groups": 12,
    "pa": 0.4567,
    "pa_ci": (0.1812, 0.7689),
    "pa_failed_wrong": 0.3333,
    "pa_failed_wrong_ci": (0.1351, 0.6149),
    "design_effect": 1.2,
    "few_rare_cases": True,
    "distribution_labels": {"0": 3, "1": 3, "2": 12},
    "distribution_judge": {"0": 0, "1": 1, "2": 12},
    "vs_baseline": {"baseline": "majority", "pa": 0.6667, "diff": -0.3333, "ci": (-0.5401, -0.1299), "reason": None},
    "undefined": {},
}
UNDEFINED: dict[str, Any] = {
    "n": 0,
    "coverage": 0.0,
    "pa": None,
    "pa_ci": None,
    "pa_failed_wrong": 0.0,
    "pa_failed_wrong_ci": None,
    "design_effect": None,
    "vs_baseline": {"baseline": "majority", "pa": 0.5, "diff": -0.5, "ci": None, "reason": "too few independent texts"},
    "undefined": {"pa": "no answer could be read", "pa_ci": "no units", "pa_failed_wrong_ci": "too few independent texts"},
}


@pytest.fixture
def make_cell() -> Callable[..., Cell]:
    """A cell with everything in it, or with nothing that can be computed."""

    def make(*, undefined: bool = False, **other: Any) -> Cell:
        return Cell(**(CELL | (UNDEFINED if undefined else {}) | other))

    return make


@pytest.fixture
def make_report(make_cell: Callable[..., Cell]) -> Callable[..., Report]:
    """A report of one judge in one language."""

    def make(*cells: Cell, **other: Any) -> Report:
        shown = cells or (make_cell(), make_cell(undefined=True, metric="hallucination"))
        first = shown[0]
        verdict = Verdict(
            first.language,
            first.judge,
            first.variant,
            first.temperature,
            36,
            13,
            0.25,
            0.5,
            (),
            (),
            (),
            False,
            f"{first.judge} is not usable.",
        )
        fields: dict[str, Any] = {
            "schema_version": 1,
            "run": "run",
            "title": "A title",
            "constructed_labels": False,
            "unreviewed": (),
            "signatures": {first.judge: "judge:openai/one|data:d"},
            "ci_method": "95%",
            "verdicts": (verdict,),
            "by_metric": (),
            "cells": shown,
            "missing": {},
        }
        return Report(**(fields | other))

    return make
