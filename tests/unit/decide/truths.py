"""What a test reads from a recording by itself: labels, scores and groups of the items of one system."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable

import msgspec
import numpy as np

from harness.measure.compare import Recording
from harness.model import Item
from harness.stats.core.arrays import Floats, Ints


def scores_of(source: Recording, metric: str, system: str | None) -> tuple[Floats, Floats, Ints]:
    """Mean label (NaN without one), mean score and group number of each item."""
    labels: dict[str, list[float]] = defaultdict(list)
    for label in source.data.labels:
        if label.metric == metric:
            labels[label.item_id].append(float(label.score))
    judged: dict[str, list[float]] = defaultdict(list)
    for item, own, score in zip(source.judgments.item, source.judgments.metric, source.judgments.score, strict=True):
        if own == metric and score is not None:
            judged[item].append(float(score))
    items = [item for item in source.data.items if system in (None, item.system)]
    groups = {name: number for number, name in enumerate(dict.fromkeys(item.group for item in source.data.items))}
    y = [np.mean(labels[item.item_id]) if labels[item.item_id] else math.nan for item in items]
    return np.array(y), np.array([np.mean(judged[item.item_id]) for item in items]), np.array([groups[item.group] for item in items])


def label_means(source: Recording, keep: Callable[[Item, float], bool]) -> Recording:
    """The same with the labels of some items only; whole prompts, so `keep` is given one chance for all items of a group."""
    rng = np.random.default_rng(0)
    chances: dict[str, float] = defaultdict(rng.random)
    kept = [item.item_id for item in source.data.items if keep(item, chances[item.group])]
    data = msgspec.structs.replace(source.data, labels=source.data.labels.for_items(kept))
    return msgspec.structs.replace(source, data=data)
