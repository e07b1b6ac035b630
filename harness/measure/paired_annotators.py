"""Pairwise agreement of annotators, for annotators with persistent ids."""

from __future__ import annotations

import math
from collections.abc import Mapping
from hashlib import sha256

import numpy as np

from harness.data.dataset import Dataset
from harness.measure.label_counts import Classes
from harness.measure.score_cells import NOT_CLASSES
from harness.stats.agreement.coefficients import f1_of_pairs
from harness.stats.core.arrays import Estimate, Floats, Ints

HUMAN_F1 = "human_weighted_f1"
NO_INTERVAL = "no interval is computed"


class PairedAnnotators:
    """The labels of metrics on one scale, one a row, in the order of what they are of.

    `start` is `{metric: number of its first item}`: the label of item i on the metric is of number start + i.
    """

    def __init__(self, data: Dataset, start: Mapping[str, int], classes: Classes) -> None:
        kind = data.about.annotators
        self.reason = None if kind == "persistent" else f"annotators are {kind}"
        if classes.continuous:
            self.reason = NOT_CLASSES
        if self.reason:
            return
        labels = data.labels
        rows = np.flatnonzero(labels.metric.among(start))
        of_metric = labels.metric.take(rows).recode(dict(start)).astype(np.int64)
        unit = of_metric + labels.item.take(rows).recode(data.positions)
        order = np.argsort(unit, kind="stable")
        self.unit, self.annotator = unit[order], labels.annotator.codes[rows[order]]
        self.code = labels.score.take(rows[order]).recode(classes.index())
        self._found: dict[bytes, Estimate] = {}

    def weighted_f1(self, units: Ints, weights: Floats | None = None) -> Estimate:
        """Return the F1 of the annotators of some items (numbers); undefined with a reason where annotators cannot be followed.

        `weights` (items,) are those of the items of the data; without them every item counts once.
        """
        if self.reason:
            return Estimate(math.nan, 0, self.reason)
        chosen = np.unique(units)
        key = sha256(chosen.tobytes()).digest()  # judges of the same items share it
        if key not in self._found:
            self._found[key] = self._weighted_f1(chosen, weights)
        return self._found[key]

    def _weighted_f1(self, chosen: Ints, weights: Floats | None) -> Estimate:
        begin = np.searchsorted(self.unit, chosen)
        sizes = np.searchsorted(self.unit, chosen, side="right") - begin
        rows = np.repeat(begin - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes) + np.arange(sizes.sum()) if len(chosen) else begin
        unit_weights = None if weights is None else weights[self.unit[rows] % len(weights)]
        return f1_of_pairs(self.unit[rows], self.annotator[rows], self.code[rows], unit_weights)
