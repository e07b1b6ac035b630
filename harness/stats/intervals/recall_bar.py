"""The share of a class that a judge finds, held against a bar: exact limits and tests by groups.

Of the texts that a person put into a class, the judge puts a share into the same class. A t test by groups says far too often that a high
share is above a bar; Clopper-Pearson does so where texts come in groups. The limits of Korn and Graubard use Clopper-Pearson on an
effective number of texts. Few large groups can look as if their texts were independent: a high share leaves few wrong texts to see a
correlation in. `lower` and `p_above` therefore take a correlation that texts of one group have at least.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, same_shape
from harness.stats.intervals.intervals import clopper_pearson

LEAST_FREEDOM = 10.0
"""Degrees of freedom that unequal groups are capped to have, at least."""
_STEPS, _TOLERANCE = 60, 1e-12  # of a p, relative
_SMALLEST = 1e-12  # of a p: quantiles of the t distribution are not exact below


class ShareFound(NamedTuple):
    """The share of a class that a judge finds, with the groups that its texts come in.

    Attributes:
        hits, n: texts that the judge gave the person's class, and all texts with the class.
        groups: independent groups among them.
        samples: what the limits rest on: the texts as they are, and where groups are unequal the texts with capped groups.
        cap: texts that a group counts for at most; None where all groups have one size.
        freedom: degrees of freedom of the capped groups; None without a cap.
    """

    hits: float
    n: int
    groups: int
    samples: tuple[EffectiveSample, ...]
    cap: int | None
    freedom: float | None

    @property
    def share(self) -> float:
        return self.hits / self.n if self.n else math.nan

    def lower(self, alpha: float, correlation: float = 0.0) -> float:
        """Return the one-sided lower limit at the level `alpha`: the lowest of the samples' limits; 0 without texts.

        Args:
            alpha: in (0, 1).
            correlation: what texts of one group have in common at least, from 0 to 1. It counts in the capped groups where there are such:
                without a cap, one large group would make all others worth little.
        """
        last = len(self.samples) - 1
        return min((sample.limits(alpha, correlation * (index == last))[0] for index, sample in enumerate(self.samples)), default=0.0)

    def upper(self, alpha: float) -> float:
        """Return the one-sided upper limit at the level `alpha`: the highest of the samples' limits; 1 without texts."""
        return max((sample.limits(alpha)[1] for sample in self.samples), default=1.0)

    def p_above(self, bar: float, correlation: float = 0.0) -> float:
        """Return the smallest level at which the lower limit, with that `correlation`, reaches `bar`; 1 where it is above one half."""
        return smallest_level(lambda alpha: self.lower(alpha, correlation) - bar) if self.samples else 1.0

    def p_below(self, bar: float) -> float:
        """Return the smallest level at which the upper limit is at most `bar`; 1 where it is above one half."""
        return smallest_level(lambda alpha: bar - self.upper(alpha)) if self.samples else 1.0


def smallest_level(excess: Callable[[float], float]) -> float:
    """Return the smallest level at which a limit passes: where `excess`, which rises with the level, becomes 0; 1 where it is below 0 at
    one half. It is sought by false position, whose end that stays counts half (the Illinois rule): to import scipy.optimize takes about as
    long as to compare a small table.

    >>> round(smallest_level(lambda level: level - 0.02), 9), smallest_level(lambda level: -1.0), smallest_level(lambda level: 1.0)
    (0.02, 1.0, 1e-12)
    """
    low, high = math.log(_SMALLEST), math.log(0.5)  # levels differ by orders of magnitude
    below, above = excess(_SMALLEST), excess(0.5)
    if above < 0:
        return 1.0
    if below >= 0:
        return _SMALLEST
    side = 0
    for _ in range(_STEPS):
        level = (low * above - high * below) / (above - below)
        value = excess(math.exp(level))
        if value < 0:
            low, below, above = level, value, above / 2 if side < 0 else above
            side = -1
        else:
            high, above, below = level, value, below / 2 if side > 0 else below
            side = 1
        if value == 0 or high - low < _TOLERANCE:
            break
    return math.exp(high)


class EffectiveSample(NamedTuple):
    """A share with what its texts are worth: `n` counted texts, `independent` of them, and the groups' degrees of freedom.

    `group_size` is the mean size of the group that a text is in. `constant` is the number of groups where all texts have one outcome; no
    variance is seen then, and the groups alone are counted.
    """

    share: float
    n: float
    independent: float
    freedom: float
    group_size: float
    constant: int | None

    def limits(self, alpha: float, correlation: float = 0.0) -> tuple[float, float]:
        """Return the one-sided limits, each at the level `alpha`, with a design effect of at least 1 + (group_size - 1) correlation."""
        from scipy.special import stdtrit

        if self.constant is not None:
            size = float(self.constant)
        elif self.independent == self.n and self.freedom == self.n - 1:
            size = self.n
        elif self.n <= 1 or self.freedom <= 0:
            return 0.0, 1.0
        else:
            level = min(max(1 - alpha, 0.5 + 1e-6), 1 - _SMALLEST)  # at one half both quantiles are 0; their ratio has a limit
            independent = min(self.independent, self.n / (1 + (self.group_size - 1) * correlation))
            size = min(independent * float(stdtrit(self.n - 1, level) / stdtrit(self.freedom, level)) ** 2, self.n)
        return clopper_pearson(self.share * size, size, alpha)


