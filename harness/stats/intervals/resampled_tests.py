"""The p of `use` in very many resamples of the same groups, as a plan of further labels needs it.

Resamples differ only in how often each group occurs. So what the tests need are sums of powers over the groups of each size, which are one
matrix product; all else is arithmetic on a few numbers of each resample.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats
from harness.stats.core.groups import GroupSums
from harness.stats.intervals.cluster_mean import MeanTest, mean_of_sums
from harness.stats.intervals.judge_tests import JudgeSums, to_correct
from harness.stats.intervals.noninferiority import GuardedMean, guarded_mean
from harness.stats.intervals.skewness import HallMean
from harness.stats.intervals.unequal_groups import LEAST_EFFECTIVE, freedom_of_tests, group_cap

_FEW_SIZES = 4  # with more of them, sums over groups are no fewer than groups
_ROUNDING = 1e-12


def use_p(sums: JudgeSums, margin: float, alpha: float, least: float = LEAST_EFFECTIVE) -> Floats:
    """`judge_tests(sums, margin, least).to_correct(alpha).use` without the tests that it does not need.

    Args:
        sums: with times (..., resamples, groups); sums of groups that are the same in all resamples, (..., 1, groups), are fastest.
        margin, least: as `judge_tests`.
        alpha: of one test.

    >>> from harness.stats.intervals.judge_tests import judge_sums, judge_tests
    >>> sums = judge_sums([0.0] * 70, [0.0, 1.0] * 35, range(70))
    >>> float(use_p(sums, 0.1, 0.05)) == float(judge_tests(sums, 0.1).to_correct(0.05).use)
    True
    """
    sizes, compared = _sizes(sums.gap), _sizes(sums.baseline)
    if sizes is None or compared is None:
        return _of_groups(sums, margin, alpha, least)
    gap, baseline = _powers(sums.gap, sizes, 3), _powers(sums.baseline, compared, 2)
    if not (gap[0].sum(axis=-1) > 0).all():
        return _of_groups(sums, margin, alpha, least)
    guarded = _guarded(gap, sizes)
    found = np.maximum(guarded.p(margin), _mean(baseline, compared).p_above(0.0))
    few = np.asarray(guarded.found.freedom < least)  # they are the effective groups
    if few.any():
        parts = ([np.broadcast_to(part, sums.gap.times.shape)[few] for part in each] for each in sums)
        found[few] = _of_groups(JudgeSums(*(GroupSums(*part) for part in parts)), margin, alpha, least)
    return found


def _of_groups(sums: JudgeSums, margin: float, alpha: float, least: float) -> Floats:
    """From each group by itself: large ones may have to be capped."""
    cap = group_cap(sums.size, sums.gap.times, least)
    plain = _two_p(sums, margin)
    if np.isinf(cap).all():
        return np.maximum(*plain)
    return np.maximum(*(to_correct(*each, alpha) for each in zip(_two_p(sums, margin, cap), plain, strict=True)))


def _two_p(sums: JudgeSums, margin: float, cap: ArrayLike = math.inf) -> tuple[Floats, Floats]:
    """p of both that a `use` needs."""
    return guarded_mean(sums.gap, cap).p(margin), mean_of_sums(sums.capped(cap).baseline).p_above(0.0)


def _sizes(sums: GroupSums) -> Floats | None:
    """The different sizes of groups (C,); None where there are many, and where a group's sums differ from resample to resample."""
    if sums.times.ndim < 2 or not (sums.y.ndim == 1 or sums.y.shape[-2] == 1):
        return None
    sizes = np.unique(sums.size)
    sizes = sizes[sizes > 0]
    return sizes if 0 < len(sizes) <= _FEW_SIZES else None


def _powers(sums: GroupSums, sizes: Floats, most: int) -> list[Floats]:
    """For each power k up to `most`: the sum of times y^k over the groups of each size, (..., resamples, C)."""
    y, size = (part if part.ndim == 1 else part[..., 0, :] for part in (sums.y, sums.size))
    here = size[..., None] == sizes
    powers = np.concatenate([np.where(here, y[..., None] ** k, 0.0) for k in range(most + 1)], axis=-1)
    return np.split(sums.times @ powers, most + 1, axis=-1)


def _guarded(powers: list[Floats], sizes: Floats) -> GuardedMean:
    """`guarded_mean`: a lost item stands for a further group."""
    t0, t1, t2, t3 = powers
    groups, n = t0.sum(axis=-1), t0 @ sizes
    with np.errstate(divide="ignore", invalid="ignore"):
        square = (1 - 1 / groups)[..., None] * (n[..., None] / (n[..., None] - sizes))
        mean = (t1.sum(axis=-1) - 1) / (n + 1)
        scale, moved = (groups + 1) / (n + 1), mean[..., None] * sizes
        second = (square * (t2 - 2 * moved * t1 + moved**2 * t0)).sum(axis=-1) + (1 + mean) ** 2
        third = (square**1.5 * (t3 - moved * (3 * t2 - moved * (3 * t1 - moved * t0)))).sum(axis=-1) - (1 + mean) ** 3
        variance = scale**2 * second / groups
        skewness = scale**3 * third / (groups + 1) / (variance * np.sqrt(variance))
    found = HallMean(mean, np.sqrt(variance), skewness, groups + 1, freedom_of_tests(sizes, t0) + 1)
    return GuardedMean(found, scale)


def _mean(powers: list[Floats], sizes: Floats) -> MeanTest:
    """`mean_of_sums`."""
    t0, t1, t2 = powers
    groups, n = t0.sum(axis=-1), t0 @ sizes
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = t1.sum(axis=-1) / n
        moved = mean[..., None] * sizes
        apart = t2 - 2 * moved * t1 + moved**2 * t0
        apart = np.where(apart <= _ROUNDING * np.maximum(1.0, t2), 0.0, apart)
        squares = (apart * (n[..., None] / (n[..., None] - sizes))).sum(axis=-1) / n**2
    return MeanTest(mean, np.sqrt(np.where(groups > 1, squares, math.nan)), freedom_of_tests(sizes, t0))
