"""How far a judge's scores are from people's in points of the scale: mean absolute and squared error, and leniency."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.agreement.continuous import NO_OVERLAP, known_scores
from harness.stats.core.groups import group_sums
from harness.stats.core.sums import Estimated
from harness.stats.intervals.intervals import Interval, MeanToTest, no_interval, scatter_of, tested_means


def mean_absolute_error(
    x: ArrayLike, y: ArrayLike, groups: ArrayLike, reach: float | None = None, weights: ArrayLike | None = None, *, level: float = 0.95
) -> Estimated:
    """Mean absolute error of a judge in points of the scale: mean |y - x|.

    Args:
        x, y: (items,) numbers, NaN where missing (such items are left out).
        groups: (items,) any sortable codes of what items share.
        reach: the length of the scale, the largest possible error; None if the scale has no ends.
        weights: (items,) 1 / inclusion probability of items that were drawn with different ones; without them each counts once.
        level: of the interval: Hall's skewness-corrected t over groups.

    Returns:
        `Estimated` of 0 or more; NaN without items ("no overlap").

    Raises:
        ShapeError: if the arrays are not of the same items.

    >>> mean_absolute_error([80, 90, 100], [90, 90, 80], range(3)).value
    10.0
    >>> mean_absolute_error([80, 90, 100], [90, 90, 80], range(3), weights=[1, 1, 2]).value
    12.5
    """
    return tested_errors([error_to_test("absolute", x, y, groups, reach, weights)], level=level)[0]


def root_mean_squared_error(
    x: ArrayLike, y: ArrayLike, groups: ArrayLike, reach: float | None = None, weights: ArrayLike | None = None, *, level: float = 0.95
) -> Estimated:
    """Root mean squared error of a judge in points of the scale: sqrt(mean (y - x)²). The interval is that of the mean, under the root.

    Args, result and errors as `mean_absolute_error`.

    >>> round(root_mean_squared_error([80, 90, 100], [90, 90, 80], range(3)).value, 4)
    12.9099
    """
    return tested_errors([error_to_test("squared", x, y, groups, reach, weights)], level=level)[0]


def mean_difference(
    x: ArrayLike,
    y: ArrayLike,
    groups: ArrayLike,
    direction: int = 1,
    reach: float | None = None,
    weights: ArrayLike | None = None,
    *,
    level: float = 0.95,
) -> Estimated:
    """Leniency on numbers: mean (y - x) times `direction` (1 if high scores are good, -1 if low ones are), so that + is toward the best.

    Args, result and errors as `mean_absolute_error`; the value may be negative.

    >>> mean_difference([80, 90, 100], [90, 90, 95], range(3)).value.__round__(3)
    1.667
    """
    return tested_errors([error_to_test("signed", x, y, groups, reach, weights, direction)], level=level)[0]


class ErrorToTest(NamedTuple):
    """What the mean error of a cell needs to know of its items: few numbers, so that those of many cells are kept and tested at once."""

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
    """What `tested_errors` makes `mean_absolute_error`, `root_mean_squared_error` or `mean_difference` of; Estimated without any item."""
    a, b, group, weight = known_scores(x, y, groups, weights)
    if not len(a):
        return Estimated(math.nan, 0, no_interval(0), math.nan, NO_OVERLAP)
    if kind == "signed":
        values, least, most = (b - a) * direction, -(reach or 0.0), reach
    elif kind == "absolute":
        values, least, most = np.abs(b - a), 0.0, reach
    else:
        values, least, most = (b - a) ** 2, 0.0, None if reach is None else reach**2
    asked = MeanToTest(group_sums(values, group, weight), scatter_of(values, weight), None if most is None else (least, most))
    return ErrorToTest(kind == "squared", float(np.average(values, weights=weight)), len(values), asked)


def tested_errors(asked: Sequence[ErrorToTest | Estimated], *, level: float = 0.95) -> list[Estimated]:
    """The mean errors of many cells, each with its interval."""
    tested = iter(tested_means([one.mean for one in asked if isinstance(one, ErrorToTest)], level=level))
    return [_error(one, *next(tested)) if isinstance(one, ErrorToTest) else one for one in asked]


def _error(one: ErrorToTest, interval: Interval, p: float) -> Estimated:
    if not one.rooted:
        return Estimated(one.value, one.n, interval, p, None)
    rooted = interval if interval.reason else replace(interval, lo=math.sqrt(max(interval.lo, 0.0)), hi=math.sqrt(interval.hi))
    return Estimated(math.sqrt(one.value), one.n, rooted, math.nan, None)
