"""Tests of a judge in one cell: no worse than people, better than a constant, worse than either, and varying less than people do.

Where few groups hold most of the texts, each of the first four tests is made twice. The *capped* p counts a large group for no more than c
texts, so that the groups stand for 15 equal ones; it is compared at the level that many cells leave. A capped mean is another mean, so the
*plain* p, of all texts, has to be at most alpha as well, which needs no correction: both have to hold. The last test is exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.options import LEAST_EFFECTIVE
from harness.stats.core.arrays import Floats, ShapeError, as_codes, as_index, same_shape
from harness.stats.core.groups import ClusterVariance, GroupSums, effective_groups, group_cap, relative_weights
from harness.stats.core.many_cells import batch_by_shape
from harness.stats.intervals.cluster_mean import MeanTest, mean_of_sums
from harness.stats.intervals.noninferiority import GuardedMean, guarded_mean

_UNSEEN = 0.25  # of a text's group: found in the worlds of docs/error-rates.md, where less is too little and half a group has no power
_ROUNDING = 1e-9
_MANY_TRIALS = 500  # that are added one after the other


class JudgeSums(NamedTuple):
    """Sums over the same groups, (..., groups): of the gaps, and of the differences from the baseline. A group may have none of either."""

    gap: GroupSums
    baseline: GroupSums

    @property
    def size(self) -> Floats:
        """The sizes of groups by which large ones are capped: their gaps, or where there are none, the differences from the baseline."""
        gaps = np.asarray(np.vecdot(self.gap.size, self.gap.times) > 0)
        return self.gap.size if gaps.all() else np.where(gaps[..., None], self.gap.size, self.baseline.size)

    def capped(self, cap: ArrayLike) -> JudgeSums:
        """With no group that counts for more than `cap` (...) gaps; its differences from the baseline are multiplied by the same factor."""
        if np.isinf(cap).all():
            return self
        size = self.size
        f = np.minimum(1.0, np.asarray(cap, np.float64)[..., None] / np.where(size > 0, size, 1.0))
        return JudgeSums(*(GroupSums(f * sums.y, f * sums.size, sums.times) for sums in self))


class PValues(NamedTuple):
    """One-sided p, (...): of "no more than the margin worse than people", "better than the baseline", and of "worse" than each."""

    gap: Floats
    base: Floats
    worse: Floats
    base_worse: Floats

    @property
    def use(self) -> Floats:
        """Return the p of both tests that a `use` needs. Reference: Berger (1982), intersection-union tests."""
        return np.maximum(self.gap, self.base)


class JudgeTests(NamedTuple):
    """p-values for the correction for many cells (`capped`), and those that have to be at most alpha uncorrected (`plain`).

    They are the same where no cap is needed. `effective` are the effective groups, `cap` the most gaps that a group counts for: infinity
    where none is needed.
    """

    capped: PValues
    plain: PValues
    effective: Floats
    cap: Floats

    @property
    def alone(self) -> PValues:
        """p of a cell that is tested alone: both have to hold."""
        return PValues(*(np.maximum(capped, plain) for capped, plain in zip(self.capped, self.plain, strict=True)))

    def to_correct(self, alpha: float) -> PValues:
        """One p each for a correction for many cells at `alpha`: the capped one, or the plain one where that is above alpha."""
        return PValues(*(to_correct(capped, plain, alpha) for capped, plain in zip(self.capped, self.plain, strict=True)))

    def shown(self, alpha: float, level: float) -> Floats:
        """Return True if `use` is shown at the `level` that many cells leave of `alpha`: (...) of bools."""
        return np.asarray(self.to_correct(alpha).use <= level)


def judge_sums(gap: ArrayLike, baseline: ArrayLike, groups: ArrayLike, weights: Floats | None = None) -> JudgeSums:
    """The items as the tests take them: the distinct sums of their groups.

    Args:
        gap: (items,) the judge's agreement minus people's, in [-1, 1]; NaN where an item has no two annotators.
        baseline: (items,) judge right less baseline right; NaN where an item has no aggregate.

    >>> found = judge_sums([0.0, -0.5, 0.5], [1.0, 0.0, float("nan")], [7, 7, 8])
    >>> found.gap.y.tolist(), found.gap.size.tolist(), found.baseline.size.tolist()
    ([0.5, -0.5], [1.0, 2.0], [0.0, 2.0])
    """
    d, b, codes = np.asarray(gap, np.float64), np.asarray(baseline, np.float64), np.asarray(groups)
    same_shape(gap=d, baseline=b, groups=codes)
    code = as_index(codes, len(codes), "groups")
    count = int(code.max(initial=-1)) + 1
    columns = []
    for values in (d, b):
        present = ~np.isnan(values)
        w = np.ones(int(present.sum())) if weights is None else relative_weights(weights[present])
        columns += [np.bincount(code[present], w * values[present], count), np.bincount(code[present], w, count)]
    rows = np.asarray(np.round(np.column_stack(columns), 14), np.float64)  # equal sums in another order are equal groups
    rows = rows[(rows[:, 1] > 0) | (rows[:, 3] > 0)]
    # The columns of the distinct rows, sorted by size, and how often each occurs.
    order = np.lexsort((rows[:, 2], rows[:, 3], rows[:, 0], rows[:, 1]))
    rows = rows[order]
    first = np.flatnonzero(np.r_[True, (np.diff(rows, axis=0) != 0).any(axis=1)]) if len(rows) else np.zeros(0, np.int64)
    times = np.diff(np.r_[first, len(rows)]).astype(np.float64)
    y, n, right, compared, times = *np.ascontiguousarray(rows[first].T), times
    return JudgeSums(GroupSums(y, n, times), GroupSums(right, compared, times))


def stacked(cells: Sequence[JudgeSums]) -> JudgeSums:
    """The sums of many cells as arrays (cells, groups); groups that a cell does not have are of size 0 and occur 0 times.

    >>> stacked([judge_sums([0.0], [1.0], [0]), judge_sums([0.0, 0.5, 0.5], [1.0] * 3, [0, 1, 1])]).gap.size.tolist()
    [[1.0, 0.0], [1.0, 2.0]]
    """
    groups = max((len(cell.gap.times) for cell in cells), default=0)
    columns = np.zeros((6, len(cells), groups))
    for row, cell in enumerate(cells):
        columns[:, row, : len(cell.gap.times)] = (*cell.gap, *cell.baseline)
    return JudgeSums(GroupSums(*columns[:3]), GroupSums(*columns[3:]))


def judge_tests(sums: JudgeSums, margin: float, least: float = LEAST_EFFECTIVE, *, variance: ClusterVariance = "cr2") -> JudgeTests:
    """The tests of one cell, or of many at once.

    Args:
        sums: from `judge_sums`, or arrays of shape (..., groups).
        margin: in [0, 1].
        least: effective groups below which large groups are capped, see `groups.group_cap`.
        variance: `cr1` takes groups as equal, and caps none.

    Returns:
        `JudgeTests` of shape (...); p NaN with fewer than two groups.

    Reference: docs/rule.md, "The tests".

    >>> few = judge_sums([0.0] * 40 + [0.1] * 30, [1.0] * 40 + [0.0, 1.0] * 15, [0] * 40 + list(range(1, 31)))
    >>> found = judge_tests(few, 0.1)
    >>> round(float(found.effective), 2), round(float(found.cap), 1), bool(found.capped.use < found.plain.use)
    (2.08, 3.0, True)
    """
    size, times = sums.size, sums.gap.times
    cap = group_cap(size, times, least if variance == "cr2" else 0.0)
    plain = p_values(judge_means(sums, variance=variance), margin)
    capped = plain if np.isinf(cap).all() else p_values(judge_means(sums, cap), margin)
    return JudgeTests(capped, plain, effective_groups(size, times), cap)


def judge_tests_each(cells: Sequence[JudgeSums], margin: float, least: float = LEAST_EFFECTIVE) -> list[JudgeTests]:
    """`judge_tests` of many cells: the same numbers, made at once for cells with as many distinct groups."""

    def tested(alike: Sequence[JudgeSums]) -> Iterator[JudgeTests]:
        tests = judge_tests(stacked(alike), margin, least)
        for cell in range(len(alike)):
            capped, plain = (PValues(*(p[cell] for p in ps)) for ps in (tests.capped, tests.plain))
            yield JudgeTests(capped, plain, tests.effective[cell], tests.cap[cell])

    return batch_by_shape(tested, cells, lambda sums: (len(sums.gap.times), bool(_come_together(sums.baseline))))


def to_correct(capped: Floats, plain: Floats, alpha: float) -> Floats:
    """The p for a correction for many cells at `alpha`: the capped one, or the larger of both where the plain one is above alpha."""
    return np.where(plain <= alpha, capped, np.maximum(capped, plain))


class JudgeMeans(NamedTuple):
    """The means that the tests compare with their hypotheses: gap and difference from the baseline, and each of them guarded.

    `worst` is the difference turned round, guarded by a part of a group in which the judge is right and the constant wrong.
    """

    guarded: GuardedMean
    gap: MeanTest
    baseline: MeanTest
    worst: GuardedMean | None


def judge_means(sums: JudgeSums, cap: ArrayLike = math.inf, variance: ClusterVariance = "cr2") -> JudgeMeans:
    """The means, with no group that counts for more than `cap` gaps."""
    gap, baseline = sums.capped(cap)
    if variance == "cr2":
        # None where every text is a group of its own: then no cases of a rare class come together.
        if not _come_together(baseline).any():
            worst: GuardedMean | None = None
        else:
            with np.errstate(divide="ignore", invalid="ignore"):
                texts_group = np.vecdot(baseline.size**2, baseline.times) / np.vecdot(baseline.size, baseline.times)
            unseen = np.maximum(1.0, _UNSEEN * texts_group)
            worst = guarded_mean(baseline._replace(y=-baseline.y), lost=unseen)
    else:
        worst = None
    return JudgeMeans(guarded_mean(sums.gap, cap, variance), mean_of_sums(gap, variance), mean_of_sums(baseline, variance), worst)


def _come_together(baseline: GroupSums) -> NDArray[np.bool_]:
    """Return True if a group has several texts (...)."""
    items, groups = np.vecdot(baseline.size, baseline.times), np.vecdot(baseline.size > 0, baseline.times)
    return np.asarray(items > groups * (1 + _ROUNDING))


class Bounds(NamedTuple):
    """Bounds of the gap and of the difference from the baseline, (...); NaN with fewer than two groups."""

    gap: Floats
    base: Floats


def lower_bounds(sums: JudgeSums, cap: ArrayLike, alpha: float, level: ArrayLike) -> Bounds:
    """The smaller of two bounds: with groups capped, at the `level` that many cells leave, and of all texts at `alpha`.

    A gap is shown to be above -margin wherever its bound is, and the difference from the baseline to be above 0 likewise.

    Args:
        sums: of one cell, or of many at once (`stacked`).
        cap: (...) from `judge_tests`, infinity where none is needed.
        alpha, level: of one test, and what many cells leave of it (...).

    >>> sums = judge_sums([0.0] * 70, [0.0, 1.0] * 35, range(70))
    >>> [round(float(each), 3) for each in lower_bounds(sums, math.inf, 0.05, 0.05 / 45)]
    [-0.156, 0.309]
    """
    bounds, is_capped = _bounds(sums, cap, level), np.isfinite(cap)
    if not is_capped.any():
        return bounds
    plain = _bounds(sums, math.inf, alpha)
    return Bounds(*(np.where(is_capped, np.minimum(*limits), limits[0])[()] for limits in zip(bounds, plain, strict=True)))


def upper_bounds(sums: JudgeSums, cap: ArrayLike, alpha: float, level: Bounds) -> Bounds:
    """The larger of two bounds, as `lower_bounds` is the smaller: by the one-sided t-tests of "worse than people" and "than the baseline".

    A gap is shown to be below -margin wherever its bound is. A difference that is shown to be below 0 has its bound below 0; "worse than
    the baseline" needs its guarded test beside (`p_values`). `level` has one for each of the two, as each is corrected by itself.

    >>> sums = judge_sums([0.1] * 70, [0.0, 1.0] * 35, range(70))
    >>> [round(float(each), 3) for each in upper_bounds(sums, math.inf, 0.05, Bounds(0.05 / 45, 0.05))]
    [0.1, 0.6]
    """
    capped = sums.capped(cap)
    bounds = [-mean_of_sums(part._replace(y=-part.y)).lower_bound(part_level) for part, part_level in zip(capped, level, strict=True)]
    is_capped = np.isfinite(cap)
    if is_capped.any():
        plain = (-mean_of_sums(part._replace(y=-part.y)).lower_bound(alpha) for part in sums)
        bounds = [np.where(is_capped, np.maximum(*limits), limits[0]) for limits in zip(bounds, plain, strict=True)]
    return Bounds(*(bound[()] for bound in bounds))


def _bounds(sums: JudgeSums, cap: ArrayLike, level: ArrayLike) -> Bounds:
    base = mean_of_sums(sums.capped(cap).baseline).lower_bound(level)
    return Bounds(guarded_mean(sums.gap, cap).bound(level), base[()])


def p_values(means: JudgeMeans, margin: float) -> PValues:
    """The p-values of these means.

    "Worse than the baseline" is false too often by the t-test if the cases of a rare class come together in few groups: the judge wins
    there, and a sample with few such groups shows too few wins and too little variation. So the larger p of the t-test and of the guarded
    test counts, with an added group in which the judge wins every item, a quarter as large as the group of a text is on average: where
    groups are unequal, the cases that a sample lacks come in large ones.
    """
    base_worse = means.baseline.p_below(0.0)
    if means.worst is not None:
        base_worse = np.maximum(base_worse, means.worst.p(0.0))
    return PValues(means.guarded.p(margin), means.baseline.p_above(0.0), means.gap.p_below(-margin), base_worse)


_CELLS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class OneClass:
    """`others` of the judge's `n` readable answers are not its commonest class; `usual` of people's `labels` are their commonest class.

    `p_by_class` (k,) has for each class c the chance of so few groups with anything but c, `p` their sum, at most 1. NaN without a readable
    answer to a labelled item.
    """

    p: float
    p_by_class: Floats
    others: int
    n: int
    usual: int
    labels: int


def one_class_tests(cells: Sequence[tuple[ArrayLike, ArrayLike, ArrayLike]]) -> list[OneClass]:
    """Test of each cell's (counts, judge, groups) that the judge varies as much as people: it could change places with one of them.

    x is the number of answers other than the judge's commonest. For class c, item i has pi = the share of its labels and its answer, taken
    together, that are not c; a group has the largest pi of its items, because answers in one group may depend on each other. The number
    of groups with an answer that is not c is at least Poisson-binomial(pi), so that P(Poisson-binomial(pi) <= x) is exact, or too large,
    for a judge that is exchangeable with people item by item. p adds up all classes c, because the commonest was chosen from the data.

    Args:
        cells: of each the number of labels of each class (items, k); the judge's class codes 0 … k-1 (items,), NaN or -1 where there is no
            readable answer: such an item is left out, like one without labels; any sortable codes of what items share (items,).

    Reference: Hodges & Le Cam (1960) and Hong (2013), Poisson-binomial; exchangeability as in permutation tests.

    >>> [found] = one_class_tests([([[1, 1]] * 12, [0] * 12, range(12))])
    >>> found.others, found.usual / found.labels, round(found.p, 6) == round((2 / 3) ** 12 + (1 / 3) ** 12, 6)
    (0, 0.5, True)
    """
    answers = [_Answers.of(*cell) for cell in cells]
    return batch_by_shape(_tested, answers, lambda counted: counted.chances.shape, most=_CELLS_AT_ONCE)


class _Answers(NamedTuple):
    """The answers of a cell, counted; `chances` (k, groups) of an answer that is not the class."""

    others: int
    n: int
    usual: int
    labels: int
    chances: Floats

    @classmethod
    def of(cls, counts: ArrayLike, judge: ArrayLike, groups: ArrayLike) -> _Answers:
        table = np.asarray(counts, np.float64)
        if table.ndim != 2:
            raise ShapeError(f"counts must be items x classes, got shape {table.shape}")
        k = table.shape[1]
        code = as_codes(judge, k, "judge")
        if code.shape != table.shape[:1]:
            raise ShapeError(f"judge {code.shape} must be of the {len(table)} items of counts")
        index = as_index(groups, len(code), "groups")
        used = (code >= 0) & (table.sum(axis=1) > 0)
        table, code, index = table[used], code[used], index[used]
        if not len(code):
            return cls(0, 0, 0, 0, np.empty((k, 0)))
        judge_counts, labels = np.bincount(code, minlength=k), table.sum(axis=0)
        together = table + (code[:, None] == np.arange(k))
        other = 1 - together / together.sum(axis=1, keepdims=True)
        largest = np.zeros((int(index.max()) + 1, k))
        np.maximum.at(largest, index, other)
        return cls(int(len(code) - judge_counts.max()), len(code), int(labels.max()), int(labels.sum()), largest[np.unique(index)].T)


def _tested(alike: Sequence[_Answers]) -> list[OneClass]:
    """Test cells with equally many classes and groups."""
    if not alike[0].n:
        return [OneClass(math.nan, np.full(len(answers.chances), math.nan), 0, 0, 0, 0) for answers in alike]
    at_most = _at_most([answers.others for answers in alike], np.stack([answers.chances for answers in alike]))
    return [
        OneClass(min(1.0, float(p.sum())), p, answers.others, answers.n, answers.usual, answers.labels)
        for answers, p in zip(alike, at_most, strict=True)
    ]


def _at_most_of_equal(x: Sequence[int], chances: Floats) -> Floats | None:
    """Return what `_at_most` does where the chances that are neither 0 nor 1 are equal, as binomial probabilities; None elsewhere.

    With one label a text they are one half, and there may be very many texts.
    """
    from scipy.special import bdtr

    open_trials = (chances > 0) & (chances < 1)
    lowest = np.where(open_trials, chances, 1.0).min(axis=-1)
    highest = np.where(open_trials, chances, 0.0).max(axis=-1)
    n = open_trials.sum(axis=-1)
    if not ((lowest == highest) | (n == 0)).all():
        return None
    uncertain = np.asarray(x)[:, None] - (chances == 1).sum(axis=-1)  # successes that are not certain
    at_most = bdtr(np.clip(uncertain, 0, n).astype(float), n, np.where(n > 0, highest, 0.5))
    return np.where(uncertain < 0, 0.0, np.where(uncertain >= n, 1.0, at_most))


def _at_most(x: Sequence[int], chances: Floats) -> Floats:
    """P(number of successes <= x) (cells, k) of independent trials with the chances (cells, k, trials): one is added after the other."""
    trials = chances.shape[-1]
    if trials > _MANY_TRIALS and (of_equal := _at_most_of_equal(x, chances)) is not None:
        return of_equal
    exactly = np.zeros((*chances.shape[:-1], max((last for last in x if last < trials), default=0) + 1))
    exactly[..., 0] = 1.0
    for chance in np.moveaxis(chances, -1, 0)[..., None]:
        exactly[..., 1:] = exactly[..., 1:] * (1 - chance) + exactly[..., :-1] * chance
        exactly[..., 0] *= 1 - chance[..., 0]
    everything = np.ones(chances.shape[1])
    return np.array(
        [probabilities[:, : last + 1].sum(axis=-1) if last < trials else everything for probabilities, last in zip(exactly, x, strict=True)]
    )
