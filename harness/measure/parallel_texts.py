"""Parallel texts: items that are translations of each other count as one independent text."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.data.dataset import Dataset
from harness.stats.core.arrays import Ints


def parallel_numbers(data: Dataset) -> Ints:
    """Return the number of what each item is parallel to (task, system and `parallel_id`), or -1: (items,)."""
    numbers: dict[Any, int] = {}
    keys = [None if item.parallel_id is None else (item.task, item.system, item.parallel_id) for item in data.items]
    return np.array([-1 if key is None else numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def text_clusters(data: Dataset) -> Ints:
    """Return the number of each item's text together with all texts that are parallel to it, (items,). Without any it is its group."""
    group, parallel = data.clusters.codes.astype(np.int64), parallel_numbers(data)
    is_parallel = parallel >= 0
    if not is_parallel.any():
        return group
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    texts = int(group.max()) + 1
    size = texts + int(parallel.max()) + 1
    edges = (np.ones(int(is_parallel.sum())), (group[is_parallel], texts + parallel[is_parallel]))
    connected = connected_components(coo_array(edges, shape=(size, size)), directed=False)[1]
    return np.asarray(connected[group], np.int64)
