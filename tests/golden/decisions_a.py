"""Checks of the decision fixtures: alternative annotators, prediction-powered inference, misclassification, acceptance.

A check takes a case and the folder of shared data, runs our code on the inputs and compares the result with what is expected. One prefix
covers cases of several shapes, which are told apart by their keys.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from harness.stats.core.arrays import Floats
from harness.stats.core.groups import ClusterVariance
from harness.stats.estimation import acceptance as ac
from harness.stats.estimation import misclassification as mc
from harness.stats.estimation import prediction_powered as pp
from harness.stats.intervals import noninferiority as aa
from harness.stats.intervals.multiplicity import holm
from tests.golden.decision_values import assert_equal

Case = dict[str, Any]
PLAIN: ClusterVariance = "cr1"
"""The cases hold the numbers of the formulas that take groups as equal; tests.golden.test_unequal has those for unequal groups."""


class Table(NamedTuple):
    """Codes or numbers of one data set: labels (items, annotators) with NaN, one column of scores a judge, and what codes stand for."""

    labels: Floats
    annotators: list[str]
    scores: dict[str, Floats]
    instances: list[tuple[str, str]]
    code: dict[Any, float]


@cache
def _rows(folder: Path, name: str) -> list[dict[str, Any]]:
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@cache
def _table(folder: Path, dataset: str) -> Table:
    """One data set of the recorded labels and judgments; an item on one metric is an instance."""
    labels, judgments = (
        [row for row in _rows(folder, name) if row["item_id"].startswith(f"{dataset}:")] for name in ("labels", "judgments")
    )
    instances = {key: place for place, key in enumerate(dict.fromkeys((row["item_id"], row["metric"]) for row in labels))}
    annotators = {name: place for place, name in enumerate(dict.fromkeys(row["annotator_id"] for row in labels))}
    if all(isinstance(row["score"], int | float) for row in labels):
        code = {row["score"]: float(row["score"]) for row in [*labels, *judgments] if isinstance(row["score"], int | float)}
    else:
        values = dict.fromkeys(row["score"] for row in [*labels, *judgments] if row["score"] is not None)
        code = {value: float(place) for place, value in enumerate(values)}
    table = np.full((len(instances), len(annotators)), np.nan)
    for row in labels:
        table[instances[row["item_id"], row["metric"]], annotators[row["annotator_id"]]] = code.get(row["score"], np.nan)
    scores = {name: np.full(len(instances), np.nan) for name in dict.fromkeys(row["judge"] for row in judgments)}
    for row in judgments:
        if (place := instances.get((row["item_id"], row["metric"]))) is not None:
            scores[row["judge"]][place] = code.get(row["score"], np.nan)
    return Table(table, list(annotators), scores, list(instances), code)


def check_alternative_annotator(case: Case, data: Path) -> None:
    if "data" in case["inputs"]:
        _check_recorded(case, data / Path(case["inputs"]["data"]).name)
    elif "differences" in case["inputs"]:
        [found] = aa.advantage_tests([aa.AnnotatorDifferences(np.asarray(case["inputs"]["differences"], float))], case["inputs"]["epsilon"])
        assert_equal({"p_t": found.p_published, "p_safe": found.p}, case["expected"], case["tolerance"])
    else:
        _check_synthetic(case)


def _alternative_annotators(
    labels: Floats, judge: Floats, rule: aa.AnnotatorRule, scoring: aa.Scoring, groups: list[Any] | None = None
) -> aa.AlternativeAnnotatorTest:
    return aa.alternative_annotator_tests([aa.LabelledByAnnotators(labels, judge, groups, scoring=scoring)], rule)[0]


def _check_recorded(case: Case, folder: Path) -> None:
    given = case["inputs"]
    options = {"q": given["q"], "min_items": given["min_instances"], "min_annotators": given["min_annotators"], "failures_lose": False}
    for row in case["expected"]["rows"]:
        table = _table(folder, row["dataset"])
        judge = table.scores[row["judge"]]
        found = _alternative_annotators(table.labels, judge, aa.AnnotatorRule(row["epsilon"], **options), row["scoring"])
        _compare_published(found, table.annotators, row, case["tolerance"])
    for row in case["expected"].get("constant_judge", []):
        table = _table(folder, row["dataset"])
        judge = np.array([table.code[row["constant"][metric]] for _, metric in table.instances])
        found = _alternative_annotators(table.labels, judge, aa.AnnotatorRule(row["epsilon"], **options), row["scoring"])
        assert_equal({"omega": found.omega, "rho": found.rho}, row, case["tolerance"], f"constant {row['dataset']}")


def _compare_published(found: aa.AlternativeAnnotatorTest, names: Sequence[str], expected: Mapping[str, Any], tolerance: float) -> None:
    assert_equal({"omega": found.omega, "rho": found.rho}, expected, tolerance)
    by_name = dict(zip(names, found.annotators, strict=True))
    tested = {one["annotator"] for one in expected["annotators"] if not one.get("skipped")}
    assert tested == {name for name, one in by_name.items() if one.test is not None}
    for row in expected["annotators"]:
        one = by_name[row["annotator"]]
        assert one.n == row["n"] and (one.test is None) == bool(row.get("skipped"))
        if one.test is not None:
            numbers = {"rho_judge": one.rho_judge, "rho_human": one.rho_human, "diff": one.test.mean, "se": one.test.error}
            tests = {"p": one.test.p_published, "rejected": one.rejected, "p_by": one.p_adjusted}
            assert_equal({**numbers, **tests}, row, tolerance, row["annotator"])


def _check_synthetic(case: Case) -> None:
    given, expected, tolerance = case["inputs"], case["expected"], case["tolerance"]
    items = sorted({item for of_one in given["labels"].values() for item in of_one} | set(given["judge"]))
    names = list(given["labels"])
    labels = np.array([[given["labels"][name].get(item, np.nan) for name in names] for item in items], float)
    judge = np.array([given["judge"].get(item, np.nan) for item in items], float)
    options = {key: given[key] for key in ("epsilon", "q")} | {"min_items": given["min_instances"]}
    scoring = given["scoring"]
    if "as_published" in expected:
        found = _alternative_annotators(labels, judge, aa.AnnotatorRule(failures_lose=False, **options), scoring)
        _compare_published(found, names, expected["as_published"], tolerance)
    if "failures_lose" in expected:
        groups = [given["groups"][item] for item in items]
        by_items = _alternative_annotators(labels, judge, aa.AnnotatorRule(**options), scoring)
        by_groups = _alternative_annotators(labels, judge, aa.AnnotatorRule(variance=PLAIN, **options), scoring, groups)
        _compare_failures(by_items, by_groups, names, expected["failures_lose"], tolerance)


def _compare_failures(
    by_items: aa.AlternativeAnnotatorTest, by_groups: aa.AlternativeAnnotatorTest, names: Sequence[str], expected: Case, tolerance: float
) -> None:
    """All but the score test, which we do not compute: the guarded test has its place and knows groups."""
    rows = []
    for name, one, grouped in zip(names, by_items.annotators, by_groups.annotators, strict=True):
        if one.test is None or grouped.test is None:
            continue
        counts = {"annotator": name, "n": one.n, "human_better": one.human_better, "judge_better": one.judge_better, "rho": one.rho_judge}
        items = {"diff": one.test.mean, "se_items": one.test.error, "p_items": one.test.p_published}
        groups = {"groups": grouped.test.groups, "se_groups": grouped.test.error, "p_groups": grouped.test.p_published}
        rows.append({**counts, **items, **groups, "p_guarded": grouped.test.p_guarded})
    adjusted = {
        "p_by_items": [one.p_adjusted for one in by_items.annotators if one.test],
        "p_by_groups": [one.p_adjusted for one in by_groups.annotators if one.test],
    }
    assert_equal({"annotators": rows, **adjusted, "omega_groups": by_groups.omega}, expected, tolerance)


def _joined(labels: Any, judged: Any, unlabelled: Any) -> tuple[Floats, Floats]:
    """Labels and scores of all items, those with a label first."""
    y = np.concatenate([np.asarray(labels, float), np.full(len(unlabelled), np.nan)])
    return y, np.concatenate([np.asarray(judged, float), np.asarray(unlabelled, float)])


def _described(found: pp.PredictionPowered) -> dict[str, Any]:
    return {"lam": found.lam, "estimate": found.value, "se": found.error, "ci_t": [found.interval.lo, found.interval.hi]}


def check_prediction_powered(case: Case, _data: Path) -> None:
    given = case["inputs"]
    if "rows" in given:
        pytest.skip("left out: no command says what labels would be worth, or splits a budget")
    elif "strata" in given:
        _check_strata(case)
    elif "group_labelled" in given:
        _check_groups(case)
    elif "Y_a" in given:
        _check_difference(case)
    elif "classes" in given:
        _check_class_shares(case)
    else:
        y, f = _joined(given["Y"], given["judge_labelled"], given["judge_unlabelled"])
        _compare_means(lambda lam: pp.prediction_powered_mean(y, f, lam=lam, level=1 - given["alpha"]), case["expected"], case["tolerance"])


def _compare_means(estimate: Callable[[float | None], pp.PredictionPowered], expected: Case, tolerance: float) -> None:
    """All but ppi_py's own intervals and p, which divide by n and use normal quantiles."""
    tuned = estimate(None)
    worth = {"rho": tuned.rho, "judge_only": tuned.judge_only}
    observed = {"effective_n_observed": tuned.effective_n, "labels_saved_observed": tuned.labels_saved}
    if "ppi_plus_plus" in expected:
        each = {"classical": _described(estimate(0.0)), "ppi": _described(estimate(1.0)), "ppi_plus_plus": _described(tuned)}
        assert_equal({**each, "truescore": _described(tuned), **worth, **observed}, expected, tolerance)
    else:
        assert_equal({**_described(tuned), **worth, **observed}, expected, tolerance)


