"""What checks the golden cases of certificates for other texts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.decide.cell_tests import same_level_p
from harness.stats import holm
from harness.stats.intervals.cluster_mean import cluster_mean
from harness.stats.intervals.intervals import t_quantile
from harness.stats.intervals.noninferiority import LEAST_GROUPS, gap_sums, guarded_p, transport

Given = dict[str, Any]


def _mean(given: Given) -> Given:
    x, groups, margin, level = given["residual"], given["group"], given["margin"], 1 - given["alpha"] / given["targets"]
    found = transport(x, groups, margin, variance="cr1")  # the case takes groups as equal
    plain = cluster_mean(x, groups, variance="cr1")
    reach = found.error * t_quantile(level, math.floor(found.effective_groups) - 1)
    low, high = found.mean - reach, found.mean + reach
    inside, outside = -margin < low and high < margin, low > margin or high < -margin
    status = "INCONCLUSIVE" if found.effective_groups < LEAST_GROUPS else "PASS" if inside else "FAIL" if outside else "INCONCLUSIVE"
    return {
        "mean": found.mean,
        "se": found.error,
        "groups": found.groups,
        "p_equivalence": same_level_p(plain, margin),
        "interval_90": list(plain.interval(1 - 2 * given["alpha"])),
        "interval_simultaneous": list(found.interval(level)),
        "effective_groups": found.effective_groups,
        "p_guarded": found.p,
        "cje": {"interval": [low, high], "status": status},
    }


def _skewed(given: Given) -> Given:
    x, groups, margin = np.asarray(given["residual"]), given["group"], given["margin"]
    plain = cluster_mean(x, groups, variance="cr1")
    return {"mean": plain.mean, "p_plain": same_level_p(plain, margin), "p_guarded": guarded_p(gap_sums(-x, groups), margin, "cr1")}


def _holm(given: Given) -> Given:
    adjusted = holm(given["p"])
    return {"adjusted": adjusted.tolist(), "extended": (adjusted <= given["alpha"]).tolist()}


CHECKS = {"transport/mean-residual": _mean, "transport/skewed": _skewed, "transport/holm": _holm}
