"""Preferences between two texts with the difference of their lengths beside the systems and the place."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, Ints, as_index, same_shape
from harness.stats.ranking.bradley_terry import SEPARATED, fit_choices, is_separated

LEAST_OVERLAP = 0.1
LEAST_TEXTS = 10
"""A pair of systems whose lengths hardly overlap, or with so few texts on one side, cannot be adjusted for length."""


class Overlap(NamedTuple):
    """How often the text of system `pair[0]` is the longer one; `refused` where lengths hardly overlap."""

    pair: tuple[int, int]
    share_longer: float
    n: int

    @property
    def hardly(self) -> bool:
        """Whether one of the two is nearly always longer, in enough texts to say so."""
        return min(self.share_longer, 1 - self.share_longer) < LEAST_OVERLAP and self.n >= LEAST_TEXTS

    @property
    def refused(self) -> bool:
        shorter = min(self.share_longer, 1 - self.share_longer)
        return shorter < LEAST_OVERLAP or round(shorter * self.n) < LEAST_TEXTS


class AdjustedPreference(NamedTuple):
    """Strengths (systems,) in log-odds with system 0 at 0, without and with the length; the place and the length with error and p."""

    raw: Floats
    raw_place: float
    adjusted: Floats
    place: float
    length: float
    length_error: float
    length_p: float
    likelihood_ratio: float


def length_overlap(first: ArrayLike, second: ArrayLike, longer: ArrayLike) -> tuple[Overlap, ...]:
    """Of every pair of systems that met, how often the text of the lower number is longer.

    Args:
        first, second: (n,) codes of the systems that were shown first and second.
        longer: (n,) difference of the lengths, first minus second, in any unit; equal lengths count as not longer.

    >>> [each.share_longer for each in length_overlap([0, 1, 0], [1, 0, 1], [3.0, 2.0, -1.0])]
    [0.3333333333333333]
    """
    one, other, apart = np.asarray(first, np.int64), np.asarray(second, np.int64), np.asarray(longer, np.float64)
    found = []
    for a, b in sorted({(min(x, y), max(x, y)) for x, y in zip(one.tolist(), other.tolist(), strict=True) if x != y}):
        forward, backward = (one == a) & (other == b), (one == b) & (other == a)
        n = int(forward.sum() + backward.sum())
        found.append(Overlap((a, b), float(((apart[forward] > 0).sum() + (apart[backward] < 0).sum()) / n), n))
    return tuple(found)


def preference_by_length(
    first: ArrayLike, second: ArrayLike, first_wins: ArrayLike, length_difference: ArrayLike, groups: ArrayLike | None = None
) -> AdjustedPreference:
    """Fit logit P(first wins) = s_first - s_second + place + length * difference, and the same without the length.

    What it finds is association: quality that drives length looks like a bias, and the adjustment then takes real quality away.

    Args:
        first, second: (n,) codes 0, 1, … of the systems shown first and second.
        first_wins: (n,) in [0, 1].
        length_difference: (n,) first minus second, standardised.
        groups: (n,) any sortable codes of the source texts, by which errors are clustered; None for single comparisons.

    Raises:
        ValueError: if no finite strengths fit (separation).

    >>> rng = np.random.default_rng(0)
    >>> apart = rng.normal(size=400)
    >>> won = rng.random(400) < 1 / (1 + np.exp(-0.8 * apart))
    >>> 0.5 < preference_by_length([0, 1] * 200, [1, 0] * 200, won, apart).length < 1.1
    True
    """
    one, other = np.asarray(first, np.int64), np.asarray(second, np.int64)
    won, apart = np.asarray(first_wins, np.float64), np.asarray(length_difference, np.float64)
    same_shape("of the same pairs", first=one, second=other, first_wins=won, lengths=apart)
    systems = int(max(one.max(), other.max())) + 1
    every = np.eye(systems)[:, 1:]  # the strength of the first system is 0
    design = np.column_stack([every[one] - every[other], np.ones(len(one))])
    cluster = None if groups is None else as_index(groups, len(one), "groups")
    longer = np.column_stack([design, apart])
    if is_separated(design, won) or is_separated(longer, won):
        raise ValueError(SEPARATED)
    raw, full = fit_choices(design, won, cluster), fit_choices(longer, won, cluster)
    return AdjustedPreference(
        raw=np.r_[0.0, raw.params[: systems - 1]],
        raw_place=float(raw.params[systems - 1]),
        adjusted=np.r_[0.0, full.params[: systems - 1]],
        place=float(full.params[systems - 1]),
        length=float(full.params[-1]),
        length_error=float(full.bse[-1]),
        length_p=_p(float(full.params[-1]), float(full.bse[-1]), cluster),
        likelihood_ratio=float(2 * (full.llf - raw.llf)),
    )


def _p(value: float, error: float, cluster: Ints | None) -> float:
    """Two-sided: of the normal distribution for single comparisons, of Student's t with groups - 1 degrees of freedom."""
    from scipy.stats import norm, t

    if not error > 0:
        return math.nan
    if cluster is None:
        return float(2 * norm.sf(abs(value / error)))
    return float(2 * t.sf(abs(value / error), int(cluster.max())))
