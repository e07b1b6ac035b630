"""Tests that may be looked at every day: a bettor's wealth against "the mean is not below this level", and how many cells it names.

A fair game cannot be won by much: where the hypothesis holds, the wealth passes 1 / alpha with the probability alpha at most, however
often it is looked at (Ville's inequality). The wealth is mixed over fixed bets and over all starting days, so that a quiet year does not
use it up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats
from harness.stats.intervals.intervals import clopper_pearson

BETS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7)
"""Shares of the wealth that are at stake, in (0, 1): of the largest bet that can never lose more than all."""


class ReferenceLimits(NamedTuple):
    """One-sided limits of a mean in [0, 1], each at the level that was asked for."""

    lower: float
    upper: float


class MixedWealth(NamedTuple):
    """`log_e` (days, ...): the logarithm of the e-value after each day. `log_sums` (..., bets): all that the next day needs to know."""

    log_e: Floats
    log_sums: Floats


def log_factors(values: ArrayLike, null_mean: float, times: ArrayLike = 1.0, *, bets: ArrayLike = BETS, upper: float = 1.0) -> Floats:
    """By what one day's values multiply the wealth, for each bet: sum of times x log(1 - bet (d - null_mean) / (upper - null_mean)).

    Args:
        values: (..., values) at most `upper`; independent, or with a conditional mean of `null_mean` or more under the hypothesis.
        null_mean: of the hypothesis "the mean is this or more", below `upper`.
        times: (..., values) how often each value was seen.
        bets: (bets,) in [0, 1).
        upper: the largest possible value.

    Returns:
        (..., bets), 0 for a day without values. Small values raise it.

    Raises:
        ValueError: for a value above `upper`, a bet outside [0, 1), or a `null_mean` that is not below `upper`.

    Reference: Waudby-Smith & Ramdas (2024).

    >>> log_factors([1, 0], 0.5, bets=[0.5]).round(4).tolist()  # (1 - .5) (1 + .5)
    [-0.2877]
    """
    d, share = np.asarray(values, np.float64), np.asarray(bets, np.float64)
    if not null_mean < upper:
        raise ValueError(f"the level of the hypothesis must be below {upper:g}, got {null_mean:g}")
    if d.size and d.max() > upper + 1e-9:
        raise ValueError(f"values are at most {upper:g}, got {d.max():g}")
    if share.size and not (share.min() >= 0 and share.max() < 1):
        raise ValueError(f"bets lie in [0, 1), got {share.tolist()}")
    logs = np.log1p(-share * ((d - null_mean) / (upper - null_mean))[..., None])
    return np.asarray((logs * np.broadcast_to(np.asarray(times, np.float64), d.shape)[..., None]).sum(axis=-2))


def mixed_wealth(factors: ArrayLike) -> MixedWealth:
    """The e-value after each day, mixed over the bets and over all starting days t with the weights 1 / (t (t + 1)).

    S <- (S + 1 / (t (t + 1))) x the day's factor, for each bet; E_t = mean of S + 1 / (t + 1), what is not at stake yet. If the mean was
    never below the level, E passes 1 / alpha on any day with the probability alpha at most.

    Args:
        factors: (days, ..., bets) from `log_factors`. A day without values is no day: leave it out.

    >>> quiet, bad = log_factors([1, 1, 1, 1, 0], 0.8), log_factors([1, 0, 0, 0, 0], 0.8)
    >>> np.exp(mixed_wealth([quiet, quiet, bad, bad]).log_e).round(2).tolist()
    [0.83, 0.73, 3.53, 91.29]
    """
    days = np.asarray(factors, np.float64)
    sums, wealth = np.full(days.shape[1:], -math.inf), []
    for t, factor in enumerate(days, start=1):
        sums = np.logaddexp(sums, -math.log(t * (t + 1))) + factor
        mean = np.logaddexp.reduce(sums, axis=-1) - math.log(sums.shape[-1])
        wealth.append(np.logaddexp(mean, -math.log(t + 1)))
    return MixedWealth(np.asarray(wealth), sums)


def reference_limits(mean: float, n: float, alpha: float) -> ReferenceLimits:
    """Exact one-sided limits of a mean of `n` independent values in [0, 1], by Clopper and Pearson's rule.

    Exact for values 0 and 1. Values between the ends vary less than these, so their limits are too wide rather than too narrow; asks of
    several texts, each with a mean of its own, vary less too (Hoeffding). A level that was estimated is wrong by its own error, and a
    test that looks every day finds that error in time: so it takes the limit, and alarms at 2 / alpha with limits at alpha / 2.

    Reference: Clopper & Pearson (1934); Hoeffding (1956).

    >>> [round(limit, 4) for limit in reference_limits(243 / 300, 300, 0.025)]
    [0.761, 0.8528]
    """
    return ReferenceLimits(*clopper_pearson(mean * n, n, alpha))


def limits_of_repeats(values: Sequence[Sequence[float]], alpha: float) -> ReferenceLimits:
    """One-sided limits of the mean over texts of what a judge says on average, from several independent answers on each of these texts.

    The texts are fixed, so only the spread of answers on one text counts. Its mean variance has an upper limit from pairs of answers, and
    Bernstein's inequality gives the error of the mean; where `reference_limits` of all answers are tighter, those are taken. Each of the
    three has a third of alpha.

    Args:
        values: for each text its answers in [0, 1], at least one.
        alpha: of each limit, in (0, 1).

    Reference: Bernstein's inequality, as in Maurer & Pontil (2009); Clopper & Pearson (1934) for the spread.

    >>> same, once = [[1.0] * 5] * 70 + [[0.0] * 5] * 30, [[1.0]] * 70 + [[0.0]] * 30
    >>> [[round(limit, 3) for limit in limits_of_repeats(values, 0.025)] for values in (same, once)]
    [[0.681, 0.719], [0.579, 0.804]]
    """
    texts, answers = len(values), np.array([len(text) for text in values])
    mean = sum(sum(text) / len(text) for text in values) / texts
    lower, upper = reference_limits(mean, float(texts**2 / (1 / answers).sum()), alpha / 3)
    pairs = int(answers.min()) // 2
    if pairs:
        spread = np.array([(text[2 * k] - text[2 * k + 1]) ** 2 for text in values for k in range(pairs)])
        variance = reference_limits(float(spread.mean()), len(spread), alpha / 3).upper / 2
        weight, reach = 1 / (texts * int(answers.min())), math.log(3 / alpha)
        step = weight * reach / 3
        error = step + math.sqrt(step**2 + 2 * reach * variance * weight)
        lower, upper = max(lower, mean - error), min(upper, mean + error)
    return ReferenceLimits(lower, upper)


def e_benjamini_hochberg(e: ArrayLike, alpha: float) -> list[int]:
    """The hypotheses that e-values reject with a false discovery rate of at most alpha, under any dependence: their places, from 0.

    The largest k for which the k-th largest e is K / (alpha k) or more; then all hypotheses with the k largest. An e-value is a wealth that
    is looked at once, or at a time that nothing but the past decides. The largest wealth so far is none.

    Reference: Wang & Ramdas (2022).

    >>> e_benjamini_hochberg([45, 3, 210, 12], 0.1)  # 40 / 1 and 40 / 2 are passed; 12 is below 40 / 3
    [0, 2]
    """
    values = np.asarray(e, np.float64)
    falling = np.sort(values)[::-1]
    enough = np.flatnonzero(falling * np.arange(1, len(values) + 1) * alpha >= len(values))
    return np.flatnonzero(values >= falling[enough[-1]]).tolist() if len(enough) else []
