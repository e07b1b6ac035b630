"""Decomposition of a proper score: what is lost by miscalibration, won by discrimination, and uncertain anyway."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.estimation.calibration import brier_score, log_loss
from harness.stats.estimation.number_map import isotonic_points

Score = Literal["brier", "log_loss"]


@dataclass(frozen=True, slots=True)
class CorpDecomposition:
    """`score` = `miscalibration` - `discrimination` + `uncertainty`; the last three are 0 or more. NaN without answers."""

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float


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
    recalibrated, constant = loss(np.interp(p, *isotonic_points(p, y)), y), loss(np.full(len(p), y.mean()), y)
    return CorpDecomposition(raw, raw - recalibrated, constant - recalibrated, constant)
