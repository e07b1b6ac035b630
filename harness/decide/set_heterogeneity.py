"""How far a judge's difference from people varies over sets of texts, beyond what the few texts of each set explain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from harness.stats.languages.meta_analysis import meta_analysis

LEAST_SETS = 3


class GapOverSets(NamedTuple):
    """The standard deviation of the difference between sets, with its 95 % interval, as shares; and the share of its variance, I²."""

    sd: float
    lo: float
    hi: float
    i2: float


def gap_over_sets(gaps: Sequence[float], errors: Sequence[float]) -> GapOverSets | None:
    """The heterogeneity of differences of judge and people, one a set, with their standard errors; None with fewer than three sets.

    Sets whose difference has no error (its groups do not vary) are left out. The sets are not averaged.

    >>> [round(number, 3) for number in gap_over_sets([-0.05, 0.0, 0.1], [0.02, 0.03, 0.04])]
    [0.069, 0.023, 0.479, 0.827]
    """
    known = [(gap, error) for gap, error in zip(gaps, errors, strict=True) if error > 0]
    if len(known) < LEAST_SETS:
        return None
    found = meta_analysis([gap for gap, _ in known], [error**2 for _, error in known])
    lo, hi = found.tau2_interval
    return GapOverSets(math.sqrt(found.tau2), math.sqrt(lo), math.sqrt(hi), found.i2)
