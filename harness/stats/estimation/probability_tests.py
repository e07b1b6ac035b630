"""The tests that a verdict on probabilities rests on: raw confidences, and the same after a refit that has not seen the text."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.calibration import Platt, checked, cross_fitted, fit_platt
from harness.stats.estimation.confidence_gap import ConfidenceGap, CoxLine, confidence_gap, cox_line
from harness.stats.estimation.map_quality import gain_test

_PROMISING = 0.2  # the p of a gain
FALLS = "the more sure it is, the less often it is right"


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
    loss, raw, without = ((each - y) ** 2 for each in (values, p, constant))
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
