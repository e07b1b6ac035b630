"""Measures how good probabilities are: reliability curve, calibration errors, losses by groups of texts, cross-fitted recalibration.

A confidence p is calibrated if, of the answers given with p, the share p is right. The plain binned error is biased upward: a perfectly
calibrated judge has an expected calibration error of about 0.14 with 60 answers in 10 bins. Show it only beside the debiased square.

Maps are fitted on other groups than those they are applied to. Platt's map needs the fewest labels: isotonic regression follows any rising
curve, but with a few hundred answers its error is about three times as large.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, Ints, ShapeError, as_index, same_shape
from harness.stats.core.groups import effective_groups
from harness.stats.intervals.cluster_mean import cluster_mean
from harness.stats.intervals.intervals import MIN_GROUPS, t_quantile
from harness.stats.intervals.regression import fit_logistic, logistic

CUT = 1e-6
"""Probabilities are cut to [CUT, 1 - CUT] before a logarithm is taken."""
MIN_BIN = 15
"""Fewest answers of an equal-mass bin."""
_ROUNDING = 1e-9

PSEUDO_LABELS = 0.5
"""Labels that each class gets beside those that people gave, so that a class nobody chose has no probability of 0."""


@dataclass(frozen=True, slots=True)
class ReliabilityCurve:
    """Bins of confidence in rising order: `n` answers, their mean `confidence` and the `share` that is right; each (bins,).

    `bin` (answers,) is the bin of every answer.
    """

    n: Ints
    confidence: Floats
    share: Floats
    bin: Ints


@dataclass(frozen=True, slots=True)
class CalibrationError:
    """Calibration errors on `n` answers in `bins` bins; NaN and a reason where there is no answer.

    `ece` = sum w_b |p_b - y_b|; `squared` = sum w_b (p_b - y_b)²; `debiased` subtracts y_b (1 - y_b) / (n_b - 1) in each bin and may be
    negative. NaN in `debiased` if a bin holds a single answer.
    """

    ece: float
    squared: float
    debiased: float
    n: int
    bins: int
    reason: str | None

    @property
    def root(self) -> float:
        """sqrt(squared), in units of probability."""
        return math.sqrt(self.squared)

    @property
    def debiased_root(self) -> float:
        """sqrt(max(0, debiased)), in units of probability."""
        return math.sqrt(self.debiased if math.isnan(self.debiased) else max(0.0, self.debiased))


def reliability_curve(confidence: ArrayLike, right: ArrayLike, bins: int | None = 10, *, min_bin: int = MIN_BIN) -> ReliabilityCurve:
    """Mean confidence and share right in equal-mass bins.

    Answers are sorted by confidence and cut into `bins` bins of about equal size. Equal confidences stay in one bin. Fewer bins are made
    where a bin would hold less than `min_bin` answers.

    Args:
        confidence: (answers,) in [0, 1].
        right: (answers,) 1 where the answer is right, 0 where it is not.
        bins: number of bins; None takes each distinct confidence as a bin, which suits vote shares.
        min_bin: fewest answers of a bin; has no effect on distinct values.

    Raises:
        ValueError: for numbers outside [0, 1] and NaN.

    Reference: Kumar, Liang & Ma (2019), equal-mass bins.

    >>> reliability_curve([0.5, 0.5, 1.0, 1.0], [0, 1, 1, 1], bins=None).share.tolist()
    [0.5, 1.0]
    """
    p, y = checked(confidence, right)
    _, code, counts = np.unique(p, return_inverse=True, return_counts=True)
    if bins is not None:
        code = _equal_mass(counts, max(1, min(bins, len(p) // max(1, min_bin))), min_bin)[code]
    n = np.bincount(code)
    return ReliabilityCurve(n, np.bincount(code, p) / np.maximum(n, 1), np.bincount(code, y) / np.maximum(n, 1), code)


def _equal_mass(counts: Ints, bins: int, min_bin: int) -> Ints:
    """The bin of each distinct value, in rising order: a bin ends at the first value that reaches the next multiple of n / bins."""
    total, seen, in_bin, current = int(counts.sum()), 0, 0, 0
    mass = total / bins
    out = np.empty(len(counts), np.int64)
    target = mass
    for position, count in enumerate(counts.tolist()):
        out[position] = current
        seen, in_bin = seen + count, in_bin + count
        if seen >= target - _ROUNDING * total and in_bin >= min_bin:
            target = (math.floor(seen / mass + _ROUNDING * bins) + 1) * mass
            current, in_bin = current + 1, 0
    if 0 < in_bin < min_bin and current:  # what is left is too little for a bin of its own
        out[out == current] = current - 1
    return out


def calibration_error(confidence: ArrayLike, right: ArrayLike, bins: int | None = 10, *, min_bin: int = MIN_BIN) -> CalibrationError:
    """Expected calibration error, squared error, and the squared error without its bias.

    Args and errors as `reliability_curve`.

    Reference: Kumar, Liang & Ma (2019), the debiased estimator.

    >>> error = calibration_error([0.5] * 20 + [0.9] * 20, [0, 1] * 10 + [1] * 20)
    >>> round(error.ece, 3), round(error.squared, 4), round(error.debiased, 4)
    (0.05, 0.005, -0.0016)
    """
    curve = reliability_curve(confidence, right, bins, min_bin=min_bin)
    n = int(curve.n.sum())
    if n == 0:
        return CalibrationError(math.nan, math.nan, math.nan, 0, 0, "no answers")
    gap, weight = curve.confidence - curve.share, curve.n / n
    counts = curve.n.astype(np.float64)
    single = "a bin holds a single answer" if (curve.n < 2).any() else None
    # The debiased squared error; bins that are empty count nothing.
    filled = np.maximum(counts, 1.0)
    share = (counts * curve.share) / filled
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = np.where(counts > 0, share * (1 - share) / (counts - 1), 0.0)
    debiased = float((counts * (((counts * curve.confidence) / filled - share) ** 2 - noise)).sum() / counts.sum())
    return CalibrationError(float(weight @ np.abs(gap)), float(weight @ gap**2), debiased, n, len(curve.n), single)


def brier_score(confidence: ArrayLike, right: ArrayLike) -> float:
    """Mean (p - y)², in [0, 1]; NaN without answers.

    Raises ShapeError, ValueError as `reliability_curve`. Reference: Brier (1950).

    >>> brier_score([1.0, 0.5], [1, 0])
    0.125
    """
    p, y = checked(confidence, right)
    return float(np.mean((p - y) ** 2)) if len(p) else math.nan


def log_loss(confidence: ArrayLike, right: ArrayLike) -> float:
    """Mean -log of the probability given to what happened, in nats, with p cut to [1e-6, 1 - 1e-6]; NaN without answers.

    Raises ShapeError, ValueError as `reliability_curve`.

    >>> round(log_loss([0.5, 0.5], [1, 0]), 4)
    0.6931
    """
    p, y = checked(confidence, right)
    p = np.clip(p, CUT, 1 - CUT)
    return float(-np.mean(y * np.log(p) + (1 - y) * np.log1p(-p))) if len(p) else math.nan


def checked(confidence: ArrayLike, right: ArrayLike) -> tuple[Floats, Floats]:
    """Return both as arrays. Raises ShapeError for other lengths, ValueError for numbers outside [0, 1] and NaN."""
    p, y = np.asarray(confidence, np.float64), np.asarray(right, np.float64)
    same_shape("of the same answers", confidence=p, right=y)
    for name, values in (("confidence", p), ("right", y)):
        if not ((values >= 0) & (values <= 1)).all():
            raise ValueError(f"{name} must lie between 0 and 1; found {values[~((values >= 0) & (values <= 1))][0]}")
    return p, y


@dataclass(frozen=True, slots=True)
class Platt:
    """p -> expit(intercept + slope logit p)."""

    intercept: float
    slope: float

    def __call__(self, confidence: ArrayLike) -> Floats:
        return logistic(self.intercept + self.slope * logit(confidence))


def logit(confidence: ArrayLike) -> Floats:
    """log(p / (1 - p)) with p cut to [1e-6, 1 - 1e-6].

    >>> logit([0.5, 0.0]).round(2).tolist()
    [0.0, -13.82]
    """
    p = np.clip(np.asarray(confidence, np.float64), CUT, 1 - CUT)
    return np.asarray(np.log(p / (1 - p)))


def fit_platt(confidence: ArrayLike, right: ArrayLike, *, softened: bool = False) -> Platt:
    """Intercept and slope on the logit of the confidence, by maximum likelihood.

    Args:
        confidence: (answers,) in [0, 1].
        right: (answers,) 0 or 1.
        softened: fit Platt's targets (n1 + 1) / (n1 + 2) and 1 / (n0 + 2) instead of 1 and 0, as scikit-learn does. They are used in any
            case where maximum likelihood has no finite solution: all answers right or all wrong, or a confidence that separates the two.

    Raises:
        ShapeError, ValueError: as `calibration.reliability_curve`; ValueError without answers.

    Reference: Platt (1999).

    >>> found = fit_platt([0.6, 0.6, 0.9, 0.9, 0.9], [0, 1, 1, 1, 0])
    >>> round(float(found([0.9])[0]), 3)
    0.667
    """
    p, y = checked(confidence, right)
    if not len(p):
        raise ValueError("no answers to recalibrate on")
    soft = np.where(y > 0, (y.sum() + 1) / (y.sum() + 2), 1 / (len(y) - y.sum() + 2))
    p_wrong, p_right = p[y == 0], p[y == 1]
    separated = not len(p_wrong) or not len(p_right) or p_wrong.max() <= p_right.min() or p_right.max() <= p_wrong.min()
    target = soft if softened or separated else y
    x = logit(p)
    if np.ptp(x) == 0:  # one confidence says nothing of a slope
        return Platt(float(logit([target.mean()])[0] - x[0]), 1.0)
    intercept, slope = fit_logistic(x[:, None], target)
    return Platt(float(intercept), float(slope))


def group_folds(groups: ArrayLike, folds: int = 5, *, seed: int = 0) -> Ints:
    """A fold 0 … folds-1 for each answer, the same for all answers of a group; sizes as equal as the groups allow.

    Groups are taken in random order, larger ones first, and each goes to the fold that holds the fewest answers.

    Args:
        groups: (answers,) any sortable codes.
        folds: at least 2; no more than there are groups.
        seed: of the order.

    Raises:
        ValueError: for fewer than 2 folds or fewer groups than folds.

    >>> np.bincount(group_folds([1, 1, 2, 3, 4, 4], folds=2)).tolist()
    [3, 3]
    """
    code = as_index(groups, len(np.asarray(groups)), "groups")
    size = np.bincount(code)
    if not 2 <= folds <= len(size):
        raise ValueError(f"{folds} folds need at least 2 folds and as many groups; there are {len(size)} groups")
    order = np.random.default_rng(seed).permutation(len(size))
    fold_sizes, fold = np.zeros(folds, np.int64), np.empty(len(size), np.int64)
    for group in order[np.argsort(-size[order], kind="stable")]:
        fold[group] = np.argmin(fold_sizes)
        fold_sizes[fold[group]] += size[group]
    return fold[code]


def cross_fitted(
    confidence: ArrayLike, right: ArrayLike, folds: ArrayLike, fit: Callable[[Floats, Floats], Callable[[Floats], Floats]] = fit_platt
) -> Floats:
    """Recalibrated confidences, each from a map that was fitted on the other folds.

    Args:
        confidence, right: as `fit`.
        folds: (answers,) fold codes, from `group_folds`.
        fit: `fit_platt`, or any function of (confidence, right) that returns a map.

    Raises:
        ValueError: with a single fold.

    >>> cross_fitted([0.9] * 8, [1, 1, 1, 0] * 2, [0, 0, 0, 0, 1, 1, 1, 1]).round(3).tolist()[::4]
    [0.683, 0.683]
    """
    p, y, fold = np.asarray(confidence, np.float64), np.asarray(right), np.asarray(folds)
    if not p.shape[:1] == y.shape == fold.shape:
        raise ShapeError(f"confidence {p.shape}, right {y.shape} and folds {fold.shape} must be of the same answers")
    chosen = np.unique(fold)
    if len(chosen) < 2:
        raise ValueError("cross-fitting needs at least two folds")
    out = np.empty_like(p)
    for held_out in chosen:
        out[fold == held_out] = fit(p[fold != held_out], y[fold != held_out])(p[fold == held_out])
    return out


class SquaredError(NamedTuple):
    """The squared calibration error over `bins` bins, in squared units of probability; it may be negative, as its bias is taken out.

    `ci` is its 95 % interval, NaN with fewer than 8 groups; `squared` is NaN where no bin has two groups.
    """

    squared: float
    ci: tuple[float, float]
    bins: int

    @property
    def root(self) -> float:
        """Return the square root with the sign of `squared`, in units of probability; below 0, chance alone would make more."""
        return math.copysign(math.sqrt(abs(self.squared)), self.squared)


def squared_calibration_error(confidence: ArrayLike, right: ArrayLike, groups: ArrayLike, bins: int = 10) -> SquaredError:
    """Return the mean squared distance of confidence from the share that is right, over bins of equal count, without upward bias.

    sum_b w_b / N_b sum e_i e_j over the N_b pairs of answers of different groups in bin b, e = p - y, w_b the bin's share of the answers.
    Each answer is compared with other groups only (leave one group out), so that noise has no share in it: its mean is 0 for a calibrated
    judge, where the plain error is 0.07 with 100 texts and ten bins. Bins without two groups are left out. The interval is that of the
    jackknife over groups, with Student's t and the effective groups less 1.

    Args:
        confidence, right: (answers,) as `calibration.reliability_curve`.
        groups: (answers,) what texts share.
        bins: at most so many, of 15 answers or more; equal confidences stay together.

    Reference: Kumar, Liang & Ma (2019) for independent answers; Efron & Tibshirani (1993), the jackknife.

    >>> found = squared_calibration_error([0.9] * 40, [1, 0] * 20, range(40))
    >>> round(found.squared, 3), round(found.root, 2), found.bins
    (0.154, 0.39, 1)
    """
    p, y = checked(confidence, right)
    code = as_index(groups, len(p), "groups")
    if not len(p):
        return SquaredError(math.nan, (math.nan, math.nan), 0)
    bin_of = reliability_curve(p, y, bins).bin
    count, size = int(code.max()) + 1, int(bin_of.max()) + 1
    cell = code * size + bin_of
    n, e = (np.bincount(cell, values, count * size).reshape(count, size) for values in (np.ones(len(p)), p - y))
    all_pairs = _pairs(n.sum(0), e.sum(0), (n**2).sum(0), (e**2).sum(0))
    if count < MIN_GROUPS:
        return SquaredError(float(all_pairs), (math.nan, math.nan), size)
    without = _pairs(n.sum(0) - n, e.sum(0) - e, (n**2).sum(0) - n**2, (e**2).sum(0) - e**2)
    error = math.sqrt((count - 1) / count * float(((without - without.mean()) ** 2).sum()))
    reach = error * t_quantile(0.95, float(effective_groups(n.sum(1))) - 1)
    return SquaredError(float(all_pairs), (float(all_pairs) - reach, float(all_pairs) + reach), size)


def _pairs(n: Floats, e: Floats, n_squares: Floats, e_squares: Floats) -> Floats:
    """Return the mean product over pairs of different groups, from sums by bin (..., bins) and sums of squares of groups."""
    pairs = n**2 - n_squares
    with np.errstate(divide="ignore", invalid="ignore"):
        product = np.where(pairs > 0, (e**2 - e_squares) / pairs, 0.0)
        weight = np.where(pairs > 0, n, 0.0)
        return np.asarray((weight * product).sum(axis=-1) / weight.sum(axis=-1))


def log_losses(probabilities: ArrayLike, counts: ArrayLike) -> Floats:
    """(n,) mean over a text's labels of -log of the probability of their class, in nats, cut to at least 1e-6. NaN without labels.

    >>> log_losses([[0.5, 0.5], [0.25, 0.75]], [[1, 1], [0, 2]]).round(3).tolist()
    [0.693, 0.288]
    """
    p, label_counts = np.asarray(probabilities, np.float64), np.asarray(counts, np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(-(np.log(np.clip(p, CUT, 1.0)) * label_counts).sum(axis=1) / label_counts.sum(axis=1))


def frequencies_elsewhere(counts: ArrayLike, groups: ArrayLike) -> Floats:
    """(n, k) shares of the classes among the labels of all other groups, each class with half a label more: the baseline of a loss.

    >>> frequencies_elsewhere([[2, 0], [0, 2], [1, 2]], [0, 0, 1]).tolist()
    [[0.375, 0.625], [0.375, 0.625], [0.5, 0.5]]
    """
    label_counts = np.asarray(counts, np.float64)
    code = as_index(groups, len(label_counts), "groups")
    of_group = np.stack([np.bincount(code, column) for column in label_counts.T], axis=1)
    elsewhere = label_counts.sum(axis=0) - of_group[code] + PSEUDO_LABELS
    return np.asarray(elsewhere / elsewhere.sum(axis=1, keepdims=True))


def next_person(counts: ArrayLike, prior: ArrayLike) -> tuple[Floats, Floats]:
    """(n,) Brier's score and log loss of what a text's other people say of one person's label, the mean over its people.

    Each person's class is predicted by the shares of the other people's labels, with `prior` as one label more; NaN with fewer than two.

    Args:
        counts: (n, k) labels of each class.
        prior: (n, k) probabilities, such as `frequencies_elsewhere`.

    >>> [loss.round(3).tolist() for loss in next_person([[3, 0], [1, 1], [1, 0]], [[0.5, 0.5]] * 3)]
    [[0.056, 1.125, nan], [0.182, 1.386, nan]]
    """
    label_counts, extra = np.asarray(counts, np.float64), np.asarray(prior, np.float64)
    m, k = label_counts.sum(axis=1), label_counts.shape[1]
    brier, log = np.zeros(len(m)), np.zeros(len(m))
    for y in range(k):
        next_label = np.eye(k)[y]
        other_counts = np.maximum(label_counts - next_label, 0.0) + extra
        q = other_counts / other_counts.sum(axis=1, keepdims=True)
        brier += label_counts[:, y] * ((q - next_label) ** 2).sum(axis=1)
        log -= label_counts[:, y] * np.log(np.clip(q[:, y], CUT, 1.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        return (np.where(m >= 2, brier / m, math.nan), np.where(m >= 2, log / m, math.nan))


def least_brier(counts: ArrayLike) -> Floats:
    """(n,) the lowest Brier's score that any probabilities of a text can have: how often two of its people differ; NaN with fewer than two.

    With people's true shares q it is 1 - sum q², and two people differ as often: an estimate without bias, from 2 labels on.

    >>> least_brier([[3, 0], [1, 1], [2, 1]]).round(3).tolist()
    [0.0, 1.0, 0.667]
    """
    label_counts = np.asarray(counts, np.float64)
    m = label_counts.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(m >= 2, 1 - (label_counts * (label_counts - 1)).sum(axis=1) / (m * (m - 1)), math.nan))


class Skill(NamedTuple):
    """A mean loss beside that of a baseline: `skill` = 1 - loss / baseline with its 95 % interval; 1 is without error, 0 the baseline."""

    loss: float
    baseline: float
    skill: float
    ci: tuple[float, float]


def skill(losses: ArrayLike, baseline: ArrayLike, groups: ArrayLike) -> Skill:
    """Return the skill of a loss; NaN without texts or where the baseline has no loss.

    The interval is that of the mean over groups of (L / B b - l) / B, with L and B the mean losses (linearised ratio).

    Args:
        losses, baseline: (n,) without gaps, of the same texts.
        groups: (n,) what texts share.

    Reference: Murphy (1988), skill scores.

    >>> found = skill([0.1, 0.2, 0.3, 0.2], [0.5, 0.5, 0.5, 0.5], range(4))
    >>> round(found.skill, 2), [round(end, 2) for end in found.ci]
    (0.6, [0.34, 0.86])
    """
    loss, base = np.asarray(losses, np.float64), np.asarray(baseline, np.float64)
    same_shape(losses=loss, baseline=base)
    if not len(loss) or not base.mean() > 0:
        return Skill(math.nan, math.nan, math.nan, (math.nan, math.nan))
    ratio = float(loss.mean() / base.mean())
    low, high = cluster_mean((ratio * base - loss) / base.mean(), groups).interval()
    return Skill(float(loss.mean()), float(base.mean()), 1 - ratio, (1 - ratio + low, 1 - ratio + high))
