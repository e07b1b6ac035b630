"""One judge in one language over all metrics together, beside the majority baseline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from harness.data.columns import combination_ids, rows_by_number
from harness.measure.cells import BASELINE, Cell, bounds, number
from harness.measure.compare import Recording, judged_tables
from harness.measure.judged_table import means_by
from harness.measure.options import MeasureOptions
from harness.model import CONDITION, ConditionRow
from harness.stats import Difference, paired_difference

OVERALL = ("language", *CONDITION)
HYPOTHESIS = (
    f"H0: over all metrics together the judge agrees with the annotators' aggregate as often as the {BASELINE} baseline of each language, "
    "task and metric, on the same items, failures counted as wrong, repeats averaged; two-sided"
)


class LanguageSummary(ConditionRow, frozen=True, kw_only=True):
    """One judge in one language over all metrics together: its agreement with the labels beside that of the majority baseline.

    Continuous scores equal no label: their metrics do not count, and `n_ref` is 0 if there are no others.
    """

    language: str
    n_ref: int
    n: int
    pa_failed_wrong: float
    baseline: float
    diff: float | None = None  # the judge minus the baseline; None as `ci` and `p` where undefined
    ci: tuple[float, float] | None = None
    p: float | None = None


def pooled_differences(source: Recording, options: MeasureOptions) -> dict[tuple[Any, ...], Difference]:
    """Return every judge less the baseline over all metrics, by language, judge and condition (`OVERALL`).

    Questions that share a text are one group, whatever metric they are about. The same answers give the same numbers on a board. Raises
    UsageError as `compare` does.
    """
    [judged] = judged_tables([source], options)
    diff = judged.hit - judged.baseline_hits()
    question = combination_ids([judged.judgments.metric], judged.item)
    keys, which = judged.keyed(OVERALL)
    differences = {}
    for key, rows in zip(keys, rows_by_number(which, len(keys)), strict=True):
        first, number = np.unique(question[rows], return_index=True, return_inverse=True)[1:]
        differences[tuple(key[name] for name in OVERALL)] = paired_difference(
            means_by(number, diff[rows]), np.zeros(len(first)), judged.group[rows][first], hypothesis=HYPOTHESIS
        )
    return differences


def summaries(by_metric: Sequence[Cell], pooled: Mapping[tuple[Any, ...], Difference] = {}) -> tuple[LanguageSummary, ...]:
    """Return one summary a language, judge and condition, from the cells that pool tasks and the differences that pool metrics."""
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in by_metric:
        groups.setdefault(tuple(cell.key.get(name) for name in OVERALL), []).append(cell)
    return tuple(_summarise(key, cells, pooled.get(key)) for key, cells in groups.items())


def _summarise(key: tuple[Any, ...], cells: Sequence[Cell], overall: Difference | None) -> LanguageSummary:
    cells = [cell for cell in cells if not cell.continuous]
    n_ref = sum(cell.n_ref for cell in cells)
    return LanguageSummary(
        **dict(zip(OVERALL, key, strict=True)),
        n_ref=n_ref,
        n=sum(cell.n for cell in cells),
        pa_failed_wrong=_pool_share(cells, n_ref, lambda cell: cell["pa_failed_wrong"]),
        baseline=_pool_share(cells, n_ref, lambda cell: cell.vs_baseline["pa"]),
        diff=number(overall.diff) if overall else None,
        ci=bounds(overall.interval) if overall else None,
        p=number(overall.p) if overall else None,
    )


def _pool_share(cells: Sequence[Cell], n_ref: int, share: Callable[[Cell], float | None]) -> float:
    """Return a share over all of the cells' references."""
    return sum((share(cell) or 0.0) * cell.n_ref for cell in cells) / n_ref if n_ref else 0.0
