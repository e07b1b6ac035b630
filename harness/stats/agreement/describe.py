"""Levels instead of agreement: means, standard deviations, leniency, the use of classes by level of agreement, and variety of answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Estimate, Floats, Ints, ShapeError, as_values
from harness.stats.core.rows import Rows
from harness.stats.core.statistic import Statistic, estimate_judge, mean_of, ratio
from harness.stats.core.tables import Rule, aggregate_counts

Direction = Literal[1, -1]
LEVELS = ("full", "partial", "none")
RARE = 15.0
"""Cells whose rarest class is expected less often are marked "few rare cases"."""


@dataclass(frozen=True, slots=True)
class Leniency:
    """[used, (judge - mean of the annotators) x direction] of items with both."""

    values: tuple[float, ...]
    direction: Direction
    judge: int = 0

    def __call__(self, rows: Rows, /) -> Floats:
        score, v = rows.judge(self.judge), np.asarray(self.values)
        used = (rows.raters >= 1) & (score >= 0)
        mean = rows.counts @ v / np.maximum(rows.raters, 1)
        y = np.where(used, v[np.maximum(score, 0)] - mean, 0.0) * self.direction
        return np.stack([used.astype(np.float64), y], axis=1)


@dataclass(frozen=True, slots=True)
class Scores:
    """[scores, their sum, their sum of squares]: of the annotators' labels, or of a judge."""

    values: tuple[float, ...]
    judge: int | None = None

    def __call__(self, rows: Rows, /) -> Floats:
        v = np.asarray(self.values)
        powers = np.stack([np.ones(len(v)), v, v * v], axis=1)
        if self.judge is None:
            return np.asarray(rows.counts @ powers)
        score = rows.judge(self.judge)
        return np.where(score[:, None] >= 0, powers[np.maximum(score, 0)], 0.0)


def leniency_of_judge(k: int, direction: Direction, values: ArrayLike | None = None, *, judge: int = 0) -> Statistic:
    """Leniency as a statistic of many cells; see `leniency`."""
    v = _numbers(values, k)
    reach = v[-1] - v[0]
    return Statistic("leniency", Leniency(v, direction, judge), mean_of, "difference", (-reach, reach))


def mean_score(k: int, values: ArrayLike | None = None, *, judge: int | None = None) -> Statistic:
    """Mean of the annotators' labels ("mean_labels") or of a judge's scores ("mean_judge"); n counts scores."""
    v = _numbers(values, k)
    name, empty = ("mean_labels", "no label") if judge is None else ("mean_judge", "no readable score")
    return Statistic(name, Scores(v, judge), mean_of, "mean", (v[0], v[-1]), empty)


def sd_score(k: int, values: ArrayLike | None = None, *, judge: int | None = None) -> Statistic:
    """Standard deviation (n - 1) of the labels ("sd_labels") or of a judge's scores ("sd_judge")."""
    v = _numbers(values, k)
    name, empty = ("sd_labels", "no label") if judge is None else ("sd_judge", "no readable score")
    bounds = (0.0, v[-1] - v[0])
    return Statistic(name, Scores(v, judge), sd_of_sums, "spread", bounds, empty, "a single score")


DESCRIPTIONS: tuple[Callable[..., Statistic], ...] = (mean_score, sd_score)
"""Statistics of the scores of one rater alone, of every cell: each takes the number of classes, their values and the judge."""


def sd_of_sums(sums: Floats) -> Floats:
    """Standard deviation (n - 1) of sums (..., 3) of 1, scores and squares; NaN with fewer than two scores.

    >>> float(sd_of_sums(np.array([2.0, 4.0, 10.0])).round(4))
    1.4142
    """
    n, total, squares = np.moveaxis(sums, -1, 0)
    remaining = np.maximum(squares - total**2 / np.maximum(n, 1), 0.0)
    return np.sqrt(ratio(remaining, np.where(n > 1, n - 1, 0.0)))


