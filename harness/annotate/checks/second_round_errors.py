"""Agreement of two people on the presence of errors, from two rounds of marking."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.data.columns import NO_VALUE, CodedColumn
from harness.data.dataset import Dataset
from harness.measure.cells import number
from harness.stats import cohen_kappa
from harness.stats.core.arrays import Ints


def error_agreement(data: Dataset, metric: str, items: Ints) -> dict[str, Any] | None:
    """`{n, agreement, kappa}` of "marked an error" in the first round and in the second, over those of the (n,) `items` with marks of both.

    The labels of `metric` are the first round. None without marks of both. An item that several people marked has an error if one of them
    marked one.
    """
    if data.second_spans is None:
        return None
    labels = data.labels.take(data.labels.metric.equals(metric))
    inside = np.zeros(len(data.items), bool)
    inside[items] = True
    first, second = (_marked(data, table.item, table.spans) for table in (labels, data.second_spans))
    both = inside & (first >= 0) & (second >= 0)
    if not both.any():
        return None
    a, b = first[both], second[both]
    return {"n": len(a), "agreement": float((a == b).mean()), "kappa": number(cohen_kappa(a, b, 2).value)}


def _marked(data: Dataset, item: CodedColumn, spans: CodedColumn) -> Ints:
    """(items,) 1 where somebody marked an error, 0 where nobody who was asked did, -1 where nobody was asked."""
    found = np.full(len(data.items), -1, np.int64)
    place = item.recode(data.positions)
    asked = (spans.codes != NO_VALUE) & (place != NO_VALUE)
    has_error = np.array([*(bool(errors) for errors in spans.values), False])[spans.codes]
    np.maximum.at(found, place[asked], has_error[asked].astype(np.int64))
    return found
