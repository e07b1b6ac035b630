"""Panels: a comparison of several judges together with the best of them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Ints, ShapeError
from harness.stats.intervals.paired import Difference, paired_difference


def best_on_other_folds(hits: ArrayLike, folds: ArrayLike) -> Ints:
    """(items,) the column of the judge that is right most often on the other folds, the first of equals.

    The best judge of the same items would be flattered by 3 to 8 points.

    Args:
        hits: (items, judges) 1 where a judge is right, else 0.
        folds: (items,) codes from `recalibration.group_folds`, two at least.

    >>> best_on_other_folds([[1, 0], [1, 1], [0, 1], [0, 1]], [0, 0, 1, 1]).tolist()
    [1, 1, 0, 0]
    """
    right, fold = np.asarray(hits, np.float64), np.asarray(folds)
    best = np.empty(len(right), np.int64)
    for each in np.unique(fold):
        best[fold == each] = np.argmax(right[fold != each].sum(axis=0))
    return best


NOT_BEST = "H0: the panel agrees with people as often as the best of its members; two-sided"


def difference_from_best(panel: ArrayLike, hits: ArrayLike, groups: ArrayLike, estimate: float, *, level: float = 0.95) -> Difference:
    """Panel minus the best of its members, with an interval and p that hold whichever member that is.

    The difference is theta = min_m theta_m over the members, theta_m = panel minus member. The paired interval of every member is computed
    on all items. The lower end is the smallest of the lower ends at `level`: it exceeds theta no more often than the best member's own.
    The upper end is the smallest of the upper ends at 1 - (1 - level) / M, Bonferroni's for M members. p is the smallest 1 - level at which
    the interval leaves 0 out. No choice of a member enters, so that none has to be allowed for: the t interval of the difference from
    `best_on_other_folds` takes differences as independent, although each fold's member is chosen on the others, and leaves out the truth
    in 8 to 11 % of data sets where members are equally good.

    Args:
        panel: (items,) 1 where the panel's answer is the reference, else 0.
        hits: (items, judges) the same of its members.
        estimate: the difference to report, such as that from `best_on_other_folds`.

    Returns:
        `Difference`; without interval and p with fewer than 8 groups.

    Reference: Berger (1982), intersection-union tests; Bonferroni.

    >>> hits = [[1, 0], [0, 1], [1, 1], [0, 0]] * 10
    >>> found = difference_from_best([1, 1, 1, 0] * 10, hits, range(40), 0.25)
    >>> found.diff, found.interval.lo > 0, found.p < 0.05
    (0.25, True, True)
    """
    ours, right = np.asarray(panel, np.float64), np.asarray(hits, np.float64)
    if right.ndim != 2 or ours.shape != right.shape[:1]:
        raise ShapeError(f"panel {ours.shape} and hits {right.shape} must be of the same items")
    members = right.shape[1]
    each = [paired_difference(ours, one, groups, level=level, hypothesis=NOT_BEST) for one in right.T]
    wider = [paired_difference(ours, one, groups, level=1 - (1 - level) / members) for one in right.T]
    undefined = next((one for one in each if math.isnan(one.p)), None)
    if undefined:
        return replace(undefined, diff=estimate)
    above = max(one.p / 2 if one.diff > 0 else 1 - one.p / 2 for one in each)
    below = members * min(one.p / 2 if one.diff < 0 else 1 - one.p / 2 for one in each)
    lowest = min(each, key=lambda one: one.interval.lo)
    interval = replace(lowest.interval, hi=min(one.interval.hi for one in wider))
    return Difference(estimate, lowest.n, interval, min(1.0, 2 * above, 2 * below), NOT_BEST, None)
