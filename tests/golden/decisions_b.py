"""Calibration, label budgets, comparisons across languages and panels: numbers that others computed, and how ours are compared with them.

A check takes one case of the fixtures and the folder of shared data. It reads the case's inputs, never its name, so that further cases of
the same kind are checked alike. `null` in a case means undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.decide.cell_tests import same_level_p
from harness.stats.agreement.describe import leniency_of_judge
from harness.stats.agreement.variance_components import mean_squares, mixed_components, one_way_components, reliability, two_way_components
from harness.stats.core.arrays import Ints
from harness.stats.core.rows import aggregate, count_classes
from harness.stats.core.statistic import item_credits
from harness.stats.estimation import calibration, labels_needed
from harness.stats.estimation.calibration import CalibrationError
from harness.stats.estimation.map_quality import brier_parts
from harness.stats.estimation.prediction_powered import combine_estimates, prediction_powered_mean
from harness.stats.estimation.score_maps import isotonic_points
from harness.stats.estimation.shrinkage import MetaAnalysis, meta_analysis
from harness.stats.intervals.cluster_mean import cluster_mean
from harness.stats.intervals.paired import hits
from harness.stats.language_differences import (
    DifferentialFunctioning,
    compare_rates,
    differential_functioning,
    parallel_consistency,
)
from tests.golden.decision_values import assert_equal

Case = dict[str, Any]


def compare(found: Mapping[str, Any], case: Case) -> None:
    """Every number that we compute with its place in the case."""
    assert_equal(found, case["expected"], case["tolerance"])


# ---- calibration


def _errors(found: CalibrationError) -> dict[str, float]:
    return {
        "ece": found.ece,
        "ce2": found.root,
        "ce2_squared": found.squared,
        "ce2_squared_debiased": found.debiased,
        "ce2_debiased": found.debiased_root,
    }


def check_confidence(case: Case, _: Path) -> None:
    """Left out: smooth ECE and equal-width bins are other definitions; Murphy's decomposition is shown by no command, CORP's is."""
    p, y, bins = case["inputs"]["probability"], case["inputs"]["agrees"], case["inputs"].get("bins")
    curve = calibration.reliability_curve(p, y, bins, min_bin=1)
    rows = zip(curve.n, curve.confidence, curve.share, strict=True)
    corp = brier_parts(np.column_stack([1 - np.asarray(p), p]), np.eye(2)[np.asarray(y, int)])  # of two classes: each part twice
    found: dict[str, Any] = {
        **_errors(calibration.calibration_error(p, y, bins, min_bin=1)),
        "diagram": [{"n": n, "mean_predicted": mean, "share": share} for n, mean, share in rows],
        "brier": calibration.brier_score(p, y),
        "log_loss": calibration.log_loss(p, y),
        "corp_brier": {"score": calibration.brier_score(p, y), **{name: part / 2 for name, part in corp.items()}},
    }
    compare(found, case)


def check_recalibration(case: Case, _: Path) -> None:
    p, y, fold = (np.asarray(case["inputs"][name]) for name in ("probability", "agrees", "fold"))
    fits: dict[str, Callable[..., Any]] = {
        "isotonic": lambda a, b: lambda q: np.interp(q, *isotonic_points(a, b)),
        "platt_plain": calibration.fit_platt,
        "platt_sklearn": lambda a, b: calibration.fit_platt(a, b, softened=True),
    }
    found: dict[str, Any] = {}
    for name, fit in fits.items():
        q = calibration.cross_fitted(p, y, fold, fit)
        found[name] = {"probability": q, "brier": calibration.brier_score(q, y), "log_loss": calibration.log_loss(q, y)}
    parameters = []
    for row in case["expected"].get("parameters", []):
        others = fold != row["fold"]
        plain, soft = calibration.fit_platt(p[others], y[others]), calibration.fit_platt(p[others], y[others], softened=True)
        parameters.append(
            {
                "fold": row["fold"],
                "logit_intercept": plain.intercept,
                "logit_slope": plain.slope,
                "platt_a": -soft.slope,  # scikit-learn's map is expit(-(a x + b))
                "platt_b": -soft.intercept,
            }
        )
    compare({**found, "parameters": parameters}, case)


def check_class_probabilities(case: Case, _: Path) -> None:
    """Left out: scores and a temperature of several classes, which no command has."""
    p, label, bins = np.array(case["inputs"]["probability"]), np.array(case["inputs"]["label"]), case["inputs"].get("bins")
    classwise = [calibration.calibration_error(p[:, c], label == c, bins, min_bin=1) for c in range(p.shape[1])]
    found = {
        "confidence": _errors(calibration.calibration_error(p.max(axis=1), p.argmax(axis=1) == label, bins, min_bin=1)),
        "classwise": [_errors(each) for each in classwise],
        "classwise_ece": np.mean([each.ece for each in classwise]),
    }
    compare(found, case)


def check_calibration(case: Case, shared: Path) -> None:
    inputs = case["inputs"]
    if "label" in inputs:
        check_class_probabilities(case, shared)
    elif "fold" in inputs:
        check_recalibration(case, shared)
    else:
        check_confidence(case, shared)


# ---- label budgets


def check_half_width(case: Case, _: Path) -> None:
    """Left out: half-widths of normal intervals and of means, by which no command plans."""
    compare({"shares_wilson": [labels_needed.items_for_wilson(each["p"], each["half_width"]) for each in case["inputs"]["shares"]]}, case)


def check_allocation(case: Case, _: Path) -> None:
    sizes, sds, n = (case["inputs"][name] for name in ("stratum_sizes", "stratum_sds", "n"))
    neyman = labels_needed.neyman_allocation(sizes, sds, n, floor=case["inputs"]["floor"])
    proportional = labels_needed.proportional_allocation(sizes, n)
    found = {
        "neyman": neyman,
        "proportional": proportional,
        "variance_neyman": labels_needed.stratified_variance(sizes, sds, neyman),
        "variance_proportional": labels_needed.stratified_variance(sizes, sds, proportional),
    }
    compare(found, case)


def check_stratified(case: Case, _: Path) -> None:
    """A stratum's labels alone are its prediction-powered mean without a judge."""
    y, stratum, sizes = (np.array(case["inputs"][name], float) for name in ("y", "stratum", "stratum_sizes"))
    of = [y[stratum == code] for code in range(len(sizes))]
    whole = combine_estimates([prediction_powered_mean(each, np.zeros(len(each))) for each in of], list(sizes / sizes.sum()))
    spread, n = [each.std(ddof=1) for each in of], [len(each) for each in of]
    compare(
        {
            "estimate": whole.value,
            "se": whole.error,
            "se_finite_population": labels_needed.stratified_variance(sizes, spread, n) ** 0.5,
            "df_satterthwaite": whole.freedom,
            "unweighted_mean": np.mean(y),
        },
        case,
    )