def share_found(right: ArrayLike, groups: ArrayLike) -> ShareFound:
    """Return the share of a class that a judge finds, ready for limits and tests.

    The limits are those of Clopper and Pearson for n_eff = n / deff (t₁₋α(n - 1) / t₁₋α(df))² texts, at most n, with the share p of n texts
    in G groups. deff is the clustered variance G / (G - 1) Σ e² / n², e = hits of a group - p × its size, divided by p (1 - p) / (n - 1),
    and at least 1; df = G - 1. If all texts have one outcome, n_eff = G. Where groups are unequal, the same is done with groups that count
    for m = min(size, cap) texts: the cap is the largest with df = (Σ m²)² / Σ m⁴ - 1 of at least 10 (1 where none has), and the limit that
    is further from the share counts.

    Args:
        right: (texts,) 1 where the judge gives the person's class, else 0; texts of one class.
        groups: (texts,) what texts share; texts of one group are not independent.

    Returns:
        The share with its limits and p. Without texts the share is NaN, the limits are 0 and 1, and p is 1.

    Reference: Korn & Graubard (1998), confidence intervals for proportions with small expected number of positive counts estimated from
    survey data. docs/error-rates.md has simulated error rates, with the cap of groups.

    >>> found = share_found([1] * 44 + [0] * 6, range(50))  # single texts: Clopper-Pearson
    >>> round(found.share, 3), round(found.lower(0.05), 3), round(found.p_above(0.8), 3)
    (0.88, 0.777, 0.103)
    >>> paired = share_found([1] * 44 + [0] * 6, [text // 2 for text in range(50)])  # two texts a group, right or wrong together
    >>> round(paired.lower(0.05), 3), paired.cap
    (0.712, None)
    >>> alike = share_found([1] * 99 + [0], [text // 10 for text in range(100)])  # one text is wrong: no correlation can be seen
    >>> round(alike.lower(0.05), 3), round(alike.lower(0.05, correlation=0.16), 3)
    (0.947, 0.897)
    """
    hits = np.asarray(right, np.float64)
    same_shape(right=hits, groups=np.asarray(groups))
    if not len(hits):
        return ShareFound(0, 0, 0, (), None, None)
    _, codes = np.unique(np.asarray(groups), return_inverse=True)
    size, hits_by_group = np.bincount(codes).astype(np.float64), np.bincount(codes, hits).astype(np.float64)
    samples = [effective_sample(size, hits_by_group, len(size) - 1.0)]
    cap, freedom = None, None
    if len(size) > 1 and size.min() < size.max():
        cap, freedom = largest_cap(size)
        counted = np.minimum(size, float(cap))
        samples.append(effective_sample(counted, hits_by_group * counted / size, freedom))
    return ShareFound(float(hits.sum()), len(hits), len(size), tuple(samples), cap, freedom)


def largest_cap(size: Floats) -> tuple[int, float]:
    """Return the most texts that a group may count for, and the degrees of freedom that groups have then."""
    freedom = 0.0
    for cap in range(int(size.max()), 0, -1):
        m = np.minimum(size, cap)
        freedom = float((m**2).sum() ** 2 / (m**4).sum()) - 1
        if freedom >= LEAST_FREEDOM:
            return cap, freedom
    return 1, freedom


def effective_sample(size: Floats, hits: Floats, freedom: float, deviations: Floats | None = None) -> EffectiveSample:
    """Return a sample of groups with their sizes and hits (groups,).

    `deviations` are sums by group whose variance stands for that of the hits, such as of confidence minus hits; by default the hits' own.
    """
    n, groups = float(size.sum()), len(size)
    share, group_size = float(hits.sum()) / n, float(size @ size) / n
    if share <= 0 or share >= 1 or n <= 1:
        return EffectiveSample(share, n, float(groups), freedom, group_size, groups)
    sums = hits if deviations is None else deviations
    residual = sums - sums.sum() / n * size
    variance = groups / (groups - 1) * float(residual @ residual) / n**2 if groups > 1 else math.inf
    effect = max(variance / (share * (1 - share) / (n - 1)), 1.0)
    return EffectiveSample(share, n, n / effect, freedom, group_size, None)
