"""A statistic has two parts: features of one item, summed over items, and a function of the sums.

All else follows from this split: a cell's value is `value(sums)`, all cells' values are one matrix product, a
bootstrap resample is a weighted sum, and leaving one group out is a subtraction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from harness.options import RESAMPLES
from harness.stats.core.arrays import Estimate, Estimates, Floats, Ints, ShapeError, as_judge, as_labels
from harness.stats.core.groups import degrees_of_freedom
from harness.stats.core.rows import Rows, count_classes, tabulate
from harness.stats.intervals.intervals import MIN_GROUPS, NO_VARIATION, Interval, no_interval, t_quantile

LEAST_UNCOMMON = 5.0
"""With fewer items outside the commonest class, no interval of the coefficients of people is known to have its nominal coverage."""
_ZERO = 1e-12  # sums of thirds that should cancel leave about 1e-16


class Features(Hashable, Protocol):
    """Per-pattern features (P, m), to be summed over items. Column 0 is 1 where the item is used, else 0.

    Equal features are computed only once, for all statistics that use them.
    """

    def __call__(self, rows: Rows, /) -> Floats: ...


@dataclass(frozen=True, slots=True)
class Statistic:
    """A named function of sums over items.

    `value` maps sums (..., m) to values (...), NaN where undefined. A `share` has the features [units, y] with y in
    [0, 1], a `mean` [units, y] with y in `bounds` (and the sum of y² as a third, where an item may be several units), a
    `difference` the same with y on both sides of 0; a `spread` is a standard deviation, everything else a `coefficient`.
    `empty` and `constant` are the reasons for an undefined value without items, and with items. `least_uncommon`: there
    is an interval only if at least so many items are expected outside the commonest class.
    """

    name: str
    features: Features
    value: Callable[[Floats], Floats]
    kind: Literal["share", "mean", "difference", "spread", "coefficient"] = "coefficient"
    bounds: tuple[float, float] = (-1.0, 1.0)
    empty: str = "no overlap"
    constant: str = "constant raters"
    least_uncommon: float = 0.0


def ratio(a: Floats, b: Floats) -> Floats:
    """a / b, and NaN where b is zero (up to rounding): undefined, never 0."""
    a, b = np.broadcast_arrays(a, b)
    out = np.full(a.shape, np.nan)
    np.divide(a, b, out=out, where=np.abs(b) > _ZERO)
    return out


def mean_of(sums: Floats) -> Floats:
    """The value of shares and means: sum of y over the items used."""
    return ratio(sums[..., 1], sums[..., 0])


def estimate(statistics: Iterable[Statistic], rows: Rows) -> dict[str, Estimates]:
    """Values of many statistics in many cells.

    Args:
        statistics: the statistics to compute; those with equal features share the work.
        rows: from `tabulate`.

    Returns:
        By name, `Estimates` with `value` and `n` of shape (cells,); NaN with a reason where undefined.

    Raises:
        ValueError: if two statistics have one name.

    >>> from harness.stats.agreement.agreement import fleiss
    >>> rows = tabulate(count_classes([[0, 0], [1, 1], [0, 0]], k=2), cell=[0, 0, 1])
    >>> estimate([fleiss()], rows)["human_fleiss"]
    Estimates(value=array([ 1., nan]), n=array([2, 1]), reason=(None, 'constant raters'))
    """
    shared: dict[Features, Floats] = {}
    out = {}
    for statistic in distinctly_named(statistics):
        if statistic.features not in shared:
            shared[statistic.features] = rows.sums(statistic.features(rows))
        sums = shared[statistic.features]
        value, n = statistic.value(sums), np.rint(sums[:, 0]).astype(np.int64)
        reason = [
            None if is_defined else statistic.constant if some else statistic.empty
            for is_defined, some in zip(~np.isnan(value), n > 0, strict=True)
        ]
        out[statistic.name] = Estimates(value, n, tuple(reason))
    return out


def distinctly_named(statistics: Iterable[Statistic]) -> list[Statistic]:
    """The statistics as a list. Raises ValueError if two have the same name, because results are looked up by name."""
    chosen = list(statistics)
    names = [s.name for s in chosen]
    if twice := {n for n in names if names.count(n) > 1}:
        raise ValueError(f"statistics of one name: {', '.join(sorted(twice))}; `cell_statistics` has each once")
    return chosen


def of_labels(statistic: Statistic, labels: ArrayLike, k: int) -> Estimate:
    """One statistic of one cell's annotators."""
    return estimate([statistic], tabulate(count_classes(labels, k)))[statistic.name][0]