def check_budget(case: Case, shared: Path) -> None:
    inputs = case["inputs"]
    if isinstance(inputs, list):
        pytest.skip("left out: labels for a margin are planned in resamples of the guarded test, not by the t-test")
    for key, check in (
        ("design", check_half_width),
        ("stratum_sds", check_allocation),
        ("stratum", check_stratified),
    ):
        if key in inputs:
            check(case, shared)
            return
    for key, plan in (("looks", "repeated looks"), ("inclusion_probability", "labels drawn with unequal probabilities")):
        if key in inputs:
            pytest.skip(f"left out: no command plans or analyses {plan}")
    raise AssertionError(f"no check of a budget with {', '.join(inputs)}")


# ---- across languages


def _codes(values: Iterable[Any], order: list[Any]) -> Ints:
    return np.array([order.index(value) for value in values], np.int64)


def check_leniency(case: Case, _: Path) -> None:
    inputs = case["inputs"]
    scale = sorted(inputs["scale"])
    direction: Any = 1 if inputs["best"] == scale[-1] else -1
    for language, expected in case["expected"].items():
        rows = [row for row in inputs["rows"] if row["language"] == language]
        most = max(len(row["labels"]) for row in rows)
        padded = [[-1 if label is None else scale.index(label) for label in row["labels"]] for row in rows]
        labels = [row + [-1] * (most - len(row)) for row in padded]
        judge = [-1 if row["judge"] is None else scale.index(row["judge"]) for row in rows]
        groups = [row["group"] for row in rows]

        lenient = item_credits(leniency_of_judge(len(scale), direction, scale), count_classes(labels, len(scale)), judge)
        known = ~np.isnan(lenient)
        mean = cluster_mean(lenient[known], np.array(groups)[known], variance="cr1")
        found: dict[str, Any] = {"n": mean.n, "groups": mean.groups, "leniency": mean.mean, "se": mean.error}
        found |= {"ci": mean.interval(), "ci90": mean.interval(0.9)}
        prefix = "p_equivalent_within_"
        for key in expected:
            if key.startswith(prefix):
                found[key] = same_level_p(mean, float(key.removeprefix(prefix).replace("_", ".")))
        assert_equal(found, expected, case["tolerance"], language)


