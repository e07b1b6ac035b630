"""Sets and intervals that hold a person's score of a new text with a promised probability: split conformal prediction with groups of texts.

A set holds every score whose nonconformity is at most a threshold. The map that gives nonconformity must not have seen these labels.
Sources: Vovk, Gammerman & Shafer 2005; Dunn, Wasserman & Ramdas 2018 (arXiv 1809.07441); Lee, Barber & Willett 2023 (arXiv 2306.06342).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats

TOLERANCE = 1e-9
"""Two nonconformities, or two sums of weights, that differ by less are equal."""


def least_groups(alpha: float) -> int:
    """The least number of groups for which a set can be smaller than "every score": K >= (1 - alpha) / alpha, in exact fractions.

    >>> [least_groups(alpha) for alpha in (0.05, 0.1, 0.15, 0.2)]
    [19, 9, 6, 4]
    """
    share = _fraction(alpha)
    return math.ceil((1 - share) / share)


def conformal_rank(n: int, alpha: float) -> int | None:
    """Rank of the threshold among `n` nonconformities of independent texts, ceil((n + 1)(1 - alpha)); None where it is beyond `n`.

    >>> conformal_rank(9, 0.1), conformal_rank(99, 0.1), conformal_rank(8, 0.1)
    (9, 90, None)
    """
    rank = math.ceil((n + 1) * (1 - _fraction(alpha)))
    return rank if rank <= n else None


def _fraction(alpha: float) -> Fraction:
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha}, but must be between 0 and 1")
    return Fraction(alpha).limit_denominator(10**9)


def threshold_by_group(scores: ArrayLike, groups: ArrayLike, alpha: float) -> float:
    """The threshold whose sets hold the score of *a random text of a new random group* with 1 - alpha.

    Each group has the same weight, which its texts share; infinity has the weight of one more group.

    Args:
        scores: (n,) nonconformities, finite.
        groups: (n,) the group of each.
        alpha: share of misses, in (0, 1).

    Returns:
        the threshold; infinite ("every score") below `least_groups`.

    >>> threshold_by_group([1, 5, 2, 3, 4], [0, 0, 1, 2, 3], 0.4), threshold_by_group([1, 2], [0, 1], 0.1)
    (4.0, inf)
    """
    _, code, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    return _weighted(np.asarray(scores, np.float64), 1 / ((len(sizes) + 1) * sizes[code]), alpha)


def threshold_by_size(scores: ArrayLike, groups: ArrayLike, alpha: float, *, size: int | None = None) -> float:
    """The threshold whose sets hold *a random text* with 1 - alpha: every text has the same weight, infinity that of the new group.

    Args:
        scores, groups, alpha: as for `threshold_by_group`.
        size: texts in the new group; None takes the largest group seen.

    >>> threshold_by_size([1, 5, 2, 3, 4], [0, 0, 1, 2, 3], 0.4, size=1), threshold_by_size([1, 5, 2, 3, 4], [0, 0, 1, 2, 3], 0.2)
    (4.0, inf)
    """
    sizes = np.unique(groups, return_counts=True)[1]
    scores = np.asarray(scores, np.float64)
    beyond = size or int(sizes.max(initial=1))
    return _weighted(scores, np.full(len(scores), 1 / (len(scores) + beyond)), alpha)


def _weighted(scores: Floats, weights: Floats, alpha: float) -> float:
    order = np.argsort(scores, kind="stable")
    enough = np.flatnonzero(np.cumsum(weights[order]) >= 1 - float(_fraction(alpha)) - TOLERANCE)
    return float(scores[order[enough[0]]]) if len(enough) else math.inf


def threshold_one_per_group(scores: ArrayLike, alpha: float, *, rank: int | None = None) -> float:
    """The threshold from one nonconformity of each group, drawn without a look at it; for a random text of a new group.

    Args:
        scores: (K,) one nonconformity of each group.
        alpha: share of misses, in (0, 1).
        rank: another rank than `conformal_rank`, for example `rank_for_this_draw`.

    >>> threshold_one_per_group(range(1, 10), 0.1), threshold_one_per_group(range(8), 0.1)
    (9.0, inf)
    """
    ordered = np.sort(np.asarray(scores, np.float64))
    place = rank or conformal_rank(len(ordered), alpha)
    return float(ordered[place - 1]) if place and place <= len(ordered) else math.inf


def thresholds_by_language(scores: ArrayLike, groups: ArrayLike, languages: ArrayLike, alpha: float) -> dict[str, float]:
    """The threshold by group of each language alone (Mondrian), so that the promise holds in each language.

    >>> thresholds_by_language([1, 2, 3, 4, 9], [0, 1, 2, 3, 4], ["aa"] * 4 + ["bb"], 0.2)
    {'aa': 4.0, 'bb': inf}
    """
    scores, groups, languages = np.asarray(scores), np.asarray(groups), np.asarray(languages)
    rows = {str(name): languages == name for name in np.unique(languages)}
    return {name: threshold_by_group(scores[own], groups[own], alpha) for name, own in rows.items()}


class DrawCoverage(msgspec.Struct, frozen=True):
    """Coverage of one draw of n labels of independent texts, which is Beta(rank, n + 1 - rank) where no two nonconformities are equal.

    Attributes:
        rank: of the threshold.
        mean, sd: of coverage over draws.
        p_below_level: share of draws that cover less than 1 - alpha.
    """

    rank: int
    mean: float
    sd: float
    p_below_level: float


def draw_coverage(n: int, alpha: float) -> DrawCoverage | None:
    """How coverage scatters over draws of `n` labels of independent texts; None where every score is in the set.

    >>> found = draw_coverage(30, 0.1)
    >>> found.rank, round(found.sd, 3), round(found.p_below_level, 2)
    (28, 0.052, 0.41)
    """
    from scipy import stats

    rank = conformal_rank(n, alpha)
    if rank is None:
        return None
    law = stats.beta(rank, n + 1 - rank)
    return DrawCoverage(rank, float(law.mean()), float(law.std()), float(law.cdf(1 - alpha)))


def rank_for_this_draw(n: int, alpha: float, *, confidence: float = 0.95) -> int | None:
    """The least rank with which this draw of labels covers at least 1 - alpha with probability `confidence`; None where none does.

    >>> rank_for_this_draw(30, 0.1), rank_for_this_draw(29, 0.1), rank_for_this_draw(28, 0.1)
    (30, 29, None)
    """
    from scipy import stats

    _fraction(alpha)
    ranks = np.arange(1, n + 1)
    holds = np.flatnonzero(stats.beta.cdf(1 - alpha, ranks, n + 1 - ranks) <= 1 - confidence + TOLERANCE)
    return int(ranks[holds[0]]) if len(holds) else None


def conformal_p(scores: ArrayLike, groups: ArrayLike, new: ArrayLike, *, uniform: ArrayLike = 1.0) -> Floats:
    """The p-values of new nonconformities with weights by group: the weight above, and `uniform` times that of ties and of the new text.

    >>> conformal_p([3, 1, 2], [0, 1, 2], [0, 2, 3]).tolist()
    [1.0, 0.75, 0.5]
    """
    scores = np.asarray(scores, np.float64)
    _, code, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    weights = 1 / ((len(sizes) + 1) * sizes[code])
    apart = scores[:, None] - np.asarray(new, np.float64)[None, :]
    ties = weights @ (np.abs(apart) <= TOLERANCE) + 1 / (len(sizes) + 1)
    return np.asarray(weights @ (apart > TOLERANCE) + np.asarray(uniform) * ties, np.float64)


def ordered_nonconformity(probabilities: ArrayLike) -> Floats:
    """(n, k) distance of each class from the middle of its distribution, |F(y) - p(y)/2 - 1/2|: its sets are unbroken runs of classes.

    >>> ordered_nonconformity([[0.2, 0.5, 0.3]]).round(2).tolist()
    [[0.4, 0.05, 0.35]]
    """
    p = np.asarray(probabilities, np.float64)
    return np.asarray(np.abs(np.cumsum(p, axis=-1) - p / 2 - 0.5), np.float64)


def label_sets(nonconformity: ArrayLike, threshold: float) -> list[list[int]]:
    """The classes of each text whose nonconformity is at most the threshold; an empty set gets its least nonconforming class.

    >>> label_sets([[0.4, 0.05, 0.35], [0.3, 0.2, 0.45]], 0.35), label_sets([[0.9, 0.8]], 0.1)
    ([[1, 2], [0, 1]], [[1]])
    """
    rows = np.asarray(nonconformity, np.float64)
    return [np.flatnonzero(row <= threshold + TOLERANCE).tolist() or [int(row.argmin())] for row in rows]


def numeric_intervals(
    prediction: ArrayLike, threshold: float, scale: tuple[float, float], *, spread: ArrayLike = 1.0
) -> list[tuple[float, float]]:
    """Prediction ± threshold x spread, cut to the scale as the last step; the threshold is one of |residual| / spread.

    >>> numeric_intervals([3, 97], 10, (0, 100), spread=[1, 2])
    [(0.0, 13.0), (77.0, 100.0)]
    """
    centre, half = np.broadcast_arrays(np.asarray(prediction, np.float64), threshold * np.asarray(spread, np.float64))
    ends: Iterable[tuple[float, float]] = zip(np.clip(centre - half, *scale).tolist(), np.clip(centre + half, *scale).tolist(), strict=True)
    return list(ends)
