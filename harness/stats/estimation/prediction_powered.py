"""Prediction-powered inference: labels of some items and a judge's scores of many give one estimate that is valid whatever the judge.

Needed: the labelled items are a random sample of all items. Then the estimate has no bias, because the judge's error is measured on the
labelled items and subtracted. A judge that says little about the labels gains nothing and costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.core.arrays import Floats, Ints, ShapeError, as_index, same_shape
from harness.stats.core.groups import ClusterVariance, leverage
from harness.stats.intervals.cluster_mean import (
    ClusterMean,
    cluster_mean,
    deviation_sums,
    freedom_of_squares,
    interval_freedom,
    sums_of_squares,
)
from harness.stats.intervals.intervals import CONSTANT, Interval, no_interval, score_interval, t_quantile

MIN_LABELS = 30
"""Below this number of labels, use the labels alone (`lam=0`)."""
MIN_LABELLED_GROUPS = 20
"""Below this number of labelled groups, use the labels alone (`lam=0`)."""
TOO_FEW_LABELS = "fewer than two independent labels"
MEAN = "prediction-powered (t)"
SHARE = "prediction-powered (wilson on effective n)"
SATTERTHWAITE_FACTOR, ADDED_UNITS = 0.5, 2  # of `freedom_of_share`
SHARE_FREEDOM = f"{SATTERTHWAITE_FACTOR:g}+{ADDED_UNITS}"
"""How signatures name what limits the degrees of freedom of shares."""
MeanOfLabels = tuple[float, float, float]
"""An estimate, its standard error and its degrees of freedom."""


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """A mean estimated from labels and a judge's scores, with its standard `error` and `freedom` of Student's t.

    `lam` is the weight of the judge: 0 means labels alone, 1 plain prediction-powered inference. `n` items have a label, `unlabelled`
    only a score. `alone` and `alone_error` are the mean of the labels and its error, `judge_only` is the mean of all scores, `rho` the
    correlation of labels and scores (NaN if one of them is constant). `reason` says why `error` is undefined.
    """

    value: float
    error: float
    freedom: float
    interval: Interval
    lam: float
    n: int
    unlabelled: int
    alone: float
    alone_error: float
    judge_only: float
    rho: float
    reason: str | None

    @property
    def effective_n(self) -> float:
        """Number of labels that would give this error without the judge; `n` if the judge changes nothing."""
        return self.n * _gain(self.alone_error**2, self.error**2)

    @property
    def gain(self) -> float:
        """`effective_n` / n: how many times more precise than the labels alone, in variance."""
        return _gain(self.alone_error**2, self.error**2)

    @property
    def labels_saved(self) -> float:
        return self.effective_n - self.n


@dataclass(frozen=True, slots=True)
class PredictionPoweredShares:
    """Shares of k classes that sum to 1: `value`, `error` and `alone` of shape (k,), one interval a class, one `lam` for all."""

    value: Floats
    error: Floats
    freedom: float
    intervals: tuple[Interval, ...]
    lam: float
    n: int
    unlabelled: int
    alone: Floats
    gain: float
    reason: str | None


@dataclass(frozen=True, slots=True)
class CombinedEstimate:
    """A weighted sum of independent estimates: strata, or the difference of systems on different prompts."""

    value: float
    error: float
    freedom: float
    interval: Interval
    gain: float
    reason: str | None


def prediction_powered_mean(
    labels: ArrayLike,
    judged: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    lam: float | None = None,
    level: float = 0.95,
    variance: ClusterVariance = "cr2",
) -> PredictionPowered:
    """Mean label of all items, from the labels of a random sample and a judge's scores of all (PPI++).

    theta = mean(Y) + lam (mean(f, unlabelled) - mean(f, labelled)); variance = var(Y - lam f) / n + lam² var(f, unlabelled) / N. By default
    lam = cov(Y, f) / (var(f, all) (1 + n / N)), cut to [0, 1]; 0 for a constant judge. Student's t with n - 1 degrees of freedom.

    With groups the variances are those over groups (CR2, as `cluster_mean`), with degrees of freedom nu_l and nu_u of the labelled and the
    unlabelled items for their correlation in a group. If no group has both, the variance is V_l + lam² V_u, and Student's t has the
    smaller of Satterthwaite's (V_l + lam² V_u)² / (V_l² / nu_l + lam⁴ V_u² / nu_u) and the smaller number of groups minus 1. Otherwise the
    variance is sum_g (e_g / sqrt(1 - h_g) + lam e'_g / sqrt(1 - h'_g))², where e_g = sum_labelled (r - mean r) / n, e'_g =
    sum_unlabelled (f - mean f) / N, r = Y - lam f and h are the group's shares of each part, with min(nu_l, G - 1) degrees of freedom.

    Args:
        labels: (items,) label or mean label of each item, NaN where there is none.
        judged: (items,) the judge's score; NaN (a failure) counts as the mean of the scores that can be read.
        lam: weight of the judge, 0 for labels alone; None chooses it.
        variance: `cr1` takes groups as equal: their number minus 1 are the degrees of freedom.

    Returns:
        `PredictionPowered`; error and interval NaN with fewer than two independent labels, value NaN without labels. The interval has a
        reason instead of bounds where nothing varies.

    Reference: Angelopoulos, Duchi & Zrnic (2023), PPI++; Angelopoulos et al. (2023), prediction-powered inference; Bell & McCaffrey (2002)
    and Pustejovsky & Tipton (2018) for groups.

    >>> found = prediction_powered_mean([1, 2, 3, 4, 2, 3] + [float("nan")] * 60, [1, 2, 3, 3, 2, 2] + [1, 2, 3] * 20)
    >>> round(found.value, 3), round(found.error, 3), round(found.lam, 2), round(found.alone_error, 3), round(found.gain, 2)
    (2.366, 0.253, 0.8, 0.428, 2.85)
    """
    y, f = np.asarray(labels, np.float64), np.asarray(judged, np.float64)
    same_shape(labels=y, judged=f)
    sample = _sample(y[:, None], fill_failures(f[:, None]), ~np.isnan(y), groups)
    estimated, alone = _estimate(sample, lam, variance), _estimate(sample, 0.0, variance)
    combined, labels_alone = (
        (float(estimate.value[0]), math.sqrt(estimate.variance[0]), estimate.freedom) for estimate in (estimated, alone)
    )
    interval = t_interval(*combined, sample.labelled_groups, level)
    return powered(combined, labels_alone, interval, estimated.lam, sample.y[:, 0], sample.f[:, 0], sample.labelled)


def powered(
    combined: MeanOfLabels, alone: MeanOfLabels, interval: Interval, lam: float, y: Floats, f: Floats, labelled: NDArray[np.bool_]
) -> PredictionPowered:
    """The result from the estimate with the judge and that of labels alone, the labels y (n,) and the scores f of all items."""
    reason = TOO_FEW_LABELS if math.isnan(combined[1]) else None
    judge_only, rho = float(f.mean()) if len(f) else math.nan, label_correlation(y, f[labelled])
    return PredictionPowered(*combined, interval, lam, len(y), len(f) - len(y), *alone[:2], judge_only, rho, reason)


def prediction_powered_class_shares(
    labels: ArrayLike, judged: ArrayLike, groups: ArrayLike | None = None, *, lam: float | None = None, level: float = 0.95
) -> PredictionPoweredShares:
    """Shares of k classes among all items: `prediction_powered_mean` of the classes' shares with one lam, so that they sum to 1.

    lam = trace cov(Y, f) / (trace var(f, all) (1 + n / N)), cut to [0, 1]. Intervals as `share_interval`.

    Args:
        labels: (items, k) share of an item's annotators who gave each class, rows that sum to 1; NaN where there is no label.
        judged: (items, k) share of the judge's answers in each class; NaN (a failure) counts as the mean of what can be read.
        groups, lam, level: as in `prediction_powered_mean`.

    Returns:
        `PredictionPoweredShares`; gain is the ratio of the sums of variances, of labels alone and of this estimate.

    >>> nan = float("nan")
    >>> found = prediction_powered_class_shares([[1, 0], [0.5, 0.5], [nan, nan], [nan, nan]], [[1, 0], [0, 1], [1, 0], [0, 1]])
    >>> found.value.round(3).tolist(), found.n
    ([0.75, 0.25], 2)
    """
    y, f = np.asarray(labels, np.float64), np.asarray(judged, np.float64)
    if y.ndim != 2 or y.shape != f.shape:
        raise ShapeError(f"labels {y.shape} and judged {f.shape} must be of the same items and classes")
    labelled = np.asarray(~np.isnan(y).any(axis=1))
    sample = _sample(y, fill_failures(f), labelled, groups)
    estimated, alone = _estimate(sample, lam), _estimate(sample, 0.0)
    error = np.sqrt(estimated.variance)
    total = sample.n + sample.unlabelled
    intervals = tuple(
        share_interval(float(value), float(class_error), estimated.freedom, sample.labelled_groups, total, level)
        for value, class_error in zip(estimated.value, error, strict=True)
    )
    gain = _gain(float(alone.variance.sum()), float(estimated.variance.sum()))
    reason = TOO_FEW_LABELS if np.isnan(error).any() else None
    return PredictionPoweredShares(
        estimated.value, error, estimated.freedom, intervals, estimated.lam, sample.n, sample.unlabelled, alone.value, gain, reason
    )


def combine_estimates(estimates: Sequence[PredictionPowered], weights: Sequence[float], *, level: float = 0.95) -> CombinedEstimate:
    """Weighted sum of independent estimates: sum W_h theta_h with the variance sum W_h² V_h and Satterthwaite's degrees of freedom.

    Args:
        estimates: one a stratum (each with its own lam), or one a system; no group may be in two of them.
        weights: known shares of the strata, which sum to 1; or (1, -1) for a difference of systems on different prompts.

    Returns:
        `CombinedEstimate`; NaN with a reason if one of the estimates is undefined.

    Raises:
        ShapeError: if there are not as many weights as estimates, or none.

    Reference: Fisch et al. (2024), stratified prediction-powered inference; Satterthwaite (1946).

    >>> first, second = (prediction_powered_mean([0, 1, 1, 1, shift], [0, 1, 1, 0, 1]) for shift in (0, 1))
    >>> found = combine_estimates([first, second], [0.5, 0.5])
    >>> round(found.value, 3), round(found.error, 3), round(found.freedom, 2)
    (0.7, 0.158, 7.69)
    """
    if not estimates or len(estimates) != len(weights):
        raise ShapeError(f"{len(estimates)} estimates need as many weights, got {len(weights)}")
    w = np.asarray(weights, np.float64)
    value = float(w @ [estimate.value for estimate in estimates])
    parts = np.array([(weight * estimate.error) ** 2 for weight, estimate in zip(w, estimates, strict=True)])
    alone = float(sum((weight * estimate.alone_error) ** 2 for weight, estimate in zip(w, estimates, strict=True)))
    variance = float(parts.sum())
    freedoms = np.array([estimate.freedom for estimate in estimates])
    freedom = variance**2 / float((parts**2 / freedoms).sum()) if variance > 0 else float(freedoms.min())
    error, groups = math.sqrt(variance), sum(estimate.interval.groups for estimate in estimates)
    reason = TOO_FEW_LABELS if math.isnan(error) else None
    return CombinedEstimate(value, error, freedom, t_interval(value, error, freedom, groups, level), _gain(alone, variance), reason)


def enough_labels(n: int, groups: int) -> bool:
    """Return True if a prediction-powered estimate is advisable; if not, use the labels alone (`lam=0`).

    >>> enough_labels(60, 60), enough_labels(29, 29), enough_labels(60, 12)
    (True, False, False)
    """
    return n >= MIN_LABELS and groups >= MIN_LABELLED_GROUPS


class _Sample(NamedTuple):
    """Labels (n, d) and scores (items, d), which items are labelled (items,), and group codes (items,) or None."""

    y: Floats
    f: Floats
    labelled: NDArray[np.bool_]
    codes: Ints | None

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def unlabelled(self) -> int:
        return len(self.f) - len(self.y)

    @property
    def labelled_groups(self) -> int:
        return self.n if self.codes is None else len(np.unique(self.codes[self.labelled]))


class _Estimated(NamedTuple):
    value: Floats
    variance: Floats
    freedom: float
    lam: float


def _sample(y: Floats, f: Floats, labelled: NDArray[np.bool_], groups: ArrayLike | None) -> _Sample:
    index = None if groups is None else as_index(groups, len(f), "groups")
    if index is not None and len(np.unique(index)) == len(index):
        index = None
    return _Sample(y[labelled], f, labelled, index)


def fill_failures(f: Floats) -> Floats:
    """Scores (items, d) in which a failure has a fixed value, which needs no label to choose; validity does not depend on it.

    >>> fill_failures(np.array([[1.0], [math.nan], [3.0]])).ravel().tolist()
    [1.0, 2.0, 3.0]
    """
    gaps = np.isnan(f)
    return np.where(gaps, f[~gaps.any(axis=1)].mean(axis=0) if not gaps.all() else 0.0, f)


def _estimate(sample: _Sample, lam: float | None, kind: ClusterVariance = "cr2") -> _Estimated:
    y, f, unlabelled = sample.y, sample.f[sample.labelled], sample.f[~sample.labelled]
    width = y.shape[1]
    if not len(y):
        return _Estimated(np.full(width, math.nan), np.full(width, math.nan), math.nan, 0.0)
    weight = 0.0 if not len(unlabelled) else _tuned(y, f, sample.f, len(unlabelled)) if lam is None else lam
    residual = y - weight * f
    value = residual.mean(axis=0) + (weight * unlabelled.mean(axis=0) if weight else 0.0)
    variance, freedom = _variance(sample, residual, weight * unlabelled, kind)
    return _Estimated(value, variance, freedom, weight)


def _tuned(y: Floats, f: Floats, all_scores: Floats, unlabelled: int) -> float:
    """The lam of the smallest variance in [0, 1]; 0 for a constant judge."""
    if not np.ptp(all_scores, axis=0).any():
        return 0.0
    covariance = ((y - y.mean(axis=0)) * (f - f.mean(axis=0))).mean(axis=0).sum()
    variance = all_scores.var(axis=0, ddof=1).sum()
    return float(np.clip(covariance / (variance * (1 + len(y) / unlabelled)), 0.0, 1.0))


def _variance(sample: _Sample, residual: Floats, scores: Floats, kind: ClusterVariance) -> tuple[Floats, float]:
    """Variance (d,) of mean(residual, labelled) + mean(scores, unlabelled), and the degrees of freedom."""
    labelled = sample.labelled
    codes = np.arange(len(labelled)) if sample.codes is None else sample.codes
    labels = _Part.of(residual, codes[labelled], kind)
    if not scores.any():  # with labels alone the unlabelled items say nothing
        return labels.variance, labels.freedom
    judged = _Part.of(scores, codes[~labelled], kind)
    if np.isin(codes[labelled], codes[~labelled]).any():
        # Where groups have labelled and unlabelled items, the two terms of a group belong to one influence.
        groups = np.union1d(labels.groups, judged.groups)
        influence = np.zeros((len(groups), labels.influence.shape[1]))
        for part in (labels, judged):
            influence[np.searchsorted(groups, part.groups)] += part.influence
        variance = (influence**2).sum(axis=0)
        return np.where(np.isnan(labels.variance), math.nan, variance), min(labels.freedom, len(groups) - 1.0)
    if sample.codes is None:
        return labels.variance + judged.variance, labels.freedom
    v, u = float(labels.variance.sum()), float(judged.variance.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        satterthwaite = np.float64(v + u) ** 2 / (v**2 / np.float64(labels.freedom) + u**2 / np.float64(judged.freedom))
    fewer = min(len(labels.groups), len(judged.groups)) - 1.0
    return labels.variance + judged.variance, float(np.fmin(satterthwaite, fewer))


class _Part(NamedTuple):
    """One of the two means: its variance CR2 (d,) with the degrees of freedom of an interval, and by group the code and the influence."""

    variance: Floats
    freedom: float
    groups: Ints
    influence: Floats

    @classmethod
    def of(cls, values: Floats, codes: Ints, kind: ClusterVariance) -> _Part:
        groups, index = np.unique(codes, return_inverse=True)
        size = np.bincount(index).astype(np.float64)
        sums = np.stack([deviation_sums(column, index) for column in values.T], axis=1)
        if len(groups) < 2:
            return cls(np.full(values.shape[1], math.nan), math.nan, groups, sums)
        influence = sums * np.sqrt(leverage(size, variance=kind))[:, None] / len(values)
        free = interval_freedom(values, index) if kind == "cr2" else len(groups) - 1.0
        return cls((influence**2).sum(axis=0), free, groups, influence)


def label_correlation(a: Floats, b: Floats) -> float:
    """Pearson's correlation of labels and scores; NaN where one of them does not vary.

    >>> label_correlation(np.array([0.0, 1.0]), np.array([1.0, 1.0]))
    nan
    """
    if len(a) < 2 or not (np.ptp(a) > 0 and np.ptp(b) > 0):
        return math.nan
    return float(np.corrcoef(a, b)[0, 1])


def _gain(alone: float, variance: float) -> float:
    if variance > 0:
        return alone / variance
    return math.nan if math.isnan(variance) else 1.0 if alone == 0 else math.inf


def t_interval(value: float, error: float, freedom: float, groups: int, level: float) -> Interval:
    """Student's t interval of a mean with this standard error; none with a reason where nothing varies or the error is undefined.

    >>> [round(end, 3) for end in (t_interval(2.0, 0.1, 59, 60, 0.95).lo, t_interval(2.0, 0.1, 59, 60, 0.95).hi)]
    [1.8, 2.2]
    """
    if not error > 0:
        return no_interval(groups, TOO_FEW_LABELS if math.isnan(error) else CONSTANT)
    half = t_quantile(level, freedom) * error
    return Interval(value - half, value + half, MEAN, groups, None, None)


def share_interval(value: float, error: float, freedom: float, groups: int, items: int, level: float) -> Interval:
    """Wilson's interval with Student's t of a share with this standard error, on n_eff = p (1 - p) / error².

    p is the share, cut to [0, 1]. n_eff stays between half the groups and `items`; where nothing varies it is the number of groups. Of a
    rare class the error itself is poorly known, so Student's t has at most `freedom_of_share` degrees of freedom.

    Reference: Wilson (1927) on an effective n, as Korn & Graubard (1998).

    >>> [round(end, 3) for end in (share_interval(0.1, 0.03, 59, 60, 400, 0.95).lo, share_interval(0.1, 0.03, 59, 60, 400, 0.95).hi)]
    [0.052, 0.185]
    """
    if math.isnan(error):
        return no_interval(groups, TOO_FEW_LABELS)
    share = min(1.0, max(0.0, value))
    scatter = share * (1 - share)
    effective = scatter / error**2 if error > 0 else groups
    freedom = min(freedom, freedom_of_share(share, groups)) if error > 0 else freedom
    lo, hi = score_interval(share, min(max(effective, groups / 2), items), t_quantile(level, freedom))
    return Interval(lo, hi, SHARE, groups, None, None)


def freedom_of_share(share: float, groups: int) -> float:
    """Return how many degrees of freedom the error of a share has at most: G p (1 - p) / (1 - 4 p (1 - p)) of G independent units.

    Of a rare class this is about the number of units that are of it, on which the error rests. It is half of what Satterthwaite gives for
    the variance of independent units, 2 / Var(s²/σ²), because few units are also skewed; simulations of docs/error-rates.md chose the half.
    p is (G share + 2) / (G + 4), which a sample without any unit of the class moves away from 0; at one half there is no limit.

    Reference: Satterthwaite (1946); Agresti & Coull (1998).

    >>> [round(freedom_of_share(share, 60), 1) for share in (0.05, 0.3, 0.5)]
    [6.1, 91.7, inf]
    """
    p = (groups * share + ADDED_UNITS) / (groups + 2 * ADDED_UNITS)
    spread = (1 - 2 * p) ** 2  # 1 - 4 p (1 - p)
    return SATTERTHWAITE_FACTOR * 2 * groups * p * (1 - p) / spread if spread > 0 else math.inf


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
    of_labels, of_judge, of_both = (float((remaining * other) @ raised) for remaining, other in ((u, u), (v, v), (u, v)))
    sizes, times = np.unique(np.bincount(index, relative), return_counts=True)
    between, within = ((float(part[0, 0]), float(part[0, 1]), float(part[1, 1])) for part in sums_of_squares(scores, index, relative))
    spread = LabelledSpread(tuple(sizes.tolist()), tuple(times.tolist()), between, within)
    return LabelledSummary(len(y), len(u), float(w @ y), float(w @ f), of_labels, of_judge, of_both, spread)


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
