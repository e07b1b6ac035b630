"""Measurements for a policy's limits, beside cells and their tests: unread answers, drops from an earlier run, corrected p-values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.decide.cell_tests import CellTests
from harness.decide.options import DecisionOptions
from harness.decide.rows_by_cell import rows_by_cell
from harness.measure.compare import AlignedData
from harness.measure.judged_table import means_by
from harness.model import CellKey
from harness.stats import holm, paired_difference
from harness.stats.core.arrays import Floats, Ints
from harness.stats.intervals.intervals import proportion_interval
from harness.stats.intervals.judge_tests import judge_tests


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


def unread_shares(laid_out: AlignedData) -> dict[CellKey, LimitedNumber]:
    """The share of labelled items without a readable answer, by cell; in [0, 1], with the interval of a share over groups.

    Repeats of a question are averaged first, so an item counts once however often it was asked.
    """
    found = {}
    for judged in laid_out.judged:
        group = judged.data.clusters.codes
        for key, rows in rows_by_cell(judged, by_source=False):
            labelled = judged.labels[key["metric"]].counts[judged.item[rows]].sum(axis=1) > 0
            kept = rows[labelled]
            unread = (judged.judgments.score.codes[kept] < 0).astype(np.float64)
            items, question = np.unique(judged.item[kept], return_inverse=True)
            found[CellKey.of(key)] = _share(means_by(question, unread), group[items])
    return found


def agreement_by_item(cell: CellHits) -> LimitedNumber:
    """How often the judge gives the aggregate, in [0, 1], where every item counts once however often it was asked.

    >>> cell = CellHits(("a", "b"), np.array([1.0, 0.0]), np.array([0, 1]), np.array([9, 1]))
    >>> agreement_by_item(cell)[:1], cell.evenly_asked
    ((0.5,), False)
    """
    known = ~np.isnan(cell.hits)
    return _share(cell.hits[known], cell.group[known])


def _share(hits: Floats, group: Ints) -> LimitedNumber:
    interval = proportion_interval(hits, group)
    value = float(hits.mean()) if len(hits) else float("nan")
    return LimitedNumber(value, interval.lo, interval.hi, len(hits), interval.groups, interval.reason or "")


class CellHits(NamedTuple):
    """The items of one cell, (items,): ids, whether the judge gives the aggregate (averaged over repeats), groups, numbers of judgments."""

    items: tuple[str, ...]
    hits: Floats
    group: Ints
    judgments: Ints

    @property
    def evenly_asked(self) -> bool:
        """Whether every item with an aggregate has as many judgments as any other, so that no item weighs more in pooled numbers."""
        of = self.judgments[~np.isnan(self.hits)]
        return not len(of) or bool(of.min() == of.max())


def cell_hits(laid_out: AlignedData) -> dict[CellKey, CellHits]:
    """The hits of every cell, failures as wrong; NaN where an item has no aggregate, and on continuous scores."""
    found = {}
    for judged in laid_out.judged:
        group, ids = judged.data.clusters.codes.astype(np.int64), [item.item_id for item in judged.data.items]
        for key, rows in rows_by_cell(judged, by_source=False):
            items, question, judgments = np.unique(judged.item[rows], return_inverse=True, return_counts=True)
            hits, names = means_by(question, judged.hit[rows]), tuple(ids[item] for item in items.tolist())
            found[CellKey.of(key)] = CellHits(names, hits, group[items], judgments)
    return found


def drop(new: CellHits, old: CellHits) -> LimitedNumber:
    """How much less often the judge gives the aggregate than in an earlier run, on the items that both have; in [-1, 1].

    Above 0 the new run is worse. The interval is that of `paired_difference`.

    >>> hits = CellHits(("a", "b"), np.array([1.0, 1.0]), np.array([0, 1]), np.array([1, 1]))
    >>> drop(hits._replace(hits=np.array([1.0, 0.0])), hits)[:1]
    (0.5,)
    """
    place = {item: number for number, item in enumerate(old.items)}
    common = [(number, place[item]) for number, item in enumerate(new.items) if item in place]
    ours, theirs = (np.array(side, np.int64) for side in (zip(*common, strict=True) if common else ((), ())))
    found = paired_difference(old.hits[theirs], new.hits[ours], new.group[ours])
    interval = found.interval
    return LimitedNumber(found.diff, interval.lo, interval.hi, found.n, interval.groups, found.reason or interval.reason or "")


def no_worse_than_people(tests: CellTests, margin: float, options: DecisionOptions) -> tuple[float, float]:
    """p of "no more than `margin` worse than people" and of "more than that worse"; NaN without annotators.

    Both are the tests of the verdict (docs/decisions.md) under the same options, but at a margin of the policy's own; they are for a
    correction at `options.alpha`.
    """
    found = judge_tests(tests.sums, margin, options.effective_groups).to_correct(options.alpha)
    return float(found.gap), float(found.worse)


def better_than_baseline(tests: CellTests, alpha: float) -> tuple[float, float]:
    """p of "better than the majority baseline", and of "worse than it", for a correction at `alpha`."""
    found = tests.tests.to_correct(alpha)
    return float(found.base), float(found.base_worse)


def corrected(p: Sequence[float]) -> list[float]:
    """Holm's corrected p-values of one family; NaN stays NaN and is no member."""
    return [float(value) for value in holm(list(p))]
