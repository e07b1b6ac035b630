"""The variation of a judge's difference from people over sets of texts, beyond what the few texts of each set explain."""

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
    """Return the heterogeneity of differences of judge and people, one a set, with their standard errors; None with fewer than three sets.

    Sets whose difference has no error (its groups do not vary) are left out. The sets are not averaged.

    >>> [round(number, 3) for number in gap_over_sets([-0.05, 0.0, 0.1], [0.02, 0.03, 0.04])]
    [0.069, 0.023, 0.479, 0.827]
    """
    estimates = [(gap, error) for gap, error in zip(gaps, errors, strict=True) if error > 0]
    if len(estimates) < LEAST_SETS:
        return None
    summary = meta_analysis([gap for gap, _ in estimates], [error**2 for _, error in estimates])
    lo, hi = summary.tau2_interval
    return GapOverSets(math.sqrt(summary.tau2), math.sqrt(lo), math.sqrt(hi), summary.i2)
