"""Ranks of judges on the same units, with intervals, and groups of judges that are not shown to differ.

A table of agreement always has a first row. Whether the first judge is better than the second is a question about their
*difference* on the same texts. The interval of a rank and the groups below therefore come from the paired differences,
never from an overlap of two intervals.
Percentiles of bootstrapped ranks (Goldstein & Spiegelhalter 1996) would fail for near-equal judges: the ranks of the resamples are spread
about a wrong centre (Hall & Miller 2009).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from string import ascii_lowercase

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.core.arrays import Floats, Ints, ShapeError
from harness.stats.core.groups import distinct_sums, group_sums, spread_of
from harness.stats.intervals.bootstrap import CellSums, Draws
from harness.stats.intervals.intervals import MIN_GROUPS, TOO_FEW, Interval, no_interval, scatter_of, share_of_sums, tested_mean
from harness.stats.intervals.multiplicity import holm
from harness.stats.intervals.skewness import two_sided

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Ranks:
    """Ranks of J judges, 1 the best; `reason` says why there are no intervals and groups.

    For each judge (J,): `value` is the mean credit and `intervals` its interval; `gains` are the intervals of the value minus the
    baseline's, if a baseline was given; `rank` is 1 + the number of judges with a higher value, and equal values share a rank; `lo` and
    `hi` are the interval of the rank (0 if undefined); `letters` has one letter for each group of the judge (empty if undefined). `p`
    (J, J) is two-sided, of the paired differences, corrected over all pairs by Holm. `runs` are the groups as (first, last) places,
    from 1, among the judges sorted by value.
    """

    value: Floats
    intervals: tuple[Interval, ...]
    gains: tuple[Interval, ...]
    rank: Ints
    lo: Ints
    hi: Ints
    letters: tuple[str, ...]
    p: Floats
    runs: tuple[tuple[int, int], ...]
    groups: int
    reason: str | None


def rank_judges(
    credits: ArrayLike,
    groups: ArrayLike,
    baseline: ArrayLike | None = None,
    *,
    bounds: tuple[float, float] | None = (-1.0, 1.0),
    level: float = 0.95,
    seed: int = 0,
    resamples: int = 1000,
) -> Ranks:
    """Ranks of judges by their mean credit on the same units, with intervals, and groups of judges that are not shown to differ.

    Let D_jk be the mean difference of two judges on all units and p_jk its two-sided p, as `paired_difference` gives it. For judge j all
    k are tested together: p_jk is compared with the smallest p's of resamples under the hypothesis that no judge differs (Westfall &
    Young's step-down, all judges in the same resamples). B_j are the judges shown to be better than j, W_j those shown to be worse, and

        rank interval of j = [1 + |B_j|, J - |W_j|].

    It holds the true rank 1 + #{k better than j}, and J - #{k worse than j}, in `level` of the samples or more, ties or not.

    Groups: two judges are shown to differ if Holm's corrected p is below 1 - level for them *and* for every pair around them in the order
    of values. A group is a longest run of judges, in that order, of which no two are shown to differ. Two judges without a common
    letter are shown to differ; two judges with a common letter are not.

    Args:
        credits: (judges, units) in [0, 1], mostly 0 or 1; NaN (no answer) counts as 0.
        baseline: (units,) credits of a baseline that every judge should beat; it has no rank.
        bounds: smallest and largest possible difference of two credits, which guard their test; None for credits that are correlations,
            which are never near such ends.
        level, seed, resamples: confidence in (0, 1), of the bootstrap over groups. The draws depend on the number of groups only, so
            that a further judge changes no other judge's interval.

    Returns:
        `Ranks`; without intervals and groups for fewer than 8 groups ("too few independent texts") or no units ("no units").

    Raises:
        ValueError: for a level outside (0, 1) or fewer than 100 resamples.

    Reference: Goldstein & Spiegelhalter (1996); Hall & Miller (2009); Mogstad, Romano, Shaikh & Wilhelm (2024); Westfall & Young (1993);
    Piepho (2004), letters.

    >>> good, equal, bad = [1] * 40, [1] * 39 + [0], [0, 1] * 20
    >>> found = rank_judges([bad, good, equal], range(40))
    >>> found.rank.tolist(), list(zip(found.lo.tolist(), found.hi.tolist())), found.letters
    ([3, 1, 2], [(3, 3), (1, 2), (1, 2)], ('b', 'a', 'a'))
    """
    if not 0 < level < 1 or resamples < 100:
        raise ValueError(f"level must be in (0, 1) and resamples at least 100; got {level} and {resamples}")
    matrix = np.nan_to_num(np.asarray(credits, np.float64))
    sums, size = _by_group(matrix, groups)
    judges, texts = sums.shape
    value = sums.sum(axis=1) / size.sum() if texts else np.full(judges, math.nan)
    rank = 1 + (value[None, :] > value[:, None] + _ROUNDING).sum(axis=1)
    none = np.zeros(judges, np.int64)
    if texts < MIN_GROUPS or not judges:
        reason, without = TOO_FEW if texts else "no units", (no_interval(texts),) * judges
        gains, p = () if baseline is None else without, np.full((judges, judges), math.nan)
        return Ranks(value, without, gains, rank, none, none, ("",) * judges, p, (), texts, reason)
    drawn = _resampled(sums, size, seed, resamples)
    p = _pairwise_p(matrix, sums, size, bounds)
    alpha = 1 - level
    lo, hi = none.copy(), none.copy()
    for j in range(judges):
        differ = _against_all(j, p[j], drawn) <= alpha
        lo[j] = 1 + (differ & (value > value[j])).sum()
        hi[j] = judges - (differ & (value < value[j])).sum()
    corrected = _over_all_pairs(p)
    order = np.argsort(-value, kind="stable")
    runs = _runs(corrected[np.ix_(order, order)] <= alpha)
    letters = np.empty(judges, object)
    for rank_number, j in enumerate(order.tolist(), start=1):
        letters[j] = "".join(_letter(number) for number, (first, last) in enumerate(runs) if first <= rank_number <= last)
    intervals = tuple(
        share_of_sums(
            distinct_sums(sums[j], size, np.ones(len(size))),
            float(np.var(matrix[j])),
            partial(lambda values: float(spread_of(values)), drawn[:, j]),
            level=level,
        )
        for j in range(judges)
    )
    differences = [] if baseline is None else list(matrix - np.asarray(baseline, np.float64))
    gains = tuple(tested_mean(group_sums(gain, groups), scatter_of(gain), (-1.0, 1.0), level=level)[0] for gain in differences)
    return Ranks(value, intervals, gains, rank, lo, hi, tuple(letters.tolist()), corrected, runs, texts, None)


def _by_group(matrix: Floats, groups: ArrayLike) -> tuple[Floats, Floats]:
    """Sums of the credits (judges, G) and numbers of units (G,) of each group."""
    codes = np.asarray(groups)
    if matrix.ndim != 2 or codes.shape != matrix.shape[1:]:
        raise ShapeError(f"credits must be judges x units and groups of the same units; got {matrix.shape} and {codes.shape}")
    _, code = np.unique(codes, return_inverse=True)
    many = int(code.max(initial=-1)) + 1
    size = np.bincount(code, minlength=many).astype(np.float64)
    sums = np.zeros((len(matrix), many))
    for judge, row in enumerate(matrix):
        sums[judge] = np.bincount(code, row, minlength=many)
    return sums, size


def _resampled(sums: Floats, size: Floats, seed: int, resamples: int) -> Floats:
    """Mean credits (resamples, judges), all judges in the same resamples of the groups."""
    columns = np.concatenate([sums, size[None]]).T
    cell = CellSums(columns, np.ones(len(size)), True, columns, size)
    totals = np.concatenate([weights @ columns for weights in Draws(seed, resamples).weights_for(cell)])
    return np.asarray(totals[:, :-1] / totals[:, -1:])


def _pairwise_p(matrix: Floats, sums: Floats, size: Floats, bounds: tuple[float, float] | None) -> Floats:
    """Two-sided p (J, J) of every paired difference, as `paired_difference` gives it."""
    once, p = np.ones(len(size)), np.ones((len(sums), len(sums)))
    for j, (credits, judge_sums) in enumerate(zip(matrix, sums, strict=True)):
        gaps = credits - matrix
        scatter = np.where((gaps == gaps[:, :1]).all(axis=1), 0.0, gaps.var(axis=1))
        p[j] = np.nan_to_num(two_sided(judge_sums - sums, size, once, bounds, scatter).p, nan=1.0)  # NaN: the judges are equal everywhere
    return np.minimum(p, p.T)  # equal up to rounding


def _against_all(j: int, p: Floats, drawn: Floats) -> Floats:
    """Judge j's p-values (J,), corrected over the others: the step-down share of resamples in which so small a p occurs by chance."""
    from scipy.special import ndtri

    rivals = np.flatnonzero(np.arange(len(p)) != j)
    corrected = np.ones(len(p))
    if not len(rivals):
        return corrected
    gaps = drawn[:, j : j + 1] - drawn[:, rivals]
    spread = gaps.std(axis=0)
    by_chance = np.abs(gaps - gaps.mean(axis=0)) / np.where(spread > 0, spread, 1)
    order = np.argsort(p[rivals], kind="stable")
    least = np.maximum.accumulate(by_chance[:, order[::-1]], axis=1)[:, ::-1]  # the largest of this one and all less clear ones
    reached = -ndtri(np.clip(p[rivals][order] / 2, 1e-300, 0.5))
    share = (1 + (least >= reached).sum(axis=0)) / (1 + len(drawn))
    corrected[rivals[order]] = np.maximum(np.maximum.accumulate(share), p[rivals][order])
    return corrected


def _over_all_pairs(p: Floats) -> Floats:
    """Holm's correction over the pairs; the p of a judge and itself is 1."""
    upper = np.triu_indices(len(p), 1)
    corrected = np.ones_like(p)
    corrected[upper] = holm(p[upper])
    p_values: Floats = np.minimum(corrected, corrected.T)
    return p_values


def _runs(differ: NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """The longest runs, (first, last) from 1, of judges of which no two differ; `differ` (J, J) is in the order of values.

    Two judges differ only if all pairs around them differ. Otherwise letters in a sorted table would be ambiguous.
    """
    around = np.logical_and.accumulate(differ, axis=0)
    around = np.logical_and.accumulate(around[:, ::-1], axis=1)[:, ::-1]
    return tuple(_maximal(~np.triu(around, 1)))


def _maximal(together: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    reached = -1
    for first, row in enumerate(together):
        last = int(np.flatnonzero(row)[-1])
        if last > reached:
            yield first + 1, last + 1
            reached = last


def _letter(number: int) -> str:
    """a … z, then a2 … z2, and so on: a letter and a number stay one name where several stand together.

    >>> _letter(0), _letter(27)
    ('a', 'b2')
    """
    round_, letter = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[letter] + (str(round_ + 1) if round_ else "")
