"""Variance components of scores: generalizability, intraclass correlation and severity of annotators.

Shares of items and annotators in the variance; the reliability of one person's score and of the mean of k people's; scores standardised
within annotator, and the share of variance that a factor explains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.core.arrays import Estimate, Floats, ShapeError, as_index, same_shape, undefined
from harness.stats.core.statistic import Estimated, of_group_sums, ratio, sums_by_group
from harness.stats.intervals.intervals import clopper_pearson

_NO_VARIANCE = 1e-8  # ratios of variances below this are 0


class MeanSquares(NamedTuple):
    """Mean squares of items x annotators: between items, between annotators, residual, and within items (one-way)."""

    item: float
    annotator: float
    residual: float
    within: float


@dataclass(frozen=True, slots=True)
class Components:
    """Variance of `item`, `annotator` and `residual`; `cut` names those that were negative and are set to 0.

    `annotator` is None in a one-way layout, where it is part of `residual`.
    """

    item: float
    annotator: float | None
    residual: float
    cut: tuple[str, ...] = ()
    reason: str | None = None


def mean_squares(scores: ArrayLike) -> MeanSquares:
    """Mean squares of a complete table of scores.

    Args:
        scores: (items, annotators) numbers without gaps, at least 2 x 2.

    Raises:
        ShapeError: for another shape.  ValueError: for gaps.

    >>> mean_squares([[1, 2], [3, 6]])
    MeanSquares(item=9.0, annotator=4.0, residual=1.0, within=2.5)
    """
    x = np.asarray(scores, np.float64)
    if x.ndim != 2 or min(x.shape) < 2:
        raise ShapeError(f"scores must be items x annotators, at least 2 x 2; got shape {x.shape}")
    if np.isnan(x).any():
        raise ValueError("mean squares need a table without gaps; `mixed_components` takes gaps")
    n, k = x.shape
    items, annotators = x.mean(axis=1), x.mean(axis=0)
    residual = x - items[:, None] - annotators + x.mean()
    return MeanSquares(
        float(k * items.var(ddof=1)),
        float(n * annotators.var(ddof=1)),
        float((residual**2).sum() / ((n - 1) * (k - 1))),
        float(((x - items[:, None]) ** 2).sum() / (n * (k - 1))),
    )


def two_way_components(scores: ArrayLike) -> Components:
    """Variance components of items x persistent annotators, by the analysis of variance.

    item = (MS_i - MS_e) / k, annotator = (MS_a - MS_e) / n, residual = MS_e, with n items and k annotators. Negative ones are set to 0.

    Args and errors as `mean_squares`. Reference: Brennan (2001).

    >>> two_way_components([[1, 2], [3, 6]])
    Components(item=4.0, annotator=1.5, residual=1.0, cut=(), reason=None)
    """
    squares, (n, k) = mean_squares(scores), np.shape(scores)
    return _cut((squares.item - squares.residual) / k, (squares.annotator - squares.residual) / n, squares.residual)


def one_way_components(scores: ArrayLike) -> Components:
    """Variance components where annotators are positions, not persons: item = (MS_i - MS_w) / k, residual = MS_w.

    Args and errors as `mean_squares`. Reference: Shrout & Fleiss (1979), case 1.

    >>> one_way_components([[1, 2], [3, 6]])
    Components(item=3.25, annotator=None, residual=2.5, cut=(), reason=None)
    """
    squares = mean_squares(scores)
    return _cut((squares.item - squares.within) / np.shape(scores)[1], None, squares.within)


def mixed_components(scores: ArrayLike) -> Components:
    """Variance components of a table with gaps, by restricted maximum likelihood (REML).

    Equal to `two_way_components` where nothing is missing and no component is negative; one that would be negative is 0 and named in `cut`.
    It is own code and not statsmodels' `MixedLM`, which takes seconds for 200 items: with few annotators, items are eliminated from
    Henderson's equations at once. Tests hold the two equal.

    Args:
        scores: (items, annotators) numbers, NaN where missing.

    Returns:
        `Components`; NaN with a reason without two items, two annotators and more scores than these, or if all scores are equal.

    Reference: Patterson & Thompson (1971); Henderson's mixed model equations: Searle, Casella & McCulloch (1992).

    >>> found = mixed_components([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])
    >>> round(found.item, 2), round(found.annotator, 2), round(found.residual, 2)
    (2.56, 5.24, 1.02)
    """
    x = np.asarray(scores, np.float64)
    if x.ndim != 2:
        raise ShapeError(f"scores must be items x annotators; got shape {x.shape}")
    present = ~np.isnan(x)
    used = np.ix_(present.any(axis=1), present.any(axis=0))
    x, present = x[used], present[used]
    if min(x.shape) < 2 or present.sum() < sum(x.shape):
        return Components(math.nan, math.nan, math.nan, (), "too few scores")
    if np.ptp(x[present]) == 0:
        return Components(math.nan, math.nan, math.nan, (), "constant values")
    from scipy.optimize import minimize

    likelihood = _Reml(np.where(present, x - x[present].mean(), 0.0), present)
    start = np.ones(2)
    optimum = minimize(
        lambda root: likelihood(*root**2)[0], start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10, "maxiter": 2000}
    )
    item, annotator = (float(ratio) if ratio > _NO_VARIANCE else 0.0 for ratio in optimum.x**2)
    residual = likelihood(item, annotator)[1]
    cut = tuple(name for name, ratio in (("item", item), ("annotator", annotator)) if not ratio)
    return Components(item * residual, annotator * residual, residual, cut)


class _Reml:
    """Minus twice the restricted likelihood of items x annotators, of the ratios of both variances to the residual's."""

    def __init__(self, scores: Floats, present: NDArray[np.bool_]) -> None:
        self.known = present.astype(np.float64)
        self.of_item, self.of_annotator = present.sum(axis=1), present.sum(axis=0)
        self.n = float(present.sum())
        self.y_item, self.y_annotator = scores.sum(axis=1), scores.sum(axis=0)
        self.square = float((scores**2).sum())

    def __call__(self, item: float, annotator: float) -> tuple[float, float]:
        """The value, and the residual variance that maximises it."""
        inflation = 1 + item * self.of_item
        weight = item / inflation
        fixed = np.array([self.n, *self.of_annotator])
        absorbed = np.column_stack([self.of_item, self.known])
        projection = np.diag(fixed)
        projection[0, 1:] = projection[1:, 0] = self.of_annotator
        projection = projection - absorbed.T @ (weight[:, None] * absorbed)
        right = np.array([self.y_item.sum(), *self.y_annotator]) - absorbed.T @ (weight * self.y_item)
        scale = np.sqrt(np.array([1.0, *np.full(len(self.of_annotator), annotator)]))
        projection = scale[:, None] * projection * scale + np.diag([0.0, *np.ones(len(self.of_annotator))])
        right = scale * right
        rest = self.square - weight @ self.y_item**2 - right @ np.linalg.solve(projection, right)
        residual = max(float(rest), _NO_VARIANCE) / (self.n - 1)
        value = (self.n - 1) * math.log(residual) + float(np.log(inflation).sum()) + float(np.linalg.slogdet(projection)[1])
        return value, residual


