"""Kendall's tau-b, Spearman's rho and Pearson's r of items, from tables, and of systems (see `systems`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.agreement.concordance import NO_SEGMENT, tau_b_by_stratum, tau_b_left_out
from harness.stats.core.arrays import Estimate, Floats, Ints, ShapeError, as_index, as_values, same_shape, undefined
from harness.stats.core.groups import group_sums, relative_weights
from harness.stats.core.rows import Rows
from harness.stats.core.statistic import Estimated, Statistic, left_out_test, ratio, sums_by_group
from harness.stats.intervals.intervals import MeanToTest, no_interval, scatter_of, tested_mean, tested_means

Correlation = Literal["kendall", "spearman", "pearson"]
NAMES: dict[Correlation, str] = {"kendall": "kendall_tau", "spearman": "spearman", "pearson": "pearson"}
_TABLE = 1 << 21  # tables of distinct x by distinct y up to this size are counted


@dataclass(frozen=True, slots=True)
class MeanByJudge:
    """[used, L x k cells]: items by the mean of their annotators (L distinct ones, rising) and the judge's class."""

    values: tuple[float, ...]
    judge: int = 0

    def __call__(self, rows: Rows, /) -> Floats:
        score = rows.judge(self.judge)
        used = np.flatnonzero((rows.raters >= 1) & (score >= 0))
        means = rows.counts[used] @ np.asarray(self.values) / rows.raters[used]
        levels, level = np.unique(np.round(means, 9), return_inverse=True)
        out = np.zeros((len(score), 1 + len(levels) * rows.k))
        out[used, 0] = 1.0
        out[used, 1 + level * rows.k + score[used]] = 1.0
        return out


@dataclass(frozen=True, slots=True)
class Moments:
    """[used, x, y, xx, yy, xy] of the mean of the annotators x and the judge's value y, from the scale's middle."""

    values: tuple[float, ...]
    judge: int = 0

    def __call__(self, rows: Rows, /) -> Floats:
        score, v = rows.judge(self.judge), np.asarray(self.values)
        v = v - (v[0] + v[-1]) / 2
        used = (rows.raters >= 1) & (score >= 0)
        x, y = rows.counts @ v / np.maximum(rows.raters, 1), v[np.maximum(score, 0)]
        return np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y], axis=1) * used[:, None]


def correlation_with_humans(method: Correlation, k: int, values: ArrayLike | None = None, *, judge: int = 0) -> Statistic:
    """Correlation over items of the judge with the annotators' mean, as a statistic of many cells."""
    numbers = tuple(as_values(values, k).tolist())
    if method == "pearson":
        return Statistic(NAMES[method], Moments(numbers, judge), pearson_of_moments)
    of_table = tau_b_of_table if method == "kendall" else spearman_of_table

    def value(sums: Floats) -> Floats:
        return of_table(sums[..., 1:].reshape(*sums.shape[:-1], -1, k))

    return Statistic(NAMES[method], MeanByJudge(numbers, judge), value)


def tau_b_of_table(table: Floats) -> Floats:
    """Tau-b of contingency tables (..., x, y), both rising."""
    after = _running(table[..., ::-1, :], -2)[..., ::-1, :] - table  # same y, later x
    below = _running(after, -1) - after
    above = after.sum(axis=-1, keepdims=True) - below - after
    n = table.sum(axis=(-2, -1))
    untied = [(n * n - (table.sum(axis=axis) ** 2).sum(axis=-1)) / 2 for axis in (-1, -2)]
    return np.clip(ratio((table * (above - below)).sum(axis=(-2, -1)), np.sqrt(untied[0] * untied[1])), -1, 1)


def _running(table: Floats, axis: int) -> Floats:
    """`np.cumsum` over a short axis; it is faster where another axis is the long one in memory."""
    sums = table.copy(order="K")
    along = np.moveaxis(sums, axis, 0)
    for index in range(1, len(along)):
        along[index] += along[index - 1]
    return sums


def spearman_of_table(table: Floats) -> Floats:
    """Pearson's r of mid-ranks of contingency tables (..., x, y)."""
    n = table.sum(axis=(-2, -1))[..., None]
    x, y = table.sum(axis=-1), table.sum(axis=-2)
    rank_x, rank_y = _running(x, -1) - (x + n) / 2, _running(y, -1) - (y + n) / 2
    cross = np.einsum("...x,...xy,...y->...", rank_x, table, rank_y)
    return np.clip(ratio(cross, np.sqrt((x * rank_x**2).sum(axis=-1) * (y * rank_y**2).sum(axis=-1))), -1, 1)


