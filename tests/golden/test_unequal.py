"""Decisions and means over groups of different sizes, and the test of "one class for everything", against numbers of separate derivations.

The cases come from the shared data, or from the file that the environment variable HARNESS_UNEQUAL_FIXTURES names. Each is checked by the
function with the longest prefix of its id; a case that nothing checks fails.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.stats import bell_mccaffrey, effective_groups, group_cap, judge_sums, judge_tests, prediction_powered_mean
from harness.stats.intervals.cluster_mean import MeanTest, cluster_mean
from harness.stats.intervals.judge_tests import judge_means, lower_bounds, one_class_tests
from harness.stats.intervals.noninferiority import GuardedMean, gap_sums, guarded_mean, guarded_p
from tests.golden.decision_values import assert_equal

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = ROOT.parent / "shared" / "data" / "decision_fixtures" / "unequal.json"
FIXTURES = Path(os.environ.get("HARNESS_UNEQUAL_FIXTURES", DEFAULT))
CASES: list[dict[str, Any]] = json.loads(FIXTURES.read_text("utf-8"))["cases"] if FIXTURES.is_file() else []
CELLS = 45

Given = dict[str, Any]
Found = dict[str, Any]


def _sizes(given: Given) -> Found:
    rows = []
    for sizes in given["sizes"]:
        cap = float(group_cap(sizes))
        row = {
            "groups": len(sizes),
            "g_star": float(effective_groups(sizes)),
            "df_icc_1": float(bell_mccaffrey(sizes)),
            "df_icc_01": float(bell_mccaffrey(sizes, correlation=0.1)),
            "df_icc_0": float(bell_mccaffrey(sizes, correlation=0.0)),
            "cap_15": cap if math.isfinite(cap) else None,
        }
        rows.append(row)
    return {"rows": rows}


def _guarded(given: Given) -> Found:
    d, groups, margin, alpha = given["differences"], given["groups"], given["margin"], given["alpha"]
    sums = judge_sums(d, np.full(len(d), np.nan), groups)
    tests = judge_tests(sums, margin)
    cap = float(tests.cap)
    plain = judge_means(sums)
    found = {
        "g_star": float(tests.effective),
        "cap": cap if math.isfinite(cap) else None,
        "plain": _guarded_mean(plain.guarded, margin, alpha),
        "worse": _worse(plain.gap, margin),
        "use_bound_one_cell": lower_bounds(sums, cap, alpha, alpha).gap,
        "gap_shown_alone": bool(tests.alone.gap <= alpha),
    }
    assert found["plain"]["p"] == float(tests.plain.gap) == pytest.approx(guarded_p(gap_sums(d, groups), margin), rel=1e-12)
    assert found["plain"]["bound"] == pytest.approx(guarded_mean(gap_sums(d, groups)).bound(alpha), abs=1e-11)
    assert found["worse"]["p"] == float(tests.plain.worse) == pytest.approx(cluster_mean(d, groups).p_below(-margin), rel=1e-12)
    if math.isfinite(cap):
        capped = judge_means(sums, cap)
        found |= {"capped": _guarded_mean(capped.guarded, margin, alpha), "worse_capped": _worse(capped.gap, margin)}
        assert found["capped"]["p"] == float(tests.capped.gap) and found["worse_capped"]["p"] == float(tests.capped.worse)
    else:
        found["p_of_plain_formula"] = float(tests.capped.gap)
    return found


def _guarded_mean(mean: GuardedMean, margin: float, alpha: float) -> Found:
    at = mean.at(margin)
    return {
        "mean": float(at.mean),
        "se": float(at.deviation / np.sqrt(at.groups)),
        "skewness": float(at.skewness),
        "t": float(at.statistic(-margin)),
        "df": float(at.freedom),
        "p": float(mean.p(margin)),
        "bound": mean.bound(alpha),
        "bound_45": mean.bound(alpha / CELLS),
    }


def _worse(mean: MeanTest, margin: float) -> Found:
    return {
        "t": float((mean.mean + margin) / mean.error) if mean.error > 0 else math.nan,
        "se": float(mean.error),
        "df": float(mean.freedom),
        "p": float(mean.p_below(-margin)),
    }


def _mean(given: Given) -> Found:
    found, value = cluster_mean(given["values"], given["groups"]), given["value"]
    shown = {
        "mean": found.mean,
        "se": found.error,
        "groups": found.groups,
        "g_star": found.effective_groups,
        "p_above": found.p_above(value),
        "p_below": found.p_below(value),
    }
    if found.error > 0:
        interval = found.interval(given["level"])
        shown |= {"df_test": found.freedom, "df_interval": found.interval_freedom, "t": (found.mean - value) / found.error}
        shown["interval"] = list(interval)
    return shown


def _powered(given: Given) -> Found:
    labels = [math.nan if label is None else label for label in given["labels"]]
    found = prediction_powered_mean(labels, given["judged"], given["groups"], level=given["level"])
    interval = [found.interval.lo, found.interval.hi]
    return {"value": found.value, "lam": found.lam, "se": found.error, "df": found.freedom, "interval": interval}


def _one_class(given: Given) -> Found:
    [found] = one_class_tests([(given["counts"], given["judge"], given["groups"])])
    shares = {"judge_share": 1 - found.others / found.n, "people_share": found.usual / found.labels}
    return shares | {"p": found.p, "p_by_class": found.p_by_class, "others": found.others, "fires_alone": bool(found.p <= 0.05)}


CHECKS: dict[str, Callable[[Given], Found]] = {
    "unequal/sizes": _sizes,
    "unequal/guarded": _guarded,
    "unequal/mean": _mean,
    "unequal/ppi": _powered,
    "unequal/one-class": _one_class,
}


@pytest.mark.needs("shared data")
def test_there_are_cases() -> None:
    assert CASES, f"no cases in {FIXTURES}"


@pytest.mark.needs("shared data")
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    prefixes = [prefix for prefix in CHECKS if case["id"].startswith(prefix)]
    assert prefixes, f"nothing checks {case['id']}"
    found = CHECKS[max(prefixes, key=len)](case["inputs"])
    assert_equal(found, case["expected"], case["tolerance"])
    _assert_all_are_checked(found, case["expected"])


_OTHERS = {"kish", "se_cr1", "icc", "df_labelled", "df_unlabelled"}
"""What the cases hold beside: numbers of rejected procedures, and parts that only show in the others."""


def _assert_all_are_checked(found: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        missing = {name for name, value in expected.items() if value is not None} - set(found) - _OTHERS
        assert not missing, f"not checked: {sorted(missing)}"
        for name in set(found) & set(expected):
            _assert_all_are_checked(found[name], expected[name])
    elif isinstance(expected, list) and expected and isinstance(expected[0], dict):
        for one, other in zip(found, expected, strict=True):
            _assert_all_are_checked(one, other)


def test_equal_groups_keep_the_numbers_of_the_plain_formula() -> None:
    """Against the formulas for equal groups, with G - 1 degrees of freedom and no factors."""
    from scipy import stats

    rng = np.random.default_rng(5)
    for groups, size in ((20, 1), (25, 4), (60, 7)):
        d, group = rng.choice([-1.0, 0.0, 1 / 3], groups * size, p=[0.1, 0.7, 0.2]), np.repeat(np.arange(groups), size)
        plain = cluster_mean(d, group)
        sums = np.bincount(group, d - d.mean())
        error = math.sqrt(groups / (groups - 1) * sums @ sums) / len(d)
        assert plain.error == pytest.approx(error, rel=1e-13)
        assert plain.p_above(-0.1) == pytest.approx(float(stats.t.sf((d.mean() + 0.1) / error, groups - 1)), rel=1e-12)
        n, g, y = len(d) + 1, groups + 1, np.r_[np.bincount(group, d), -1.0]
        mu = y.sum() / n
        x = (y - mu * np.r_[np.full(groups, size), 1]) * g / n
        s = math.sqrt(max(x @ x / (g - 1), 0.1 * 0.9 * g / n))
        k, apart = (x**3).sum() / g / s**3, (mu + 0.1) / s
        t = math.sqrt(g) * (apart + k * apart**2 / 3 + k**2 * apart**3 / 27 + k / (6 * g))
        assert guarded_p(gap_sums(d, group), 0.1) == pytest.approx(float(stats.t.sf(t, g - 1)), rel=1e-12)
