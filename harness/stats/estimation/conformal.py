"""Sets and intervals that hold a person's score of a new text with a promised probability: split conformal prediction with groups of texts.

A set holds every score whose nonconformity is at most a threshold. The map that gives nonconformity must not have seen these labels.
Sources: Vovk, Gammerman & Shafer 2005; Dunn, Wasserman & Ramdas 2018 (arXiv 1809.07441); Lee, Barber & Willett 2023 (arXiv 2306.06342).
"""

from __future__ import annotations

import math
from fractions import Fraction

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
    position = rank or conformal_rank(len(ordered), alpha)
    return float(ordered[position - 1]) if position and position <= len(ordered) else math.inf


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


def ordered_nonconformity(probabilities: ArrayLike) -> Floats:
    """(n, k) distance of each class from the middle of its distribution, |F(y) - p(y)/2 - 1/2|: its sets are unbroken runs of classes.

    >>> ordered_nonconformity([[0.2, 0.5, 0.3]]).round(2).tolist()
    [[0.4, 0.05, 0.35]]
    """
    p = np.asarray(probabilities, np.float64)
    return np.asarray(np.abs(np.cumsum(p, axis=-1) - p / 2 - 0.5), np.float64)