def pearson_of_moments(sums: Floats) -> Floats:
    """Pearson's r of sums (..., 6) of 1, x, y, xx, yy, xy."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    n = np.maximum(n, 1)
    spread = np.maximum(xx / n - (x / n) ** 2, 0) * np.maximum(yy / n - (y / n) ** 2, 0)
    return np.clip(ratio(xy / n - x * y / n**2, np.where(spread > 1e-20, np.sqrt(spread), 0.0)), -1, 1)


def kendall_tau(x: ArrayLike, y: ArrayLike) -> Estimate:
    """Kendall's tau-b.

    (C - D) / sqrt((n0 - n1) (n0 - n2)): concordant minus discordant pairs, over the pairs that are not tied in x and in y.

    Args:
        x, y: (n,) numbers in the same order, NaN where missing (such units are left out).

    Returns:
        value in [-1, 1] and the n compared; NaN for none ("no overlap") or if x or y is constant ("constant raters").

    Reference: Kendall (1945).

    >>> round(kendall_tau([1, 2, 2, 3], [1, 3, 2, 3]).value, 6)
    0.8
    """
    a, b = _both(x, y)
    u, i = np.unique(a, return_inverse=True)
    v, j = np.unique(b, return_inverse=True)
    if len(u) * len(v) > _TABLE:
        from scipy.stats import kendalltau

        return Estimate(float(kendalltau(a, b).statistic), len(a))
    table = np.bincount(i * len(v) + j, minlength=len(u) * len(v)).reshape(len(u), len(v)).astype(np.float64)
    return _known(tau_b_of_table(table), len(a))


def spearman(x: ArrayLike, y: ArrayLike) -> Estimate:
    """Spearman's rho: Pearson's r of mid-ranks. Args and result as `kendall_tau`. Reference: Spearman (1904).

    >>> round(spearman([1, 2, 3, 4], [1, 3, 2, 4]).value, 6)
    0.8
    """
    ranks = []
    for values in _both(x, y):
        _, index, count = np.unique(values, return_inverse=True, return_counts=True)
        ranks.append((np.cumsum(count) - (count - 1) / 2)[index])
    return pearson(*ranks)


def pearson(x: ArrayLike, y: ArrayLike) -> Estimate:
    """Pearson's product-moment correlation. Args and result as `kendall_tau`.

    >>> round(pearson([1, 2, 3, 4], [1, 3, 2, 4]).value, 6)
    0.8
    """
    a, b = _both(x, y)
    if len(a) and np.ptp(a) > 0 and np.ptp(b) > 0:
        a, b = (a - a.mean()) / np.abs(a - a.mean()).max(), (b - b.mean()) / np.abs(b - b.mean()).max()
        return Estimate(float(np.clip((a @ b) / np.sqrt((a @ a) * (b @ b)), -1, 1)), len(a))
    return _known(np.asarray(np.nan), len(a))


def _both(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    same_shape("one-dimensional and of one length", x=a, y=b)
    used = ~(np.isnan(a) | np.isnan(b))
    return a[used], b[used]


def _known(value: Floats, n: int) -> Estimate:
    if np.isnan(value):
        return undefined(n, "constant raters" if n else "no overlap")
    return Estimate(float(value), n)


NO_OVERLAP = "no overlap"
CONSTANT = "constant raters"


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


class ErrorToTest(NamedTuple):
    """The test of a cell's mean error, prepared: few numbers, so that those of many cells are kept and tested at once."""

    rooted: bool
    value: float
    n: int
    mean: MeanToTest


def error_to_test(
    kind: Literal["absolute", "squared", "signed"],
    x: ArrayLike,
    y: ArrayLike,
    groups: ArrayLike,
    reach: float | None = None,
    weights: ArrayLike | None = None,
    direction: int = 1,
) -> ErrorToTest | Estimated:
    """Return the input of `tested_errors` for an error of a judge, in points of the scale; Estimated ("no overlap") without any item.

    "absolute": mean |y - x|.  "squared": sqrt(mean (y - x)²), whose interval is that of the mean, under the root.  "signed": leniency,
    mean (y - x) times `direction`, so that + is toward the best.

    Args:
        x, y: (items,) people's numbers and the judge's, NaN where missing (such items are left out).
        reach: the length of the scale, the largest possible error; None if the scale has no ends.
        direction: 1 if high scores are good, -1 if low ones are.

    >>> errors = [error_to_test(kind, [80, 90, 100], [90, 90, 80], range(3)) for kind in ("absolute", "squared", "signed")]
    >>> [round(found.value, 3) for found in tested_errors(errors)]
    [10.0, 12.91, -3.333]
    >>> tested_errors([error_to_test("absolute", [80, 90, 100], [90, 90, 80], range(3), weights=[1, 1, 2])])[0].value
    12.5
    """
    a, b, group, weight = known_scores(x, y, groups, weights)
    if not len(a):
        return Estimated(math.nan, 0, no_interval(0), math.nan, NO_OVERLAP)
    if kind == "signed":
        values, least, most = (b - a) * direction, -(reach or 0.0), reach
    elif kind == "absolute":
        values, least, most = np.abs(b - a), 0.0, reach
    else:
        values, least, most = (b - a) ** 2, 0.0, None if reach is None else reach**2
    mean = MeanToTest(group_sums(values, group, weight), scatter_of(values, weight), None if most is None else (least, most))
    return ErrorToTest(kind == "squared", float(np.average(values, weights=weight)), len(values), mean)


