"""Is a judge shown to be no more than a margin worse than people: the guarded test of a gap, its bound, and the plain test of "worse".

The differences of a good judge are skewed to the left: most are 0, a few are -1. A plain t test then says "no worse" far too often, most of
all at the small levels that many tests at once need. The guarded test adds one further group with one item that the judge lost, holds the
variance to at least that of a share at the margin, and removes the skewness by Hall's transformation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, same_shape
from harness.stats.core.groups import ClusterVariance, GroupSums, freedom_of_tests, group_sums, leverage, relative_weights
from harness.stats.core.many_cells import batch_by_shape
from harness.stats.intervals.skewness import HallMean, hall_mean

_LOST = -1.0
_MARGINS = tuple(k / 32 for k in range(1, 32))
_HALVINGS = 39  # of the distance between two of these margins: to 1e-13


def matched_gap(counts: ArrayLike, score: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """A judge's agreement with an item's annotators minus the annotators' agreement with each other, item by item.

    (sum_c n_c w_sc) / n - (sum_cd n_c (n_d - [c = d]) w_cd) / (n (n - 1)) for the judge's class s: the first is the share of annotators
    whom the judge agrees with, the second the share of agreeing pairs, both over the same people. A judge's failure agrees with nobody.

    Args:
        counts: (items, k) annotators who gave each class.
        score: (items,) class codes of the judge, negative where it failed.
        weights: (k, k) agreement of two classes in [0, 1], 1 on the diagonal; default 1 for equal classes, else 0.

    Returns:
        (items,) in [-1, 1]; NaN for items with fewer than two annotators.

    >>> matched_gap([[0, 1, 2], [3, 0, 0], [0, 1, 0]], [2, -1, 1]).round(3).tolist()
    [0.333, -1.0, nan]
    """
    votes, codes = np.asarray(counts, np.float64), np.asarray(score, np.int64)
    rows = np.flatnonzero(votes.sum(axis=1) >= 2)
    votes, codes = votes[rows], codes[rows]
    near = _near(votes, weights)
    agreed = np.where(codes >= 0, near[np.arange(len(rows)), np.maximum(codes, 0)], 0.0) / votes.sum(axis=1)
    gaps = np.full(len(np.asarray(counts)), math.nan)
    gaps[rows] = agreed - pair_agreement(votes, weights)
    return gaps


def pair_agreement(counts: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Agreement of an item's annotators with each other: (items,) in [0, 1], the mean over their pairs; NaN with fewer than two.

    Args as `matched_gap`.

    >>> pair_agreement([[0, 1, 2], [3, 0, 0], [0, 1, 0]]).round(3).tolist()
    [0.333, 1.0, nan]
    """
    votes = np.asarray(counts, np.float64)
    n = votes.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(n >= 2, ((votes * _near(votes, weights)).sum(axis=1) - n) / (n * (n - 1)), math.nan))


def _near(votes: Floats, weights: ArrayLike | None) -> Floats:
    """The votes that agree with each class, each weighted by how far it does: (items, k)."""
    return votes if weights is None else np.asarray(votes @ np.asarray(weights, np.float64))


def gap_sums(differences: ArrayLike, groups: ArrayLike, weights: Floats | None = None) -> GroupSums:
    """The items as the tests of a gap take them: the distinct sums of their groups.

    Args:
        differences: (items,) the judge's agreement minus people's on each item, in [-1, 1]; NaN (no two annotators) is left out.
    """
    d, codes = np.asarray(differences, np.float64), np.asarray(groups)
    same_shape(differences=d, groups=codes)
    present = ~np.isnan(d)
    return group_sums(d[present], codes[present], None if weights is None else relative_weights(weights[present]))


