"""Checks of the decision fixtures: tests of a cell, decision table, exact size of the guarded test, verdicts on real data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

from harness import sources
from harness.decide.cell_tests import CellTests, cell_tests
from harness.decide.options import DecisionOptions
from harness.decide.verdict_rule import DecisionInputs, decide
from harness.decide.verdicts import verdicts_of_tables
from harness.measure.compare import align
from harness.measure.options import Annotators, MeasureOptions
from harness.stats import aggregate_counts, benjamini_hochberg, benjamini_yekutieli, commonest, count_long, hits, holm
from harness.stats.core.arrays import Floats
from harness.stats.core.groups import ClusterVariance, GroupSums
from harness.stats.intervals.cluster_mean import ClusterMean, cluster_mean
from harness.stats.intervals.judge_tests import judge_tests
from harness.stats.intervals.noninferiority import gap_sums, guarded_mean, guarded_p, matched_gap
from tests.golden.decision_values import assert_equal

Case = dict[str, Any]
PLAIN: ClusterVariance = "cr1"
"""The cases hold the numbers of the formulas that take groups as equal; tests.golden.test_unequal has those for unequal groups."""


def _guarded(sums: GroupSums, margin: float) -> dict[str, Any]:
    hall = guarded_mean(sums, variance=PLAIN).at(margin)
    return {
        "mean": float(hall.mean),
        "groups": float(hall.groups),
        "skewness": float(hall.skewness),
        "t": float(hall.statistic(-margin)),
        "p": guarded_p(sums, margin, PLAIN),
    }


def _plain(mean: ClusterMean, margin: float) -> dict[str, float]:
    return {"gap": mean.mean, "se": mean.error, "p": mean.p_above(-margin), "p_worse": mean.p_below(-margin)}


def check_differences(case: Case, _: Path) -> None:
    given = case["inputs"]
    sums = gap_sums(given["differences"], given["group"])
    found = {"guarded": _guarded(sums, given["margin"]), "lower_95": guarded_mean(sums, variance=PLAIN).bound(0.05)}
    assert_equal(found, case["expected"], case["tolerance"])


def check_cell(case: Case, _: Path) -> None:
    """One cell from its labels and scores: (items, annotators) and (items,), None where there is none."""
    given = case["inputs"]
    classes = {score: code for code, score in enumerate(given["classes"])}
    pairs = [(item, classes[score]) for item, row in enumerate(given["labels"]) for score in row if score is not None]
    items, codes = (np.array(column) for column in zip(*pairs, strict=True))
    counts = count_long(items, codes, len(given["labels"]), len(classes))
    judge = np.array([classes.get(score, -1) for score in given["judge"]])
    groups = np.asarray(given["group"])
    gap = matched_gap(counts, judge)
    sums = gap_sums(gap, groups)
    reference = aggregate_counts(counts, "drop")
    right = hits(judge, reference, len(classes), failed_wrong=True)
    constant = commonest(reference, len(classes))
    apart = right - hits(constant, reference, len(classes), failed_wrong=True)
    known = ~np.isnan(apart)
    base, two = cluster_mean(apart[known], groups[known], variance=PLAIN), ~np.isnan(gap)
    found: dict[str, Any] = {
        "differences": gap[two].tolist(),
        "lower_95": guarded_mean(sums, variance=PLAIN).bound(0.05),
        "coverage": float((judge[two] >= 0).mean()),
        "p_use": max(guarded_p(sums, given["margin"], PLAIN), base.p_above(0.0)),
        "baseline": {
            "constant": given["classes"][int(constant[known][0])],
            "n": base.n,
            "groups": base.groups,
            "diff": base.mean,
            "se": base.error,
            "p_better": base.p_above(0.0),
            "p_worse": base.p_below(0.0),
        },
    }
    plain = cluster_mean(gap[two], groups[two], variance=PLAIN)
    for name in case["expected"]:
        if name.startswith("margin_"):
            margin = float(name.removeprefix("margin_"))
            found[name] = {"plain": _plain(plain, margin), "guarded": _guarded(sums, margin)}
    assert_equal(found, case["expected"], case["tolerance"])


def check_exact_size(case: Case, _: Path) -> None:
    """The chance that the guarded test rejects at a gap of minus the margin, by all outcomes of independent items in {-1, 0, 1}."""
    found = [_exact_size(row["n"], row["margin"], row["p_plus"], row["alpha"]) for row in case["inputs"]]
    assert_equal(found, case["expected"], case["tolerance"])


def _exact_size(n: int, margin: float, p_plus: float, alpha: float) -> float:
    p_minus = p_plus + margin
    total = 0.0
    for minus in range(n + 1):
        weight = binom.pmf(minus, n, p_minus)
        rest = n - minus
        for plus in range(rest + 1) if p_plus else (0,):
            chance = weight * (binom.pmf(plus, rest, p_plus / (1 - p_minus)) if p_plus else 1.0)
            if chance < 1e-12:
                continue
            sums = _three_valued(minus, n - minus - plus, plus)
            if guarded_p(sums, margin) <= alpha:
                total += float(chance)
    return total


def _three_valued(minus: int, zero: int, plus: int) -> GroupSums:
    counts = np.array([minus, zero, plus], float)
    used = counts > 0
    return GroupSums(np.array([-1.0, 0.0, 1.0])[used], np.ones(int(used.sum())), counts[used])


def check_multiplicity(case: Case, _: Path) -> None:
    p: Floats = np.asarray(case["inputs"]["p"], float)
    found = {"holm": holm(p), "fdr_by": benjamini_yekutieli(p), "fdr_bh": benjamini_hochberg(p)}
    assert_equal(found, case["expected"], case["tolerance"])


def check_table(case: Case, _: Path) -> None:
    found = [decide(DecisionInputs(**row), DecisionOptions())._asdict() for row in case["inputs"]]
    assert_equal(found, case["expected"], case["tolerance"])


def check_data(case: Case, shared: Path) -> None:
    """Every cell of a recorded data set: verdicts as they are, numbers by the formulas that take groups as equal."""
    given = case["inputs"]
    folder = Path(given["data"]).name
    [source] = sources.open_sources([shared / folder], folder, Path("results"))
    compare = MeasureOptions(annotators=Annotators.parse(given["annotators"]))
    options = DecisionOptions(margin=given["margin"], epsilon=given["alt_test_epsilon"])
    aligned = align([source.recording], compare)
    tests = {(one.key["language"], one.key["metric"]): one for one in cell_tests(aligned.tables[0], False, options)}
    verdicts = {(one["language"], one["metric"]): one for one in verdicts_of_tables(aligned, compare, options)}
    expected, alone = case["expected"], {key: judge_tests(one.sums, options.margin, variance=PLAIN).plain for key, one in tests.items()}
    enough = [key for key, one in tests.items() if one.texts.n >= options.items and one.texts.groups >= options.groups]
    q = {name: _holm_of(enough, {key: float(getattr(p, name)) for key, p in alone.items()}) for name in ("use", "worse", "base_worse")}
    assert len(expected["cells"]) == len(tests) == len(verdicts)
    for wanted in expected["cells"]:
        one, verdict = (each[wanted["language"], wanted["metric"]] for each in (tests, verdicts))
        gap, p, place = _plain_gap(one), alone[wanted["language"], wanted["metric"]], (wanted["language"], wanted["metric"])
        assert one.commonest.judge and one.commonest.labels and verdict.alt_test
        found = {
            "n": one.texts.n,
            "groups": one.texts.groups,
            "gap": one.gap.mean,
            "se": gap.error,
            "p_gap_plain": gap.p_above(-options.margin),
            "p_gap_guarded": float(p.gap),
            "lower_95": guarded_mean(one.sums.gap, variance=PLAIN).bound(0.05),
            "p_worse": float(p.worse),
            "n_baseline": one.baseline.n,
            "baseline_diff": one.baseline.mean,
            "p_base": float(p.base),
            "p_base_worse": float(p.base_worse),
            "judge_commonest_share": one.commonest.judge[1],
            "labels_commonest_share": one.commonest.labels[1],
            "p_use": float(p.use),
            "omega": verdict.alt_test["omega"],
            "rho": verdict.alt_test["rho"],
            **{f"q_{name}": values.get(place) for name, values in q.items()},
            **{name: verdict[name] for name in ("verdict", "reason")},
        }
        assert_equal(found, wanted, case["tolerance"], f"{wanted['language']} {wanted['metric']}")
    used = [list(key) for key, verdict in verdicts.items() if verdict.decision.verdict == "use"]
    passed = [list(key) for key, verdict in verdicts.items() if verdict.alt_test and verdict.alt_test["passed"]]
    assert sorted(used) == sorted(expected["use"]) and sorted(passed) == sorted(expected["alt_test_passed"])


def _plain_gap(one: CellTests) -> ClusterMean:
    gap, _, group = one.differences
    return cluster_mean(gap[~np.isnan(gap)], group[~np.isnan(gap)], variance=PLAIN)


def _holm_of(cells: list[Any], p: dict[Any, float]) -> dict[Any, float]:
    return dict(zip(cells, holm([p[key] for key in cells]).tolist(), strict=True))


def check(case: Case, shared: Path) -> None:
    """By what the inputs are, as other cases of the same kinds may have other names."""
    given = case["inputs"]
    if isinstance(given, dict):
        kinds: dict[str, Callable[[Case, Path], None]] = {
            "differences": check_differences,
            "labels": check_cell,
            "data": check_data,
            "p": check_multiplicity,
        }
        kinds[next(name for name in kinds if name in given)](case, shared)
    elif "p_plus" in given[0]:
        check_exact_size(case, shared)
    else:
        check_table(case, shared)


CHECKS: dict[str, Callable[[Case, Path], None]] = {"verdict/": check}