def tested_errors(errors: Sequence[ErrorToTest | Estimated], *, level: float = 0.95) -> list[Estimated]:
    """The mean errors of many cells, each with its interval: Hall's skewness-corrected t over groups."""
    tested = iter(tested_means([error.mean for error in errors if isinstance(error, ErrorToTest)], level=level))
    results: list[Estimated] = []
    for error in errors:
        if isinstance(error, Estimated):
            results.append(error)
            continue
        interval, p = next(tested)
        if not error.rooted:
            results.append(Estimated(error.value, error.n, interval, p, None))
            continue
        if not interval.reason:
            interval = replace(interval, lo=math.sqrt(max(interval.lo, 0.0)), hi=math.sqrt(interval.hi))
        results.append(Estimated(math.sqrt(error.value), error.n, interval, math.nan, None))
    return results


def distance_of_people(item: ArrayLike, score: ArrayLike, items: int) -> Floats:
    """The mean absolute difference of two annotators of an item, over its pairs: (items,), NaN with fewer than two.

    Args:
        item: (labels,) integer codes 0 … items-1.
        score: (labels,) numbers without gaps.
        items: how many items there are.

    >>> distance_of_people([0, 0, 0, 1], [10, 20, 40, 5], 2).tolist()
    [20.0, nan]
    """
    code, values = _labels(item, score)
    order = np.lexsort((values, code))
    code, values = code[order], values[order]
    n = np.bincount(code, minlength=items)
    rank = np.arange(len(code)) - (np.cumsum(n) - n)[code]
    total = np.bincount(code, (2 * rank - n[code] + 1) * values, minlength=items)  # sorted, so that no difference is negative
    pairs = n * (n - 1) / 2
    return np.where(pairs > 0, np.maximum(total, 0) / np.maximum(pairs, 1), np.nan)


def distance_of_judge(item: ArrayLike, score: ArrayLike, judged: ArrayLike, judge_scores: ArrayLike) -> Floats:
    """The mean absolute difference of a judge's score and those of the item's annotators: (units,), NaN without a label or a score.

    Args:
        item, score: (labels,) as `distance_of_people`.
        judged: (units,) the item that each of the judge's scores is of.
        judge_scores: (units,) the judge's scores, NaN for failures.

    >>> distance_of_judge([0, 0, 1], [10, 20, 5], [0, 1, 2], [20, float("nan"), 1]).tolist()
    [5.0, nan, nan]
    """
    code, values = _labels(item, score)
    order = np.argsort(code, kind="stable")
    code, values = code[order], values[order]
    where, y = _labels(judged, judge_scores)
    start, stop = np.searchsorted(code, where), np.searchsorted(code, where, side="right")
    n = stop - start
    unit = np.repeat(np.arange(len(where)), n)
    label = np.arange(len(unit)) - np.repeat(np.cumsum(n) - n, n) + np.repeat(start, n)
    total = np.bincount(unit, np.abs(y[unit] - values[label]), minlength=len(where))
    return np.where((n > 0) & ~np.isnan(y), total / np.maximum(n, 1), np.nan)


def median_without_group(values: ArrayLike, groups: ArrayLike) -> Floats:
    """For every item, the median of the values of all other groups: (items,), NaN where there is no other group.

    Args:
        values: (items,) numbers without gaps.

    >>> median_without_group([1, 2, 10, 20], ["a", "a", "b", "c"]).tolist()
    [15.0, 15.0, 2.0, 2.0]
    """
    v = np.asarray(values, np.float64)
    group = as_index(groups, len(v), "groups")
    order = np.argsort(v, kind="stable")
    ordered, position = v[order], np.empty(len(v), np.int64)
    position[order] = np.arange(len(v))
    by_group = np.lexsort((position, group))
    ends = np.cumsum(np.bincount(group, minlength=1)).tolist()
    out = np.full(len(ends), np.nan)
    for number, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
        removed = position[by_group[begin:end]]
        remaining = len(v) - len(removed)
        if remaining:
            out[number] = (ordered[_kept(removed, (remaining - 1) // 2)] + ordered[_kept(removed, remaining // 2)]) / 2
    return out[group]


def _kept(removed: Ints, wanted: int) -> int:
    """The place that is the `wanted`-th once the places in `removed` (rising) are left out."""
    before = removed - np.arange(len(removed))
    return wanted + int(np.searchsorted(before, wanted, side="right"))


def _labels(item: ArrayLike, score: ArrayLike) -> tuple[Ints, Floats]:
    code, values = np.asarray(item, np.int64), np.asarray(score, np.float64)
    same_shape("of one length", item=code, score=values)
    return code, values
