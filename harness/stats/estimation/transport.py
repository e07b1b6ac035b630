"""Transport of numbers that were learnt on some texts to other texts: equivalence within a margin, by the guarded test on both sides.

Two plain one-sided t-tests say "within the margin" too often where values are 0 or 1 and groups are few: in 15 % at a shift of exactly the
margin with 20 groups, instead of 5. The guarded test adds one further group at the worst possible value on each side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.groups import ClusterVariance, GroupSums
from harness.stats.intervals.cluster_mean import ClusterMean, cluster_mean
from harness.stats.intervals.intervals import t_quantile
from harness.stats.intervals.noninferiority import gap_sums, guarded_mean

LEAST_GROUPS = 20.0
"""Effective groups below which nothing is shown to be small: a floor, at which it is shown of a shift of 0 in about one case of seven."""
LEAST_OF_INTERVALS = 8.0
"""Effective groups below which an interval is not trusted to lie outside the margin."""
_POWER = 0.9
TransportOutcome = Literal["inside", "outside", "open"]


@dataclass(frozen=True, slots=True)
class TransportTest:
    """Return True if the mean of values in [-1, 1] is shown to lie within ±margin, or outside.

    `p` is the larger of the guarded one-sided p of "the mean is -margin or less" and of "margin or more"; the other names are those of
    `cluster_mean`. `effective_groups` is n² / sum n_g². `extra_error` is that of what the values are compared with.
    """

    mean: float
    error: float
    n: int
    groups: int
    effective_groups: float
    freedom: float
    margin: float
    p: float
    extra_error: float = 0.0

    def interval(self, level: float) -> tuple[float, float]:
        """mean ± t error; NaN with fewer than two groups."""
        reach = math.hypot(self.error, self.extra_error) * t_quantile(level, self.freedom) if self.error >= 0 else math.nan
        return self.mean - reach, self.mean + reach

    def outcome(self, p: float, alpha: float, targets: int) -> TransportOutcome:
        """`inside` where the (corrected) p is at most alpha, `outside` where the Bonferroni interval is beyond the margin, else `open`."""
        if p <= alpha:
            return "inside" if self.effective_groups >= LEAST_GROUPS else "open"
        low, high = self.interval(1 - alpha / targets)
        outside = low > self.margin or high < -self.margin
        return "outside" if outside and self.effective_groups >= LEAST_OF_INTERVALS else "open"

    def groups_needed(self, alpha: float = 0.05, shift: float = 0.0) -> int | None:
        """About how many groups show equivalence with a power of 90 % at a shift: ((t_.95 + t_.9) s / (margin - |shift|))², 20 at least.

        s = error √groups is the deviation of groups that the values have. `shift` is the true mean: 0 gives the fewest groups, the `mean`
        that was seen plans under that. None where no number of groups suffices: the shift is not within the margin, or the error of what
        the values are compared with is too large.

        >>> found = TransportTest(mean=0.05, error=0.08, n=40, groups=40, effective_groups=40, freedom=39, margin=0.1, p=0.4)
        >>> found.groups_needed(), found.groups_needed(shift=found.mean), found.groups_needed(shift=-0.1)
        (229, 915, None)
        """
        spread = self.error * math.sqrt(self.groups) if self.error >= 0 else 0.0
        freedom = max(self.freedom, 1.0) if self.freedom == self.freedom else 1.0
        reach = t_quantile(1 - 2 * alpha, freedom) + t_quantile(2 * _POWER - 1, freedom)
        within = max(self.margin - abs(shift), 0.0)
        room = (within / reach) ** 2 - self.extra_error**2
        return max(math.ceil(LEAST_GROUPS), math.ceil(spread**2 / room)) if room > 0 else None


def transport(
    values: ArrayLike, groups: ArrayLike, margin: float, *, extra_error: float = 0.0, variance: ClusterVariance = "cr2"
) -> TransportTest:
    """Test whether the mean of values is within ±margin.

    Args:
        values: (items,) differences in [-1, 1], such as (label - prediction) / range of the scale; NaN where there is none.
        margin: in (0, 1).
        extra_error: standard error of what was subtracted from the values, if it was estimated from other texts.

    Returns:
        `TransportTest`; p is NaN with fewer than two groups.

    Raises:
        ValueError: for values outside [-1, 1], and for a margin outside (0, 1).

    Reference: Schuirmann (1987) for the two sides; `guarded_p` for each of them; Bell & McCaffrey (2002) for unequal groups.

    >>> rng = np.random.default_rng(0)
    >>> found = transport(rng.normal(0, 0.1, 60), np.arange(60) // 2, 0.1)
    >>> found.groups, round(found.p, 4), found.outcome(found.p, 0.05, 1)
    (30, 0.0351, 'inside')
    """
    if not 0 < margin < 1:
        raise ValueError(f"a margin lies between 0 and 1, got {margin}")
    x, code = np.asarray(values, np.float64), np.asarray(groups)
    present = ~np.isnan(x)
    if present.any() and np.abs(x[present]).max() > 1 + 1e-9:
        raise ValueError("differences lie in [-1, 1]; divide them by the range of the scale")
    mean: ClusterMean = cluster_mean(x[present], code[present], variance=variance)
    sizes = np.unique(code[present], return_counts=True)[1]
    effective = float(sizes.sum() ** 2 / (sizes**2).sum()) if len(sizes) else 0.0
    above, below = (_guarded(gap_sums(sign * x, code), margin, extra_error, variance) for sign in (1, -1))
    return TransportTest(
        mean.mean, mean.error, mean.n, mean.groups, effective, mean.freedom, margin, float(np.maximum(above, below)), extra_error
    )


def _guarded(sums: GroupSums, margin: float, extra_error: float, variance: ClusterVariance) -> float:
    """One-sided p of "the mean is -margin or less", with a further variance of what the values are compared with."""
    if sums.groups < 2:
        return math.nan
    prepared = guarded_mean(sums, variance=variance).at(margin)
    return float(prepared.with_floor(prepared.deviation**2 + extra_error**2 * prepared.groups).p_above(-margin))
