"""Is one of two settings shown to be right no more than a margin less often than the other, on the same texts: a score test."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, as_index
from harness.stats.intervals.cluster_mean import cluster_mean


def margin_score_p(differences: ArrayLike, groups: ArrayLike, margin: float) -> float:
    """One-sided p, in [0, 1], of the hypothesis that the mean difference is -`margin` or less.

    Of n texts b are won and c are lost. z = (b - c + n m) / sqrt(n (2 q - m (1 + m))): the variance is that of the hypothesis, with q the
    share of losses that is likeliest if the mean difference is -m. A t-test has too small a variance where losses are few: a difference
    of exactly -0.1 passes it in 6.6 % at 150 texts of which 13 % differ, and this test in 4.7 % (exact; at most 5.1 % if 11 to 60 %
    differ). No test that keeps 5 % for every share of differing texts has a power that is more than 0.6 points larger there.

    Texts that share a group: z is divided by the root of the design effect (the CR2 variance of the mean over that of independent
    texts, at least 1; where no text differs, as if all texts of a group were one), and p is of t with Bell and McCaffrey's degrees of
    freedom.

    Args:
        differences: (texts,) 1 won, -1 lost, 0 neither.
        margin: m, in (0, 1).

    Returns:
        p; NaN with fewer than two groups.

    Reference: Tango (1998), Statistics in Medicine 17, 891-908.

    >>> round(margin_score_p([0] * 70, range(70), 0.1), 4), round(margin_score_p([0] * 70, np.repeat(range(35), 2), 0.1), 4)
    (0.0026, 0.0284)
    """
    d = np.asarray(differences, np.float64)
    size = np.bincount(as_index(groups, len(d), "groups")).astype(np.float64)
    if len(size) < 2:
        return math.nan
    n, won, lost = len(d), int((d > 0).sum()), int((d < 0).sum())
    z = (won - lost + n * margin) / math.sqrt(n * (2 * _likeliest_losses(won, lost, n, margin) - margin * (1 + margin)))
    if size.max() == 1:
        return 0.5 * math.erfc(z / math.sqrt(2))
    from scipy.special import stdtr

    effect, freedom = _design_effect(d, groups, size)
    return float(stdtr(freedom, -z / math.sqrt(effect)))


def _likeliest_losses(won: int, lost: int, n: int, margin: float) -> float:
    """The share of losses with the largest likelihood if the share of wins is smaller by the margin."""
    linear = (2 * n - won + lost) * margin + won + lost
    return (linear + math.sqrt(linear**2 - 8 * n * lost * margin * (1 + margin))) / (4 * n)


def _design_effect(differences: Floats, groups: ArrayLike, size: Floats) -> tuple[float, float]:
    """The design effect, and the degrees of freedom of the variance by group."""
    by_group, independent = cluster_mean(differences, groups), cluster_mean(differences)
    if not independent.error:
        return float(size @ size) / float(size.sum()), by_group.freedom
    return max(1.0, (by_group.error / independent.error) ** 2), by_group.freedom
