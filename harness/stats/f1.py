"""Weighted F1 of a judge against the aggregate."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.aggregate import Rule
from harness.stats.arrays import Estimate, Floats
from harness.stats.statistic import Statistic, of_judge, ratio
from harness.stats.tables import Joint, square


def f1_of_judge(*, rule: Rule = "drop", judge: int = 0) -> Statistic:
    """Weighted F1 of judge against aggregate as a statistic of many cells."""

    def value(sums: Floats) -> Floats:
        table = square(sums)
        hits, support = np.diagonal(table, axis1=-2, axis2=-1), table.sum(axis=-1)
        f1 = 2 * hits / np.maximum(support + table.sum(axis=-2), 1)
        return ratio((f1 * support).sum(axis=-1), sums[..., 0])

    return Statistic("weighted_f1", Joint(rule, judge), value, bounds=(0.0, 1.0))


def weighted_f1(judge: ArrayLike, labels: ArrayLike, k: int, rule: Rule = "drop") -> Estimate:
    """F1 of every class, weighted with the class's share among the aggregates.

    F1_c = 2 hits_c / (n_c + judged_c); sum_c n_c F1_c / n. A class that the judge never gives has F1 0; a class that is
    no item's aggregate has weight 0.

    Args:
        judge: (items,) class codes 0 … k-1, NaN or -1 where there is no readable score.
        labels: (items, raters) class codes, NaN or -1 where missing.
        k: number of classes of the scale.
        rule: of the aggregate (`strict` leaves items without a majority out, as `drop` does).

    Returns:
        value in [0, 1] and n, the items with aggregate and score; NaN and "no overlap" without any.

    Reference: van Rijsbergen (1979); support-weighted as in scikit-learn's `average="weighted"`.

    >>> round(weighted_f1([0, 1, 1, 0], [[0], [1], [0], [0]], k=2).value, 6)
    0.766667
    """
    return of_judge(f1_of_judge(rule=rule), judge, labels, k)