def leniency(judge: ArrayLike, labels: ArrayLike, k: int, direction: Direction, values: ArrayLike | None = None) -> Estimate:
    """Return the statistic of leniency: how much better than the annotators a judge scores the items, in points of the scale.

    mean over items of (judge - mean of the item's annotators) x direction, so that + is toward `best`.

    Args:
        judge: (items,) class codes 0 … k-1, NaN or -1 where there is no readable score.
        labels: (items, raters) class codes, NaN or -1 where missing.
        k: number of classes of an ordinal or interval scale.
        direction: 1 if the highest class is best, -1 if the lowest is.

    Returns:
        value in points and n, the items with a label and a score; NaN and "no overlap" without any.

    >>> leniency([2, 2, 1], [[2, 1], [1, 1], [1, -1]], k=3, direction=1)
    Estimate(value=0.5, n=3, reason=None)
    """
    return estimate_judge(leniency_of_judge(k, direction, values), judge, labels, k)


def agreement_level(counts: ArrayLike, raters: int | None = 3) -> Ints:
    """The level of agreement of an item's annotators: 0 full (one class), 1 partial, 2 none (all different), as in `LEVELS`.

    Args:
        counts: (items, k) from `count_classes`.
        raters: only items with exactly so many labels have a level; None: all items with two labels or more.

    Returns:
        (items,) levels, -1 for items without one.

    Reference: Hada et al. (2023), three annotators.

    >>> agreement_level([[3, 0, 0], [2, 1, 0], [1, 1, 1], [1, 1, 0]]).tolist()
    [0, 1, 2, -1]
    """
    table = np.asarray(counts, np.int64)
    if table.ndim != 2:
        raise ShapeError(f"counts must be items x classes, got shape {table.shape}")
    n, most = table.sum(axis=1), table.max(axis=1, initial=0)
    level = np.where(most == n, 0, np.where(most == 1, 2, 1))
    return np.where((n >= 2) if raters is None else (n == raters) & (n >= 2), level, -1)


class Distribution(NamedTuple):
    """Shares of the classes per cell and level of agreement, of judge and people; NaN without items.

    `labels` and `judge`: (cells, 3, k) shares of labels, and of readable scores, on the items of that level; `items`:
    (cells, 3).
    """

    labels: Floats
    judge: Floats
    items: Ints


def distribution_by_agreement(rows: Rows, *, raters: int | None = 3, judge: int = 0) -> Distribution:
    """Class distributions of labels and judge by full, partial and no agreement of the annotators.

    Args:
        rows: from `tabulate`, with a judge.
        raters: as `agreement_level`.
        judge: column of the judge.

    Returns:
        `Distribution`; each row of shares sums to 1 or is NaN.

    Reference: Hada et al. (2023), class distributions by agreement.

    >>> from harness.stats.core.rows import tabulate
    >>> found = distribution_by_agreement(tabulate([[3, 0], [2, 1], [2, 1]], [0, 1, 0]))
    >>> found.items.tolist(), found.judge[0, 1].tolist()
    ([[1, 2, 0]], [0.5, 0.5])
    """
    level, score = agreement_level(rows.counts, raters), rows.judge(judge)
    at_level = (level[:, None] == np.arange(3)).astype(np.float64)  # (P, 3)
    chosen = (score[:, None] == np.arange(rows.k)).astype(np.float64)  # (P, k)
    shape = (rows.cells, 3, rows.k)
    labels = rows.sums((at_level[:, :, None] * rows.counts[:, None, :]).reshape(len(level), 3 * rows.k)).reshape(shape)
    scores = rows.sums((at_level[:, :, None] * chosen[:, None, :]).reshape(len(level), 3 * rows.k)).reshape(shape)
    return Distribution(_shares(labels), _shares(scores), np.rint(rows.sums(at_level)).astype(np.int64))


def distribution_of_labels(rows: Rows) -> Floats:
    """Shares (cells, k) of the classes among all labels; NaN in a cell without any.

    >>> from harness.stats.core.rows import tabulate
    >>> distribution_of_labels(tabulate([[3, 0], [0, 1]])).tolist()
    [[0.75, 0.25]]
    """
    return _shares(rows.sums(rows.counts.astype(np.float64)))


