"""Every value of tests/golden/oracles/answers.json, computed by other libraries, against `harness.stats`.

`make oracles` asks them in an environment of their own; a test's id says which version of which library answered. Where a
library refuses a case or calls it NaN, the answer is null, and ours must be NaN with a reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import harness.stats as hs

ORACLES = Path(__file__).parent / "oracles"
CASES: dict[str, Any] = json.loads((ORACLES / "cases.json").read_text(encoding="utf-8"))
FOUND: dict[str, Any] = json.loads((ORACLES / "answers.json").read_text(encoding="utf-8"))
ROOT = Path(__file__).resolve().parents[2]
Case = Mapping[str, Any]

# statsmodels says statistic 0 and p 1 where nobody differs; ours is undefined, on purpose: nothing was tested.
NOBODY_DIFFERS = {
    ("two raters, both constant", "stuart_maxwell"),
    ("two raters, one item, same", "stuart_maxwell"),
    ("two raters, two classes, identical", "mcnemar_exact"),
}


def codes(case: Case) -> np.ndarray:
    return np.array([[-1 if c == "." else int(c) for c in item] for item in case["items"]])


def two(case: Case) -> tuple[np.ndarray, np.ndarray, int]:
    return *codes(case).T, case["classes"]


def numbers(case: Case) -> tuple[np.ndarray, np.ndarray]:
    return np.array(case["x"], float), np.array(case["y"], float)


def scaled(function: Callable[..., Any], name: str) -> Callable[[Case], Any]:
    return lambda c: function(codes(c), c["classes"], name, c["values"])


OURS: dict[str, Callable[[Case], Any]] = {
    "alpha_nominal": scaled(hs.krippendorff_alpha, "nominal"),
    "alpha_ordinal": scaled(hs.krippendorff_alpha, "ordinal"),
    "alpha_interval": scaled(hs.krippendorff_alpha, "interval"),
    "ac1": scaled(hs.gwet_ac, "identity"),
    "ac2_linear": scaled(hs.gwet_ac, "linear"),
    "ac2": scaled(hs.gwet_ac, "quadratic"),
    "fleiss_kappa": lambda c: hs.fleiss_kappa(codes(c), c["classes"]),
    "weighted_f1": lambda c: hs.weighted_f1(codes(c)[:, 1], codes(c)[:, :1], c["classes"]),
    "cohen_kappa": lambda c: hs.cohen_kappa(*two(c)),
    "linear_kappa": lambda c: hs.cohen_kappa(*two(c), "linear"),
    "quadratic_kappa": lambda c: hs.cohen_kappa(*two(c), "quadratic"),
    "stuart_maxwell": lambda c: hs.stuart_maxwell(*two(c)),
    "mcnemar_exact": lambda c: hs.mcnemar(*codes(c).T),
    "mcnemar_chi2": lambda c: hs.mcnemar(*codes(c).T, method="chi2"),
    "kendall_tau": lambda c: hs.kendall_tau(*numbers(c)),
    "spearman": lambda c: hs.spearman(*numbers(c)),
    "pearson": lambda c: hs.pearson(*numbers(c)),
    "holm": lambda c: hs.holm(c["p"]),
    "benjamini_hochberg": lambda c: hs.benjamini_hochberg(c["p"]),
    "benjamini_yekutieli": lambda c: hs.benjamini_yekutieli(c["p"]),
    "wilson": lambda c: hs.wilson(c["successes"], c["n"], c["level"]),
}


def value(found: Any) -> Any:
    if isinstance(found, hs.MarginTest):
        return [found.statistic, found.p]
    return found.value if isinstance(found, hs.Estimate) else found


def every_answer() -> list[Any]:
    out = []
    for name, answers in FOUND["answers"].items():
        for statistic in answers:
            library = FOUND["library"][statistic]
            out.append(pytest.param(name, statistic, id=f"{statistic} by {library} {FOUND['versions'][library]}: {name}"))
    return out


@pytest.mark.parametrize(("name", "statistic"), every_answer())
def test_what_other_libraries_say(name: str, statistic: str) -> None:
    ours, theirs = OURS[statistic](CASES[name]), FOUND["answers"][name][statistic]
    if (name, statistic) in NOBODY_DIFFERS:
        assert theirs == [0.0, 1.0] and np.isnan(ours.p) and ours.reason == "no discordant units"
    elif theirs is None:
        assert np.isnan(value(ours)).all() and ours.reason
    else:
        assert value(ours) == pytest.approx(theirs, rel=1e-9, abs=1e-11)


def test_every_case_is_answered_and_every_statistic_asked() -> None:
    assert FOUND["answers"].keys() == CASES.keys()
    assert {s for answers in FOUND["answers"].values() for s in answers} == OURS.keys()


def test_the_answers_are_of_the_pinned_versions() -> None:
    pins = dict(re.findall(r"^([\w-]+)==(\S+)$", (ORACLES / "requirements.txt").read_text(encoding="utf-8"), re.M))
    assert FOUND["versions"].items() <= pins.items(), "run: make oracles"


def test_gpl_libraries_stay_in_their_own_environment() -> None:
    sources = [p for folder in ("harness", "tests", "benchmarks", "languages", "docs") for p in (ROOT / folder).rglob("*.py")]
    imports = re.compile(r"^\s*(?:import|from)\s+(?:krippendorff|irrCAC)\b", re.M)
    found = [p.relative_to(ROOT).as_posix() for p in sources if imports.search(p.read_text(encoding="utf-8"))]
    assert found == ["tests/golden/oracles/ask.py"]
    assert not re.search(r"krippendorff|irrcac", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.I)
