"""The annotators' aggregate: majority under the rules drop, median and strict."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import MISSING, Ints
from harness.stats.core.rows import count_classes

Rule = Literal["drop", "median", "strict"]

NO_MAJORITY = -2
"""The aggregate of an item that has labels but no unique mode."""


def aggregate(labels: ArrayLike, k: int, rule: Rule = "drop") -> Ints:
    """The class that stands for an item's annotators.

    `drop` and `strict`: the unique mode. Two annotators who differ, or a tie of 2-2, have no mode (-2). `pa` leaves such an
    item out under `drop`, and counts it as disagreement under `strict`.
    `median`: the lower median of the codes, which always exists. For ordinal and interval scales only.

    Args:
        labels: (items, raters) class codes, NaN or -1 where missing.
        rule: `drop`, `median` or `strict`.

    Returns:
        (items,) class codes; -1 for an item without labels, -2 for one without a majority.

    Raises:
        ValueError: for an unknown rule.

    >>> labels = [[0, 2, 2], [0, 1, 2], [1, 0, -1], [-1, -1, -1]]
    >>> aggregate(labels, k=3).tolist()
    [2, -2, -2, -1]
    >>> aggregate(labels, k=3, rule="median").tolist()
    [2, 1, 0, -1]
    """
    return aggregate_counts(count_classes(labels, k), rule)


def aggregate_counts(counts: Ints, rule: Rule) -> Ints:
    """`aggregate` of class counts (items, k).

    >>> aggregate_counts(count_classes([[0, 2, 2], [0, 1, -1]], k=3), "drop").tolist()
    [2, -2]
    """
    raters = counts.sum(axis=1)
    if rule == "median":
        # position (n - 1) // 2 of the sorted labels: the first class whose cumulated count exceeds it
        middle = np.argmax(np.cumsum(counts, axis=1) > ((raters - 1) // 2)[:, None], axis=1)
        return np.where(raters > 0, middle, MISSING)
    if rule not in ("drop", "strict"):
        raise ValueError(f"unknown rule '{rule}' for the aggregate; there are drop, median and strict")
    most = counts.max(axis=1, initial=0)
    unique = (counts == most[:, None]).sum(axis=1) == 1
    return np.where(raters == 0, MISSING, np.where(unique, np.argmax(counts, axis=1), NO_MAJORITY))