class GuardedMean(NamedTuple):
    """The mean gap with one lost item added, `found`, and `unit`: the variance of its influences if single items had the variance 1."""

    hall: HallMean
    unit: Floats

    def at(self, margin: ArrayLike) -> HallMean:
        """Prepared for the test of `margin`, in [0, 1]: the variance is at least that of a share at the margin."""
        m = np.asarray(margin, np.float64)
        return self.hall.with_floor(m * (1 - m) * self.unit)

    def p(self, margin: ArrayLike) -> Floats:
        """One-sided p of the hypothesis that the gap is -`margin` or less."""
        return self.at(margin).p_above(-np.asarray(margin, np.float64))

    def bound(self, alpha: ArrayLike) -> Floats:
        """The lower bound of the gap: minus the margin at which `p` is `alpha` (...), in [-1, 0], by bisection; NaN where p is.

        A gap is shown to be above -margin at the level `alpha` wherever the bound is.
        With very few groups p may pass `alpha` more than once, as the least variance is largest at a margin of a half. It is the largest
        such margin then: at all larger ones p is smaller.

        >>> round(float(guarded_mean(gap_sums([0.0] * 70, range(70))).bound(0.05)), 4)
        -0.0673
        """
        level, none = np.asarray(alpha, np.float64), self.p(0.0)
        low = np.zeros(np.broadcast_shapes(none.shape, level.shape))
        for margin in _MARGINS:
            low = np.where(self.p(margin) > level, margin, low)
        high = low + _MARGINS[0]
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            above = self.p(middle) > level
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        limit = np.where(none <= level, 0.0, np.where(self.p(1.0) > level, -1.0, -(low + high) / 2))
        return np.asarray(np.where(np.isnan(none), math.nan, limit))[()]


def guarded_mean(sums: GroupSums, cap: ArrayLike = math.inf, variance: ClusterVariance = "cr2", lost: ArrayLike = 1.0) -> GuardedMean:
    """The guarded mean of a gap, from arrays of shape (..., groups).

    Args:
        sums: of the gaps, from `gap_sums`.
        cap: (...) items that a group counts for at most (`groups.group_cap`): its sum and its size are multiplied by cap / size.
        lost: (...) number of items in the group that is added.
    """
    f = np.minimum(1.0, np.asarray(cap, np.float64)[..., None] / np.where(sums.size > 0, sums.size, 1.0))
    y, size, times = f * sums.y, f * sums.size, sums.times * (sums.size > 0)
    groups = np.asarray(times.sum(axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.sqrt((1 - 1 / groups)[..., None] * leverage(size, times, variance))
        hall = hall_mean(y, size, times, guard=_LOST, weight=1.0, units=lost, factors=factors)
    n = np.vecdot(size, times) + lost
    unit = hall.groups * (np.vecdot(f * size, times) + lost) / n**2
    return GuardedMean(hall._replace(freedom=freedom_of_tests(size, times, variance) + 1), unit)


def guarded_p(sums: GroupSums, margin: float, variance: ClusterVariance = "cr2") -> float:
    """One-sided p, in [0, 1], of the hypothesis that the gap is -`margin` or less; NaN with fewer than two groups.

    With n' = n + 1 items in G' = G + 1 groups, mu = (sum d - 1) / n' and influences x_g: s² = max(sum x² / (G' - 1), m (1 - m) G' / n'),
    k = (sum x³ / G') / s³, S = (mu + m) / s, T = sqrt(G') (S + k S² / 3 + k² S³ / 27 + k / (6 G')), p = P(t(G*) >= T). The influence of a
    group with a share h of the n items is multiplied by sqrt((1 - 1 / G) / (1 - h)), and G* are its effective groups; with equal groups
    the factors are 1 and G* is G' - 1.

    Reference: Hall (1992), removal of skewness by transformation; Bell & McCaffrey (2002) for unequal groups; docs/rule.md has the
    simulated error rates.

    >>> sums = gap_sums([0.0] * 70, range(70))  # the judge agrees exactly as people do; a plain t is 0 / 0
    >>> round(guarded_p(sums, 0.1), 4)
    0.0125
    """
    return guarded_p_each([sums], margin, variance)[0]


def guarded_p_each(cells: Sequence[GroupSums], margin: float, variance: ClusterVariance = "cr2") -> list[float]:
    """`guarded_p` of many cells: the same numbers, made at once for cells with as many distinct groups."""

    def tested(alike: Sequence[GroupSums]) -> list[float]:
        if alike[0].groups < 2:
            return [math.nan] * len(alike)
        sums = GroupSums(*(np.stack(part) for part in zip(*alike, strict=True)))
        ps: list[float] = guarded_mean(sums, variance=variance).p(margin).tolist()
        return ps

    return batch_by_shape(tested, cells, lambda sums: (len(sums.times), sums.groups < 2))
