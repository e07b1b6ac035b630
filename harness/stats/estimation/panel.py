"""Panels: several judges' scores of an item become one, and a comparison of the panel with its best judge."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.aggregate import aggregate
from harness.stats.core.arrays import Floats, Ints, ShapeError, as_index, as_labels, as_values
from harness.stats.intervals.cluster_mean import ClusterMean, cluster_mean
from harness.stats.intervals.equivalence import cluster_interval
from harness.stats.intervals.paired import Difference, paired_difference
from harness.stats.intervals.unequal_groups import ClusterVariance


def panel_median(judges: ArrayLike, k: int) -> Ints:
    """The lower median of the judges' scores, on ordinal scales.

    Args:
        judges: (items, judges) class codes 0 … k-1, NaN or -1 where missing; a missing score has no vote.
        k: number of classes of the scale.

    Returns:
        (items,) class codes, -1 without scores.

    Raises:
        ScaleError, ShapeError: for codes off the scale, or another shape.

    >>> panel_median([[0, 1, 1, 2], [0, 2, -1, -1]], 3).tolist()
    [1, 0]
    """
    return aggregate(as_labels(judges, k), k, "median")


def panel_mean(judges: ArrayLike, k: int, values: ArrayLike | None = None) -> Floats:
    """Mean of the judges' scores, on interval scales; NaN without scores.

    Args and errors as `panel_median`; values: (k,) rising numbers that the classes stand for, default their positions.

    >>> panel_mean([[0, 1], [2, -1], [-1, -1]], 3).tolist()
    [0.5, 2.0, nan]
    """
    codes, numbers = as_labels(judges, k), as_values(values, k)
    given = codes >= 0
    n = given.sum(axis=1)
    sums = np.where(given, numbers[codes], 0.0).sum(axis=1)
    return np.asarray(np.divide(sums, n, out=np.full(len(codes), math.nan), where=n > 0))


def panel_hits(judges: ArrayLike, reference: ArrayLike, k: int) -> Floats:
    """Each judge right (1) or wrong (0), (items, judges); a missing score is wrong, NaN where there is no reference.

    Args:
        judges: as `panel_median`.
        reference: (items,) class codes, negative where there is none.

    >>> panel_hits([[0, 1], [1, -1], [1, 1]], [0, 1, -1], 2).tolist()
    [[1.0, 0.0], [1.0, 0.0], [nan, nan]]
    """
    codes, ref = as_labels(judges, k), np.asarray(reference, np.int64)
    if ref.shape != codes.shape[:1]:
        raise ShapeError(f"reference has shape {ref.shape}, judges are of {len(codes)} items")
    return np.where(ref[:, None] >= 0, (codes == ref[:, None]) * 1.0, math.nan)


def error_correlation(hits: ArrayLike) -> Floats:
    """Pearson correlation of the judges' errors, (judges, judges): near 0 a panel helps, near 1 it repeats one judge.

    Args:
        hits: (items, judges) from `panel_hits`; items with NaN are left out.

    Returns:
        NaN for a judge that is always right or always wrong, also with itself.

    >>> error_correlation([[1, 1], [1, 0], [0, 0], [1, 1]]).round(3).tolist()
    [[1.0, 0.577], [0.577, 1.0]]
    """
    right = np.asarray(hits, np.float64)
    if right.ndim != 2:
        raise ShapeError(f"hits must be items x judges, got shape {right.shape}")
    right = right[~np.isnan(right).any(axis=1)]
    if not len(right):
        return np.full((right.shape[1], right.shape[1]), math.nan)
    off = right - right.mean(axis=0)
    covariance = off.T @ off
    spread = np.sqrt(np.diag(covariance))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(np.outer(spread, spread) > 0, covariance / np.outer(spread, spread), math.nan))


@dataclass(frozen=True, slots=True)
class PanelGain:
    """Panel minus the best single judge: `best` is its column, `difference` the paired mean over items.

    `interval` is the cluster t interval of that mean, which does not know that the judge was chosen: see `difference_from_best`.
    """

    best: Ints
    difference: ClusterMean

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Of the difference."""
        return cluster_interval(self.difference, level)


