"""Paired comparison on the same items: of judges, variants or conditions, with the majority baseline, and of a panel with its members."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.core.arrays import MISSING, Floats, Ints, ShapeError, as_codes, as_index, same_shape
from harness.stats.core.groups import group_sums, relative_weights
from harness.stats.core.statistic import Estimated
from harness.stats.intervals.intervals import Interval, MeanToTest, no_interval, proportion_interval, scatter_of, tested_means

EQUAL = "H0: the mean difference (first minus second) on the same items is 0; two-sided"


@dataclass(frozen=True, slots=True)
class Difference:
    """First minus second: `diff` on `n` common items, its interval, the `p` of `hypothesis`; reason if undefined."""

    diff: float
    n: int
    interval: Interval
    p: float
    hypothesis: str
    reason: str | None


def paired_difference(
    first: ArrayLike,
    second: ArrayLike,
    groups: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    bounds: tuple[float, float] | None = (-1.0, 1.0),
    hypothesis: str = EQUAL,
    level: float = 0.95,
) -> Difference:
    """Mean difference of two measurements of the same items, with interval and p-value that agree with each other.

    Both come from Hall's skewness-corrected t over groups, guarded at the bounds (see `skewness.two_sided`), so p < 1 - level exactly
    where the interval excludes 0. p is at least the sign test's, 2^(1 - G).

    Args:
        first, second: (items,) numbers (hits, credits, scores), NaN where missing; items without both are left out.
        bounds: of a difference, see `mean_interval`; (-1, 1) fits hits and credits.
        hypothesis: the null hypothesis of p, as a sentence.

    Returns:
        `Difference`. It has no interval and no p with fewer than 8 groups, or without bounds if all groups have the same mean. Without
        common items, diff is NaN ("no overlap").

    >>> found = paired_difference([1, 1, 0, 1] * 10, [1, 0, 0, 0] * 10, range(40))
    >>> found.diff, found.n, found.p < 0.001, found.interval.lo > 0
    (0.5, 40, True, True)
    """
    difference = difference_to_test(first, second, groups, weights=weights, bounds=bounds, hypothesis=hypothesis)
    return tested_differences([difference], level=level)[0]


class DifferenceToTest(NamedTuple):
    """The test of a paired difference, prepared: few numbers, so that many cells are kept and tested at once."""

    n: int
    mean: MeanToTest | None
    hypothesis: str


def difference_to_test(
    first: ArrayLike,
    second: ArrayLike,
    groups: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    bounds: tuple[float, float] | None = (-1.0, 1.0),
    hypothesis: str = EQUAL,
) -> DifferenceToTest:
    """Args as `paired_difference`."""
    d, codes = common_differences(first, second, groups)
    if not len(d):
        return DifferenceToTest(0, None, hypothesis)
    shared_weights = None if weights is None else relative_weights(common_items(weights, first, second))
    return DifferenceToTest(len(d), MeanToTest(group_sums(d, codes, shared_weights), scatter_of(d, shared_weights), bounds), hypothesis)


def tested_differences(differences: Sequence[DifferenceToTest], *, level: float = 0.95) -> list[Difference]:
    """`paired_difference` of many cells: the same numbers."""
    tested = iter(tested_means([difference.mean for difference in differences if difference.mean], level=level))
    return [
        Difference(difference.mean.sums.mean, difference.n, *next(tested), difference.hypothesis, None)
        if difference.mean
        else Difference(math.nan, 0, no_interval(0), math.nan, difference.hypothesis, "no overlap")
        for difference in differences
    ]


def common_differences(first: ArrayLike, second: ArrayLike, groups: ArrayLike) -> tuple[Floats, NDArray[Any]]:
    """First minus second, and the group, of the items that have both: two arrays (common items,).

    Raises ShapeError if the three (items,) arrays are not of one length.

    >>> [found.tolist() for found in common_differences([3, float("nan"), 1], [1, 2, 1], [7, 8, 9])]
    [[2.0, 0.0], [7, 9]]
    """
    a, b, codes = np.asarray(first, np.float64), np.asarray(second, np.float64), np.asarray(groups)
    same_shape(first=a, second=b, groups=codes)
    shared = ~(np.isnan(a) | np.isnan(b))
    return a[shared] - b[shared], codes[shared]


def common_items(weights: ArrayLike, first: ArrayLike, second: ArrayLike) -> Floats:
    """The weights of the items that have both measurements."""
    missing = np.isnan(np.asarray(first, np.float64)) | np.isnan(np.asarray(second, np.float64))
    return np.asarray(weights, np.float64)[~missing]


def hits(judge: ArrayLike, reference: ArrayLike, k: int, *, failed_wrong: bool = False) -> Floats:
    """1 where the judge chose the reference, else 0; NaN without a reference or (unless `failed_wrong`) without a score.

    >>> hits([0, 1, -1, 1], [0, 0, 1, -2], k=2).tolist()
    [1.0, 0.0, nan, nan]
    """
    score, ref = as_codes(judge, k, "judge"), np.asarray(reference, np.int64)
    if score.shape != ref.shape:
        raise ShapeError(f"judge {score.shape} and reference {ref.shape} must be of the same items")
    counted = ref >= 0 if failed_wrong else (ref >= 0) & (score >= 0)
    return np.where(counted, (score == ref) & (score >= 0), np.nan)


def commonest(reference: ArrayLike, k: int, cell: ArrayLike | None = None, weights: Floats | None = None) -> Ints:
    """The majority baseline without development items: for each item the commonest reference of its cell.

    It is the best of the k constants in hindsight, so that a judge that gives one class to everything is never better. Leaving an item's
    own text out, as for a prediction, fails near a tie: with 100 items of each class, every item is predicted as the other class, and any
    constant would seem to beat the baseline by half.

    Args:
        reference: (items,) class codes; negative where missing.
        cell: (items,) any sortable codes; default all in one cell.
        weights: (items,) how much each counts; default all the same.

    Returns:
        (items,) class codes, the lower one on a tie; -1 in a cell without references.

    >>> commonest([0, 0, 1, 1, 1], k=2).tolist(), commonest([0, -2, 1], k=2, cell=[0, 1, 2]).tolist()
    ([1, 1, 1, 1, 1], [0, -1, 1])
    """
    ref = np.asarray(reference, np.int64)
    where = as_index(cell, len(ref), "cell")
    labelled = ref >= 0
    labelled_weights = None if weights is None else weights[labelled]
    table = np.bincount(where[labelled] * k + ref[labelled], labelled_weights, minlength=(int(where.max(initial=-1)) + 1) * k).reshape(
        -1, k
    )
    return np.where(table.sum(axis=1) > 0, np.argmax(table, axis=1), MISSING)[where]


def superiority(
    first: ArrayLike,
    second: ArrayLike,
    groups: ArrayLike,
    *,
    tolerance: float = 1e-9,
    level: float = 0.95,
    seed: int = 0,
    resamples: int = 1000,
) -> Estimated:
    """Paired probability of superiority, P(first > second) + ½ P(first = second) on the same items: sensitivity to a change of the text.

    Every item has the credit 1, ½ or 0; the value is their mean, its interval that of a share (`proportion_interval`). ½
    means no difference in either direction; 1 means that the first is above the second on every item.

    Args:
        first, second: (items,) numbers, NaN where missing; items without both are left out.
        tolerance: numbers that differ by no more are equal (expected scores are floats).

    Reference: Vargha & Delaney (2000), here of pairs; Grissom & Kim (2012).

    >>> found = superiority([2, 2, 1, 0], [1, 2, 1, float("nan")], range(4))
    >>> round(found.value, 4), found.n, found.interval.reason
    (0.6667, 3, 'too few independent texts')
    """
    above, codes = common_differences(first, second, groups)
    if not len(above):
        return Estimated(math.nan, 0, no_interval(0), math.nan, "no overlap")
    credit = np.where(np.abs(above) <= tolerance, 0.5, above > 0)
    interval = proportion_interval(credit, codes, level=level, seed=seed, resamples=resamples)
    return Estimated(float(credit.mean()), len(credit), interval, math.nan, None)


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
    for held_out in np.unique(fold):
        best[fold == held_out] = np.argmax(right[fold != held_out].sum(axis=0))
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
    panel_hits, right = np.asarray(panel, np.float64), np.asarray(hits, np.float64)
    if right.ndim != 2 or panel_hits.shape != right.shape[:1]:
        raise ShapeError(f"panel {panel_hits.shape} and hits {right.shape} must be of the same items")
    members = right.shape[1]
    differences = [paired_difference(panel_hits, member, groups, level=level, hypothesis=NOT_BEST) for member in right.T]
    wider = [paired_difference(panel_hits, member, groups, level=1 - (1 - level) / members) for member in right.T]
    undefined = next((member for member in differences if math.isnan(member.p)), None)
    if undefined:
        return replace(undefined, diff=estimate)
    above = max(member.p / 2 if member.diff > 0 else 1 - member.p / 2 for member in differences)
    below = members * min(member.p / 2 if member.diff < 0 else 1 - member.p / 2 for member in differences)
    lowest = min(differences, key=lambda member: member.interval.lo)
    interval = replace(lowest.interval, hi=min(member.interval.hi for member in wider))
    return Difference(estimate, lowest.n, interval, min(1.0, 2 * above, 2 * below), NOT_BEST, None)
