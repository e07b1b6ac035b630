"""The labels of one cell by annotator, and the alternative annotator test on them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.analyse.units import Votes
from harness.data.dataset import Dataset
from harness.decide.options import DecisionOptions
from harness.stats import alternative_annotator_test
from harness.stats.alternative_annotator import AlternativeAnnotatorTest
from harness.stats.arrays import Floats, Ints

_MOST = 200  # annotators of a cell whose labels are laid out as a table


class AnnotatorLabels:
    """Labels by metric as codes, so that those of a cell are found at once."""

    def __init__(self, data: Dataset, counted: Mapping[str, Votes]) -> None:
        item = data.labels.item.recode(data.positions).astype(np.int64)
        self._annotator = data.labels.annotator.codes
        self._rows: dict[str, tuple[Ints, Ints, Ints]] = {}
        for code, metric in enumerate(data.labels.metric.values):
            if metric in counted:
                rows = np.flatnonzero(data.labels.metric.codes == code)
                rows = rows[np.argsort(item[rows], kind="stable")]
                score = data.labels.score.take(rows).recode(counted[metric].classes.index()).astype(np.int64)
                self._rows[metric] = (item[rows], self._annotator[rows].astype(np.int64), score)

    def table(self, metric: str, items: Ints) -> Floats | None:
        """Class codes (items, annotators) of some items in rising order, NaN where missing; None with more than 200 annotators."""
        item, annotator, score = self._rows[metric]
        start, stop = np.searchsorted(item, items), np.searchsorted(item, items, side="right")
        sizes = stop - start
        rows = np.repeat(start - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes) + np.arange(sizes.sum())
        people, column = np.unique(annotator[rows], return_inverse=True)
        if len(people) > _MOST:
            return None
        table = np.full((len(items), len(people)), math.nan)
        table[np.repeat(np.arange(len(items)), sizes), column] = score[rows]
        return table


def annotator_test(table: Floats | None, codes: Floats, groups: Ints, options: DecisionOptions) -> dict[str, Any] | None:
    """The alternative annotator test of one cell as JSON has it; None where labels cannot be followed by annotator.

    `omega`, `rho` and `passed` are those of the published test, on items as if independent; the judge loses failures. `omega_guarded`
    is the share of annotators by the guarded test over groups.

    Args:
        table: (items, annotators) class codes.
        codes: (items,) class codes of the judge, NaN for failures.
        groups: (items,) codes of what items share.
        options: epsilon.
    """
    if table is None or not len(table):
        return None
    scores = np.where(np.isnan(codes), math.nan, np.round(codes))
    published = alternative_annotator_test(table, scores, epsilon=options.epsilon)
    guarded: AlternativeAnnotatorTest = alternative_annotator_test(table, scores, groups, epsilon=options.epsilon)
    if published.passed is None:
        return {"omega": None, "rho": None, "passed": None, "omega_guarded": None, "annotators": 0, "reason": published.reason}
    return {
        "omega": published.omega,
        "rho": published.rho,
        "passed": published.passed,
        "omega_guarded": guarded.omega_guarded,
        "annotators": published.tested,
        "reason": None,
    }