def _cut(item: float, annotator: float | None, residual: float) -> Components:
    negative = tuple(name for name, value in (("item", item), ("annotator", annotator)) if value is not None and value < 0)
    return Components(max(0.0, item), None if annotator is None else max(0.0, annotator), residual, negative)


class Reliability(NamedTuple):
    """Reliability of the mean of `annotators` scores: `relative` (order of items) and `absolute` (level); NaN without variance."""

    annotators: float
    relative: float
    absolute: float


def reliability(components: Components, annotators: ArrayLike) -> tuple[Reliability, ...]:
    """D study: reliability of the mean of k annotators.

    relative = item / (item + residual / k), absolute = item / (item + (annotator + residual) / k). In a one-way layout both are
    item / (item + residual / k). They are the intraclass correlations ICC(3, k), ICC(2, k) and ICC(1, k).

    Args:
        components: of `two_way_components`, `one_way_components` or `mixed_components`.
        annotators: one or more numbers k above 0.

    Reference: Brennan (2001); Shrout & Fleiss (1979).

    >>> [round(x, 3) for x in reliability(Components(4.0, 1.5, 1.0), [2])[0]]
    [2.0, 0.889, 0.762]
    """
    item, residual = components.item, components.residual
    raters = 0.0 if components.annotator is None else components.annotator

    def share(noise: Floats) -> float:
        total = item + float(noise)
        return item / total if total > 0 else math.nan

    return tuple(
        Reliability(float(k), share(residual / k), share((raters + residual) / k))
        for k in np.atleast_1d(np.asarray(annotators, np.float64))
    )