def estimate_judge(statistic: Statistic, judge: ArrayLike, labels: ArrayLike, k: int) -> Estimate:
    """One statistic of one judge and one cell's annotators."""
    codes = as_labels(labels, k)
    rows = tabulate(count_classes(codes, k), as_judge(judge, k, len(codes)))
    return estimate([statistic], rows)[statistic.name][0]


def item_credits(statistic: Statistic, counts: ArrayLike, judge: ArrayLike) -> Floats:
    """The credit of every item: the mean of the credits, over the items that have one, is the statistic.

    Callers need single items where they pool items of several scales, or pair them over conditions.

    Args:
        statistic: a `share`, `mean` or `difference`, such as `share_of_hits()` (0 or 1 an item) or `share_of_pairs("human", 0)`.
        counts: (items, k) annotators by class, from `count_classes`.
        judge: (items,) class codes 0 … k-1; NaN or -1 where there is no readable score.

    Returns:
        (items,) credits; NaN where the statistic does not use the item.

    Raises:
        ValueError: for a statistic that is not a mean of items.

    >>> from harness.stats.agreement.agreement import share_of_pairs
    >>> item_credits(share_of_pairs("judge", 0), [[2, 1], [0, 2], [1, 0]], [0, 0, 0]).round(3).tolist()
    [0.667, 0.0, nan]
    """
    if statistic.kind not in ("share", "mean", "difference"):
        raise ValueError(f"'{statistic.name}' is not a mean over items, so items have no credits")
    table = np.asarray(counts, np.int64)
    if table.ndim != 2:
        raise ShapeError(f"counts must be items x classes, got shape {table.shape}")
    items, k = table.shape
    score, nothing = as_judge(judge, k, items), np.zeros(items, np.int64)
    rows = Rows(k, 1, table, score[:, None], nothing, nothing, np.arange(items), np.ones(items), (False,))
    features = statistic.features(rows)
    return np.where(features[:, 0] > 0, features[:, 1], np.nan)


_DEFINED = 0.9  # share of resamples, or of left-out groups, in which the value must be defined
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Estimated:
    """`value` on `n` items, its interval, and the two-sided `p` of the hypothesis that it is 0; a reason if it is undefined."""

    value: float
    n: int
    interval: Interval
    p: float
    reason: str | None


