"""The tests that a verdict on probabilities rests on: is a judge as often right as it is sure, before and after a refit?

The gap between confidence and rightness has exact tests by groups, and Cox's line. A t test by groups says far too often that a high
confidence is close to the share that is right: with few wrong answers their variance looks small. Limits of Korn and Graubard on the share
that is right do not have this fault. A refit has not seen the text that it is tested on.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, Ints, as_index
from harness.stats.core.groups import effective_groups
from harness.stats.estimation.calibration import Platt, checked, cross_fitted, fit_platt, logit
from harness.stats.estimation.map_quality import gain_test
from harness.stats.intervals.cluster_mean import ClusterMean, cluster_mean
from harness.stats.intervals.intervals import t_quantile
from harness.stats.intervals.recall_bar import EffectiveSample, effective_sample, largest_cap, smallest_level
from harness.stats.intervals.regression import fit_logistic, logistic

_PROMISING = 0.2  # the p of a gain
FALLS = "the more sure it is, the less often it is right"

LEAST_SLOPE, LARGEST_SLOPE = 0.8, 1.25
"""A slope outside these is far from 1: probabilities are clearly too extreme below, too timid above."""
_STEPS, _DONE = 50, 1e-10


class CalibrationTests(NamedTuple):
    """Confidences held against rightness: the gap and Cox's line, with the p of each test.

    `within`: of a gap of the margin or more in size; small where the gap is shown to be smaller. `over`: of a gap of at most the margin;
    small where the judge is shown to be too sure. `under`: the same where it is too timid. `slope`: of a slope within its limits; small
    where it is shown to be outside. NaN where undefined.
    """

    gap: ConfidenceGap
    line: CoxLine
    within: float
    over: float
    under: float
    slope: float


def calibration_tests(confidence: ArrayLike, right: ArrayLike, groups: ArrayLike, margin: float) -> CalibrationTests:
    """Return the tests of confidences (answers,) against `right`, with the gap's `margin` in units of probability.

    >>> found = calibration_tests([0.9] * 400, ([1] * 9 + [0]) * 40, range(400), 0.05)
    >>> round(found.within, 4), found.over, found.under
    (0.0021, 1.0, 1.0)
    """
    gap, line = confidence_gap(confidence, right, groups), cox_line(confidence, right, groups)
    return CalibrationTests(gap, line, gap.p_within(margin), gap.p_above(margin), gap.p_below(-margin), line.p_outside)


class Refit(NamedTuple):
    """A map of confidences to the share that is right, learnt from all answers, and the tests of its cross-fitted values.

    Attributes:
        line: the map of all answers.
        values: (answers,) what the map of the other folds says.
        tests: of these values.
        gain: the larger p of two one-sided tests: that the map lowers Brier's score, and that it does so against the share that is right in
            the other folds, whatever the confidence.
        brier, brier_constant: mean squared error of the values, and of the share that is right in the other folds.
        reason: why the map is refused; None where it is not.
    """

    line: Platt
    values: Floats
    tests: CalibrationTests
    gain: float
    brier: float
    brier_constant: float
    reason: str | None

    @property
    def promising(self) -> bool:
        """Return True if the map may help, so that more labels could show it: it rises, and its gain is not far from shown."""
        return self.reason is None and self.gain <= _PROMISING


def refit(confidence: ArrayLike, right: ArrayLike, groups: ArrayLike, folds: Ints, margin: float) -> Refit:
    """Return Platt's map p -> expit(a + b logit p), held against answers that it has not seen.

    A map may bring the mean right and say nothing of single answers: class shares alone "calibrate" a judge that knows nothing. So a map
    helps only if it is better than the raw confidences and than the same map without them.

    Args:
        confidence, right, groups: (answers,) as `confidence_gap`.
        folds: (answers,) from `group_folds`.
        margin: of the gap.

    Reference: Platt (1999).

    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.5, 1, 600)
    >>> found = refit(p, rng.random(600) < p**3, range(600), np.arange(600) % 5, 0.05)
    >>> found.tests.within < 0.05, found.gain < 0.05, found.reason
    (True, True, None)
    """
    p, y = checked(confidence, right)
    values = np.clip(cross_fitted(p, y, folds), 0.0, 1.0)
    line = fit_platt(p, y)
    n, total = np.bincount(folds).astype(np.float64), np.bincount(folds, y)
    constant = ((y.sum() - total) / (len(y) - n))[folds]
    loss, raw, without = ((prediction - y) ** 2 for prediction in (values, p, constant))
    gain = max(gain_test(before, loss, groups).p_above(0.0) for before in (raw, without))
    reason = FALLS if line.slope <= 0 else None
    return Refit(line, values, calibration_tests(values, y, groups, margin), gain, float(loss.mean()), float(without.mean()), reason)


def texts_needed(answers: int, error: float, gap: float, margin: float, alpha: float, power: float = 0.8) -> int | None:
    """Return about how many answers would decide whether a gap is within `margin`; None without a standard error.

    n (s (z_alpha + z_power) / d)², with d the distance of the observed gap from the margin, at least half of the margin.

    >>> texts_needed(100, 0.03, 0.0, 0.05, 0.05)
    223
    """
    from statistics import NormalDist

    if not error > 0:
        return None
    distance = max(abs(margin - abs(gap)), margin / 2)
    z = NormalDist().inv_cdf(1 - alpha) + NormalDist().inv_cdf(power)
    return math.ceil(answers * (error * z / distance) ** 2)


class ConfidenceGap(NamedTuple):
    """Mean confidence minus the share that is right, with its groups.

    Attributes:
        confidence, right: the two means, in [0, 1]; NaN without answers.
        mean: their difference as a mean over groups (CR2), with its standard error, degrees of freedom and interval.
        samples: the mean confidence and the effective sample that tests rest on: all answers, and where groups are unequal those of capped
            groups.
    """

    confidence: float
    right: float
    mean: ClusterMean
    samples: tuple[tuple[float, EffectiveSample], ...]

    @property
    def gap(self) -> float:
        return self.mean.mean

    def p_below(self, gap: float) -> float:
        """Return the one-sided p of the hypothesis that the gap is `gap` or more: that of a share right of confidence - `gap` or less."""
        if not self.samples:
            return math.nan
        return smallest_level(lambda alpha: min(sample.limits(alpha)[0] - confidence for confidence, sample in self.samples) + gap)

    def p_above(self, gap: float) -> float:
        """Return the one-sided p of the hypothesis that the gap is `gap` or less."""
        if not self.samples:
            return math.nan
        return smallest_level(lambda alpha: min(confidence - sample.limits(alpha)[1] for confidence, sample in self.samples) - gap)

    def p_within(self, margin: float) -> float:
        """Return the p of the hypothesis that the gap is `margin` or more in size: the larger of two one-sided tests (TOST)."""
        return max(self.p_below(margin), self.p_above(-margin))


def confidence_gap(confidence: ArrayLike, right: ArrayLike, groups: ArrayLike) -> ConfidenceGap:
    """Return the gap between mean confidence and the share that is right.

    gap = mean(p) - mean(y); its interval is mean ± t error of p - y over groups (CR2, effective groups). Tests use Clopper and Pearson's
    limits of the share right for n_eff = n / deff (t₁₋α(n - 1) / t₁₋α(df))² answers, at most n: with at least the design effect 1, and with
    capped groups where they are unequal (`recall_bar.share_found`). The variance by group in deff is that of p - y, so that confidences
    which have nothing to do with rightness count as noise. Whatever the probabilities of single answers are, a binomial count is at least
    as spread as theirs (Hoeffding 1956), so the tests are exact or conservative for independent answers.

    Args:
        confidence: (answers,) probability that the judge gave to its answer.
        right: (answers,) 1 where it is right, else 0; or the share of people who give it.
        groups: (answers,) what texts share.

    Reference: Korn & Graubard (1998); Schuirmann (1987) for two one-sided tests.

    >>> found = confidence_gap([0.9] * 400, ([1] * 9 + [0]) * 40, range(400))
    >>> round(found.gap, 3), round(found.p_within(0.05), 4), found.p_above(0.05)
    (0.0, 0.0021, 1.0)
    """
    p, y = checked(confidence, right)
    code = as_index(groups, len(p), "groups")
    mean = cluster_mean(p - y, code)
    if not len(p):
        return ConfidenceGap(math.nan, math.nan, mean, ())
    size, sure, hits = (np.bincount(code, values).astype(np.float64) for values in (np.ones(len(p)), p, y))
    counts, freedom = [size], [len(size) - 1.0]
    if size.min() < size.max():
        cap, capped_freedom = largest_cap(size)
        counts.append(np.minimum(size, float(cap)))
        freedom.append(capped_freedom)
    samples = []
    for counted, df in zip(counts, freedom, strict=True):
        f = counted / size
        samples.append((float(f @ sure / counted.sum()), effective_sample(counted, f * hits, df, f * (sure - hits))))
    return ConfidenceGap(float(p.mean()), float(y.mean()), mean, tuple(samples))


class CoxLine(NamedTuple):
    """logit P(right) = intercept + slope logit p, with the slope's standard error over groups and its degrees of freedom.

    1 is the slope of calibrated probabilities; below 1 they are too extreme. `p_outside` is the one-sided p of the hypothesis that the
    slope is between its limits. All numbers are NaN where no line can be fitted, with a reason.
    """

    intercept: float
    slope: float
    error: float
    freedom: float
    p_outside: float
    reason: str | None

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return slope ± t error; NaN where undefined."""
        if not self.freedom > 0:
            return math.nan, math.nan
        reach = self.error * t_quantile(level, self.freedom)
        return self.slope - reach, self.slope + reach