def check_rates(case: Case, _: Path) -> None:
    inputs, order = case["inputs"], case["expected"]["languages"]
    assert order[0] == inputs["reference"]
    result = compare_rates(inputs["hit"], _codes(inputs["language"], order), inputs["group"], len(order))
    found = {
        "languages": order,
        "share": result.share,
        "coefficients": result.coefficients,
        "robust_se": result.robust_se,
        "wald_chi2": result.chi2,
        "df": result.df,
        "p": result.p,
    }
    compare(found, case)


def _summary(result: MetaAnalysis) -> dict[str, Any]:
    return {
        "tau2": result.tau2,
        "mean": result.mean,
        "se": result.se,
        "se_hksj": result.se_hksj,
        "ci_hksj": result.interval,
        "prediction_interval": result.prediction,
        "q": result.q,
        "q_p": result.q_p,
        "i2": result.i2,
        "weights": result.weights,
    }


def check_meta(case: Case, _: Path) -> None:
    """What statsmodels makes of a negative tau² (`…_statsmodels`) is not wanted; tau² is Paule and Mandel's."""
    found = _summary(meta_analysis(case["inputs"]["gap"], case["inputs"]["variance"]))
    assert_equal(found, case["expected"].get("pm", case["expected"]), case["tolerance"])


def check_dif(case: Case, _: Path) -> None:
    inputs, expected = case["inputs"], case["expected"]
    order = [inputs["reference"], *(name for name in expected["expected_score_shift"] if name != inputs["reference"])]
    scale = sorted(inputs["scale"])
    result: DifferentialFunctioning = differential_functioning(
        _codes(inputs["judge"], scale), inputs["human"], _codes(inputs["language"], order), len(order), len(scale), values=scale
    )
    found = {
        **{name: asdict(getattr(result, name)) for name in ("human", "language", "interaction", "uniform", "non_uniform", "total")},
        "loglik_thresholds_only": result.loglik_thresholds,
        "expected_score_shift": dict(zip(order, result.shift, strict=True)),
    }
    compare(found, case)


def check_consistency(case: Case, _: Path) -> None:
    classes = case["inputs"]["classes"]
    scores = [[-1 if score is None else classes.index(score) for score in row] for row in case["inputs"]["scores"]]
    result = parallel_consistency(scores, len(classes))
    found = {"fleiss": result.fleiss.value, "randolph": result.randolph, "agreement": result.agreement}
    found |= {"pairwise": result.pairwise, "shares": result.shares}
    compare(found, case)


