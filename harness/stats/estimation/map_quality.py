"""Quality of maps from a judge's scores to people's: losses, gains over other maps, gaps between languages; maps of numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.calibration import reliability_curve
from harness.stats.estimation.score_maps import isotonic_points
from harness.stats.intervals.cluster_mean import ClusterMean, cluster_mean
from harness.stats.intervals.intervals import MIN_GROUPS, t_quantile


def brier_losses(probabilities: ArrayLike, counts: ArrayLike) -> Floats:
    """(n,) mean over a text's labels of the sum over classes of (p - [y is the class])², in [0, 2]: Brier's score. NaN without labels.

    >>> brier_losses([[0.5, 0.5], [0, 1], [0.5, 0.5]], [[1, 0], [1, 0], [1, 1]]).tolist()
    [0.5, 2.0, 0.5]
    """
    p, label_counts = np.asarray(probabilities, np.float64), np.asarray(counts, np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((p**2).sum(axis=1) - 2 * (p * label_counts).sum(axis=1) / label_counts.sum(axis=1) + 1)


def brier_parts(probabilities: ArrayLike, counts: ArrayLike) -> dict[str, float]:
    """Miscalibration, discrimination and uncertainty, each summed over classes: Brier = the first - the second + the third.

    The CORP decomposition, where the shares of a text's labels are what happened to it; every text has the same weight.

    Args:
        probabilities, counts: (n, k); every text has a label.

    Reference: Dimitriadis, Gneiting & Jordan (2021).

    >>> {name: round(part, 2) for name, part in brier_parts([[0.9, 0.1]] * 2, [[1, 0], [0, 1]]).items()}
    {'miscalibration': 0.32, 'discrimination': 0.0, 'uncertainty': 0.5}
    """
    p, label_counts = np.asarray(probabilities, np.float64), np.asarray(counts, np.float64)
    shares = label_counts / label_counts.sum(axis=1, keepdims=True)
    parts = np.array([_parts(p[:, column], shares[:, column]) for column in range(p.shape[1])]).sum(axis=0)
    return dict(zip(("miscalibration", "discrimination", "uncertainty"), parts.tolist(), strict=True))


def _parts(p: Floats, share: Floats) -> tuple[float, float, float]:
    """The parts of one class: mean p² - 2 p share + share is the score, and that of the shares' rising function of p the best possible."""
    levels, code = np.unique(p, return_inverse=True)
    n = np.bincount(code)
    share_sums = np.bincount(code, share)
    best = isotonic_points(levels, share_sums / n, n)[1]
    mean = float(share.mean())
    score, rising = (float((n * q**2 - 2 * q * share_sums).sum() / len(p)) + mean for q in (levels, best))
    constant = mean * (1 - mean)
    return score - rising, constant - rising, constant


def label_rows(counts: ArrayLike) -> tuple[Ints, Ints]:
    """The text and the class of every label, from (n, k) counts.

    >>> [part.tolist() for part in label_rows([[0, 2], [1, 0]])]
    [[0, 0, 1], [1, 1, 0]]
    """
    times = np.asarray(counts).astype(np.int64)
    text, y = np.nonzero(times)
    return np.repeat(text, times[text, y]), np.repeat(y, times[text, y])


def gain_test(before: ArrayLike, after: ArrayLike, groups: ArrayLike) -> ClusterMean:
    """The mean fall of a loss with groups as units; `.p_above(0)` is one-sided.

    >>> round(float(gain_test([1.0, 0.5, 0.8], [0.5, 0.5, 0.5], [0, 1, 2]).mean), 3)
    0.267
    """
    return cluster_mean(np.asarray(before, np.float64) - np.asarray(after, np.float64), np.asarray(groups))


class Gap(msgspec.Struct, frozen=True):
    """The gap between the best and the worst language, beside what chance alone makes where all are equal.

    Attributes:
        gap: the largest value less the smallest.
        by_chance, by_chance_95: mean and 95 % quantile of the gap of equal languages with these errors.
        q, p: Cochran's heterogeneity and its p by chi² with L - 1 degrees of freedom.
    """

    gap: float
    by_chance: float
    by_chance_95: float
    q: float
    p: float


