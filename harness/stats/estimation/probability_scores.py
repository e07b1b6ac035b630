"""How good are probabilities? Calibration error without upward bias, losses beside a baseline and beside people, all by groups of texts."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, as_index, same_shape
from harness.stats.core.groups import effective_groups
from harness.stats.estimation.calibration import CUT, checked, reliability_curve
from harness.stats.intervals.cluster_mean import cluster_mean
from harness.stats.intervals.intervals import MIN_GROUPS, t_quantile

PSEUDO_LABELS = 0.5
"""Labels that each class gets beside those that people gave, so that a class nobody chose has no probability of 0."""


class SquaredError(NamedTuple):
    """The squared calibration error over `bins` bins, in squared units of probability; it may be negative, as its bias is taken out.

    `ci` is its 95 % interval, NaN with fewer than 8 groups; `error` is NaN where no bin has two groups.
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
    whole = _pairs(n.sum(0), e.sum(0), (n**2).sum(0), (e**2).sum(0))
    if count < MIN_GROUPS:
        return SquaredError(float(whole), (math.nan, math.nan), size)
    without = _pairs(n.sum(0) - n, e.sum(0) - e, (n**2).sum(0) - n**2, (e**2).sum(0) - e**2)
    error = math.sqrt((count - 1) / count * float(((without - without.mean()) ** 2).sum()))
    reach = error * t_quantile(0.95, float(effective_groups(n.sum(1))) - 1)
    return SquaredError(float(whole), (float(whole) - reach, float(whole) + reach), size)


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
        one = np.eye(k)[y]
        others = np.maximum(label_counts - one, 0.0) + extra
        q = others / others.sum(axis=1, keepdims=True)
        brier += label_counts[:, y] * ((q - one) ** 2).sum(axis=1)
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
