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
    """What `tested_errors` makes an error of a judge of, in points of the scale; Estimated ("no overlap") without any item.

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
    asked = MeanToTest(group_sums(values, group, weight), scatter_of(values, weight), None if most is None else (least, most))
    return ErrorToTest(kind == "squared", float(np.average(values, weights=weight)), len(values), asked)


def tested_errors(asked: Sequence[ErrorToTest | Estimated], *, level: float = 0.95) -> list[Estimated]:
    """The mean errors of many cells, each with its interval: Hall's skewness-corrected t over groups."""
    tested = iter(tested_means([one.mean for one in asked if isinstance(one, ErrorToTest)], level=level))
    return [_error(one, *next(tested)) if isinstance(one, ErrorToTest) else one for one in asked]


def _error(one: ErrorToTest, interval: Interval, p: float) -> Estimated:
    if not one.rooted:
        return Estimated(one.value, one.n, interval, p, None)
    rooted = interval if interval.reason else replace(interval, lo=math.sqrt(max(interval.lo, 0.0)), hi=math.sqrt(interval.hi))
    return Estimated(math.sqrt(one.value), one.n, rooted, math.nan, None)