def cox_line(
    confidence: ArrayLike, right: ArrayLike, groups: ArrayLike, limits: tuple[float, float] = (LEAST_SLOPE, LARGEST_SLOPE)
) -> CoxLine:
    """Return Cox's recalibration line, by maximum likelihood, with the variance over groups.

    V = G / (G - 1) H⁻¹ (sum_g s_g s_g') H⁻¹, s_g the group's sum of scores, H the information; Student's t with the effective groups
    less 1.
    The test of each limit is a score test: the line with that slope is fitted, and U = sum (x - x̄)(y - q), with x̄ weighted by q (1 - q),
    is divided by the larger of its error over groups and its error by the model. Wald's test accuses a calibrated judge with few wrong
    answers far too often.

    Args as `confidence_gap`; confidences are cut to [1e-6, 1 - 1e-6].

    Reference: Cox (1958), two further applications of a model for binary regression; Liang & Zeger (1986) for the variance; Rao (1948) for
    the score test.

    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.5, 1, 2000)
    >>> line = cox_line(p, rng.random(2000) < p, range(2000))
    >>> round(line.slope, 2), line.p_outside > 0.05
    (0.98, True)
    """
    p, y = checked(confidence, right)
    code = as_index(groups, len(p), "groups")
    count = int(code.max(initial=-1)) + 1
    nan = math.nan
    if count < 2:
        return CoxLine(nan, nan, nan, nan, nan, "fewer than two independent texts")
    x = logit(p)
    try:
        intercept, slope = fit_logistic(x[:, None], y)
    except ValueError:
        return CoxLine(nan, nan, nan, nan, nan, "one confidence, or all answers right, or confidence separates right from wrong")
    design = np.column_stack([np.ones(len(x)), x])
    q = logistic(design @ np.array([intercept, slope]))
    bread = np.linalg.inv((design.T * (q * (1 - q))) @ design)
    sums: Floats = np.stack([np.bincount(code, design[:, column] * (y - q)) for column in (0, 1)])
    error = math.sqrt((bread @ (sums @ sums.T) @ bread)[1, 1] * count / (count - 1))
    freedom = float(effective_groups(np.bincount(code))) - 1
    low, high = limits
    p_outside = min(_score_p(x, y, code, low, -1, freedom), _score_p(x, y, code, high, 1, freedom))
    return CoxLine(float(intercept), float(slope), error, freedom, p_outside, None)


def _score_p(x: Floats, y: Floats, code: Ints, slope: float, side: int, freedom: float) -> float:
    """Return the p of a slope that is not beyond `slope` on one side: -1 is below it, 1 above."""
    from scipy.special import stdtr

    intercept = 0.0
    for _ in range(_STEPS):  # Newton's; the loss is convex in the intercept
        q = logistic(intercept + slope * x)
        step = float((y - q).sum() / (q * (1 - q)).sum())
        intercept += max(-1.0, min(1.0, step))
        if abs(step) < _DONE:
            break
    q = logistic(intercept + slope * x)
    w = q * (1 - q)
    centred = x - w @ x / w.sum()
    by_group = np.bincount(code, centred * (y - q))
    variance = max(float(by_group @ by_group) * len(by_group) / (len(by_group) - 1), float(w @ centred**2))
    return float(stdtr(freedom, -side * by_group.sum() / math.sqrt(variance))) if variance > 0 else math.nan
