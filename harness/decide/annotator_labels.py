"""The labels of one cell by annotator, and the alternative annotator test on them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from harness.data.dataset import Dataset
from harness.measure.cells import number
from harness.measure.units import Votes
from harness.stats import alternative_annotator_test
from harness.stats.core.arrays import Floats, Ints
from harness.stats.intervals.alternative_annotator import AlternativeAnnotatorTest

_MOST = 200  # annotators of a cell whose labels are laid out as a table


class AnnotatorTable(NamedTuple):
    """Names of the annotators, and their class codes (items, annotators), NaN where missing."""

    names: tuple[str, ...]
    codes: Floats


class AnnotatorLabels:
    """Labels by metric as codes, so that those of a cell are found at once."""

    def __init__(self, data: Dataset, counted: Mapping[str, Votes]) -> None:
        item = data.labels.item.recode(data.positions).astype(np.int64)
        self._annotator = data.labels.annotator.codes
        self._names = tuple(map(str, data.labels.annotator.values))
        self._rows: dict[str, tuple[Ints, Ints, Ints]] = {}
        for code, metric in enumerate(data.labels.metric.values):
            if metric in counted:
                rows = np.flatnonzero(data.labels.metric.codes == code)
                rows = rows[np.argsort(item[rows], kind="stable")]
                score = data.labels.score.take(rows).recode(counted[metric].classes.index()).astype(np.int64)
                self._rows[metric] = (item[rows], self._annotator[rows].astype(np.int64), score)

    def table(self, metric: str, items: Ints) -> AnnotatorTable | None:
        """The labels of some items, which are in rising order; None with more than 200 annotators."""
        item, annotator, score = self._rows[metric]
        start, stop = np.searchsorted(item, items), np.searchsorted(item, items, side="right")
        sizes = stop - start
        rows = np.repeat(start - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes) + np.arange(sizes.sum())
        people, column = np.unique(annotator[rows], return_inverse=True)
        if len(people) > _MOST:
            return None
        table = np.full((len(items), len(people)), math.nan)
        table[np.repeat(np.arange(len(items)), sizes), column] = score[rows]
        return AnnotatorTable(tuple(self._names[code] for code in people.tolist()), table)


def annotator_test(table: AnnotatorTable | None, codes: Floats, groups: Ints, epsilon: float) -> dict[str, Any] | None:
    """The alternative annotator test of one cell as JSON has it; None where labels cannot be followed by annotator.

    `omega`, `rho` and `passed` are those of the published test, on items as if independent; the judge loses failures. `omega_guarded` is
    the share of annotators by the guarded test over groups. `per_annotator` has for each `{annotator, n, mean, p, p_guarded, rejected}`:
    `mean` is how much more often the person than the judge represents the others strictly better; `rejected` means that the judge
    represents them as well, less epsilon. Its p are corrected over the annotators (Benjamini-Yekutieli).

    Args:
        table: the labels of the cell.
        codes: (items,) class codes of the judge, NaN for failures.
        groups: (items,) codes of what items share.
        epsilon: the discount.
    """
    if table is None or not len(table.codes):
        return None
    scores = np.where(np.isnan(codes), math.nan, np.round(codes))
    found: AlternativeAnnotatorTest = alternative_annotator_test(table.codes, scores, guarded_groups=groups, epsilon=epsilon)
    tested = [
        {
            "annotator": name,
            "n": one.n,
            "mean": number(one.test.mean),
            "p": number(one.p_adjusted),
            "p_guarded": number(one.p_guarded_adjusted),
            "rejected": one.rejected,
        }
        for name, one in zip(table.names, found.annotators, strict=True)
        if one.test is not None
    ]
    return {
        "omega": number(found.omega),
        "rho": number(found.rho),
        "passed": found.passed,
        "omega_guarded": number(found.omega_guarded),
        "annotators": found.tested,
        "epsilon": epsilon,
        "per_annotator": tested,
        "reason": found.reason,
    }
