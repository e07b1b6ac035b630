"""Concordant pairs of items, counted for every item in n log n steps: the parts of Kendall's tau, within strata too, and its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.options import RESAMPLES
from harness.stats.core.arrays import Floats, Ints, as_index, same_shape
from harness.stats.core.groups import degrees_of_freedom
from harness.stats.core.statistic import Estimated, ratio, t_interval_from_sums
from harness.stats.intervals.intervals import MIN_GROUPS, NO_VARIATION, Interval, no_interval, t_quantile

NO_SEGMENT = "no source text has two scored outputs that differ"
CONSTANT_SCORES = "constant scores"

_FEW_PAIRS = 64  # pairs of an item up to which all pairs are looked at
_PAIRS_AT_ONCE = 1 << 20  # in memory
_FEW_ITEMS = 128  # up to which looking at all pairs is faster


class PairSums(NamedTuple):
    """For every item (items,), over the other items of its stratum: the sum of sign(x_i - x_j) sign(y_i - y_j), and how many differ from
    it in x and in y."""

    signs: Floats
    untied_x: Floats
    untied_y: Floats


def pair_sums(x: ArrayLike, y: ArrayLike, stratum: ArrayLike | None = None) -> PairSums:
    """Concordant minus discordant partners of every item, and its untied partners.

    Items are sorted by x; a wavelet matrix of the ranks of y then counts how many of the items before a place have a lower y.

    Args:
        x, y: (items,) numbers without gaps.
        stratum: (items,) any sortable codes; only items of one stratum are paired. Default: all items are paired.

    Reference: Claude & Navarro (2012), the wavelet matrix.

    >>> pair_sums([1, 2, 2, 3], [1, 3, 2, 3]).signs.tolist()
    [3.0, 1.0, 2.0, 2.0]
    """
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    same_shape("one-dimensional and of one length", x=a, y=b)
    layer = as_index(stratum, len(a), "stratum")
    of_x, of_y = _ranked(a, layer), _ranked(b, layer)
    by_x = np.argsort(of_x.rank, kind="stable")
    ranks = of_y.rank[by_x]

    def before(positions: Ints, below: Ints) -> Ints:
        return _count_below(ranks, positions, below) - of_x.start

    lower_lower = before(of_x.first, of_y.rank)
    lower_not_higher = before(of_x.first, of_y.rank + 1)
    not_higher_lower = before(of_x.last, of_y.rank)
    not_higher = before(of_x.last, of_y.rank + 1)
    higher_higher = of_x.size - of_x.up_to - of_y.up_to + not_higher
    signs = lower_lower + higher_higher - (of_x.below - lower_not_higher) - (of_y.below - not_higher_lower)
    untied = [(order.size - (order.last - order.first)).astype(np.float64) for order in (of_x, of_y)]
    return PairSums(signs.astype(np.float64), untied[0], untied[1])


class _Ranked(NamedTuple):
    """Return for every item its dense rank by (stratum, value); the places [first, last) of its value and the [start, …) of its stratum in
    sorted order; how many items the stratum has."""

    rank: Ints
    first: Ints
    last: Ints
    start: Ints
    size: Ints

    @property
    def below(self) -> Ints:
        """Items of the stratum with a lower value."""
        return self.first - self.start

    @property
    def up_to(self) -> Ints:
        """Items of the stratum with this value or a lower one."""
        return self.last - self.start


def _ranked(values: Floats, layer: Ints) -> _Ranked:
    classes, code = np.unique(values, return_inverse=True)
    key = layer * max(len(classes), 1) + code
    _, rank, times = np.unique(key, return_inverse=True, return_counts=True)
    ends = np.cumsum(times)
    sizes = np.bincount(layer)
    starts = np.cumsum(sizes) - sizes
    return _Ranked(rank.astype(np.int64), (ends - times)[rank], ends[rank], starts[layer], sizes[layer])


def _count_below(ranks: Ints, positions: Ints, below: Ints) -> Ints:
    """Count those of the first `positions` of `ranks` that are lower than `below`, for many pairs of the two at once."""
    count, low, right = np.zeros_like(positions), np.zeros_like(positions), positions
    values = ranks
    for bit in reversed(range(int(below.max(initial=0)).bit_length())):
        high = (values >> bit) & 1
        zeros = np.concatenate([[0], np.cumsum(1 - high)])
        wanted = ((below >> bit) & 1).astype(bool)
        low_left, low_right = zeros[low], zeros[right]
        count = count + np.where(wanted, low_right - low_left, 0)
        low = np.where(wanted, zeros[-1] + low - low_left, low_left)
        right = np.where(wanted, zeros[-1] + right - low_right, low_right)
        values = np.concatenate([values[high == 0], values[high == 1]])
    return count


def tau_b_left_out(x: ArrayLike, y: ArrayLike, groups: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Kendall's tau-b of all items, then without each group: (1 + groups,), NaN where x or y is constant.

    Args:
        x, y: (items,) numbers without gaps.
        weights: (items,) how many items each stands for; a pair counts as often as the product of its two. All pairs are then looked at,
            in n² steps.

    >>> tau_b_left_out([1, 2, 3, 4], [1, 2, 4, 3], ["a", "b", "c", "c"]).round(3).tolist()
    [0.667, 0.333, 0.333, 1.0]

    >>> tau_b_left_out([1, 2, 3], [1, 3, 2], [0, 1, 2], [2, 1, 1]).round(3).tolist()
    [0.6, -1.0, 1.0, 1.0]
    """
    size = len(np.asarray(x))
    group = as_index(groups, size, "groups")
    if weights is None and size > _FEW_ITEMS:
        counted, all_pairs, inside = np.ones(size), pair_sums(x, y), pair_sums(x, y, group)
    else:
        counted = np.ones(size) if weights is None else np.asarray(weights, np.float64)
        all_pairs, inside = _weighted_pair_sums(np.asarray(x, np.float64), np.asarray(y, np.float64), group, counted)
    count = int(group.max(initial=-1)) + 1
    signs, a, b = (
        counted @ total - np.r_[0.0, np.bincount(group, counted * (2 * total - inner), minlength=count)]
        for total, inner in zip(all_pairs, inside, strict=True)
    )
    return np.asarray(np.clip(ratio(signs, np.sqrt(np.maximum(a, 0) * np.maximum(b, 0))), -1, 1))


