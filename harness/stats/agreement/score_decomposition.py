"""Decompositions of the Brier score: what is lost by miscalibration, won by discrimination, and uncertain anyway."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats
from harness.stats.estimation.calibration import MIN_BIN, brier_score, log_loss, reliability_curve

Score = Literal["brier", "log_loss"]


@dataclass(frozen=True, slots=True)
class CorpDecomposition:
    """`score` = `miscalibration` - `discrimination` + `uncertainty`; the last three are 0 or more. NaN without answers."""

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float


@dataclass(frozen=True, slots=True)
class MurphyDecomposition:
    """Brier score = `reliability` - `resolution` + `uncertainty` + `within_bin_variance` - `within_bin_covariance`.

    The two terms within bins are 0 where all confidences of a bin are equal. NaN without answers.
    """

    reliability: float
    resolution: float
    uncertainty: float
    within_bin_variance: float
    within_bin_covariance: float


def isotonic_values(confidence: ArrayLike, right: ArrayLike) -> tuple[Floats, Floats]:
    """Least-squares rising function of confidence: distinct confidences in rising order, and the fitted share right of each.

    Equal confidences get one value. Errors as `reliability_curve`.

    Reference: Ayer et al. (1955), pool adjacent violators.

    >>> [part.tolist() for part in isotonic_values([0.2, 0.4, 0.6], [1, 0, 1])]
    [[0.2, 0.4, 0.6], [0.5, 0.5, 1.0]]
    """
    from scipy.optimize import isotonic_regression

    p = np.unique(np.asarray(confidence, np.float64))
    curve = reliability_curve(confidence, right, bins=None)
    return p, np.asarray(isotonic_regression(curve.share, weights=curve.n).x if len(p) else curve.share, np.float64)


def corp_decomposition(confidence: ArrayLike, right: ArrayLike, score: Score = "brier") -> CorpDecomposition:
    """A proper score = MCB - DSC + UNC, without bins.

    Confidences are recalibrated by isotonic regression on the same answers. MCB is what the score loses against the recalibrated ones,
    DSC what these gain against the overall share, UNC the score of that share, y (1 - y) for Brier's. MCB is biased upward: a calibrated
    judge has about 0.03 of Brier's score with 60 answers and 0.007 with 600.

    Args:
        confidence, right: as `calibration.reliability_curve`, errors too.
        score: "brier" or "log_loss".

    Reference: Dimitriadis, Gneiting & Jordan (2021), CORP.

    >>> found = corp_decomposition([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1])
    >>> round(found.miscalibration, 3), found.discrimination, found.uncertainty
    (0.075, 0.125, 0.25)
    """
    p, y = np.asarray(confidence, np.float64), np.asarray(right, np.float64)
    loss = {"brier": brier_score, "log_loss": log_loss}[score]
    raw = loss(p, y)
    if not len(p):
        return CorpDecomposition(math.nan, math.nan, math.nan, math.nan)
    recalibrated, constant = loss(np.interp(p, *isotonic_values(p, y)), y), loss(np.full(len(p), y.mean()), y)
    return CorpDecomposition(raw, raw - recalibrated, constant - recalibrated, constant)


def murphy_decomposition(
    confidence: ArrayLike, right: ArrayLike, bins: int | None = None, *, min_bin: int = MIN_BIN
) -> MurphyDecomposition:
    """Brier score by bins: reliability, resolution, uncertainty, and the two terms within bins.

    With bins b of n_b answers, weights w_b, means p_b and y_b: reliability = sum w_b (p_b - y_b)², resolution = sum w_b (y_b - y)²,
    uncertainty = y (1 - y), variance = mean (p - p_b)², covariance = 2 mean (p - p_b)(y - y_b).

    Args and errors as `calibration.reliability_curve`; bins=None takes each distinct confidence as a bin.

    Reference: Murphy (1973); Stephenson, Coelho & Jolliffe (2008), terms within bins.

    >>> murphy_decomposition([0.5, 0.5, 1.0, 1.0], [0, 1, 1, 1]).resolution
    0.0625
    """
    curve = reliability_curve(confidence, right, bins, min_bin=min_bin)
    p, y = np.asarray(confidence, np.float64), np.asarray(right, np.float64)
    if not len(p):
        return MurphyDecomposition(*[math.nan] * 5)
    weight, overall = curve.n / len(p), y.mean()
    off, missed = p - curve.confidence[curve.bin], y - curve.share[curve.bin]
    return MurphyDecomposition(
        float(weight @ (curve.confidence - curve.share) ** 2),
        float(weight @ (curve.share - overall) ** 2),
        float(y.var()),
        float(np.mean(off**2)),
        float(2 * np.mean(off * missed)),
    )
