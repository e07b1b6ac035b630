"""One judge in one language over all metrics together, beside the majority baseline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.measure.cells import Cell, bounds, number
from harness.measure.pooled import OVERALL
from harness.model import ConditionRow
from harness.stats import Difference


class LanguageSummary(ConditionRow, frozen=True, kw_only=True):
    """One judge in one language over all metrics together: its agreement with the labels beside that of the majority baseline.

    `diff` is the judge minus the baseline, with its interval `ci` and its `p`, None where they are undefined. Continuous scores equal no
    label: their metrics do not count, and `n_ref` is 0 if there are no others.
    """

    language: str
    n_ref: int
    n: int
    pa_failed_wrong: float
    baseline: float
    diff: float | None = None
    ci: tuple[float, float] | None = None
    p: float | None = None


def summaries(by_metric: Sequence[Cell], pooled: Mapping[tuple[Any, ...], Difference] = {}) -> tuple[LanguageSummary, ...]:
    """One summary a language, judge and condition, from the cells that pool tasks and the differences that pool metrics."""
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in by_metric:
        groups.setdefault(tuple(cell.key.get(name) for name in OVERALL), []).append(cell)
    return tuple(_summary(key, cells, pooled.get(key)) for key, cells in groups.items())


def _summary(key: tuple[Any, ...], cells: Sequence[Cell], overall: Difference | None) -> LanguageSummary:
    cells = [cell for cell in cells if not cell.continuous]
    n_ref = sum(cell.n_ref for cell in cells)
    return LanguageSummary(
        **dict(zip(OVERALL, key, strict=True)),
        n_ref=n_ref,
        n=sum(cell.n for cell in cells),
        pa_failed_wrong=_pooled(cells, n_ref, lambda cell: cell["pa_failed_wrong"]),
        baseline=_pooled(cells, n_ref, lambda cell: cell.vs_baseline["pa"]),
        diff=number(overall.diff) if overall else None,
        ci=bounds(overall.interval) if overall else None,
        p=number(overall.p) if overall else None,
    )


def _pooled(cells: Sequence[Cell], n_ref: int, share: Callable[[Cell], float | None]) -> float:
    """A share over all of the cells' references."""
    return sum((share(cell) or 0.0) * cell.n_ref for cell in cells) / n_ref if n_ref else 0.0
