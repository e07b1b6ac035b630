"""A statistic has two parts: features of one item, summed over items, and a function of the sums.

All else follows from this split: a cell's value is `value(sums)`, all cells' values are one matrix product, a
bootstrap resample is a weighted sum, and leaving one group out is a subtraction.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Estimate, Estimates, Floats, ShapeError, as_judge, as_labels
from harness.stats.core.rows import Rows, count_classes, tabulate

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

    >>> from harness.stats.agreement.coefficients import fleiss
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


def estimate_pair(statistic: Statistic, a: ArrayLike, b: ArrayLike, k: int) -> Estimate:
    """One statistic of two single raters: a as the reference, b as the judge."""
    return estimate_judge(statistic, b, np.asarray(a)[..., None], k)


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
