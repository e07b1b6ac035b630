"""Pairwise accuracy with tie calibration: does a judge order two outputs for one source text as people do, ties included?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.options import RESAMPLES
from harness.stats.agreement.concordance import pairs_within
from harness.stats.agreement.continuous import NO_SEGMENT, joined_groups
from harness.stats.core.arrays import Floats, Ints, as_index, same_shape
from harness.stats.core.groups import degrees_of_freedom
from harness.stats.intervals.intervals import MIN_GROUPS, NO_VARIATION, Interval, no_interval, t_quantile

_STEPS = 512  # thresholds that are tried in a resample, spread evenly over the pairs


@dataclass(frozen=True, slots=True)
class TieCalibratedAccuracy:
    """`value` in [0, 1] on `segments` source texts with `pairs` pairs of outputs, and the threshold `epsilon` that gives it, each with
    its interval; NaN and a `reason` without a pair."""

    value: float
    interval: Interval
    epsilon: float
    epsilon_interval: Interval
    segments: int
    pairs: int
    reason: str | None


class _Pairs(NamedTuple):
    """Pairs of outputs: their source text, how far the judge's scores differ, and what the pair adds to the correct ones when it becomes
    a tie: 1 where people tie, -1 where judge and people agree on the order, else 0. `ordered`: the pair is correct while it is no tie."""

    segment: Ints
    distance: Floats
    change: Floats
    ordered: Floats


class _GroupedPairs(NamedTuple):
    """Pairs with the weight of their source text: (pairs,), and of each group its correct pairs without ties and its source texts."""

    distance: Floats
    change: Floats
    of_pair: Ints
    base: Floats
    size: Floats


def tie_calibrated_accuracy(
    x: ArrayLike,
    y: ArrayLike,
    segment: ArrayLike,
    groups: ArrayLike,
    *,
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> TieCalibratedAccuracy:
    """Pairwise accuracy with tie calibration (acc_eq), averaged over source texts.

    Two outputs for one source text are a tie for people if x is equal, and a tie for the judge if its scores differ by epsilon or less.
    The accuracy of a source text is (C + T) / pairs: C pairs that both order alike and T that both tie. acc_eq is the mean over source
    texts at the epsilon, one for all texts, that makes this mean largest; of several such, the smallest. Epsilon is found again in every
    resample (there among 512 thresholds at most), so that the interval holds the uncertainty of choosing it.

    Args:
        x: (items,) people's scores as given, NaN where missing. Standardised scores have no ties: pass raw ones.
        y: (items,) the judge's scores, NaN where missing.
        segment: (items,) integer codes of the source texts; negative where an item has none.
        level, seed, resamples: of the bootstrap over groups; the interval is value ± t × bootstrap standard error.

    Returns:
        `TieCalibratedAccuracy`. Source texts with one scored output have no pair and do not count. A constant judge ties everything: its
        accuracy is the share of people's ties.

    Reference: Deutsch, Foster & Freitag (2023), Ties Matter: meta-evaluating modern metrics with pairwise accuracy and tie calibration.

    >>> found = tie_calibrated_accuracy([1, 2, 2], [10, 30, 31], [0, 0, 0], [0, 0, 0])
    >>> found.value, found.epsilon, found.pairs
    (1.0, 1.0, 3)
    """
    a, b, code, group = (np.asarray(v) for v in (x, y, segment, groups))
    same_shape(x=a, y=b, segment=code, groups=group)
    a, b = a.astype(np.float64), b.astype(np.float64)
    used = ~(np.isnan(a) | np.isnan(b)) & (code >= 0)
    layer = as_index(code[used], int(used.sum()), "segment")
    pairs = _pairs_of(a[used], b[used], layer)
    if not len(pairs.segment):
        nothing = no_interval(0, NO_SEGMENT)
        return TieCalibratedAccuracy(math.nan, nothing, math.nan, nothing, 0, 0, NO_SEGMENT)
    cluster = joined_groups(layer, group[used])
    with_pairs, segment_index = np.unique(pairs.segment, return_inverse=True)
    cluster = as_index(cluster[with_pairs], len(with_pairs), "groups")
    weight = 1 / np.bincount(segment_index)[segment_index]  # every source text has the same weight
    of_pair, size = cluster[segment_index], np.bincount(cluster).astype(np.float64)
    base = np.asarray(np.bincount(of_pair, weight * pairs.ordered, minlength=len(size)), np.float64)
    grouped = _GroupedPairs(pairs.distance, weight * pairs.change, of_pair, base, size)
    thresholds, gains = _gains(grouped.distance, grouped.change, np.zeros(len(of_pair), np.int64), 1)
    accuracy = (base.sum() + np.cumsum(gains.sum(axis=0))) / size.sum()
    best = int(np.argmax(accuracy > accuracy.max() - 1e-12))  # the smallest threshold with the largest mean accuracy
    value, epsilon = float(accuracy[best]), float(thresholds[best])
    intervals = _intervals(grouped, (value, epsilon), level, seed, resamples)
    return TieCalibratedAccuracy(value, intervals[0], epsilon, intervals[1], len(with_pairs), len(segment_index), None)


def _pairs_of(x: Floats, y: Floats, layer: Ints) -> _Pairs:
    """All pairs within every source text."""
    i, j = pairs_within(layer)
    people, judge = (np.asarray(np.sign(values[i] - values[j]), np.float64) for values in (x, y))
    ordered = ((people == judge) & (people != 0)).astype(np.float64)
    return _Pairs(layer[i], np.asarray(np.round(np.abs(y[i] - y[j]), 9), np.float64), (people == 0) - ordered, ordered)


def _gains(distance: Floats, change: Floats, of_pair: Ints, groups: int, thresholds: Floats | None = None) -> tuple[Floats, Floats]:
    """The thresholds (E,), rising, and how much each adds to the correct pairs of every group over the threshold before it (groups, E)."""
    if thresholds is None:
        thresholds = np.unique(np.r_[0.0, distance])
    bins = np.searchsorted(thresholds, distance)
    inside = bins < len(thresholds)
    key = of_pair[inside] * len(thresholds) + bins[inside]
    table = np.bincount(key, change[inside], minlength=groups * len(thresholds)).reshape(groups, len(thresholds))
    return thresholds, table.astype(np.float64)


def _intervals(pairs: _GroupedPairs, value: tuple[float, float], level: float, seed: int, resamples: int) -> tuple[Interval, Interval]:
    """Intervals of the accuracy and of epsilon. Groups are drawn; epsilon is chosen anew in every resample."""
    base, size, groups = pairs.base, pairs.size, len(pairs.size)
    if groups < MIN_GROUPS:
        return no_interval(groups), no_interval(groups)
    thresholds = np.unique(np.r_[0.0, pairs.distance])
    if len(thresholds) > _STEPS:
        thresholds = np.unique(np.r_[0.0, np.quantile(pairs.distance, np.linspace(0, 1, _STEPS), method="inverted_cdf")])
    _, gains = _gains(pairs.distance, pairs.change, pairs.of_pair, groups, thresholds)
    summed = np.cumsum(gains, axis=1)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(groups, np.full(groups, 1 / groups), resamples).astype(np.float64)
    accuracy = (drawn @ base)[:, None] + drawn @ summed
    best = accuracy.argmax(axis=1)
    values = accuracy[np.arange(resamples), best] / (drawn @ size)
    index = min(int(np.searchsorted(thresholds, value[1])), len(thresholds) - 1)
    deviation = base + summed[:, index] - value[0] * size
    freedom = float(degrees_of_freedom(deviation, np.ones(groups)))
    intervals = []
    for estimate, replicates, top in ((value[0], values, 1.0), (value[1], thresholds[best], math.inf)):
        error = float(np.std(replicates)) * math.sqrt(groups / (groups - 1))
        if not error > 1e-12:
            intervals.append(no_interval(groups, NO_VARIATION))
            continue
        half = t_quantile(level, freedom) * error
        intervals.append(Interval(max(0.0, estimate - half), min(top, estimate + half), "cluster bootstrap (t)", groups, None, None))
    return intervals[0], intervals[1]
