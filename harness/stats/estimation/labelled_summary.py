"""Prediction-powered inference from a summary of the labelled items: for certificates and for weights of a sampling plan.

The labelled items are summarised by means, sums of squares and sizes of groups. With such a summary new scores can be corrected without the
labels, to the same numbers as with them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.core.arrays import Floats, Ints, ShapeError, as_index, same_shape
from harness.stats.core.groups import leverage
from harness.stats.estimation.prediction_powered import (
    TOO_FEW_LABELS,
    MeanOfLabels,
    PredictionPowered,
    fill_failures,
    powered,
    share_interval,
    t_interval,
)
from harness.stats.intervals.cluster_mean import ClusterMean, cluster_mean, freedom_of_squares, interval_freedom, sums_of_squares
from harness.stats.intervals.intervals import Interval

TOO_FEW_SCORES = "fewer than two independent scores"
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class LabelledSpread:
    """Spread of labels and scores of labelled items between groups and within them, and how large the groups are.

    `times` groups have the sum of relative weights `sizes` (the number of items, if all were drawn with one probability). `between` and
    `within` are sums of squares of labels, products of labels and scores, and squares of scores.
    """

    sizes: tuple[float, ...]
    times: tuple[int, ...]
    between: tuple[float, float, float]
    within: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class LabelledSummary:
    """Means of the labels and the judge's scores of `n` labelled items in `groups` groups, and the covariance of these two means.

    `variance_label`, `variance_judge` and `covariance` are those of the means over groups (CR2): standard errors squared, not variances of
    items. NaN with fewer than two groups.
    """

    n: int
    groups: int
    mean_label: float
    mean_judge: float
    variance_label: float
    variance_judge: float
    covariance: float
    spread: LabelledSpread


@dataclass(frozen=True, slots=True)
class SummaryCorrected:
    """The mean label of new items, from a summary of labelled ones and a judge's scores of the new ones.

    `value`, `error` and `interval` are of the population that labelled and new items come from. `residual_variance` is the part of the
    squared error that comes from the labelled items. `judge_only` is the mean of the new scores, `effective_n` the number of labels that
    would give this error without the judge. `reason` says why numbers are undefined.
    """

    value: float
    error: float
    freedom: float
    interval: Interval
    lam: float
    unlabelled: int
    judge_only: float
    residual_variance: float
    effective_n: float
    reason: str | None


def summarise_labelled(
    labels: ArrayLike, judged: ArrayLike, groups: ArrayLike | None = None, *, weights: ArrayLike | None = None
) -> LabelledSummary:
    """Means of labels and scores of labelled items, and the covariance of these means over groups.

    mean = sum w x / sum w; covariance = sum_g u_g v_g / (1 - h_g) with u_g = sum_{i in g} w_i (Y_i - mean Y) / sum w, v_g alike for the
    scores, and h_g the group's share of the weights (CR2, as `cluster_mean`).

    Args:
        labels: (items,) label or mean label of each item, without gaps.
        judged: (items,) the judge's scores, without gaps.
        weights: (items,) 1 / inclusion probability, above 0; None if all items were drawn with one probability.

    Returns:
        `LabelledSummary`; means NaN without items, variances NaN with fewer than two groups.

    Raises:
        ValueError: for weights that are not above 0, or labels or scores with gaps.

    Reference: Bell & McCaffrey (2002); Hájek (1971) for the weighted mean.

    >>> found = summarise_labelled([1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 1], groups=[1, 1, 2, 2, 3, 3])
    >>> found.mean_label, round(found.variance_label, 4), round(found.covariance, 4), found.groups
    (0.5, 0.0833, 0.0417, 3)
    """
    y, f = np.asarray(labels, np.float64), np.asarray(judged, np.float64)
    same_shape(labels=y, judged=f)
    if np.isnan(y).any() or np.isnan(f).any():
        raise ValueError("labels and scores of labelled items have no gaps")
    w = _weights(weights, len(y))
    if not len(y):
        return LabelledSummary(0, 0, math.nan, math.nan, math.nan, math.nan, math.nan, LabelledSpread((), (), (0.0,) * 3, (0.0,) * 3))
    index = as_index(np.arange(len(y)) if groups is None else groups, len(y), "groups")
    relative, scores = w * len(y), np.stack([y, f], axis=1)
    u, v = _group_influence(y, w, index), _group_influence(f, w, index)
    raised = leverage(np.bincount(index, relative)) if len(u) > 1 else np.full(1, math.nan)
    of_label, estimate_judge, of_both = (float((remaining * other) @ raised) for remaining, other in ((u, u), (v, v), (u, v)))
    sizes, times = np.unique(np.bincount(index, relative), return_counts=True)
    between, within = ((float(part[0, 0]), float(part[0, 1]), float(part[1, 1])) for part in sums_of_squares(scores, index, relative))
    spread = LabelledSpread(tuple(sizes.tolist()), tuple(times.tolist()), between, within)
    return LabelledSummary(len(y), len(u), float(w @ y), float(w @ f), of_label, estimate_judge, of_both, spread)


def correct_with_summary(
    summary: LabelledSummary,
    judged: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    share: bool = False,
    lam: float | None = None,
    level: float = 0.95,
) -> SummaryCorrected:
    """Mean label of the population from which labelled and new items come, corrected by a summary of the labelled ones.

    theta = mean Y + lam (mean f, new - mean f, labelled); variance = V_YY - 2 lam V_Yf + lam² (V_ff + V_new), V of means over groups. If
    all labelled items were drawn with one probability, this is `prediction_powered_mean` of labelled and new items together, with its lam
    and its degrees of freedom. With other probabilities the new items stand for the population by themselves, and the labelled ones by
    their weights. No group may have both labelled and new items.

    Args:
        summary: of the labelled items.
        judged: (items,) scores of new items, without gaps.
        groups: (items,) as in `summarise_labelled`.
        share: whether the mean is a share in [0, 1]; then the interval is Wilson's on an effective n.
        lam: weight of the judge; None chooses it.

    Returns:
        `SummaryCorrected`; NaN with a reason with fewer than two labelled or two new groups.

    Raises:
        ValueError: for scores with gaps.

    Reference: Angelopoulos, Duchi & Zrnic (2023), PPI++.

    >>> labelled = summarise_labelled([1, 2, 3, 4, 2, 3], [1, 2, 3, 3, 2, 2])
    >>> found = correct_with_summary(labelled, [1, 2, 3] * 20)
    >>> round(found.value, 3), round(found.error, 3), round(found.lam, 2), found.judge_only
    (2.366, 0.253, 0.8, 2.0)
    """
    f = np.asarray(judged, np.float64)
    if np.isnan(f).any():
        raise ValueError("scores of new items have no gaps; give failures a fixed value")
    new = cluster_mean(f, groups)
    reason = TOO_FEW_LABELS if math.isnan(summary.variance_label) else TOO_FEW_SCORES if math.isnan(new.error) else None
    if lam is None:
        # The lam of the smallest variance in [0, 1]; 0 for a constant judge, and without new items.
        if not new.n:
            lam = 0.0
        else:
            n, total = summary.n, summary.n + new.n
            _, products, squares = np.add(summary.spread.between, summary.spread.within)
            shift = (new.mean - summary.mean_judge) ** 2 * n * new.n / total
            of_items = float(squares + ((f - new.mean) ** 2).sum() + shift) / max(total - 1, 1)
            covariance, variance = float(products) / max(n, 1), of_items * (1 + n / new.n)
            lam = float(np.clip(covariance / variance, 0.0, 1.0)) if variance > _ROUNDING**2 * max(1.0, new.mean**2) else 0.0
    value = summary.mean_label + lam * (new.mean - summary.mean_judge)
    residual = max(0.0, summary.variance_label - 2 * lam * summary.covariance + lam**2 * summary.variance_judge)
    variance = residual + (lam * new.error) ** 2
    if reason:
        value = residual = variance = lam = math.nan
    error, freedom = math.sqrt(variance), _freedom(summary, new, lam, residual, (lam * new.error) ** 2)
    interval = t_interval(value, error, freedom, summary.groups, level)
    if share:
        interval = share_interval(value, error, freedom, summary.groups, summary.n + new.n, level)
    effective = summary.n * summary.variance_label / variance if variance > 0 else float(summary.n) if variance == 0 else math.nan
    return SummaryCorrected(value, error, freedom, interval, lam, new.n, new.mean, residual, effective, reason)


def _freedom(summary: LabelledSummary, new: ClusterMean, lam: float, labelled: float, judged: float) -> float:
    """Degrees of freedom of the sum of two independent parts with these variances, as in `prediction_powered_mean`."""
    fewer = min(summary.groups, new.groups) - 1.0
    if math.isnan(labelled):
        return fewer
    alone = summary.groups == summary.n and new.groups == new.n
    spread, coefficients = summary.spread, np.array([1.0, -2 * lam, lam**2])  # of the labels less lam times the scores
    between, within = (max(0.0, float(coefficients @ part)) for part in (spread.between, spread.within))
    of_labels = freedom_of_squares(between, within, np.array(spread.sizes), np.array(spread.times, np.float64), summary.n)
    if alone or lam == 0:
        return of_labels
    total = labelled**2 / of_labels + judged**2 / new.interval_freedom
    return min((labelled + judged) ** 2 / total, fewer) if total > 0 else fewer


def prediction_powered_weighted(
    labels: ArrayLike,
    judged: ArrayLike,
    weights: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    lam: float | None = None,
    level: float = 0.95,
) -> PredictionPowered:
    """`prediction_powered_mean` for labels that were drawn with known and unequal inclusion probabilities.

    theta = sum w (Y - b f) / sum w + b mean(f, all), w = 1 / inclusion probability, over the labelled items (Hájek's form). b = lam
    (1 + n / N), so that lam means the same as in `prediction_powered_mean`; lam = cov_w(Y, f) / (var(f, all) (1 + n / N)) cut to [0, 1].
    variance = sum_g (e_g / sqrt(1 - h_g) + b e'_g / sqrt(1 - h'_g))², where e_g = sum_labelled w (r - mean_w r) / sum w, e'_g =
    sum_all (f - mean f) / T, r = Y - b f and T = n + N; h_g is the group's share of the weights of the labelled items, h'_g that of all
    items. Student's t with the degrees of freedom of the labelled items (`cluster_mean`).

    Args:
        labels: (items,) as in `prediction_powered_mean`, NaN where there is none.
        judged: (items,) the judge's scores; NaN (a failure) counts as the mean of the scores that can be read.
        weights: (items,) 1 / inclusion probability, above 0 where there is a label; not read elsewhere.
        groups, lam, level: as in `prediction_powered_mean`.

    Returns:
        `PredictionPowered`; `alone` is the weighted mean of the labels. NaN with a reason with fewer than two labelled groups.

    Raises:
        ValueError: for weights that are not above 0.

    Reference: Hájek (1971); Särndal, Swensson & Wretman (1992), the difference estimator; Zrnic & Candès (2024).

    >>> nan = float("nan")
    >>> found = prediction_powered_weighted([0, 1, 1, nan, nan, nan], [0, 1, 1, 0, 1, 0], [3, 1, 2, nan, nan, nan])
    >>> round(found.value, 3), found.alone, round(found.lam, 3)
    (0.5, 0.5, 0.417)
    """
    y, f = np.asarray(labels, np.float64), np.asarray(judged, np.float64)
    same_shape(labels=y, judged=f)
    label_weights = np.asarray(weights, np.float64)
    if label_weights.shape != y.shape:
        raise ShapeError(f"weights {label_weights.shape} must be of the same items as labels {y.shape}")
    labelled, f = ~np.isnan(y), fill_failures(f[:, None])[:, 0]
    w, index = (
        _weights(label_weights[labelled], int(labelled.sum())),
        as_index(np.arange(len(y)) if groups is None else groups, len(y), "groups"),
    )
    chosen = _slope(y[labelled], f, labelled, w) if lam is None else lam
    estimated, alone = (_weighted(y[labelled], f, labelled, w, index, tuning) for tuning in (chosen, 0.0))
    return powered(estimated, alone, t_interval(*estimated, len(np.unique(index[labelled])), level), chosen, y[labelled], f, labelled)


def _weights(weights: ArrayLike | None, items: int) -> Floats:
    """Weights (items,) that sum to 1."""
    if weights is None:
        return np.full(items, 1 / max(items, 1))
    w = np.asarray(weights, np.float64)
    if w.shape != (items,):
        raise ShapeError(f"weights {w.shape} must be of the same items, expected ({items},)")
    if not (w > 0).all() or np.isinf(w).any():
        raise ValueError("weights are finite numbers above 0")
    return np.asarray(w / w.sum()) if items else w


def _group_influence(x: Floats, w: Floats, index: Ints) -> Floats:
    """Sums over groups of w (x - weighted mean of x); exactly 0 where x differs from its mean only by rounding."""
    sums = np.asarray(np.bincount(index, w * (x - w @ x)), np.float64)
    return np.where(np.abs(sums) <= 1e-13 * max(1.0, float(np.abs(x).max())), 0.0, sums)


def _slope(y: Floats, f: Floats, labelled: NDArray[np.bool_], w: Floats) -> float:
    """The lam of the smallest variance in [0, 1]; 0 for a constant judge, or without unlabelled items."""
    unlabelled = len(f) - len(y)
    if not unlabelled or not len(y) or not np.ptp(f) > 0:
        return 0.0
    covariance = float(w @ ((y - w @ y) * (f[labelled] - w @ f[labelled])))
    return float(np.clip(covariance / (f.var(ddof=1) * (1 + len(y) / unlabelled)), 0.0, 1.0))


def _weighted(y: Floats, f: Floats, labelled: NDArray[np.bool_], w: Floats, index: Ints, lam: float) -> MeanOfLabels:
    """Estimate, standard error and degrees of freedom with one weight of the judge."""
    if not len(y):
        return math.nan, math.nan, math.nan
    unlabelled = len(f) - len(y)
    slope = lam * (1 + len(y) / unlabelled) if unlabelled else 0.0
    residual = y - slope * f[labelled]
    estimate = float(w @ residual + slope * f.mean())
    groups, codes = np.unique(index[labelled], return_inverse=True)
    if len(groups) < 2:
        return estimate, math.nan, math.nan
    relative = w * len(y)
    of_labels = _group_influence(residual, w, codes) * np.sqrt(leverage(np.bincount(codes, relative)))
    sums = _group_influence(slope * f, np.full(len(f), 1 / len(f)), index)
    if slope:
        sums = sums * np.sqrt(leverage(np.bincount(index)))
    sums[groups] += of_labels
    return estimate, math.sqrt(float(sums @ sums)), interval_freedom(residual, codes, relative)
