"""Reports made by hand, so that what is shown does not depend on how it is computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.decide.verdicts import Verdict
from harness.measure.cells import Cell, statistic_names
from harness.measure.compare import Comparison
from harness.measure.summaries import LanguageSummary
from harness.reports.run_report import Report

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
        values: dict[str, Any] = dict.fromkeys(statistic_names()) | ({"pa_failed_wrong": 0.0} if undefined else VALUES)
        intervals: dict[str, Any] = dict.fromkeys(statistic_names()) | ({} if undefined else INTERVALS)
        fields |= {"key": KEY | {name: other.pop(name) for name in [*KEY] if name in other}}
        values |= {name: other.pop(name) for name in statistic_names() if name in other}
        intervals |= {name: other.pop(f"{name}_ci") for name in statistic_names() if f"{name}_ci" in other}
        return Cell(**(fields | other), values=values, intervals=intervals)

    return make


@pytest.fixture
def make_comparison() -> Callable[..., Comparison]:
    """A comparison of some cells."""

    def make(*cells: Cell, **other: Any) -> Comparison:
        keys = tuple(cell.key for cell in cells)
        return Comparison(**({"signature": "data:d|seed:0", "ci_method": "95%", "cells": cells, "keys": keys} | other))

    return make


VERDICT: dict[str, Any] = {
    "verdict": "do not use",
    "reason": "shown worse than people by more than the margin",
    "controls": None,
    "sentence": "Do not use openai/one for task quality in Czech: it is worse.",
    "beside_baseline": "not shown",
    "interval": False,
    "closeness": False,
    "k": None,
    "more_than_k": False,
    "labels": "native",
    "n": 40,
    "groups": 24,
    "effective_groups": 24.0,
    "cap": None,
    "n_labelled": 40,
    "agreement": 0.4,
    "people": 0.6,
    "gap": -0.2,
    "guarded_bound": -0.3,
    "family_bound": -0.35,
    "perfect_bound": -0.08,
    "p_gap": 0.99,
    "p_base": 0.8,
    "p_one_class": 0.9,
    "q_use": 1.0,
    "q_worse": 0.01,
    "q_base": 1.0,
    "q_base_worse": 0.4,
    "q_one_class": 1.0,
    "family": 2,
    "right": 0.45,
    "base_diff": -0.05,
    "base_bound": -0.2,
    "coverage": 0.9,
    "gain": 1.02,
    "leniency": 0.25,
    "alt_test": None,
    "not_for": (),
    "obstacles": ("worse",),
    "reasons": ("it is worse",),
    "margin": 0.1,
    "settings": "margin=0.1",
}


@pytest.fixture
def make_verdict() -> Callable[..., Verdict]:
    """A verdict on one judge; keywords are parts of its key or fields."""

    def make(**other: Any) -> Verdict:
        key = {name: other.pop(name, value) for name, value in KEY.items() if name != "task"} | {"top_p": other.pop("top_p", None)}
        return Verdict.from_flat(VERDICT | other.pop("key", key) | other)

    return make


@pytest.fixture
def make_report(make_cell: Callable[..., Cell], make_verdict: Callable[..., Verdict]) -> Callable[..., Report]:
    """A report of one judge in one language."""

    def make(*cells: Cell, **other: Any) -> Report:
        shown = cells or (make_cell(), make_cell(undefined=True, metric="hallucination"))
        first = shown[0]
        place = {name: first[name] for name in ("language", "judge", "variant", "temperature")}
        summary = LanguageSummary(**place, n_ref=36, n=13, pa_failed_wrong=0.25, baseline=0.5)
        key = {name: value for name, value in KEY.items() if name != "task"} | {"judge": first["judge"], "language": first["language"]}
        fields: dict[str, Any] = {
            "schema_version": 3,
            "run": "run",
            "title": "A title",
            "constructed_labels": False,
            "unreviewed": (),
            "signatures": {first["judge"]: "judge:openai/one|data:d"},
            "ci_method": "95%",
            "summaries": (summary,),
            "verdicts": (make_verdict(**key),),
            "by_metric": (),
            "cells": shown,
            "missing": {},
        }
        return Report(**(fields | other))

    return make
