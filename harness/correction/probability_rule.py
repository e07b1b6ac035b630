"""The rule of verdicts on probabilities: which of four a cell gets, from its tests and those of the other cells of its family."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, get_args

import numpy as np

from harness.model import ProbabilityVerdict
from harness.stats import holm
from harness.stats.core.arrays import Floats
from harness.stats.estimation.probability_tests import CalibrationTests, Refit

HOLD, REFITTED, DO_NOT_HOLD, TOO_FEW = PROBABILITY_VERDICTS = get_args(ProbabilityVerdict)
CUTS = (0.5, 0.8, 0.9, 0.95)
"""The confidences from which on answers are usually accepted."""


class ProbabilityTests(NamedTuple):
    """The tests of one cell: against the commonest label, against single people, and of the refit; None where there are too few texts."""

    commonest: CalibrationTests | None
    person: CalibrationTests | None
    refit: Refit | None


class DecidedProbabilities(NamedTuple):
    """A verdict with the corrected p of each test that it rests on; NaN where there is none."""

    verdict: ProbabilityVerdict
    within: float
    beyond: float
    slope: float
    refit_within: float
    refit_gain: float


def decide_probabilities(cells: Sequence[ProbabilityTests], alpha: float) -> list[DecidedProbabilities]:
    """Return the verdict of each cell of a family; every kind of test is corrected over all cells (Holm).

    *hold*: the gap is shown within the margin, and the slope is not shown outside its limits, both against the commonest label. *hold after
    refit*: the same of cross-fitted values of a map that is shown to help. *do not hold*: the gap is shown beyond the margin, or the slope
    outside, against the commonest label and against single people alike: where people differ, probabilities of the one are not those of the
    other, and a judge whose probabilities are right in either sense is not accused. Else there are *too few labels*.
    """
    kinds = [
        [_p(cell, kind) for cell in cells] for kind in ("within", "beyond", "slope_raw", "slope", "refit_within", "refit_slope", "gain")
    ]
    within, beyond, slope_raw, slope, refit_within, refit_slope, gain = (holm(kind) for kind in kinds)
    decided = []
    for n, cell in enumerate(cells):
        verdict: ProbabilityVerdict = TOO_FEW
        if within[n] <= alpha and not slope_raw[n] <= alpha:
            verdict = HOLD
        elif cell.refit and not cell.refit.reason and max(refit_within[n], gain[n]) <= alpha and not refit_slope[n] <= alpha:
            verdict = REFITTED
        elif beyond[n] <= alpha or slope[n] <= alpha:
            verdict = DO_NOT_HOLD
        values: list[Floats] = [within, beyond, slope, refit_within, gain]
        decided.append(DecidedProbabilities(verdict, *(float(q[n]) for q in values)))
    return decided


def _p(cell: ProbabilityTests, kind: str) -> float:
    commonest, person, refit = cell
    if kind.startswith("refit") or kind == "gain":
        if refit is None:
            return math.nan
        return {"refit_within": refit.tests.within, "refit_slope": refit.tests.slope, "gain": refit.gain}[kind]
    if commonest is None:
        return math.nan
    if kind in ("within", "slope_raw"):
        return commonest.within if kind == "within" else commonest.slope
    sides = (commonest, person) if person is not None else (commonest,)
    if kind == "slope":
        return float(np.max([side.slope for side in sides]))  # NaN where one of them has no line
    return min(max(side.over for side in sides), max(side.under for side in sides))
