"""Is a judge as often right as it is sure? The gap between confidence and rightness with exact tests by groups, and Cox's line.

A t test by groups says far too often that a high confidence is close to the share that is right: with few wrong answers their variance
looks small. Limits of Korn and Graubard on the share that is right do not have this fault.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, Ints, as_index
from harness.stats.core.groups import effective_groups
from harness.stats.estimation.calibration import checked, logit
from harness.stats.intervals.cluster_mean import ClusterMean, cluster_mean
from harness.stats.intervals.intervals import t_quantile
from harness.stats.intervals.recall_bar import EffectiveSample, effective_sample, largest_cap, smallest_level
from harness.stats.intervals.regression import fit_logistic, logistic

LEAST_SLOPE, LARGEST_SLOPE = 0.8, 1.25
"""A slope outside these is far from 1: probabilities are clearly too extreme below, too timid above."""
_STEPS, _DONE = 50, 1e-10


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
        return smallest_level(lambda alpha: self._lower(alpha, gap)) if self.samples else math.nan

    def p_above(self, gap: float) -> float:
        """Return the one-sided p of the hypothesis that the gap is `gap` or less."""
        return smallest_level(lambda alpha: self._upper(alpha, gap)) if self.samples else math.nan

    def p_within(self, margin: float) -> float:
        """Return the p of the hypothesis that the gap is `margin` or more in size: the larger of two one-sided tests (TOST)."""
        return max(self.p_below(margin), self.p_above(-margin))

    def _lower(self, alpha: float, gap: float) -> bool:
        return all(confidence - gap <= sample.limits(alpha)[0] for confidence, sample in self.samples)

    def _upper(self, alpha: float, gap: float) -> bool:
        return all(confidence - gap >= sample.limits(alpha)[1] for confidence, sample in self.samples)


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