def distribution_of_judge(rows: Rows, judge: int = 0) -> Floats:
    """Shares (cells, k) of the classes among a judge's readable scores; NaN in a cell without any.

    >>> from harness.stats.core.rows import tabulate
    >>> distribution_of_judge(tabulate([[3, 0], [0, 1], [0, 1]], [0, 1, -1])).tolist()
    [[0.5, 0.5]]
    """
    return _shares(rows.sums((rows.judge(judge)[:, None] == np.arange(rows.k)).astype(np.float64)))


class Coverage(NamedTuple):
    """Per cell: `n_ref` items with a reference, `n` of them with a readable score, their ratio (NaN without any)."""

    n_ref: Ints
    n: Ints
    coverage: Floats


def coverage(rows: Rows, *, rule: Rule = "drop", judge: int = 0) -> Coverage:
    """The share of references for which a judge has a readable score.

    Under `strict`, items without a majority count as references, with which nobody can agree.

    >>> from harness.stats.core.rows import tabulate
    >>> [x.tolist() for x in coverage(tabulate([[3, 0], [0, 1], [1, 1]], [0, -1, 1]))]
    [[2], [1], [0.5]]
    """
    reference = aggregate_counts(rows.counts, rule)
    has_reference = rows.raters >= 1 if rule == "strict" else reference >= 0
    sums = rows.sums(np.stack([has_reference, has_reference & (rows.judge(judge) >= 0)], axis=1).astype(np.float64))
    n_ref, n = np.rint(sums).astype(np.int64).T
    return Coverage(n_ref, n, ratio(sums[:, 1], sums[:, 0]))


def rarest_expected(rows: Rows) -> Floats:
    """Expected number of items of the scale's rarest class, per cell: its share of the labels x labelled items.

    Below `RARE` (15) a cell is marked "few rare cases".

    >>> from harness.stats.core.rows import tabulate
    >>> rarest_expected(tabulate([[3, 0], [0, 3], [3, 0]])).tolist()
    [1.0]
    """
    labels = rows.sums(rows.counts.astype(np.float64))
    items = rows.sums((rows.raters >= 1).astype(np.float64)[:, None])[:, 0]
    return np.asarray(labels.min(axis=1) / np.maximum(labels.sum(axis=1), 1) * items)


def uncommon_expected(rows: Rows) -> Floats:
    """Expected number of items outside the commonest class, per cell: the other classes' share of the labels x labelled items.

    >>> from harness.stats.core.rows import tabulate
    >>> uncommon_expected(tabulate([[3, 0, 0], [0, 3, 0], [2, 0, 1], [3, 0, 0]])).round(2).tolist()
    [1.33]
    """
    labels = rows.sums(rows.counts.astype(np.float64))
    items = rows.sums((rows.raters >= 1).astype(np.float64)[:, None])[:, 0]
    return np.asarray((1 - labels.max(axis=1) / np.maximum(labels.sum(axis=1), 1)) * items)


def entropy_bits(counts: ArrayLike) -> Floats:
    """Shannon's entropy of counts, in bits: 0 if all answers are the same, log2(n) if all n differ.

    -sum p log2 p over the last axis, p = counts / their sum.

    Args:
        counts: (..., k) how often each answer was given; not negative.

    Returns:
        (...) bits in [0, log2 k]; NaN without answers.

    Raises:
        ValueError: for negative counts.

    Reference: Shannon (1948).

    >>> entropy_bits([[5, 0], [2, 2], [0, 0]]).tolist()
    [0.0, 1.0, nan]
    """
    table = np.asarray(counts, np.float64)
    if (table < 0).any():
        raise ValueError("counts are not negative")
    total = table.sum(axis=-1, keepdims=True)
    share = np.divide(table, total, out=np.zeros_like(table), where=total > 0)
    logs = np.log2(share, out=np.zeros_like(share), where=share > 0)
    bits = -(share * logs).sum(axis=-1) + 0.0  # no -0
    return np.where(total[..., 0] > 0, bits, np.nan)


def _shares(counts: Floats) -> Floats:
    return ratio(counts, counts.sum(axis=-1, keepdims=True))


def _numbers(values: ArrayLike | None, k: int) -> tuple[float, ...]:
    return tuple(as_values(values, k).tolist())
