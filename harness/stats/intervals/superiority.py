"""The share of items with a higher score under one condition than under another: sensitivity to a change of the text."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.intervals.intervals import Interval, no_interval, proportion_interval
from harness.stats.intervals.paired import common_differences


@dataclass(frozen=True, slots=True)
class Superiority:
    """P(first > second) + ½ P(equal) on `n` common items, with its interval; NaN and a reason without items."""

    value: float
    n: int
    interval: Interval
    reason: str | None


def superiority(
    first: ArrayLike,
    second: ArrayLike,
    groups: ArrayLike,
    *,
    tolerance: float = 1e-9,
    level: float = 0.95,
    seed: int = 0,
    resamples: int = 1000,
) -> Superiority:
    """Paired probability of superiority: P(first > second) + ½ P(first = second) on the same items.

    Every item has the credit 1, ½ or 0; the value is their mean, its interval that of a share (`proportion_interval`). ½
    means no difference in either direction; 1 means that the first is above the second on every item.

    Args:
        first, second: (items,) numbers, NaN where missing; items without both are left out.
        groups: (items,) any sortable codes of what items share.
        tolerance: numbers that differ by no more are equal (expected scores are floats).
        level, seed, resamples: of the interval.

    Raises:
        ShapeError: if the arrays are not of one length.

    Reference: Vargha & Delaney (2000), here of pairs; Grissom & Kim (2012).

    >>> found = superiority([2, 2, 1, 0], [1, 2, 1, float("nan")], range(4))
    >>> round(found.value, 4), found.n, found.interval.reason
    (0.6667, 3, 'too few independent texts')
    """
    above, codes = common_differences(first, second, groups)
    if not len(above):
        return Superiority(math.nan, 0, no_interval(0), "no overlap")
    credit = np.where(np.abs(above) <= tolerance, 0.5, above > 0)
    interval = proportion_interval(credit, codes, level=level, seed=seed, resamples=resamples)
    return Superiority(float(credit.mean()), len(credit), interval, None)
