"""What the cases of borrowed strength are checked with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from harness.stats.core.arrays import Floats
from harness.stats.estimation.shrinkage import borrowed_half_width, labels_with_others, paule_mandel, robust_critical_value, shrink

Given = dict[str, Any]


def _between(given: Given) -> Given:
    found, s = paule_mandel(given["estimate"], given["se"]), np.asarray(given["se"])
    fixed = paule_mandel(given["estimate"], s, tau2=0.0)  # Cochran's Q is about the mean that no variance between languages enters
    q = float((((given["estimate"] - fixed.fitted) / s) ** 2).sum())
    freedom = len(s) - 1
    common = {"tau2": found.tau2, "floor": found.floor, "mean": found.fitted[0], "se_mean": found.fitted_error[0]}
    return common | {"Q": q, "p_Q": float(stats.chi2.sf(q, freedom)), "I2": max(0.0, 1 - freedom / q)}


def _covariate(given: Given) -> Given:
    found = paule_mandel(given["estimate"], given["se"], [[1, x] for x in given["x"]])
    return {"tau2": found.tau2, "coefficients": found.coefficients.tolist(), "se": found.coefficient_errors.tolist()}


def _critical(given: Given) -> Given:
    return {
        "cva": [robust_critical_value(r["m2"], r["alpha"], math.inf if r["kurtosis"] is None else r["kurtosis"]) for r in given["rows"]]
    }


def _kurtosis(y: Floats, s: Floats, mean: float) -> float:
    """The trimmed estimate of Armstrong, Kolesár and Plagborg-Møller; no command uses it, because it is noise for few languages."""
    w, e = s**-2, y - mean
    second = float((w * (e**2 - s**2)).sum() / w.sum())
    fourth = float((w * (e**4 - 6 * s**2 * e**2 + 3 * s**4)).sum() / w.sum())
    return max(fourth / second**2, 1 + 32 * float((w**2 * s**8).sum() / (w.sum() * (w * s**4).sum())) / second**2)


def _intervals(given: Given) -> Given:
    alpha, y, s = given["alpha"], np.asarray(given["estimate"]), np.asarray(given["se"])
    found, common, z = shrink(y, s, level=1 - alpha), paule_mandel(y, s), stats.norm.isf(alpha / 2)
    kurtosis = _kurtosis(y, s, float(common.fitted[0]))
    return {
        "tau2": common.tau2,
        "mean": common.fitted[0],
        "half_width": (found.critical * found.weight * s).tolist(),
        "half_width_parametric": (z * np.sqrt(found.weight) * s).tolist(),
        "half_width_labels_alone": (z * s).tolist(),
        "kurtosis": kurtosis,
        "critical_with_kurtosis": [robust_critical_value(m2, alpha, kurtosis) for m2 in s**2 / common.tau2],
        "shrunk": found.value.tolist(),
        "weight": found.weight.tolist(),
        "critical": found.critical.tolist(),
        "half_width_with_error_of_mean": found.half_width.tolist(),
    }


def _labels_needed(given: Given) -> Given:
    sd, tau2, half = given["sd"], given["tau"] ** 2, given["half_width"]
    alone = math.ceil((float(stats.norm.isf(given["alpha"] / 2)) * sd / half) ** 2)
    at = [borrowed_half_width(labels, sd, tau2, level=1 - given["alpha"]) for labels in (10, 30, 100)]
    return {"alone": alone, "borrowed": labels_with_others(sd, tau2, half), "half_width_at": at}


CHECKS: dict[str, Callable[[Given], Given]] = {
    "borrow/paule-mandel": _between,
    "borrow/paule-mandel-covariate": _covariate,
    "borrow/critical-value": _critical,
    "borrow/robust-intervals": _intervals,
    "borrow/labels-needed": _labels_needed,
}
