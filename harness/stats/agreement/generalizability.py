"""Generalizability: shares of items and annotators in the variance of scores, and the reliability of k annotators."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.core.arrays import Floats, ShapeError

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
    found, (n, k) = mean_squares(scores), np.shape(scores)
    return _cut((found.item - found.residual) / k, (found.annotator - found.residual) / n, found.residual)


def one_way_components(scores: ArrayLike) -> Components:
    """Variance components where annotators are positions, not persons: item = (MS_i - MS_w) / k, residual = MS_w.

    Args and errors as `mean_squares`. Reference: Shrout & Fleiss (1979), case 1.

    >>> one_way_components([[1, 2], [3, 6]])
    Components(item=3.25, annotator=None, residual=2.5, cut=(), reason=None)
    """
    found = mean_squares(scores)
    return _cut((found.item - found.within) / np.shape(scores)[1], None, found.within)


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
    known = ~np.isnan(x)
    used = np.ix_(known.any(axis=1), known.any(axis=0))
    x, known = x[used], known[used]
    if min(x.shape) < 2 or known.sum() < sum(x.shape):
        return Components(math.nan, math.nan, math.nan, (), "too few scores")
    if np.ptp(x[known]) == 0:
        return Components(math.nan, math.nan, math.nan, (), "constant values")
    from scipy.optimize import minimize

    likelihood = _Reml(np.where(known, x - x[known].mean(), 0.0), known)
    start = np.ones(2)
    found = minimize(
        lambda root: likelihood(*root**2)[0], start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10, "maxiter": 2000}
    )
    item, annotator = (float(ratio) if ratio > _NO_VARIANCE else 0.0 for ratio in found.x**2)
    residual = likelihood(item, annotator)[1]
    cut = tuple(name for name, ratio in (("item", item), ("annotator", annotator)) if not ratio)
    return Components(item * residual, annotator * residual, residual, cut)


class _Reml:
    """Minus twice the restricted likelihood of items x annotators, of the ratios of both variances to the residual's."""

    def __init__(self, scores: Floats, known: NDArray[np.bool_]) -> None:
        self.known = known.astype(np.float64)
        self.of_item, self.of_annotator = known.sum(axis=1), known.sum(axis=0)
        self.n = float(known.sum())
        self.y_item, self.y_annotator = scores.sum(axis=1), scores.sum(axis=0)
        self.square = float((scores**2).sum())

    def __call__(self, item: float, annotator: float) -> tuple[float, float]:
        """The value, and the residual variance that maximises it."""
        inflation = 1 + item * self.of_item
        weight = item / inflation
        fixed = np.array([self.n, *self.of_annotator])
        absorbed = np.column_stack([self.of_item, self.known])
        left = np.diag(fixed)
        left[0, 1:] = left[1:, 0] = self.of_annotator
        left = left - absorbed.T @ (weight[:, None] * absorbed)
        right = np.array([self.y_item.sum(), *self.y_annotator]) - absorbed.T @ (weight * self.y_item)
        scale = np.sqrt(np.array([1.0, *np.full(len(self.of_annotator), annotator)]))
        left = scale[:, None] * left * scale + np.diag([0.0, *np.ones(len(self.of_annotator))])
        right = scale * right
        rest = self.square - weight @ self.y_item**2 - right @ np.linalg.solve(left, right)
        residual = max(float(rest), _NO_VARIANCE) / (self.n - 1)
        value = (self.n - 1) * math.log(residual) + float(np.log(inflation).sum()) + float(np.linalg.slogdet(left)[1])
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
