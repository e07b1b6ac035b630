"""What each single item adds to a share or mean, for whoever pools items of several scales or pairs them over conditions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.arrays import Floats, ShapeError, as_judge
from harness.stats.rows import Rows
from harness.stats.statistic import Statistic


def item_credits(statistic: Statistic, counts: ArrayLike, judge: ArrayLike) -> Floats:
    """The credit of every item: their mean over the items that have one is the statistic.

    Args:
        statistic: a `share`, `mean` or `difference`, such as `share_of_hits()` (0 or 1 an item) or `share_of_pairs("human", 0)`.
        counts: (items, k) annotators by class, from `count_classes`.
        judge: (items,) class codes 0 … k-1; NaN or -1 where there is no readable score.

    Returns:
        (items,) credits; NaN where the statistic does not use the item.

    Raises:
        ValueError: for a statistic that is no mean of items.
        ScaleError, ShapeError: for codes off the scale, arrays of different items.

    >>> from harness.stats.agreement import share_of_pairs
    >>> item_credits(share_of_pairs("judge", 0), [[2, 1], [0, 2], [1, 0]], [0, 0, 0]).round(3).tolist()
    [0.667, 0.0, nan]
    """
    if statistic.kind not in ("share", "mean", "difference"):
        raise ValueError(f"'{statistic.name}' is no mean over items, so no item has a credit")
    table = np.asarray(counts, np.int64)
    if table.ndim != 2:
        raise ShapeError(f"counts must be items x classes, got shape {table.shape}")
    items, k = table.shape
    score, nothing = as_judge(judge, k, items), np.zeros(items, np.int64)
    every = Rows(k, 1, table, score[:, None], nothing, nothing, np.arange(items), np.ones(items), (False,))
    features = statistic.features(every)
    return np.where(features[:, 0] > 0, features[:, 1], np.nan)
