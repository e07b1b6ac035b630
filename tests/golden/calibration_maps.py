"""What checks the golden cases of maps from a judge's scores to people's."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.stats.estimation import map_quality as m
from harness.stats.estimation.score_maps import LabelledScores, NumberRule, cross_fitted_map, fit_number_map, fit_ordinal_map

Given = dict[str, Any]


def _scores(given: Given) -> LabelledScores:
    return LabelledScores.of(given["x"], np.eye(given["classes"])[given["y"]], given["language"])


def _proportional(given: Given) -> Given:
    found = fit_ordinal_map(_scores(given), sds=(0.0, 0.0))
    at = {str(x): found.probabilities(x).tolist() for x in (-1, 0, 1)}
    return {"slope": found.slope, "cuts": found.cuts.tolist(), "log_likelihood": found.penalised, "probabilities_at": at}


def _pooled(given: Given) -> Given:
    found = fit_ordinal_map(_scores(given), sds=(given["sd_v"], given["sd_u"]))
    ends = np.arange(given["classes"])
    expected = {str(at): (found.probabilities([-1, 0, 1], at) @ ends).tolist() for at in range(len(found.shifts))}
    return {
        "cuts": found.cuts.tolist(),
        "slope": found.slope,
        "v": found.shifts.tolist(),
        "u": found.slopes.tolist(),
        "penalised_log_likelihood": found.penalised,
        "laplace_log_marginal": found.laplace,
        "expected_score": expected,
        "new_language": (found.probabilities([-1, 0, 1]) @ ends).tolist(),
    }


def _cross_fitted(given: Given) -> Given:
    language, fold, y = np.asarray(given["language"]), given["fold"], np.eye(given["classes"])[given["y"]]
    after = m.brier_losses(cross_fitted_map(_scores(given), fold, sds=(given["sd_v"], given["sd_u"]))[0], y)
    constant = m.brier_losses(_constant(y, language, np.asarray(fold)), y)
    gain = m.gain_test(constant, after, given["group"])
    return {
        "brier": float(after.mean()),
        "brier_constant": float(constant.mean()),
        "by_language": [[float(after[language == at].mean()), float(constant[language == at].mean())] for at in range(4)],
        "gain": float(gain.mean),
        "se": float(gain.error),
        "groups": int(gain.groups),
        "p_one_sided": float(gain.p_above(0)),
    }


def _constant(counts: np.ndarray, language: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """The shares of classes in the text's language on the other folds, 1/2 added to each count."""
    others = [counts[(language == own) & (fold != part)].sum(axis=0) + 0.5 for own, part in zip(language, fold, strict=True)]
    return np.array([each / each.sum() for each in others])


def _numbers_of_other_folds(given: Given, rule: NumberRule) -> np.ndarray:
    x, y, fold = (np.asarray(given[name]) for name in ("x", "y", "fold"))
    found = np.empty(len(y))
    for one in np.unique(fold):
        rest, own = fold != one, fold == one
        found[own] = fit_number_map(x[rest], y[rest], np.zeros(rest.sum()), 1, rule).predict(x[own], 0)
    return found


def _numbers(given: Given) -> Given:
    rules: tuple[NumberRule, ...] = ("isotonic", "linear", "constant")
    found = {rule: _numbers_of_other_folds(given, rule) for rule in rules}
    errors = {f"mse_{rule}": float(((one - np.asarray(given["y"])) ** 2).mean()) for rule, one in found.items()}
    return {"isotonic_first_five": found["isotonic"][:5].tolist(), **errors}


def _gap(given: Given) -> Given:
    a, n = np.asarray(given["agreement"]), np.asarray(given["n"])
    found = m.gap_best_worst(a, np.sqrt(a * (1 - a) / n))
    chance = {"gap_by_chance_mean": found.by_chance, "gap_by_chance_95": found.by_chance_95}
    return {"gap": found.gap, **chance, "Q": found.q, "p_Q": found.p}


CHECKS = {
    "map/proportional-odds": _proportional,
    "map/partial-pooling": _pooled,
    "map/cross-fitted": _cross_fitted,
    "map/numbers": _numbers,
    "map/gap-best-worst": _gap,
}
