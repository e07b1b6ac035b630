"""What the cases of borrowed strength are checked with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from harness.stats.estimation.borrowed import borrow, paule_mandel, robust_critical_value

Given = dict[str, Any]


def _between(given: Given) -> Given:
    found = paule_mandel(given["estimate"], given["se"])
    return {"tau2": found.tau2, "floor": found.floor, "mean": found.fitted[0], "se_mean": found.fitted_error[0]}


def _covariate(given: Given) -> Given:
    found = paule_mandel(given["estimate"], given["se"], [[1, x] for x in given["x"]])
    return {"tau2": found.tau2, "coefficients": found.coefficients.tolist(), "se": found.coefficient_errors.tolist()}


def _critical(given: Given) -> Given:
    return {
        "cva": [robust_critical_value(r["m2"], r["alpha"], math.inf if r["kurtosis"] is None else r["kurtosis"]) for r in given["rows"]]
    }


def _intervals(given: Given) -> Given:
    found = borrow(given["estimate"], given["se"], level=1 - given["alpha"])
    return {
        "shrunk": found.value.tolist(),
        "weight": found.weight.tolist(),
        "critical": found.critical.tolist(),
        "half_width_with_error_of_mean": found.half_width.tolist(),
    }


CHECKS: dict[str, Callable[[Given], Given]] = {
    "borrow/paule-mandel": _between,
    "borrow/paule-mandel-covariate": _covariate,
    "borrow/critical-value": _critical,
    "borrow/robust-intervals": _intervals,
}
