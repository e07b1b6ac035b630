"""A judge beside people on continuous scores: correlation over items and within source texts.

Scores are numbers here, not classes, so that a scale may have any number of different scores. `x` is the mean of an item's annotators, `y`
the judge's score.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.agreement.concordance import tau_b_by_stratum, tau_b_left_out
from harness.stats.agreement.correlation import Correlation, pearson_of_moments
from harness.stats.core.arrays import Floats, Ints, ShapeError, as_index, same_shape
from harness.stats.core.functions_of_sums import Estimated, left_out_test, sums_by_group
from harness.stats.core.groups import group_sums, relative_weights
from harness.stats.core.statistic import ratio
from harness.stats.intervals.intervals import no_interval, scatter_of, tested_mean

NO_OVERLAP = "no overlap"
CONSTANT = "constant raters"
NO_SEGMENT = "no source text has two scored outputs that differ"


def score_correlation(
    method: Correlation, x: ArrayLike, y: ArrayLike, groups: ArrayLike, weights: ArrayLike | None = None, *, level: float = 0.95
) -> Estimated:
    """Pearson's r, Spearman's rho or Kendall's tau-b of items, with an interval over groups, for any number of different scores.

    The values are those of `pearson`, `spearman` and `kendall_tau`. The interval leaves one group out at a time, on the scale of atanh
    (see `left_out_interval`); for Spearman's rho the change is that of its influence function, ranks included.

    With weights all three estimate the correlation of the texts that were drawn from: Pearson's r of weighted moments, Spearman's rho of
    weighted mid-distributions, Kendall's tau-b of pairs, each of which counts by the product of its two weights.

    Args:
        method: "pearson", "spearman" or "kendall".
        x, y: (items,) numbers, NaN where missing (such items are left out).

    Returns:
        `Estimated` in [-1, 1]; NaN without items ("no overlap") and if x or y is constant ("constant raters"). No interval and no p below
        8 groups; p is that of no correlation, two-sided, from the same t.

    Reference: Kendall (1945); Spearman (1904); Croux & Dehon (2010), influence functions of the three.

    >>> found = score_correlation("kendall", [1, 2, 2, 3], [10, 30, 20, 30], range(4))
    >>> round(found.value, 6), found.n, found.interval.reason
    (0.8, 4, 'too few independent texts')

    >>> round(score_correlation("pearson", [1, 2, 3], [1, 3, 2], range(3), [2, 1, 1]).value, 6)  # as of [1, 1, 2, 3] and [1, 1, 3, 2]
    0.636364
    """
    a, b, group, weight = known_scores(x, y, groups, weights)
    if not len(a):
        return Estimated(math.nan, 0, no_interval(0), math.nan, NO_OVERLAP)
    values = _left_out(method, a, b, group, weight)
    if math.isnan(values[0]):
        return Estimated(math.nan, len(a), no_interval(len(values) - 1, CONSTANT), math.nan, CONSTANT)
    interval, p = left_out_test(values, (-1.0, 1.0), scale="fisher", level=level)
    return Estimated(float(values[0]), len(a), interval, p, None)


def correlation_difference(
    method: Correlation, x: ArrayLike, first: ArrayLike, second: ArrayLike, groups: ArrayLike, *, level: float = 0.95
) -> Estimated:
    """Correlation of people's scores with the first judge's, minus that with the second judge's, on the items that both scored.

    Both correlations are computed again without each group, so that the interval and p know that the two judges scored the same items,
    and that these share texts: the cluster jackknife of the difference, on its own scale (see `left_out_test`).

    Args:
        method: "pearson", "spearman" or "kendall".
        x, first, second: (items,) numbers, NaN where missing (such items are left out).

    Returns:
        `Estimated` in [-2, 2]; NaN without items ("no overlap") and if one of the three is constant ("constant raters"). No interval and
        no p below 8 groups, and if the two judges' scores are the same.

    Reference: MacKinnon & Webb (2018); Croux & Dehon (2010) for Spearman's rho.

    >>> found = correlation_difference("kendall", [1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 4, 3], range(4))
    >>> round(found.value, 6), found.n, found.interval.reason
    (0.333333, 4, 'too few independent texts')
    """
    of_people, of_first, of_second = (np.asarray(values, np.float64) for values in (x, first, second))
    codes, shapes = np.asarray(groups), {np.shape(values) for values in (x, first, second, groups)}
    if of_people.ndim != 1 or len(shapes) > 1:
        raise ShapeError(f"x, first, second and groups must be of the same items; got the shapes {sorted(shapes)}")
    used = ~(np.isnan(of_people) | np.isnan(of_first) | np.isnan(of_second))
    if not used.any():
        return Estimated(math.nan, 0, no_interval(0), math.nan, NO_OVERLAP)
    group = as_index(codes[used], int(used.sum()), "groups")
    values = _left_out(method, of_people[used], of_first[used], group) - _left_out(method, of_people[used], of_second[used], group)
    if math.isnan(values[0]):
        return Estimated(math.nan, int(used.sum()), no_interval(len(values) - 1, CONSTANT), math.nan, CONSTANT)
    interval, p = left_out_test(values, (-2.0, 2.0), level=level)
    return Estimated(float(values[0]), int(used.sum()), interval, p, None)


def _left_out(method: Correlation, a: Floats, b: Floats, group: Ints, weight: Floats | None = None) -> Floats:
    """A correlation, then the correlation without each group: (1 + groups,)."""
    if method == "kendall":
        return tau_b_left_out(a, b, group, weight)
    if method == "spearman":
        return _rho_left_out(a, b, group, np.ones(len(a)) if weight is None else weight)
    a, b = _centred(a), _centred(b)
    items = np.stack([np.ones(len(a)), a, b, a * a, b * b, a * b], axis=1)
    sums = sums_by_group(items if weight is None else items * weight[:, None], group)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.r_[pearson_of_moments(sums.sum(axis=0)), pearson_of_moments(sums.sum(axis=0) - sums)], np.float64)


def known_scores(
    x: ArrayLike, y: ArrayLike, groups: ArrayLike, weights: ArrayLike | None = None
) -> tuple[Floats, Floats, Ints, Floats | None]:
    """The items that have both numbers; their weights have the mean 1."""
    a, b, codes = np.asarray(x, np.float64), np.asarray(y, np.float64), np.asarray(groups)
    same_shape(x=a, y=b, groups=codes)
    used = ~(np.isnan(a) | np.isnan(b))
    weight = None if weights is None else np.asarray(weights, np.float64)
    same_shape(x=a, weights=a if weight is None else weight)
    group = as_index(codes[used], int(used.sum()), "groups")
    return a[used], b[used], group, None if weight is None else relative_weights(weight[used])


def _centred(values: Floats) -> Floats:
    deviation = values - values.mean()
    return deviation / max(float(np.abs(deviation).max()), 1e-300) if np.ptp(values) > 0 else np.zeros(len(values))


def _rho_left_out(x: Floats, y: Floats, group: Ints, weight: Floats) -> Floats:
    """Spearman's rho, then approximately rho without each group: rho less the group's mean influence times n / (n - n_g)."""
    n = float(weight.sum())
    of_x, of_y = _MidDistribution(x, weight), _MidDistribution(y, weight)
    f, g = of_x.share, of_y.share
    spread_x, spread_y = float(weight @ (f * f)) / n - 0.25, float(weight @ (g * g)) / n - 0.25
    if min(spread_x, spread_y) <= 1e-15:
        return np.full(1 + int(group.max()) + 1, math.nan)
    covariance, scale = float(weight @ (f * g)) / n, math.sqrt(spread_x * spread_y)
    rho = float(np.clip((covariance - 0.25) / scale, -1, 1))
    influence = (f * g + of_x.above(g) + of_y.above(f) - 3 * covariance) / scale
    influence -= rho / 2 * (f * f + 2 * of_x.above(f) - 3 * (spread_x + 0.25)) / spread_x
    influence -= rho / 2 * (g * g + 2 * of_y.above(g) - 3 * (spread_y + 0.25)) / spread_y
    size = np.bincount(group, weight)
    rest = np.maximum(n - size, weight.min())
    return np.asarray(np.r_[rho, rho - np.bincount(group, weight * influence) / rest], np.float64)


class _MidDistribution:
    """The mid-distribution of every item: the share of the items below it plus half of its ties, (items,)."""

    def __init__(self, values: Floats, weight: Floats) -> None:
        _, self.code = np.unique(values, return_inverse=True)
        self.weight, self.n = weight, float(weight.sum())
        times = np.bincount(self.code, weight)
        self.share: Floats = ((np.cumsum(times) - times / 2) / self.n)[self.code]

    def above(self, values: Floats) -> Floats:
        """For every item, the sum of the values of items with a higher one, and half of those of its ties, divided by n."""
        by_value = np.bincount(self.code, self.weight * values)
        tail = np.cumsum(by_value[::-1])[::-1]
        return np.asarray(((tail - by_value / 2) / self.n)[self.code])


@dataclass(frozen=True, slots=True)
class SegmentCorrelations:
    """Correlations within each source text. (segments,): `segment` codes in rising order, the numbers of scored `items`, and `pearson`,
    `kendall`, `spearman`, NaN where x or y is constant. `single` counts texts with one scored output, which cannot be correlated."""

    segment: NDArray[np.int64]
    items: Ints
    pearson: Floats
    kendall: Floats
    spearman: Floats
    single: int

    @property
    def constant(self) -> NDArray[np.int64]:
        """The source texts with two scored outputs or more on which the correlation is undefined."""
        return self.segment[(self.items >= 2) & np.isnan(self.kendall)]


def segment_correlations(x: ArrayLike, y: ArrayLike, segment: ArrayLike) -> SegmentCorrelations:
    """The correlation over outputs within every source text.

    Args:
        x, y: (items,) numbers, NaN where missing (such items are left out).
        segment: (items,) integer codes of the source texts; negative where an item has none.

    >>> found = segment_correlations([1, 2, 3, 1, 1, 5], [1, 3, 2, 1, 2, 5], [0, 0, 0, 1, 1, 2])
    >>> found.kendall.round(3).tolist(), found.constant.tolist(), found.single
    ([0.333, nan, nan], [1], 1)
    """
    code = np.asarray(segment, np.int64)
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    same_shape(x=a, y=b, segment=code)
    used = ~(np.isnan(a) | np.isnan(b)) & (code >= 0)
    a, b = a[used], b[used]
    names, layer = np.unique(code[used], return_inverse=True)
    items = np.bincount(layer, minlength=len(names))
    tau = tau_b_by_stratum(a, b, layer)
    r, rho = (np.where(np.isnan(tau), np.nan, _r_by(*scores, layer)) for scores in ((a, b), (_ranks_by(a, layer), _ranks_by(b, layer))))
    return SegmentCorrelations(names, items, r, tau, rho, int((items == 1).sum()))


def _r_by(a: Floats, b: Floats, layer: Ints) -> Floats:
    n = np.maximum(np.bincount(layer), 1)
    a, b = (v - (np.bincount(layer, v) / n)[layer] for v in (a, b))
    spread = np.bincount(layer, a * a) * np.bincount(layer, b * b)
    return np.clip(ratio(np.asarray(np.bincount(layer, a * b), np.float64), np.sqrt(spread)), -1, 1)


def _ranks_by(v: Floats, layer: Ints) -> Floats:
    """Mid-ranks, which differ from those within the layer by a constant of the layer."""
    classes, code = np.unique(v, return_inverse=True)
    _, index, count = np.unique(layer * max(len(classes), 1) + code, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[index])


def mean_of_segments(
    values: ArrayLike, groups: ArrayLike, bounds: tuple[float, float] | None = (-1.0, 1.0), *, level: float = 0.95
) -> Estimated:
    """The mean over source texts ("group by item"), every text with the same weight, with an interval over groups of texts.

    Args:
        values: (segments,) a correlation or accuracy of each source text, NaN where it is undefined or left out.
        groups: (segments,) any sortable codes of what source texts share, such as their document.
        bounds: smallest and largest possible value; None for differences of two correlations, which are never near such ends.
        level: of the interval: Hall's skewness-corrected t over groups.

    Returns:
        `Estimated`, n being the source texts that count.

    Reference: Deutsch, Foster & Freitag (2023), group-by-item correlation.

    >>> found = mean_of_segments([0.5, float("nan"), 0.1], ["a", "a", "b"])
    >>> round(found.value, 3), found.n
    (0.3, 2)
    """
    v, codes = np.asarray(values, np.float64), np.asarray(groups)
    same_shape("of the same source texts", values=v, groups=codes)
    present = ~np.isnan(v)
    if not present.any():
        return Estimated(math.nan, 0, no_interval(0, NO_SEGMENT), math.nan, NO_SEGMENT)
    sums = group_sums(v[present], codes[present])
    interval, p = tested_mean(sums, scatter_of(v[present]), bounds, level=level)
    return Estimated(sums.mean, int(present.sum()), interval, p, None)


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