def bootstrap_from_sums(
    features: ArrayLike,
    value: Callable[[Floats], Floats],
    groups: ArrayLike,
    *,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    constant: str = "constant values",
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimated:
    """A function of the items' summed features, with standard error by the cluster bootstrap and Student's t for interval and p.

    Degrees of freedom fall where a few groups hold most of the variation, as in `mean_interval`; p < 0.05 exactly where
    the interval excludes 0.

    Args:
        features: (items, m).
        value: maps sums (..., m) to values (...), NaN where undefined.
        bounds: smallest and largest possible value; the interval ends there.
        constant: the reason if there are items, but the value is undefined.

    Returns:
        `Estimated`; without interval and p for fewer than 8 groups, and if all groups are equal (then the p of the value 0 is 1).

    Reference: Field & Welsh (2007); Cameron & Miller (2015).

    >>> found = bootstrap_from_sums([[1.0, 2.0], [1.0, 4.0]] * 8, lambda s: s[..., 1] / s[..., 0], range(16))
    >>> found.value, found.n, round(found.interval.lo, 1), round(found.interval.hi, 1)
    (3.0, 16, 2.4, 3.6)
    """
    table, codes = np.asarray(features, np.float64), np.asarray(groups)
    if table.ndim != 2 or codes.shape != table.shape[:1]:
        raise ShapeError(f"features {table.shape} and groups {codes.shape} must be of the same items")
    _, code = np.unique(codes, return_inverse=True)
    count = int(code.max(initial=-1)) + 1
    if not count:
        return Estimated(math.nan, 0, no_interval(0), math.nan, "no overlap")
    sums = np.zeros((count, table.shape[1]))
    np.add.at(sums, code, table)
    sums = sums[np.lexsort(sums.T)]  # the names of groups do not matter
    total = sums.sum(axis=0)
    estimate = float(value(total))
    if math.isnan(estimate):
        return Estimated(estimate, len(table), no_interval(count, constant), math.nan, constant)
    if count < MIN_GROUPS:
        return Estimated(estimate, len(table), no_interval(count), math.nan, None)
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), resamples)
    replicates = value(drawn.astype(np.float64) @ sums)
    replicates = replicates[~np.isnan(replicates)]
    if len(replicates) < _DEFINED * resamples:
        return Estimated(estimate, len(table), no_interval(count, "undefined in many resamples"), math.nan, None)
    error = float(np.std(replicates)) * math.sqrt(count / (count - 1))
    left_out = value(total - sums)
    influence = (left_out - estimate)[~np.isnan(left_out)]
    freedom = degrees_of_freedom(influence, np.ones(len(influence))) if len(influence) else 3.0
    return t_interval_from_sums(estimate, len(table), error, freedom, count, bounds, "cluster bootstrap (t)")


def t_interval_from_sums(
    value: float, n: int, error: float, freedom: float, groups: int, bounds: tuple[float, float], method: str
) -> Estimated:
    """Student's interval and p of a value with a standard error. If that is 0, there is no interval; the p of the value 0 is then 1.

    >>> found = t_interval_from_sums(0.5, 40, 0.1, 39.0, 40, (-1.0, 1.0), "jackknife")
    >>> round(found.interval.lo, 2), round(found.interval.hi, 2), found.p < 0.001
    (0.3, 0.7, True)
    """
    if error <= _ROUNDING * max(1.0, abs(value)):
        return Estimated(value, n, no_interval(groups, NO_VARIATION), 1.0 if abs(value) <= _ROUNDING else math.nan, None)
    from scipy.special import stdtr

    half = t_quantile(0.95, freedom) * error
    interval = Interval(max(bounds[0], value - half), min(bounds[1], value + half), method, groups, None, None)
    return Estimated(value, n, interval, float(2 * stdtr(freedom, -abs(value) / error)), None)


Scale = Literal["plain", "fisher", "log"]
"""The scale on which an interval is symmetric: the value's own, atanh(value) for correlations, log(value) for what is positive."""

_TO: dict[Scale, Callable[[Floats], Floats]] = {"plain": np.asarray, "fisher": np.arctanh, "log": np.log}
_FROM: dict[Scale, Callable[[Floats], Floats]] = {"plain": np.asarray, "fisher": np.tanh, "log": np.exp}


def left_out_interval(
    values: Floats, bounds: tuple[float, float] = (-math.inf, math.inf), *, scale: Scale = "plain", level: float = 0.95
) -> Interval:
    """The interval of a value from its values without each group: the cluster jackknife with Student's t.

    With z = the value on the given scale and z_g without group g: variance = (G - 1) / G sum (z_g - mean)², degrees of freedom that fall
    where few groups hold most of the variation; the ends go back to the value's own scale.

    Args:
        values: (1 + groups,) the value, then the value without each group; NaN where it is undefined.
        bounds: smallest and largest possible value.
        scale: see `Scale`.

    Returns:
        An `Interval`; undefined with fewer than 8 groups, if the value is undefined without many of them, and if no group changes it.

    Reference: MacKinnon & Webb (2018), the cluster jackknife; Fisher (1921), atanh.

    >>> found = left_out_interval(np.r_[0.5, 0.5 + np.array([-0.02, 0.02] * 10)], (-1, 1), scale="fisher")
    >>> round(found.lo, 2), round(found.hi, 2), found.groups
    (0.3, 0.66, 20)
    """
    return left_out_test(values, bounds, scale=scale, level=level)[0]