def _weighted_pair_sums(x: Floats, y: Floats, group: Ints, weights: Floats) -> tuple[PairSums, PairSums]:
    """`pair_sums` over all items, and over those of the own group, in which a partner counts by its weight."""
    sums = np.zeros((2, 3, len(x)))
    step = max(1, _PAIRS_AT_ONCE // max(len(x), 1))
    for start in range(0, len(x), step):
        chunk = slice(start, start + step)
        u, v = (np.sign(values[chunk, None] - values) for values in (x, y))
        together = weights * (group[chunk, None] == group)
        for row, signs in enumerate((u * v, u * u, v * v)):
            sums[0, row, chunk] = signs @ weights
            sums[1, row, chunk] = (signs * together).sum(axis=1)
    return PairSums(*sums[0]), PairSums(*sums[1])


def tau_b_by_stratum(x: ArrayLike, y: ArrayLike, stratum: ArrayLike) -> Floats:
    """Kendall's tau-b within every stratum: (strata,) in the sorted order of their codes, NaN where x or y is constant.

    >>> tau_b_by_stratum([1, 2, 3, 1, 1], [1, 3, 2, 1, 2], ["a", "a", "a", "b", "b"]).round(3).tolist()
    [0.333, nan]
    """
    layer = as_index(stratum, len(np.asarray(x)), "stratum")
    count = int(layer.max(initial=-1)) + 1
    size = np.bincount(layer, minlength=1)
    if int((size**2).sum()) <= _FEW_PAIRS * max(len(layer), 1):  # small strata: looking at every pair is faster
        i, j = pairs_within(layer)
        u, v = (np.sign(values[i] - values[j]) for values in (np.asarray(x, np.float64), np.asarray(y, np.float64)))
        sums = [np.bincount(layer[i], weights, minlength=count) for weights in (u * v, u * u, v * v)]
    else:
        sums = [np.bincount(layer, pair_counts, minlength=count) for pair_counts in pair_sums(x, y, layer)]
    signs, a, b = (np.asarray(part, np.float64) for part in sums)
    return np.asarray(np.clip(ratio(signs, np.sqrt(a * b)), -1, 1))


def ordering_credits(x: ArrayLike, y: ArrayLike, stratum: ArrayLike) -> Floats:
    """Return Kendall's tau-b of x and y within every stratum, where a missing y orders nothing: (strata,) in [-1, 1].

    It is Kendall's tau-b of x and y in which a missing y is tied with every other item. With C concordant and D discordant pairs among
    the items that have a y, u_x pairs of all items untied in x, and u_y pairs untied in y:

        credit = (C - D) / sqrt(u_x u_y),  and 0 where u_y = 0.

    Without missing y it is `tau_b_by_stratum`, but 0 where y is constant: who gives one score to everything orders nothing.

    Args:
        x: (items,) numbers without gaps.
        y: (items,) numbers, NaN where missing.
        stratum: (items,) any sortable codes.

    Returns:
        (strata,) in the sorted order of the codes; NaN where x is constant, because there is nothing to order.

    >>> nan = float("nan")
    >>> ordering_credits([1, 2, 3, 1, 2, 1, 1], [1, nan, 3, 5, 5, 1, 2], [0, 0, 0, 1, 1, 2, 2]).round(3).tolist()
    [0.577, 0.0, nan]
    """
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    layer = as_index(stratum, len(a), "stratum")
    count, read = int(layer.max(initial=-1)) + 1, ~np.isnan(b)
    used, which = np.unique(layer[read], return_inverse=True)
    comparable = np.zeros(count)
    untied_read = _untied_pairs(a[read], layer[read], count)
    comparable[used] = np.nan_to_num(tau_b_by_stratum(a[read], b[read], which)) if len(used) else 0.0
    untied = _untied_pairs(a, layer, count)
    return np.asarray(np.where(untied > 0, comparable * np.sqrt(ratio(untied_read, untied)), np.nan))


def _untied_pairs(values: Floats, layer: Ints, count: int) -> Floats:
    """Pairs of different values in every stratum, (count,)."""
    classes, code = np.unique(values, return_inverse=True)
    key, times = np.unique(layer * max(len(classes), 1) + code, return_counts=True)
    size = np.bincount(layer, minlength=count)
    tied = np.bincount(key // max(len(classes), 1), times * (times - 1) / 2, minlength=count)
    return np.asarray(size * (size - 1) / 2 - tied)


def pairs_within(stratum: Ints) -> tuple[Ints, Ints]:
    """The two items of every pair within a stratum, each pair once; `stratum` are codes from 0.

    >>> [side.tolist() for side in pairs_within(np.array([0, 1, 0, 1, 2]))]
    [[0, 1], [2, 3]]
    """
    order = np.argsort(stratum, kind="stable")
    sizes = np.bincount(stratum, minlength=1)
    starts = np.cumsum(sizes) - sizes
    parts: list[tuple[Ints, Ints]] = []
    for size in np.unique(sizes[sizes >= 2]).tolist():
        first, second = np.triu_indices(size, 1)
        begin = starts[sizes == size][:, None]
        parts.append((order[(begin + first).ravel()], order[(begin + second).ravel()]))
    empty = np.empty(0, np.int64)
    return np.concatenate([empty, *(i for i, _ in parts)]), np.concatenate([empty, *(j for _, j in parts)])


def tau_within(x: ArrayLike, y: ArrayLike, strata: ArrayLike, groups: ArrayLike) -> Estimated:
    """Kendall's tau-b within each stratum, averaged with the strata's numbers of items.

    sum_s n_s tau_s / sum_s n_s over the strata in which neither x nor y is constant.

    Args:
        x, y: (items,) numbers, NaN where missing (such items are left out).
        strata: (items,) any sortable codes; pairs of items are compared within one only.

    Returns:
        `Estimated` in [-1, 1], n being the items of the strata that count, with Student's interval of 95 % by leaving one
        group out at a time; undefined without items ("no overlap") and where x or y is constant in every stratum ("constant scores").

    Reference: Kendall (1945); MacKinnon & Webb (2018), the cluster jackknife.

    >>> found = tau_within([1, 2, 3, 10, 20], [1, 2, 2, 5, 4], ["a", "a", "a", "b", "b"], range(5))
    >>> round(found.value, 4), found.n
    (0.0899, 5)
    """
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    layer, codes = np.asarray(strata), np.asarray(groups)
    same_shape(x=a, y=b, strata=layer, groups=codes)
    present = ~(np.isnan(a) | np.isnan(b))
    if not present.any():
        return Estimated(math.nan, 0, no_interval(0), math.nan, "no overlap")
    # The items of strata in which neither a nor b is constant.
    stratum, x_present, y_present = as_index(layer[present], int(present.sum()), "strata"), a[present], b[present]
    in_stratum = [stratum == code for code in range(int(stratum.max()) + 1)]
    varied = [np.ptp(x_present[items]) > 0 and np.ptp(y_present[items]) > 0 for items in in_stratum]
    rows = np.flatnonzero(present)[np.array(varied)[stratum]]
    if not len(rows):
        return Estimated(math.nan, int(present.sum()), no_interval(0, CONSTANT_SCORES), math.nan, CONSTANT_SCORES)
    # The average tau-b with every group, then without each: (1 + groups,).
    a, b, stratum, group = a[rows], b[rows], as_index(layer[rows], len(rows), "strata"), as_index(codes[rows], len(rows), "groups")
    count = int(group.max()) + 1
    above, below = np.zeros(1 + count), np.zeros(1 + count)
    for rows_of_stratum in (np.flatnonzero(stratum == code) for code in range(int(stratum.max()) + 1)):
        x_stratum, y_stratum, own_group = a[rows_of_stratum], b[rows_of_stratum], group[rows_of_stratum]
        over_all, inside = pair_sums(x_stratum, y_stratum), pair_sums(x_stratum, y_stratum, own_group)
        signs, a_untied, b_untied = (  # pairs with other groups are counted from both ends, pairs inside once
            all_sums.sum() - np.r_[0.0, np.bincount(own_group, 2 * all_sums - own_sums, minlength=count)]
            for all_sums, own_sums in zip(over_all, inside, strict=True)
        )
        tau = np.clip(ratio(signs, np.sqrt(np.maximum(a_untied * b_untied, 0))), -1, 1)
        n = np.where(np.isnan(tau), 0, len(rows_of_stratum) - np.r_[0, np.bincount(own_group, minlength=count)])
        above, below = above + n * np.where(np.isnan(tau), 0, tau), below + n
    values = ratio(above, below)
    value = float(values[0])
    if count < MIN_GROUPS:
        return Estimated(value, len(rows), no_interval(count), math.nan, None)
    rest = values[1:][~np.isnan(values[1:])]
    influence = rest - rest.mean()
    error = math.sqrt(float(influence @ influence) * (count - 1) / count)
    freedom = degrees_of_freedom(influence, np.ones(len(influence)))
    return t_interval_from_sums(value, len(rows), error, freedom, count, (-1.0, 1.0), "cluster jackknife (t)")


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
    # All pairs within every source text: how far the judge's scores differ, and what the pair adds to the correct ones when it becomes a
    # tie: 1 where people tie, -1 where judge and people agree on the order, else 0. `ordered`: the pair is correct while it is no tie.
    one, other = pairs_within(layer)
    people, judge = (np.asarray(np.sign(values[one] - values[other]), np.float64) for values in (a[used], b[used]))
    ordered = ((people == judge) & (people != 0)).astype(np.float64)
    distance = np.asarray(np.round(np.abs(b[used][one] - b[used][other]), 9), np.float64)
    if not len(one):
        nothing = no_interval(0, NO_SEGMENT)
        return TieCalibratedAccuracy(math.nan, nothing, math.nan, nothing, 0, 0, NO_SEGMENT)
    cluster = joined_groups(layer, group[used])
    with_pairs, segment_index = np.unique(layer[one], return_inverse=True)
    cluster = as_index(cluster[with_pairs], len(with_pairs), "groups")
    weight = 1 / np.bincount(segment_index)[segment_index]  # every source text has the same weight
    of_pair, size = cluster[segment_index], np.bincount(cluster).astype(np.float64)
    base = np.asarray(np.bincount(of_pair, weight * ordered, minlength=len(size)), np.float64)
    grouped = _GroupedPairs(distance, weight * ((people == 0) - ordered), of_pair, base, size)
    thresholds, gains = _gains(grouped.distance, grouped.change, np.zeros(len(of_pair), np.int64), 1)
    accuracy = (base.sum() + np.cumsum(gains.sum(axis=0))) / size.sum()
    best = int(np.argmax(accuracy > accuracy.max() - 1e-12))  # the smallest threshold with the largest mean accuracy
    value, epsilon = float(accuracy[best]), float(thresholds[best])
    intervals = _intervals(grouped, (value, epsilon), level, seed, resamples)
    return TieCalibratedAccuracy(value, intervals[0], epsilon, intervals[1], len(with_pairs), len(segment_index), None)


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


def joined_groups(segment: ArrayLike, groups: ArrayLike) -> Ints:
    """For every source text the code of its cluster, (segments,): texts that share a group of items are one cluster.

    Args:
        segment: (items,) codes 0 … segments-1, all of which occur.
        groups: (items,) any sortable codes.

    >>> joined_groups([0, 0, 1, 2], ["a", "a", "a", "b"]).tolist()
    [0, 0, 1]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    segment_codes, group = np.asarray(segment, np.int64), as_index(groups, len(np.asarray(segment)), "groups")
    segments, size = int(segment_codes.max(initial=-1)) + 1, int(group.max(initial=-1)) + 1
    links = coo_array((np.ones(len(segment_codes)), (segment_codes, segments + group)), shape=(segments + size, segments + size))
    _, cluster = connected_components(links, directed=False)
    return as_index(cluster[:segments], segments, "groups")
