"""About how many more labels a cell needs until the rule of `use` has the wanted power, planned from the labels that are there."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.arrays import Floats, ShapeError, as_index
from harness.stats.group_moments import GroupMoments, cluster_t_p_values, group_features, group_moments, guarded_p_values

GROWTH = 1.05
"""Ratio of neighbouring numbers of items that are tried."""
LIMIT = 3000
"""The largest number of further items that is given."""
NO_NUMBER = "at the gap seen no number of labels would do"
NOT_BETTER = "not better than the baseline on the items seen"
TOO_MANY = "more than 3,000"
NO_ITEMS = "no items to plan from"

Rule = Callable[[GroupMoments, GroupMoments], Floats]
"""p-values (resamples,) of the rule, from the moments of the gaps and of the differences from the baseline."""


@dataclass(frozen=True, slots=True)
class MoreLabels:
    """About `more` further items (None with a `reason`), `planned` in all, and the `power` that they reach in the resamples.

    `more` is 0 where the items that are there would do for a judge as good as people: then it is the gap that is missing, not labels.
    """

    more: int | None
    planned: int | None
    power: float
    reason: str | None


def p_use(gap: GroupMoments, baseline: GroupMoments, margin: float = 0.1) -> Floats:
    """p of "use": the larger of the guarded p of gap <= -margin and the cluster t p of difference from the baseline <= 0.

    Both must be shown, so no correction is needed. Reference: Berger (1982), intersection-union tests.

    >>> same = group_moments(group_features(np.zeros(40), np.ones(40)), np.ones(40))
    >>> float(p_use(same, same))
    1.0
    """
    return np.maximum(guarded_p_values(gap, margin), cluster_t_p_values(baseline))


def about_more(
    gap: ArrayLike,
    baseline: ArrayLike,
    groups: ArrayLike,
    *,
    margin: float = 0.1,
    alpha: float = 0.05,
    cells: int = 1,
    power: float = 0.8,
    least_items: int = 0,
    least_groups: int = 0,
    rule: Rule | None = None,
    resamples: int = 400,
    seed: int = 0,
) -> MoreLabels:
    """Further items until the rule rejects with the wanted power, if the judge is as good as people.

    Groups are drawn with replacement, G n' / n of them, with the gaps moved to a mean of 0 and the differences from the baseline as they
    are. The numbers of items n' = n 1.05^j are tried, and the first with which the rule's p is at most alpha / cells in the share `power`
    of the resamples is taken. The search halves the range of j, which relies on power rising with n'. n' - n is rounded up to tens.

    Args:
        gap: (items,) judge's less people's agreement, in [-1, 1]; NaN where an item has no two annotators.
        baseline: (items,) judge right less baseline right; NaN where an item has no aggregate.
        groups: (items,) any sortable codes of what items share.
        margin: of the gap.
        alpha, cells: level of the family, and the number of cells among which it is shared (those that are not yet `use`).
        power: wanted, in (0, 1).
        least_items, least_groups: numbers that n' must reach in any case.
        rule: function of the moments of gaps and baseline differences of each resample that gives its p; default `p_use` with the margin.
        resamples, seed: of the simulation.

    Returns:
        `MoreLabels`; without a number if no item has a gap, if the mean gap is -margin or less, if the mean difference from the baseline is
        0 or less, or if more than 3,000 items would be needed.

    Raises:
        ShapeError: if the arrays are not of the same items.

    >>> gap, better = np.tile([0.0] * 8 + [1 / 3, -1 / 3], 6), np.tile([0.0] * 7 + [1.0] * 3, 6)
    >>> found = about_more(gap, better, np.arange(60), cells=45)
    >>> 50 < found.more < 150, found.power >= 0.8
    (True, True)
    """
    features, times, items, reason = _prepared(gap, baseline, groups, margin)
    if reason:
        return MoreLabels(None, None, math.nan, reason)
    test, level, total = rule or (lambda a, b: p_use(a, b, margin)), alpha / cells, float(times.sum())
    share = times / total

    @cache
    def reached(planned: int) -> float:
        drawn = max(1, round(total * planned / items))
        draws = np.random.default_rng(seed).multinomial(drawn, share, resamples)
        p = test(group_moments(features[0], draws), group_moments(features[1], draws))
        return float(np.mean(p <= level))

    least = max(items, least_items, math.ceil(least_groups * items / total))
    steps = max(0, math.floor(math.log((items + LIMIT) / least, GROWTH))) if least <= items + LIMIT else -1
    sizes = [math.ceil(least * GROWTH**step) for step in range(steps + 1)]
    chosen = bisect_left(sizes, True, key=lambda planned: reached(planned) >= power)
    if chosen == len(sizes):
        return MoreLabels(None, None, math.nan, TOO_MANY)
    planned = sizes[chosen]
    return MoreLabels(10 * math.ceil((planned - items) / 10), planned, reached(planned), None)


def _prepared(
    gap: ArrayLike, baseline: ArrayLike, groups: ArrayLike, margin: float
) -> tuple[tuple[Floats, Floats], Floats, int, str | None]:
    """Features of the distinct groups for both tests, how often each occurs, the number of items with a gap, or why there is no plan."""
    d, b = np.asarray(gap, np.float64), np.asarray(baseline, np.float64)
    if d.ndim != 1 or d.shape != b.shape:
        raise ShapeError(f"gap {d.shape} and baseline {b.shape} must be of the same items")
    code = as_index(groups, len(d), "groups")
    count = int(code.max(initial=-1)) + 1
    columns = []
    for values in (d, b):
        known = ~np.isnan(values)
        columns += [np.bincount(code[known], values[known], count), np.bincount(code[known], minlength=count)]
    y, n, right, compared = np.round(columns, 9)  # equal sums in another order are equal groups
    items = int(n.sum())
    if items == 0 or compared.sum() == 0:
        reason: str | None = NO_ITEMS
    elif y.sum() / items <= -margin:
        reason = NO_NUMBER
    else:
        reason = None if right.sum() > 0 else NOT_BETTER
    rows, times = np.unique(np.column_stack([y, n, right, compared]), axis=0, return_counts=True)
    mean = y.sum() / max(items, 1)
    features = group_features(rows[:, 0] - mean * rows[:, 1], rows[:, 1]), group_features(rows[:, 2], rows[:, 3])
    return features, times.astype(np.float64), items, reason