def check_generalizability(case: Case, _: Path) -> None:
    scores = np.asarray(case["inputs"]["scores"], np.float64)
    squares, two_way, one_way = mean_squares(scores), two_way_components(scores), one_way_components(scores)
    assert two_way.annotator is not None

    def study(k: float) -> dict[str, float]:
        [both], [alone] = reliability(two_way, k), reliability(one_way, k)
        return {"k": k, "relative": both.relative, "absolute": both.absolute, "one_way": alone.relative}

    single, mean = study(1), study(scores.shape[1])
    reml = mixed_components(scores)
    found = {
        "ms_item": squares.item,
        "ms_annotator": squares.annotator,
        "ms_residual": squares.residual,
        "ms_within": squares.within,
        "var_item": two_way.item,
        "var_annotator": two_way.annotator,
        "var_residual": two_way.residual,
        "one_way": {"var_item": one_way.item, "var_within": one_way.residual},
        "d_study": [study(row["k"]) for row in case["expected"]["d_study"]],
        "icc_pingouin": {
            f"ICC({form},{size})": study_of[part]
            for form, part in (("1", "one_way"), ("A", "absolute"), ("C", "relative"))
            for size, study_of in (("1", single), ("k", mean))
        },
    }
    assert_equal({"item": reml.item, "rater": reml.annotator, "residual": reml.residual}, case["expected"]["reml"], 1e-3)
    compare(found, case)


def check_languages(case: Case, shared: Path) -> None:
    inputs = case["inputs"]
    for key, check in (
        ("rows", check_leniency),
        ("hit", check_rates),
        ("gap", check_meta),
        ("human", check_dif),
        ("classes", check_consistency),
        ("scores", check_generalizability),
    ):
        if key in inputs:
            check(case, shared)
            return
    raise AssertionError(f"no check across languages with {', '.join(inputs)}")


# ---- panels


def check_votes(case: Case, _: Path) -> None:
    """Left out: Dawid and Skene's model, the stack of judges and the correlation of their errors, which no command has; the mean, which a
    panel makes of its members' scores itself (`judges.panel`)."""
    inputs = case["inputs"]
    classes = sorted(inputs["classes"])
    k = len(classes)
    judges = np.array([[-1 if score is None else classes.index(score) for score in row] for row in inputs["judges"]])
    labels = np.array([[-1 if label is None else classes.index(label) for label in row] for row in inputs["labels"]])
    reference = aggregate(labels, k)
    mode = aggregate(judges, k, "drop")
    answers = {"lower_median": aggregate(judges, k, "median"), "majority": np.where(mode >= 0, mode, -1)}
    single = np.column_stack([hits(each, reference, k, failed_wrong=True) for each in judges.T])
    right = {name: hits(answer, reference, k, failed_wrong=True) for name, answer in answers.items()}
    best = int(np.argmax(np.nansum(single, axis=0)))
    apart = right["lower_median"] - single[:, best]
    known = ~np.isnan(apart)
    gain = cluster_mean(apart[known], np.array(inputs["group"])[known], variance="cr1")
    found: dict[str, Any] = {
        "aggregate": np.where(reference >= 0, reference, -1),
        **answers,
        "pa": {
            "single": np.nanmean(single, axis=0),
            "lower_median": np.nanmean(right["lower_median"]),
            "majority_ties_wrong": np.nanmean(right["majority"]),
        },
        "best_single": best,
        "median_minus_best": {"diff": gain.mean, "se": gain.error, "ci": gain.interval(), "groups": gain.groups},
    }
    compare(found, case)


def check_panel(case: Case, shared: Path) -> None:
    if "judges" not in case["inputs"]:
        pytest.skip("left out: no command says what a majority of so many judges would reach")
    check_votes(case, shared)


CHECKS: dict[str, Callable[[Case, Path], None]] = {
    "calibration/": check_calibration,
    "budget/": check_budget,
    "languages/": check_languages,
    "panel/": check_panel,
}