def left_out_test(
    values: Floats, bounds: tuple[float, float] = (-math.inf, math.inf), *, scale: Scale = "plain", level: float = 0.95
) -> tuple[Interval, float]:
    """The interval of `left_out_interval`, and the two-sided p that the value is 0, from the same t: NaN exactly without an interval.

    Args, reference as there. On the scale `log` no value is 0, and p is NaN.

    >>> found, p = left_out_test(np.r_[0.1, 0.1 + np.array([-0.01, 0.01] * 10)])
    >>> round(found.lo, 3), round(found.hi, 3), round(p, 3)
    (0.009, 0.191, 0.033)
    """
    groups = len(values) - 1
    if groups < MIN_GROUPS:
        return no_interval(groups), math.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = _TO[scale](np.asarray(values, np.float64))
    estimate, rest = moved[0], moved[1:][np.isfinite(moved[1:])]
    if len(rest) < _DEFINED * groups:
        return no_interval(groups, NO_VARIATION if abs(values[0]) == 1 else "undefined without some texts"), math.nan
    influence = rest - rest.mean()
    error = math.sqrt(float(influence @ influence) * (groups - 1) / groups)
    if not (error > _ROUNDING * max(1.0, abs(float(estimate))) and np.isfinite(estimate)):
        return no_interval(groups, NO_VARIATION), math.nan
    from scipy.special import stdtr

    freedom = degrees_of_freedom(influence, np.ones(len(influence)))
    half = t_quantile(level, freedom) * error
    lo, hi = (float(end) for end in _FROM[scale](np.array([estimate - half, estimate + half])))
    p = math.nan if scale == "log" else float(2 * stdtr(freedom, -abs(float(estimate) / error)))
    return Interval(max(bounds[0], lo), min(bounds[1], hi), "cluster jackknife (t)", groups, None, None), p


def of_group_sums(
    sums: Floats,
    value: Callable[[Floats], Floats],
    bounds: tuple[float, float] = (-math.inf, math.inf),
    *,
    scale: Scale = "plain",
    empty: str = "no overlap",
    constant: str = "constant raters",
    level: float = 0.95,
) -> Estimated:
    """A function of sums over items, with its jackknife interval.

    Args:
        sums: (groups, m) sums of the groups' items; column 0 counts the items that are used. Groups without any are left out.
        value: maps sums (..., m) to values (...), NaN where undefined.
        bounds, scale, level: as `left_out_interval`.
        empty, constant: the reason for an undefined value without items, and with items.

    >>> of_group_sums(np.array([[2.0, 6.0], [1.0, 0.0]]), lambda s: s[..., 1] / s[..., 0]).value
    2.0
    """
    used = sums[sums[:, 0] > 0]
    total = used.sum(axis=0)
    n = round(float(total[0]))
    if not n:
        return Estimated(math.nan, 0, no_interval(0), math.nan, empty)
    estimate = float(value(total))
    if math.isnan(estimate):
        return Estimated(math.nan, n, no_interval(len(used), constant), math.nan, constant)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.r_[estimate, value(total - used)]
    return Estimated(estimate, n, left_out_interval(values, bounds, scale=scale, level=level), math.nan, None)


def sums_by_group(features: Floats, group: Ints) -> Floats:
    """Sums (groups, m) of features (items, m) over integer group codes (items,) from 0.

    >>> sums_by_group(np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 4.0]]), np.array([0, 1, 0])).tolist()
    [[2.0, 6.0], [1.0, 3.0]]
    """
    count = int(group.max(initial=-1)) + 1
    return np.stack([np.bincount(group, column, minlength=count) for column in features.T], axis=1).astype(np.float64)