NO_PAIR = "no item with two annotators"
NOT_CROSSED = "annotators are not crossed: not everybody scored every item"
CONSTANT = "constant raters"


class OneWay(NamedTuple):
    """ICC(1,1) `single` and ICC(1,k) `mean`, with k the (effective) number of `annotators` of an item."""

    single: Estimated
    mean: Estimated
    annotators: float


def one_way_features(n: Floats, total: Floats, squares: Floats) -> Floats:
    """Return the features for ICC(1,·) of every item: [used, n, n², sum, sum² / n, squares], 0 for items with fewer than two scores.

    >>> one_way_features(np.array([2.0, 1.0]), np.array([5.0, 1.0]), np.array([13.0, 1.0])).tolist()
    [[1.0, 2.0, 4.0, 5.0, 12.5, 13.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    """
    used = (n >= 2).astype(np.float64)
    return np.stack([np.ones(len(n)), n, n * n, total, total**2 / np.maximum(n, 1), squares], axis=1) * used[:, None]


def _parts(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean squares between and within items, and the effective number of annotators, of sums (..., 6)."""
    items, n, n2, total, between, squares = np.moveaxis(sums, -1, 0)
    k = ratio(n - ratio(n2, n), items - 1)
    within = ratio(np.maximum(squares - between, 0), n - items)
    return ratio(between - ratio(total**2, n), items - 1), within, k


def single_of_sums(sums: Floats) -> Floats:
    """ICC(1,1) of sums of `one_way_features` (..., 6)."""
    between, within, k = _parts(sums)
    return ratio(between - within, between + (k - 1) * within)


def mean_of_items(sums: Floats) -> Floats:
    """ICC(1,k) of sums of `one_way_features` (..., 6)."""
    between, within, _ = _parts(sums)
    return ratio(between - within, between)


def one_way_icc(scores: ArrayLike, groups: ArrayLike | None = None, *, level: float = 0.95) -> OneWay:
    """ICC(1,1) and ICC(1,k): reliability where the annotators of an item are anybody.

    With the mean squares between items MS_b and within items MS_w of items with two scores or more, and the effective number of annotators
    k = (N - sum n_i² / N) / (items - 1): ICC(1,1) = (MS_b - MS_w) / (MS_b + (k - 1) MS_w), ICC(1,k) = (MS_b - MS_w) / MS_b. Both are
    negative if people differ more within items than between them.

    Args:
        scores: (items, annotators) numbers, NaN where missing.
        groups: (items,) any sortable codes of what items share; default every item its own.
        level: of the interval, which leaves one group out at a time.

    Returns:
        `OneWay`; NaN without two items with two scores ("no item with two annotators" or "constant raters").

    Reference: Shrout & Fleiss (1979), case 1; Donner (1986), unequal numbers of annotators.

    >>> found = one_way_icc([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])
    >>> round(found.single.value, 2), round(found.mean.value, 2)
    (0.17, 0.44)
    """
    table = np.asarray(scores, np.float64)
    if table.ndim != 2:
        raise ShapeError(f"scores must be items x annotators, got shape {table.shape}")
    rated = ~np.isnan(table)
    filled = np.where(rated, table - (table[rated].mean() if rated.any() else 0.0), 0.0)
    features = one_way_features(rated.sum(axis=1).astype(np.float64), filled.sum(axis=1), (filled**2).sum(axis=1))
    group = as_index(np.arange(len(table)) if groups is None else groups, len(table), "groups")
    return one_way_of_sums(sums_by_group(features, group), level)


def one_way_of_sums(sums: Floats, level: float = 0.95) -> OneWay:
    """`one_way_icc` of the groups' sums (groups, 6) of `one_way_features`."""
    single, mean = (
        of_group_sums(sums, value, (-math.inf, 1.0), empty=NO_PAIR, constant=CONSTANT, level=level)
        for value in (single_of_sums, mean_of_items)
    )
    return OneWay(single, mean, float(_parts(sums.sum(axis=0))[2]) if len(sums) else math.nan)


def two_way_icc(scores: ArrayLike) -> tuple[Estimate, Estimate]:
    """ICC(2,1) and ICC(2,k): reliability where the same people scored every item, and their severity counts as error.

    With mean squares of items B, annotators J and residual E, n items and k annotators:
    ICC(2,1) = (B - E) / (B + (k - 1) E + k (J - E) / n), ICC(2,k) = (B - E) / (B + (J - E) / n).
    The annotators have to be persons who can be followed: a place in a list is none.

    Args:
        scores: (items, annotators) numbers, NaN where missing.

    Returns:
        Two `Estimate`, n being the items; NaN with fewer than two items or annotators, with a gap in the table, and if all scores are
        equal.

    Reference: Shrout & Fleiss (1979), case 2.

    >>> found = two_way_icc([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])
    >>> [round(one.value, 2) for one in found]
    [0.29, 0.62]
    """
    table = np.asarray(scores, np.float64)
    if table.ndim != 2:
        raise ShapeError(f"scores must be items x annotators, got shape {table.shape}")
    items, k = table.shape
    if items < 2 or k < 2:
        return (undefined(items, NO_PAIR),) * 2
    if np.isnan(table).any():
        return (undefined(items, NOT_CROSSED),) * 2
    squares = mean_squares(table)
    severity = (squares.annotator - squares.residual) / items
    bottoms = np.array([squares.item + (k - 1) * squares.residual + k * severity, squares.item + severity])
    values = ratio(np.full(2, squares.item - squares.residual), bottoms)
    single, mean = (undefined(items, CONSTANT) if math.isnan(v) else Estimate(float(v), items) for v in values)
    return single, mean


NOTHING_VARIES = "all scores are equal"


class SingleScoreError(ValueError):
    """An annotator with one score cannot be standardised; `annotator` is the code."""

    def __init__(self, annotator: object) -> None:
        super().__init__(f"annotator {annotator} has a single score: standardising needs two or more of each")
        self.annotator = annotator


def standardised(scores: ArrayLike, annotator: ArrayLike) -> Floats:
    """Every score less the mean of its annotator's scores, divided by their standard deviation (n - 1).

    Scores of an annotator who gave one score to everything are 0: they are at this annotator's mean.

    Args:
        scores: (labels,) numbers without gaps.
        annotator: (labels,) any sortable codes of persons.

    Returns:
        (labels,) standardised scores: of every annotator with mean 0 and standard deviation 1 (or all 0).

    Raises:
        SingleScoreError: for an annotator with one score.

    >>> standardised([80, 100, 20, 40], ["kind", "kind", "strict", "strict"]).round(3).tolist()
    [-0.707, 0.707, -0.707, 0.707]
    """
    v, codes = np.asarray(scores, np.float64), np.asarray(annotator)
    same_shape("of the same labels", scores=v, annotator=codes)
    who = as_index(codes, len(v), "annotator")
    n = np.bincount(who)
    if (n == 1).any():
        raise SingleScoreError(codes[np.flatnonzero(n[who] == 1)[0]])
    deviation = v - (np.bincount(who, v) / np.maximum(n, 1))[who]
    spread = np.sqrt(np.bincount(who, deviation**2) / np.maximum(n - 1, 1))
    flat = spread <= 1e-12 * max(1.0, float(np.abs(v).max(initial=0)))
    return np.where(flat[who], 0.0, deviation / np.where(flat, 1.0, spread)[who])


def eta_squared(scores: ArrayLike, factor: ArrayLike) -> Estimate:
    """The share of the scores' variance that lies between the levels of a factor: one-way eta².

    sum_g n_g (mean_g - mean)² / sum_i (score_i - mean)². It is 1 for a factor with a level for every score, so compare factors with few
    levels only with each other. Where annotators did not score the same items, the share of annotators holds that of their items too.

    Args:
        scores: (labels,) numbers without gaps.
        factor: (labels,) any sortable codes: who scored, whose output it is, which source text.

    Returns:
        value in [0, 1] and n, the labels; NaN without labels ("no label") and if all scores are equal.

    Reference: Cohen (1988), eta².

    >>> eta_squared([80, 100, 20, 40], ["kind", "kind", "strict", "strict"])
    Estimate(value=0.9, n=4, reason=None)
    """
    v, codes = np.asarray(scores, np.float64), np.asarray(factor)
    same_shape("of the same labels", scores=v, factor=codes)
    if not len(v):
        return undefined(0, "no label")
    deviation = v - v.mean()
    total = float(deviation @ deviation)
    if np.ptp(v) == 0 or math.isclose(total, 0.0, abs_tol=1e-24):
        return undefined(len(v), NOTHING_VARIES)
    level = as_index(codes, len(v), "factor")
    sums, n = np.bincount(level, deviation), np.bincount(level)
    return Estimate(float((sums**2 / n).sum() / total), len(v))


SAME_SOURCE = "H0: a recorded answer and two fresh ones come from one source, call by call; one-sided, recorded ones further apart"


@dataclass(frozen=True, slots=True)
class Retest:
    """Disagreement of recorded with fresh answers, beside that of fresh answers with each other. Shares are of judgments, in [0, 1].

    `n` counts calls. `apart` is the share of judgments in which the recorded and a fresh answer differ, mean over the two fresh answers;
    `apart_fresh` the share in which the two fresh answers differ, which is the judge's own retest noise. `p` belongs to `hypothesis`.
    `alone` counts calls in which the fresh answers agree with each other and not with the recorded one; it has the 95 % interval
    (Clopper-Pearson) of its share of all calls.
    """

    n: int
    apart: float
    apart_fresh: float
    p: float
    alone: int
    alone_interval: tuple[float, float]
    hypothesis: str = SAME_SOURCE

    @property
    def excess(self) -> float:
        """Disagreement of the recorded answers beyond the judge's own noise."""
        return self.apart - self.apart_fresh


def retest(recorded: ArrayLike, first: ArrayLike, second: ArrayLike, *, level: float = 0.95) -> Retest:
    """Exact test of whether recorded answers differ from fresh ones by more than fresh ones differ from each other.

    If all three come from one source, each of the three answers to a call is equally likely to be the recorded one. The statistic is
    the sum over calls of d(recorded, first) + d(recorded, second) - 2 d(first, second), where d counts the judgments that differ; its
    distribution over the three choices in every call is computed exactly, without resampling. With one judgment for each call it is the
    binomial test, against 1/3, of how often the recorded answer is the odd one among calls in which exactly two agree: p = 3^-m if m
    recorded answers stand alone and the fresh ones never differ. The test neither assumes nor estimates the judge's noise.

    Args:
        recorded, first, second: (calls, judgments) or (calls,) codes of the answers; a failure is an answer, too. Negative where a call
            has fewer judgments, in all three at the same places. Calls are independent of each other, given their questions.

    Returns:
        `Retest`; without calls, shares are NaN and p is 1.

    Reference: Pitman (1937) on permutation within matched sets; Clopper & Pearson (1934).

    >>> found = retest([1, 1, 1, 0, 2], [1, 1, 1, 2, 1], [1, 1, 1, 2, 2])
    >>> found.apart, found.apart_fresh, found.alone, round(found.p, 3)
    (0.3, 0.2, 1, 0.556)
    >>> found = retest([0] * 3 + [1] * 17, [1] * 20, [1] * 20)
    >>> found.apart, found.apart_fresh, found.alone, found.p == 3**-3
    (0.15, 0.0, 3, True)
    """
    a, b, c = (np.asarray(answers, np.int64) for answers in (recorded, first, second))
    if not (a.shape == b.shape == c.shape and 1 <= a.ndim <= 2):
        raise ShapeError(f"recorded {a.shape}, first {b.shape} and second {c.shape} must be of the same calls")
    if not (np.array_equal(a < 0, b < 0) and np.array_equal(a < 0, c < 0)):
        raise ShapeError("recorded, first and second must hold the same judgments of each call")
    a, b, c = (codes.reshape(len(codes), codes[:1].size) for codes in (a, b, c))
    n, judged = len(a), int((a >= 0).sum())
    if not judged:
        return Retest(n, math.nan, math.nan, 1.0, 0, (math.nan, math.nan))
    ab, ac, bc = ((x != other).sum(axis=1) for x, other in ((a, b), (a, c), (b, c)))
    alone = int(((bc == 0) & (ab > 0)).sum())
    # P(sum >= that of the first column), where each row (calls, 3) gives one of its numbers, all equally likely.
    choices = np.stack([ab + ac - 2 * bc, ab + bc - 2 * ac, ac + bc - 2 * ab], axis=1)
    drawn: NDArray[np.float64] = np.ones(1)
    least = 0
    for row in choices[(choices != choices[:, :1]).any(axis=1)].tolist():
        low = min(row)
        step = np.bincount([value - low for value in row]) / len(row)
        drawn = np.convolve(drawn, step)
        least += low
    observed = int(choices[:, 0].sum()) - least  # rows of equal numbers contribute nothing
    p_of_sum = min(1.0, float(drawn[observed:].sum()))
    return Retest(
        n,
        float(ab.sum() + ac.sum()) / (2 * judged),
        float(bc.sum()) / judged,
        p_of_sum,
        alone,
        clopper_pearson(alone, n, (1 - level) / 2),
    )