def _check_difference(case: Case) -> None:
    given, level = case["inputs"], 1 - case["inputs"]["alpha"]
    (y_a, f_a), (y_b, f_b) = (_joined(given[f"Y_{s}"], given[f"judge_{s}_labelled"], given[f"judge_{s}_unlabelled"]) for s in "ab")
    paired = case["expected"]["paired"]
    _compare_means(lambda lam: pp.prediction_powered_mean(y_a - y_b, f_a - f_b, lam=lam, level=level), paired, case["tolerance"])
    each = [pp.prediction_powered_mean(y, f) for y, f in ((y_a, f_a), (y_b, f_b))]
    found = pp.combine_estimates(each, [1, -1])
    unpaired = {"estimate": found.value, "se": found.error, "lam": [one.lam for one in each]}
    assert_equal({"as_if_unpaired": unpaired}, case["expected"], case["tolerance"])


def _check_class_shares(case: Case) -> None:
    """ppi_py's normal intervals are not ours: their half-widths give back the errors, with the divisor n in place of n - 1."""
    given, expected, tolerance = case["inputs"], case["expected"], case["tolerance"]
    y, f = _joined(given["Y"], given["judge_labelled"], given["judge_unlabelled"])
    shares = (np.where(np.isnan(column)[:, None], np.nan, column[:, None] == np.array(given["classes"])) for column in (y, f))
    found = pp.prediction_powered_class_shares(*shares)
    assert_equal({"estimate": found.value, "sum": found.value.sum(), "lam": found.lam}, expected["overall"], tolerance)
    known = ~np.isnan(y)
    each = [pp.prediction_powered_mean(np.where(known, y == value, np.nan), f == value) for value in given["classes"]]
    values = [one.value for one in each]
    assert_equal({"estimate": values, "sum": sum(values), "lam": [one.lam for one in each]}, expected["element"], tolerance)
    from scipy.stats import norm

    half = (np.array(expected["overall"]["upper"]) - expected["overall"]["lower"]) / 2 / norm.ppf(1 - given["alpha"] / 2)
    n, unlabelled = known.sum(), (~known).sum()
    scores = np.array([found.lam**2 * np.var((f == value)[~known]) for value in given["classes"]])
    by_n = (found.error**2 - scores / (unlabelled - 1)) * (n - 1) / n + scores / unlabelled
    assert_equal(np.sqrt(by_n), half.tolist(), tolerance, "errors")


