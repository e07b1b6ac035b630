"""Measurements beside the verdicts: for the limits of a policy, and of a judge's differences from people over sets of texts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from harness.decide.cell_tests import CellTests
from harness.decide.options import DecisionOptions
from harness.measure.compare import JudgedTables
from harness.measure.item_table import ItemTable, item_tables
from harness.model import CellKey
from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.shrinkage import meta_analysis
from harness.stats.intervals.intervals import proportion_interval
from harness.stats.intervals.judge_tests import judge_tests
from harness.stats.intervals.multiplicity import holm
from harness.stats.intervals.paired import paired_difference


class LimitedNumber(NamedTuple):
    """A number with its 95 % interval. Undefined numbers are NaN; `reason` says why there is no interval, else it is empty.

    `n` counts the items, `groups` the independent texts.
    """

    value: float
    lower: float
    upper: float
    n: int
    groups: int
    reason: str


def unread_shares(cells: Mapping[CellKey, ItemTable]) -> dict[CellKey, LimitedNumber]:
    """Return the share of labelled items without a readable answer, by cell; in [0, 1], with the interval of a share over groups.

    Repeats of a question are averaged first, so an item counts once however often it was asked.
    """
    return {CellKey.of(cell.key): _share(cell.unread[cell.labelled], cell.group[cell.labelled]) for cell in cells.values()}


def agreement_by_item(cell: ItemTable) -> LimitedNumber:
    """Return how often the judge gives the aggregate, in [0, 1], where every item counts once however often it was asked."""
    hits = cell.hits
    compared = ~np.isnan(hits)
    return _share(hits[compared], cell.group[compared])


def _share(hits: Floats, group: Ints) -> LimitedNumber:
    interval = proportion_interval(hits, group)
    value = float(hits.mean()) if len(hits) else float("nan")
    return LimitedNumber(value, interval.lo, interval.hi, len(hits), interval.groups, interval.reason or "")


def is_evenly_asked(cell: ItemTable) -> bool:
    """Return True if every item with an aggregate has as many judgments as any other, so that no item weighs more in pooled numbers."""
    times = cell.asked[~np.isnan(cell.hits)]
    return not len(times) or bool(times.min() == times.max())


def items_of_cells(aligned: JudgedTables) -> dict[CellKey, ItemTable]:
    """Return the items of every cell."""
    return {CellKey.of(cell.key): cell for judged in aligned.tables for cell in item_tables(judged, sample=False)}


def drop(new: ItemTable, old: ItemTable) -> LimitedNumber:
    """Return how much less often the judge gives the aggregate than in an earlier run, on the items that both have; in [-1, 1].

    Above 0 the new run is worse. The interval is that of `paired_difference`.
    """
    position = {item: number for number, item in enumerate(old.item_ids)}
    common = [(number, position[item]) for number, item in enumerate(new.item_ids) if item in position]
    new_rows, old_rows = (np.array(side, np.int64) for side in (zip(*common, strict=True) if common else ((), ())))
    difference = paired_difference(old.hits[old_rows], new.hits[new_rows], new.group[new_rows])
    interval = difference.interval
    reason = difference.reason or interval.reason or ""
    return LimitedNumber(difference.diff, interval.lo, interval.hi, difference.n, interval.groups, reason)


def no_worse_than_people(tests: CellTests, margin: float, options: DecisionOptions) -> tuple[float, float]:
    """Return p of "no more than `margin` worse than people" and of "more than that worse"; NaN without annotators.

    Both are the tests of the verdict (docs/rule.md) under the same options, but at a margin of the policy's own; they are for a
    correction at `options.alpha`.
    """
    p = judge_tests(tests.sums, margin, options.effective_groups).to_correct(options.alpha)
    return float(p.gap), float(p.worse)


def better_than_baseline(tests: CellTests, alpha: float) -> tuple[float, float]:
    """Return p of "better than the majority baseline", and of "worse than it", for a correction at `alpha`."""
    p = tests.tests.to_correct(alpha)
    return float(p.base), float(p.base_worse)


def corrected(p: Sequence[float]) -> list[float]:
    """Return Holm's corrected p-values of one family; NaN stays NaN and is no member."""
    return [float(value) for value in holm(list(p))]


LEAST_SETS = 3


class GapOverSets(NamedTuple):
    """The standard deviation of the difference between sets, with its 95 % interval, as shares; and the share of its variance, I²."""

    sd: float
    lo: float
    hi: float
    i2: float


def gap_over_sets(gaps: Sequence[float], errors: Sequence[float]) -> GapOverSets | None:
    """Return the heterogeneity of differences of judge and people, one a set, with their standard errors; None with fewer than three sets.

    Sets whose difference has no error (its groups do not vary) are left out. The sets are not averaged.

    >>> [round(number, 3) for number in gap_over_sets([-0.05, 0.0, 0.1], [0.02, 0.03, 0.04])]
    [0.069, 0.023, 0.479, 0.827]
    """
    estimates = [(gap, error) for gap, error in zip(gaps, errors, strict=True) if error > 0]
    if len(estimates) < LEAST_SETS:
        return None
    summary = meta_analysis([gap for gap, _ in estimates], [error**2 for _, error in estimates])
    lo, hi = summary.tau2_interval
    return GapOverSets(math.sqrt(summary.tau2), math.sqrt(lo), math.sqrt(hi), summary.i2)
