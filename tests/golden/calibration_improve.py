"""What the cases of choosing, confirming, cascades and error that follows something are checked with."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import stats

from harness.stats.estimation.acceptance import CascadePromise, by_design_effect, effective_n, joint_cascade
from harness.stats.estimation.choose_and_confirm import ConfirmedGain, confirm, halve, level_of_use, texts_to_confirm
from harness.stats.intervals.cluster_mean import cluster_mean
from harness.stats.intervals.intervals import clopper_pearson
from harness.stats.intervals.multiplicity import benjamini_yekutieli
from harness.stats.intervals.regression import cluster_regression
from harness.stats.ranking import bradley_terry, length_overlap, preference_by_length

Given = dict[str, Any]


def _halving(given: Given) -> Given:
    right = np.asarray(given["right"], float)[given["order"]]
    found = halve(lambda columns, n: right[:n, list(columns)], len(right), right.shape[1] - 1, given["shares"])
    rounds = [{"texts": each.texts, "kept": list(each.kept)} for each in found.rounds]
    left = [len(given["right"][0]) - 1, *(len(each.kept) for each in found.rounds)]
    more = [each.texts - before for each, before in zip(found.rounds, [0, *(each.texts for each in found.rounds)], strict=False)]
    assert found.asked == sum(count * texts for count, texts in zip(left, more, strict=False))
    steps = [math.floor((share - before) * len(given["right"])) for before, share in pairwise([0.0, *given["shares"]])]
    return {"rounds": rounds, "asked": sum(count * texts for count, texts in zip(left, steps, strict=False))}  # whole texts of each share


def _confirm(given: Given) -> Given:
    found = confirm(*(given[name] for name in ("start", "chosen", "constant", "language", "group")), margin=given["margin"])
    p = [each.p_shown for each in found.by_language]
    together = found.together
    return {
        "by_language": list(map(_gain, found.by_language)),
        "p": p,
        "holm": found.corrected.tolist(),
        "together": {"gain": together.gain, "se": together.error, "p": together.p},
    }


def _gain(found: ConfirmedGain) -> Given:
    names = ("gain", "p", "p_constant", "p_harm_beyond", "p_harmless")
    return {name: getattr(found, name) for name in names} | {"se": found.error, "interval": [found.low, found.high]}


def _reuse(given: Given) -> Given:
    fixed = max(given["uses"])
    return {
        "level": [level_of_use(given["alpha"], use) for use in given["uses"]],
        "level_if_five_uses_are_fixed_before": [given["alpha"] / fixed] * len(given["uses"]),
    }


def _texts(given: Given) -> Given:
    rows = []
    for row in given["rows"]:
        spread = np.sqrt(row["discordant"] - row["gain"] ** 2)
        normal = ((stats.norm.isf(row["alpha"]) + stats.norm.ppf(0.8)) * spread / row["gain"]) ** 2
        rows.append({"sd": spread, "texts": texts_to_confirm(row["gain"], row["discordant"], row["alpha"]), "normal": normal})
    return {"rows": rows}


def _joint_path(given: Given) -> Given:
    found = joint_cascade(given["confidence"], given["right"], promise=CascadePromise(given["alpha"], given["delta"]))
    chosen, prices, n = found.chosen, given["price_per_1000"], found.texts
    assert chosen
    rest = n - np.r_[0, np.cumsum(chosen.accepted_by)]
    return {
        "path": [{"step": s.step, "accepted": s.accepted, "errors": s.errors, "upper": s.upper} for s in found.path],
        "chosen": {
            "step": chosen.step,
            "thresholds": list(chosen.thresholds),
            "accepted_by": list(chosen.accepted_by),
            "errors": chosen.errors,
            "upper": chosen.upper,
        },
        "price_per_1000": float((rest / n) @ np.asarray(prices)),
    }


def _groups(given: Given) -> Given:
    group, accepted, wrong, delta = (np.asarray(given[name]) for name in ("group", "accepted", "wrong", "delta"))
    taken, pick = accepted > 0, np.asarray(given["pick"])
    of_pick = pick[taken[pick]]
    per_group = [bool(wrong[taken & (group == g)].any()) for g in np.unique(group[taken])]

    def upper(errors: float, n: float) -> float:
        return clopper_pearson(errors, n, float(delta))[1]

    return {
        "observed": float(wrong[taken].mean()),
        "items": upper(wrong[taken].sum(), taken.sum()),
        "one_per_group": upper(wrong[of_pick].sum(), len(of_pick)),
        "design_effect": taken.sum() / effective_n(wrong[taken], group[taken], float(delta), "cr1"),  # as published
        "by_design_effect": by_design_effect(wrong[taken], group[taken], float(delta), "cr1"),
        "any_wrong": upper(sum(per_group), len(per_group)),
    }


def _cr2(given: Given) -> Given:
    found = cluster_regression(given["y"], given["X"], given["group"])
    y, x, group = np.asarray(given["y"]), np.asarray(given["X"]), np.asarray(given["group"])
    bread = np.linalg.inv(x.T @ x)
    scores = np.array([x[group == g].T @ (y - x @ found.coefficients)[group == g] for g in np.unique(group)])
    count, (n, k) = len(scores), x.shape
    cr1 = np.sqrt(np.diag(bread @ scores.T @ scores @ bread) * count / (count - 1) * (n - 1) / (n - k))
    return {
        "coefficients": found.coefficients.tolist(),
        "se_cr2": found.errors.tolist(),
        "df": found.freedom.tolist(),
        "p": found.p.tolist(),
        "p_by": benjamini_yekutieli(found.p[1:]).tolist(),
        "se_cr1": cr1.tolist(),
        "p_cr1_t": (2 * stats.t.sf(abs(found.coefficients / cr1), count - 1)).tolist(),
        "minimum_detectable": found.detectable.tolist(),
    }


def _interaction(given: Given) -> Given:
    x, system = np.asarray(given["x"]), np.asarray(given["system"])
    found = cluster_regression(given["y"], np.column_stack([np.ones(len(x)), x, system, x * system]), given["group"])
    value = float(found.coefficients[3])
    return {
        "interaction": value,
        "se": float(found.errors[3]),
        "df": float(found.freedom[3]),
        "p": float(found.p[3]),
        "shift_of_difference_per_unit": value,
    }


def _mean(given: Given) -> Given:
    found = cluster_regression(given["y"], np.ones((len(given["y"]), 1)), given["group"])
    assert abs(found.errors[0] - cluster_mean(given["y"], given["group"]).error) < 1e-12
    return {"mean": float(found.coefficients[0]), "se": float(found.errors[0]), "df": float(found.freedom[0])}


def _pairs(given: Given) -> Given:
    first, second, won = (np.asarray(given[name]) for name in ("first", "second", "first_wins"))
    found = preference_by_length(first, second, won, given["length_difference"])
    half = np.repeat(won, 2).astype(float)
    half[1::2] = 1 - won  # each comparison in both orders has no place
    both = bradley_terry(np.column_stack([first, second]).ravel(), np.column_stack([second, first]).ravel(), half, 4, np.arange(len(half)))
    return {
        "without_place": (both.strengths - both.strengths[0]).tolist(),
        "raw": found.raw.tolist(),
        "raw_place": found.raw_place,
        "adjusted": found.adjusted.tolist(),
        "adjusted_place": found.place,
        "length": found.length,
        "length_se": found.length_error,
        "length_p": found.length_p,
        "lr": found.likelihood_ratio,
    }


def _overlap(given: Given) -> Given:
    found = length_overlap(given["first"], given["second"], given["length_difference"])
    return {
        "rows": [{"pair": list(each.pair), "share_longer": each.share_longer, "n": each.n} for each in found],
        "refused": [list(each.pair) for each in found if each.share_longer < 0.1 or each.share_longer > 0.9],
    }


CHECKS: dict[str, Callable[[Given], Any]] = {
    "improve/halving": _halving,
    "improve/confirm": _confirm,
    "improve/reuse": _reuse,
    "improve/texts-needed": _texts,
    "cascade/joint-path": _joint_path,
    "cascade/groups": _groups,
    "explain/cr2": _cr2,
    "explain/interaction": _interaction,
    "explain/cr2-mean": _mean,
    "pairs/bradley-terry-length": _pairs,
    "pairs/overlap": _overlap,
}