def _check_groups(case: Case) -> None:
    given, tolerance = case["inputs"], case["tolerance"]
    y, f = _joined(given["Y"], given["judge_labelled"], given["judge_unlabelled"])
    level = 1 - given["alpha"]
    found = pp.prediction_powered_mean(y, f, [*given["group_labelled"], *given["group_unlabelled"]], level=level, variance=PLAIN)
    items = pp.prediction_powered_mean(y, f, level=level)
    interval = [found.interval.lo, found.interval.hi]
    numbers = {"lam": found.lam, "estimate": found.value, "se_clusters": found.error, "df": found.freedom, "se_items": items.error}
    assert_equal({**numbers, "ci": interval, "ci_clusters": interval}, case["expected"], tolerance)


def _check_strata(case: Case) -> None:
    strata = case["inputs"]["strata"]
    each = [pp.prediction_powered_mean(*_joined(one["Y"], one["judge_labelled"], one["judge_unlabelled"])) for one in strata]
    found = pp.combine_estimates(each, [one["weight"] for one in strata], level=1 - case["inputs"]["alpha"])
    parts = [_described(one) for one in each]
    whole = {"estimate": found.value, "se": found.error, "df_satterthwaite": found.freedom, "ci": [found.interval.lo, found.interval.hi]}
    assert_equal({"strata": parts, **whole}, case["expected"], case["tolerance"])


def check_misclassification(case: Case, _data: Path) -> None:
    given = case["inputs"]
    if isinstance(given, Mapping):
        _check_classes(case) if "counts_label_by_judge" in given else _check_estimators(case)
    elif "m" in given[0]:
        pytest.skip("left out: no command divides labels between a judge's verdicts")
    else:
        assert_equal([_corrected(one) for one in given], case["expected"], case["tolerance"])


