"""What checks the golden cases of label sets with a guarantee."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from harness.stats.estimation import conformal as c

Given = dict[str, Any]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _flat(groups: list[list[float]]) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate(groups), np.repeat(np.arange(len(groups)), [len(one) for one in groups])


def _thresholds(given: Given) -> Given:
    scores, groups = _flat(given["groups"])
    alpha, picked = given["alpha"], [one[at] for one, at in zip(given["groups"], given["pick"], strict=True)]
    return {
        "by_group": c.threshold_by_group(scores, groups, alpha),
        "one_per_group": c.threshold_one_per_group(picked, alpha),
        "by_size": {str(m): _finite(c.threshold_by_size(scores, groups, alpha, size=m)) for m in given["new_group_sizes"]},
        "items_as_independent": c.threshold_by_size(scores, np.arange(len(scores)), alpha),
        "by_group_at_alpha": {a: _finite(c.threshold_by_group(scores, groups, float(a))) for a in ("0.02", "0.2")},
    }


def _minimum(given: Given) -> Given:
    return {
        "minimum_groups": {str(a): c.least_groups(a) for a in given["alpha"]},
        "rank": {str(a): [c.conformal_rank(k, a) for k in given["K"]] for a in given["alpha"]},
    }


def _ties(given: Given) -> Given:
    scores, groups = _flat(given["groups"])
    plain, randomised = (c.conformal_p(scores, groups, given["new"], uniform=u) for u in (1.0, given["U"]))
    return {"p": plain.tolist(), "p_randomised": randomised.tolist()}


def _sets(given: Given) -> Given:
    label, rows, found = np.asarray(given["labels"]), np.arange(len(given["labels"])), {}
    rules: dict[str, Callable[[Any], Any]] = {"ordered": c.ordered_nonconformity, "least_probable": lambda p: 1 - np.asarray(p)}
    for name, rule in rules.items():
        scores = rule(given["probabilities"])[rows, label]
        t = c.threshold_by_group(scores, given["groups"], given["alpha"])
        found[name] = {"threshold": t, "sets": c.label_sets(rule(given["new"]), t)}
        assert math.isinf(c.threshold_by_group(scores, given["groups"], 0.01))
    return found | {"alpha_.01": "every score"}


def _intervals(given: Given) -> Given:
    scores, groups = _flat((np.abs(given["residuals"]) / np.asarray(given["spread"])).tolist())
    t = c.threshold_by_group(scores, groups, given["alpha"])
    found = c.numeric_intervals(given["new_prediction"], t, tuple(given["scale"]), spread=given["new_spread"])
    return {"threshold": t, "intervals": [list(one) for one in found]}


def _this_draw(given: Given) -> Given:
    rows = []
    for row in given["rows"]:
        found = c.draw_coverage(row["n"], row["alpha"])
        assert found
        law = {name: getattr(found, name) for name in found.__struct_fields__}
        rows.append(row | law | {"rank_for_this_draw": c.rank_for_this_draw(row["n"], row["alpha"], confidence=1 - row["delta"])})
    return {"rows": rows}


def _by_language(given: Given) -> Given:
    lists = given["groups"]
    parts = [_flat(one) for one in lists.values()]
    scores = np.concatenate([one for one, _ in parts])
    groups = np.concatenate([one + 1000 * at for at, (_, one) in enumerate(parts)])
    language = np.repeat(list(lists), [len(one) for one, _ in parts])
    found = c.thresholds_by_language(scores, groups, language, given["alpha"])
    return {"by_language": {k: _finite(t) for k, t in found.items()}, "pooled": c.threshold_by_group(scores, groups, given["alpha"])}


CHECKS = {
    "conformal/threshold-groups": _thresholds,
    "conformal/minimum-groups": _minimum,
    "conformal/ties": _ties,
    "conformal/label-sets": _sets,
    "conformal/numeric-interval": _intervals,
    "conformal/this-draw": _this_draw,
    "conformal/by-language": _by_language,
}