def gap_best_worst(values: ArrayLike, errors: ArrayLike, *, draws: int = 200_000, seed: int = 0) -> Gap:
    """The gap with its chance line.

    Args:
        values: (L,) one number of each language.
        errors: (L,) their standard errors, above 0.
        draws, seed: of the line of chance.

    Raises:
        ValueError: for fewer than two languages or an error that is not above 0.

    >>> found = gap_best_worst([0.7, 0.8], [0.05, 0.05])
    >>> round(found.gap, 2), round(found.by_chance, 2), round(found.p, 2)
    (0.1, 0.06, 0.16)
    """
    from scipy import stats

    a, se = np.asarray(values, np.float64), np.asarray(errors, np.float64)
    if len(a) < 2 or not (se > 0).all():
        raise ValueError("a gap needs two languages or more, each with a standard error above 0")
    drawn = np.ptp(np.random.default_rng(seed).normal(size=(draws, len(a))) * se, axis=1)
    mean = np.average(a, weights=se**-2)
    q = float((((a - mean) / se) ** 2).sum())
    return Gap(float(np.ptp(a)), float(drawn.mean()), float(np.quantile(drawn, 0.95)), q, float(stats.chi2.sf(q, len(a) - 1)))


class MeanCalibrationError(msgspec.Struct, frozen=True):
    """Return the mean distance between people's mean and the mapped score, over bins of scores.

    Attributes:
        squared: sum over bins of w (mean score - people's mean)² without its bias, which may be negative.
        error: its root, 0 below 0, in points.
        ci: 95 % interval of `error`; None with fewer than 8 groups.
        bins: number of bins.
    """

    squared: float
    error: float
    ci: tuple[float, float] | None
    bins: int


def mean_calibration_error(score: ArrayLike, mean: ArrayLike, groups: ArrayLike, *, bins: int = 10) -> MeanCalibrationError:
    """Calibration error of scores that should equal people's means.

    The gaps of the bins are asymptotically normal with the covariance V of their means over groups; sum w d² has the bias tr(WV) and the
    variance 4 d'WVWd + 2 tr(WVWV); the interval inverts the test of each square, as Wilson's does.

    Args:
        score: (n,) what the score says of people's mean, in points.
        mean: (n,) mean of each text's labels.
        bins: at most so many of about equally many texts; equal scores stay together.

    Reference: Kumar, Liang & Ma (2019) for the debiased square.

    >>> found = mean_calibration_error([1, 1, 2, 2] * 10, [1, 2, 2, 3] * 10, range(40))
    >>> round(found.error, 2), found.bins
    (0.49, 2)
    """
    x, y = np.asarray(score, np.float64), np.asarray(mean, np.float64)
    low, reach = float(x.min()), float(np.ptp(x)) or 1.0
    bin_index = reliability_curve((x - low) / reach, np.zeros(len(x)), bins).bin
    n = np.bincount(bin_index)
    gap = np.bincount(bin_index, x - y) / n
    group = np.unique(groups, return_inverse=True)[1]
    count = int(group.max()) + 1
    deviation = np.bincount(group * len(n) + bin_index, (x - y) - gap[bin_index], count * len(n)).reshape(count, len(n)) / n
    covariance = deviation.T @ deviation * (count / max(count - 1, 1))
    w = n / len(x)
    squared = float(w @ (gap**2 - np.diag(covariance)))
    if count >= MIN_GROUPS:
        # The squares that lie within `t` of their own standard errors, as roots: the variance at a square s is 4 s v + 2 tr(WVWV). v is
        # the variance along the gaps. Their direction is not known well, so v is that of the worst one, what the bins have in common.
        weighted = np.sqrt(np.outer(w, w)) * covariance
        t = t_quantile(0.95, count - 1)
        along, noise = float(np.linalg.eigvalsh(weighted)[-1]), float((weighted**2).sum())
        middle = squared + 2 * t**2 * along
        reach = t * math.sqrt(max(4 * along * squared + 4 * t**2 * along**2 + 2 * noise, 0.0))
        ci = math.sqrt(max(middle - reach, 0.0)), math.sqrt(max(middle + reach, 0.0))
    else:
        ci = None
    return MeanCalibrationError(squared, math.sqrt(max(squared, 0.0)), ci, len(n))


TOLERANCE = 1e-9
"""Two nonconformities, or two sums of weights, that differ by less are equal."""


def least_groups(alpha: float) -> int:
    """The least number of groups for which a set can be smaller than "every score": K >= (1 - alpha) / alpha, in exact fractions.

    >>> [least_groups(alpha) for alpha in (0.05, 0.1, 0.15, 0.2)]
    [19, 9, 6, 4]
    """
    share = _fraction(alpha)
    return math.ceil((1 - share) / share)