def _corrected(one: Mapping[str, int]) -> dict[str, Any]:
    counts = ("judged_positive", "n", "correct_negatives", "true_negatives", "correct_positives", "true_positives")
    found = mc.rogan_gladen(*(one[name] for name in counts))
    shares = {"apparent": found.apparent, "specificity": found.specificity, "sensitivity": found.sensitivity}
    youden = {"youden": found.youden, "youden_se": found.youden_error}
    estimates = {"estimate_raw": found.value_raw, "estimate": found.value, "se_delta": found.error, "se": found.error}
    return {**shares, **youden, **estimates, "ci_lee2025": found.lee, "ci_fieller": found.fieller}


def _check_estimators(case: Case) -> None:
    """judgy's interval ignores the error of the judged share, truescore's share is that of all items, and no command weighs verdicts."""
    given, expected = case["inputs"], case["expected"]
    y, f, unlabelled = (np.asarray(given[name]) for name in ("Y", "judge_labelled", "judge_unlabelled"))
    one = {"judged_positive": int(unlabelled.sum()), "n": len(unlabelled)}
    one |= {"correct_negatives": int(((y == 0) & (f == 0)).sum()), "true_negatives": int((y == 0).sum())}
    corrected = _corrected(one | {"correct_positives": int(((y == 1) & (f == 1)).sum()), "true_positives": int((y == 1).sum())})
    every = _joined(y, f, unlabelled)
    found = {"rogan_gladen": corrected, "judgy": {"estimate": corrected["estimate"]}}
    assert_equal({**found, "ppi_plus_plus": _described(pp.prediction_powered_mean(*every))}, expected, case["tolerance"])


def _check_classes(case: Case) -> None:
    given, expected = case["inputs"], case["expected"]
    found = mc.corrected_shares(given["counts_label_by_judge"], given["judged_counts"])
    values = np.array(given["values"], float)
    mean, error = values @ found.value, math.sqrt(values @ found.covariance @ values)
    shares = {"shares_raw": found.value, "se": found.error, "covariance": found.covariance, "shares_projected": found.projected}
    matrix = {"condition_number": found.condition, "smallest_singular_value": found.singular}
    assert_equal({**shares, **matrix, "mean_score": mean, "mean_score_se": error}, expected, case["tolerance"])


def check_acceptance(case: Case, _data: Path) -> None:
    given, expected, tolerance = case["inputs"], case["expected"], case["tolerance"]
    if "loss" in given:
        mean = float(np.mean(given["loss"]))
        found = {"mean_loss": mean, "p_hoeffding_bentkus": ac.hoeffding_bentkus_p(mean, len(given["loss"]), given["alpha"])}
        assert_equal(found, expected, tolerance)
    elif "rows" in given:
        needed = [[ac.items_needed(errors, row["alpha"], row["delta"]) for errors in (0, 1, 2, 3, 5)] for row in given["rows"]]
        assert_equal({"n_for_errors": needed}, expected, tolerance)
    else:
        _check_thresholds(given, expected, tolerance)


def _check_thresholds(given: Case, expected: Case, tolerance: float) -> None:
    alpha, delta = given["alpha"], given["delta"]
    options = {"alpha": alpha, "delta": delta, "start_errors": given["start_errors"]}
    found = ac.acceptance_threshold(given["confidence"], given["agrees"], given.get("group"), variance=PLAIN, **options)  # as published
    fields = ("threshold", "accepted", "errors", "groups", "effective_n", "upper", "p")
    path = [{name: getattr(candidate, name) for name in fields} for candidate in found.path]
    share = {"threshold": found.threshold, "coverage": found.coverage}
    chosen = None if found.reason else {**share, "agreement": found.agreement, "agreement_lower": found.agreement_lower}
    p = np.array([candidate.p for candidate in found.path])
    rules = {
        "naive": [candidate.errors <= alpha * candidate.accepted + 1e-9 for candidate in found.path],
        "bonferroni": p <= delta / len(p),
        "holm": holm(p) <= delta,
    }
    others = {name: _lowest(found.path, passed, found.n) for name, passed in rules.items()}
    first = path[0] if path else None
    assert_equal({"n_start": found.n_start, "path": path, "first": first, "chosen": chosen, **others}, expected, tolerance)


def _lowest(path: Sequence[ac.Candidate], passed: Any, n: int) -> dict[str, float] | None:
    """What another rule would take from the same candidates."""
    taken = [candidate for candidate, good in zip(path, passed, strict=True) if good]
    return {"threshold": taken[-1].threshold, "coverage": taken[-1].accepted / n} if taken else None


CHECKS: dict[str, Callable[[dict[str, Any], Path], None]] = {
    "alttest/": check_alternative_annotator,
    "ppi/": check_prediction_powered,
    "rogan-gladen/": check_misclassification,
    "acceptance/": check_acceptance,
}