def panel_gain(
    panel: ArrayLike, hits: ArrayLike, groups: ArrayLike, *, folds: ArrayLike | None = None, variance: ClusterVariance = "cr2"
) -> PanelGain:
    """Does the panel agree with people more often than its best single judge?

    Without `folds` the best judge is chosen on the same items, which flatters it by 3 to 8 points. With them it is chosen for each fold on
    the others.

    Args:
        panel: (items,) 1 where the panel's answer is the reference, 0 where not, NaN without reference.
        hits: (items, judges) from `panel_hits`.
        groups: (items,) any sortable codes of what items share.
        folds: (items,) codes from `recalibration.group_folds`.
        variance: of the difference; `cr1` takes groups as equal.

    Returns:
        `PanelGain`; `best` is (1,) or (folds,), the first of equals.

    Raises:
        ShapeError: if the arrays are not of the same items.

    >>> found = panel_gain([1, 1, 1, 0], [[1, 0], [1, 1], [0, 1], [0, 0]], range(4))
    >>> found.best.tolist(), found.difference.mean
    ([0], 0.25)
    """
    right, ours = np.asarray(hits, np.float64), np.asarray(panel, np.float64)
    if right.ndim != 2 or ours.shape != right.shape[:1]:
        raise ShapeError(f"panel {ours.shape} and hits {right.shape} must be of the same items")
    fold = np.zeros(len(ours), np.int64) if folds is None else np.unique(np.asarray(folds), return_inverse=True)[1]
    if fold.shape != ours.shape:
        raise ShapeError(f"folds {fold.shape} must be of the {len(ours)} items")
    count = int(fold.max(initial=0)) + 1
    known = ~np.isnan(right).any(axis=1)
    best = np.array([np.argmax(right[known & ((fold != each) | (count == 1))].sum(axis=0)) for each in range(count)])
    difference = ours - right[np.arange(len(ours)), best[fold]]
    compared = ~np.isnan(difference)
    of = as_index(groups, len(ours), "groups")
    return PanelGain(best, cluster_mean(difference[compared], of[compared], variance=variance))


NOT_BEST = "H0: the panel agrees with people as often as the best of its members; two-sided"


def difference_from_best(panel: ArrayLike, hits: ArrayLike, groups: ArrayLike, estimate: float, *, level: float = 0.95) -> Difference:
    """Panel minus the best of its members, with an interval and p that hold whichever member that is.

    The difference is theta = min_m theta_m over the members, theta_m = panel minus member. The paired interval of every member is computed
    on all items. The lower end is the smallest of the lower ends at `level`: it exceeds theta no more often than the best member's own.
    The upper end is the smallest of the upper ends at 1 - (1 - level) / M, Bonferroni's for M members. p is the smallest 1 - level at which
    the interval leaves 0 out. No choice of a member enters, so that none has to be allowed for: the t interval of `panel_gain` with
    folds takes differences as independent, although each fold's member is chosen on the others, and leaves out the truth in 8 to 11 %
    of data sets where members are equally good.

    Args:
        panel, hits, groups: as `panel_gain`.
        estimate: the difference to report, such as that of `panel_gain` with folds.
        level: confidence in (0, 1).

    Returns:
        `Difference`; without interval and p with fewer than 8 groups.

    Raises:
        ShapeError: if the arrays are not of the same items.

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


def majority_accuracy(p: float, judges: int, correlation: float = 0.0) -> float:
    """Chance that most of several judges are right on two classes, each right with probability p.

    Errors are independent, or exchangeable with the pairwise correlation rho: beta-binomial with a = p (1 / rho - 1) and
    b = (1 - p) (1 / rho - 1).
    With an even number of judges a tie counts as half right.

    Args:
        p: in [0, 1].
        judges: 1 or more.
        correlation: rho in [0, 1]; 1 makes them one judge.

    Reference: Condorcet (1785); Ladha (1995), correlated votes.

    >>> round(majority_accuracy(0.7, 3), 3), round(majority_accuracy(0.7, 3, 0.6), 4)
    (0.784, 0.7084)
    """
    if judges < 1 or not 0 <= p <= 1 or not 0 <= correlation <= 1:
        raise ValueError(f"needs 1 judge or more, p and the correlation in [0, 1]; got {judges}, {p}, {correlation}")
    if correlation == 1 or p in (0, 1):
        return float(p)
    from scipy.stats import betabinom, binom

    votes = np.arange(judges + 1)
    if correlation == 0:
        chance = binom.pmf(votes, judges, p)
    else:
        precision = 1 / correlation - 1
        chance = betabinom.pmf(votes, judges, p * precision, (1 - p) * precision)
    return float(chance @ np.where(2 * votes > judges, 1.0, np.where(2 * votes == judges, 0.5, 0.0)))
