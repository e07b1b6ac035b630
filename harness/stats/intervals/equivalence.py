"""Is a mean as good as 0? Equivalence by two one-sided t-tests over groups, and leniency tested so."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.agreement.describe import Direction
from harness.stats.core.arrays import ShapeError, as_codes, as_index, as_labels, as_values
from harness.stats.intervals.cluster_mean import ClusterMean, cluster_mean
from harness.stats.intervals.intervals import NO_VARIATION, t_quantile
from harness.stats.intervals.unequal_groups import ClusterVariance

MARGIN_SHARE = 0.1
"""Share of a scale's range within which two levels count as the same."""
TOO_FEW_GROUPS = "fewer than two groups"
NO_OVERLAP = "no overlap"


@dataclass(frozen=True, slots=True)
class Equivalence:
    """TOST of the mean of `n` items in `groups` groups: `p` of H0 that the true mean lies outside ±margin; NaN with a `reason`.

    `error` is the cluster-robust standard error, 0 with a reason where all groups say the same; `freedom` are the degrees of freedom
    of the tests (`cluster_mean`).
    """

    mean: float
    error: float
    n: int
    groups: int
    freedom: float
    margin: float
    p: float
    reason: str | None

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """mean ± t error, with the degrees of freedom of the tests: the bounds of two of them. NaN where the error is undefined."""
        return _t_interval(self.mean, self.error, self.freedom, level)

    def shown(self, alpha: float = 0.05) -> bool:
        """Whether equivalence is shown, p <= alpha; the same as the 1 - 2 alpha interval lying within ±margin."""
        return self.p <= alpha


def cluster_interval(found: ClusterMean, level: float = 0.95) -> tuple[float, float]:
    """mean ± t error, Student's t with the degrees of freedom of intervals; NaN where the error is undefined.

    >>> [round(x, 2) for x in cluster_interval(ClusterMean(1.0, 0.5, 12, 5, 4.0, 4.0))]
    [-0.39, 2.39]
    """
    return _t_interval(found.mean, found.error, found.interval_freedom, level)


def _t_interval(mean: float, error: float, freedom: float, level: float) -> tuple[float, float]:
    if not error >= 0:
        return math.nan, math.nan
    reach = error * t_quantile(level, freedom)
    return mean - reach, mean + reach


def equivalence(values: ArrayLike, groups: ArrayLike, margin: float, *, variance: ClusterVariance = "cr2") -> Equivalence:
    """Two one-sided t-tests over groups: p is the larger of those of mean <= -margin and mean >= margin.

    Args:
        values: (items,) numbers; NaN where there is none.
        groups: (items,) any sortable codes of what items share.
        margin: above 0, in the units of the values.
        variance: `cr1` takes groups as equal.

    Returns:
        `Equivalence`; p NaN with fewer than two groups. Where all groups say the same, p is 0 within the margin and 1 outside.

    Raises:
        ShapeError: if the arrays are not of the same items.  ValueError: for a margin of 0 or less.

    Reference: Schuirmann (1987).

    >>> found = equivalence([0.1, -0.1, 0.0, 0.05, -0.05, 0.0], range(6), 0.2)
    >>> round(found.p, 4), found.shown()
    (0.0005, True)
    """
    if not margin > 0:
        raise ValueError(f"a margin must be above 0, got {margin}")
    x = np.asarray(values, np.float64)
    if x.ndim != 1:
        raise ShapeError(f"values must be one-dimensional, got shape {x.shape}")
    known = ~np.isnan(x)
    found = cluster_mean(x[known], as_index(groups, len(x), "groups")[known], variance=variance)
    if not found.error >= 0:
        reason = TOO_FEW_GROUPS if found.n else NO_OVERLAP
        return Equivalence(found.mean, found.error, found.n, found.groups, found.freedom, margin, math.nan, reason)
    if found.error == 0:
        p = 0.0 if abs(found.mean) < margin else 1.0
        return Equivalence(found.mean, 0.0, found.n, found.groups, found.freedom, margin, p, NO_VARIATION)
    from scipy.special import stdtr

    p = float(stdtr(found.freedom, (abs(found.mean) - margin) / found.error))  # the side that is nearer to its margin
    return Equivalence(found.mean, found.error, found.n, found.groups, found.freedom, margin, p, None)


class PointScale(NamedTuple):
    """A scale of k classes: `direction` is 1 where more is better, else -1; `values` are the classes' numbers, by default 0 … k-1."""

    k: int
    direction: Direction
    values: ArrayLike | None = None


def leniency_equivalence(
    judge: ArrayLike,
    labels: ArrayLike,
    scale: PointScale,
    groups: ArrayLike,
    *,
    margin: float | None = None,
    variance: ClusterVariance = "cr2",
) -> Equivalence:
    """Is the judge at the annotators' level? Leniency with cluster t intervals, and equivalence with 0.

    Leniency of an item is (judge - mean of its annotators) x direction, in points; + is toward `best`.

    Args:
        judge, labels, scale: as `describe.leniency`.
        groups: (items,) any sortable codes of what items share.
        margin: in points; default a tenth of the scale's range.
        variance: as `equivalence`.

    Returns:
        `Equivalence` on the items with a score and a label.

    Raises:
        ScaleError, ShapeError: for codes off the scale, arrays of different items.

    >>> found = leniency_equivalence([2, 2, 1, 0], [[2, 1], [2, 2], [1, 1], [0, 1]], PointScale(3, 1), range(4))
    >>> found.mean, round(found.p, 3)
    (0.0, 0.2)
    """
    k, direction, values = scale
    numbers, table = as_values(values, k), as_labels(labels, k)
    score = as_codes(judge, k, "judge")
    if score.shape != table.shape[:1]:
        raise ShapeError(f"judge has shape {score.shape}, labels are of {len(table)} items")
    rated = (table >= 0).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        people = np.where(table >= 0, numbers[table], 0.0).sum(axis=1) / rated
    lenient = np.where((score >= 0) & (rated > 0), (numbers[score] - people) * direction, np.nan)
    margin = MARGIN_SHARE * float(numbers[-1] - numbers[0]) if margin is None else margin
    return equivalence(lenient, groups, margin, variance=variance)
