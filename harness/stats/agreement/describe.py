"""Levels instead of agreement: means, standard deviations, leniency, the use of classes by level of agreement, and variety of answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Estimate, Floats, Ints, ShapeError, as_codes, as_index, as_values, same_shape
from harness.stats.core.rows import Rows, Rule, aggregate_counts
from harness.stats.core.statistic import Statistic, estimate_judge, mean_of, ratio
from harness.stats.intervals.intervals import MIN_GROUPS, TOO_FEW

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


NOBODY_DIFFERS = "no discordant units"
"""Reason of a test that has nothing to test: both raters gave the same class to every unit."""


class MarginTest(NamedTuple):
    """`statistic` (chi², or the smaller discordant count if exact), its `df`, `p`, the n pairs, and a reason."""

    statistic: float
    df: int
    p: float
    n: int
    reason: str | None = None


def stuart_maxwell(a: ArrayLike, b: ArrayLike, k: int, groups: ArrayLike | None = None) -> MarginTest:
    """Test that two raters have the same margins over the classes.

    With d = the differences of the margins and V = sum over units of (e_a - e_b)(e_a - e_b)', chi² = d' V⁺ d with
    df = rank V. Independent units are tested by statsmodels (see `stuart_maxwell_of_table`). Where units share a group,
    V sums the squares of the groups' sums of (e_a - e_b); statsmodels has no such form.

    Args:
        a, b: (n,) class codes 0 … k-1 of two single raters, NaN or -1 where missing.

    Returns:
        chi², df, p and the n units with both; NaN if n == 0 ("no overlap"), if nobody differs ("no discordant units"),
        or if units share groups and there are fewer than 8 groups ("too few independent texts").

    Reference: Stuart (1955); Maxwell (1970); Durkalski et al. (2003) for clusters.

    >>> table = [[20, 10, 5], [3, 30, 15], [0, 5, 40]]
    >>> stuart_maxwell_of_table(table).df
    2
    """
    x, y, shared = _pairs(a, b, k, groups)
    if shared is None:
        return stuart_maxwell_of_table(np.bincount(x * k + y, minlength=k * k).reshape(k, k))
    index = as_index(shared, len(x), "groups")
    if (count := int(index.max()) + 1) < MIN_GROUPS:
        return _undefined(len(x), TOO_FEW)
    moves = np.zeros((count, k))
    np.add.at(moves, (index, x), 1)
    np.add.at(moves, (index, y), -1)
    v = moves.T @ moves
    if not np.any(np.diag(v) > 0):
        return _undefined(len(x), NOBODY_DIFFERS)
    d = moves.sum(axis=0)
    statistic = float(d @ np.linalg.pinv(v, hermitian=True) @ d)
    return _chi_square(statistic, int(np.linalg.matrix_rank(v, hermitian=True)), len(x))


def stuart_maxwell_of_table(table: ArrayLike) -> MarginTest:
    """`stuart_maxwell` of independent units, from a k x k table of their counts, rater a in rows.

    The test is `SquareTable.homogeneity` of statsmodels. Its matrix is singular where some classes never mix with the
    others, so that each set of classes that mix is tested by itself; the chi² and the df of the sets add up.

    Raises ShapeError if the table is not square.

    >>> found = stuart_maxwell_of_table([[20, 10, 5], [3, 30, 15], [0, 5, 40]])
    >>> round(found.statistic, 6), found.df, round(found.p, 7)
    (13.764706, 2, 0.0010257)
    """
    t = np.asarray(table, np.float64)
    if t.ndim != 2 or t.shape[0] != t.shape[1]:
        raise ShapeError(f"table must be k x k, got shape {t.shape}")
    n = int(t.sum())
    if not n:
        return _undefined(0, "no overlap")
    if n == np.trace(t):
        return _undefined(n, NOBODY_DIFFERS)
    from scipy.sparse.csgraph import connected_components
    from statsmodels.stats.contingency_tables import SquareTable

    sets, of_class = connected_components(t, directed=False)
    statistic, df = 0.0, 0
    for index in range(sets):
        classes = np.flatnonzero(of_class == index)
        if len(classes) > 1:
            homogeneity = SquareTable(t[np.ix_(classes, classes)], shift_zeros=False).homogeneity()
            statistic, df = statistic + float(homogeneity.statistic), df + int(homogeneity.df)
    return _chi_square(statistic, df, n)


def mcnemar(a: ArrayLike, b: ArrayLike, groups: ArrayLike | None = None, *, method: Literal["exact", "chi2"] = "exact") -> MarginTest:
    """Test that two binary raters (or two conditions' hits) are 1 equally often.

    exact: the smaller of the discordant counts under Binomial(b + c, ½), two-sided, by statsmodels. chi2:
    (b - c)² / (b + c), df 1, without correction; with `groups`, (sum d_g)² / sum d_g² over the groups' sums of a - b.

    Args:
        a, b: (n,) 0 or 1, NaN or -1 where missing.
        groups: (n,) codes of what units share; only `chi2` accepts units that share one.
        method: `exact` or `chi2`.

    Returns:
        statistic, df (0 if exact), p and n; NaN if nothing is discordant.

    Raises:
        ValueError: for `exact` with units that share a group.

    Reference: McNemar (1947); Durkalski et al. (2003).

    >>> mcnemar([1] * 12 + [0] * 5, [0] * 10 + [1] * 7).p.__round__(4)
    0.3018
    """
    x, y, shared = _pairs(a, b, 2, groups)
    if method == "chi2":
        return stuart_maxwell(x, y, 2, shared)
    if shared is not None:
        raise ValueError("McNemar's exact test needs independent units: use method='chi2' with groups")
    if not (x != y).any():
        return _undefined(len(x), NOBODY_DIFFERS if len(x) else "no overlap")
    from statsmodels.stats.contingency_tables import mcnemar as exact_test

    test = exact_test(np.bincount(x * 2 + y, minlength=4).reshape(2, 2), exact=True)
    return MarginTest(float(test.statistic), 0, float(test.pvalue), len(x))


def _pairs(a: ArrayLike, b: ArrayLike, k: int, groups: ArrayLike | None) -> tuple[Ints, Ints, np.ndarray[Any, np.dtype[Any]] | None]:
    """Codes of the units with both; groups, or None where every group is single."""
    x, y = as_codes(a, k, "a"), as_codes(b, k, "b")
    same_shape("one-dimensional and of one length", a=x, b=y)
    used = (x >= 0) & (y >= 0)
    if groups is None:
        return x[used], y[used], None
    index = as_index(groups, len(x), "groups")[used]
    return x[used], y[used], index if len(np.unique(index)) < len(index) else None


def _chi_square(statistic: float, df: int, n: int) -> MarginTest:
    """The p is the upper tail itself: statsmodels takes 1 - cdf, which is 0 below 1e-16."""
    from scipy.stats import chi2

    statistic = max(0.0, statistic)
    return MarginTest(statistic, df, float(chi2.sf(statistic, df)), n)


def _undefined(n: int, reason: str) -> MarginTest:
    return MarginTest(np.nan, 0, np.nan, n, reason)
