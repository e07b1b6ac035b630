"""Errors of a judge's scores, in points of the scale: absolute and squared error, leniency, and distances beside those between people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.agreement.continuous import NO_OVERLAP, known_scores
from harness.stats.core.arrays import Floats, Ints, as_index, same_shape
from harness.stats.core.functions_of_sums import Estimated
from harness.stats.core.groups import group_sums
from harness.stats.intervals.intervals import MeanToTest, no_interval, scatter_of, tested_means


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