def conformal_rank(n: int, alpha: float) -> int | None:
    """Rank of the threshold among `n` nonconformities of independent texts, ceil((n + 1)(1 - alpha)); None where it is beyond `n`.

    >>> conformal_rank(9, 0.1), conformal_rank(99, 0.1), conformal_rank(8, 0.1)
    (9, 90, None)
    """
    rank = math.ceil((n + 1) * (1 - _fraction(alpha)))
    return rank if rank <= n else None


def _fraction(alpha: float) -> Fraction:
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha}, but must be between 0 and 1")
    return Fraction(alpha).limit_denominator(10**9)


def threshold_by_group(scores: ArrayLike, groups: ArrayLike, alpha: float) -> float:
    """The threshold whose sets hold the score of *a random text of a new random group* with 1 - alpha.

    Each group has the same weight, which its texts share; infinity has the weight of one more group.

    Args:
        scores: (n,) nonconformities, finite.
        groups: (n,) the group of each.
        alpha: share of misses, in (0, 1).

    Returns:
        the threshold; infinite ("every score") below `least_groups`.

    >>> threshold_by_group([1, 5, 2, 3, 4], [0, 0, 1, 2, 3], 0.4), threshold_by_group([1, 2], [0, 1], 0.1)
    (4.0, inf)
    """
    _, code, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    return _weighted(np.asarray(scores, np.float64), 1 / ((len(sizes) + 1) * sizes[code]), alpha)


def threshold_by_size(scores: ArrayLike, groups: ArrayLike, alpha: float, *, size: int | None = None) -> float:
    """The threshold whose sets hold *a random text* with 1 - alpha: every text has the same weight, infinity that of the new group.

    Args:
        scores, groups, alpha: as for `threshold_by_group`.
        size: texts in the new group; None takes the largest group seen.

    >>> threshold_by_size([1, 5, 2, 3, 4], [0, 0, 1, 2, 3], 0.4, size=1), threshold_by_size([1, 5, 2, 3, 4], [0, 0, 1, 2, 3], 0.2)
    (4.0, inf)
    """
    sizes = np.unique(groups, return_counts=True)[1]
    scores = np.asarray(scores, np.float64)
    beyond = size or int(sizes.max(initial=1))
    return _weighted(scores, np.full(len(scores), 1 / (len(scores) + beyond)), alpha)


def _weighted(scores: Floats, weights: Floats, alpha: float) -> float:
    order = np.argsort(scores, kind="stable")
    enough = np.flatnonzero(np.cumsum(weights[order]) >= 1 - float(_fraction(alpha)) - TOLERANCE)
    return float(scores[order[enough[0]]]) if len(enough) else math.inf


def threshold_one_per_group(scores: ArrayLike, alpha: float, *, rank: int | None = None) -> float:
    """The threshold from one nonconformity of each group, drawn without a look at it; for a random text of a new group.

    Args:
        scores: (K,) one nonconformity of each group.
        alpha: share of misses, in (0, 1).
        rank: another rank than `conformal_rank`, for example `rank_for_this_draw`.

    >>> threshold_one_per_group(range(1, 10), 0.1), threshold_one_per_group(range(8), 0.1)
    (9.0, inf)
    """
    ordered = np.sort(np.asarray(scores, np.float64))
    position = rank or conformal_rank(len(ordered), alpha)
    return float(ordered[position - 1]) if position and position <= len(ordered) else math.inf


def rank_for_this_draw(n: int, alpha: float, *, confidence: float = 0.95) -> int | None:
    """The least rank with which this draw of labels covers at least 1 - alpha with probability `confidence`; None where none does.

    >>> rank_for_this_draw(30, 0.1), rank_for_this_draw(29, 0.1), rank_for_this_draw(28, 0.1)
    (30, 29, None)
    """
    from scipy import stats

    _fraction(alpha)
    ranks = np.arange(1, n + 1)
    holds = np.flatnonzero(stats.beta.cdf(1 - alpha, ranks, n + 1 - ranks) <= 1 - confidence + TOLERANCE)
    return int(ranks[holds[0]]) if len(holds) else None


def ordered_nonconformity(probabilities: ArrayLike) -> Floats:
    """(n, k) distance of each class from the middle of its distribution, |F(y) - p(y)/2 - 1/2|: its sets are unbroken runs of classes.

    >>> ordered_nonconformity([[0.2, 0.5, 0.3]]).round(2).tolist()
    [[0.4, 0.05, 0.35]]
    """
    p = np.asarray(probabilities, np.float64)
    return np.asarray(np.abs(np.cumsum(p, axis=-1) - p / 2 - 0.5), np.float64)
