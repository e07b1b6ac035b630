"""What a certificate says of a judge's probabilities in one language on one metric, and its use on new ones."""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec
import numpy as np

from harness.correction.options import ProbabilityOptions
from harness.correction.probabilities import CellProbabilities, probabilities_of_table
from harness.correction.probability_rule import REFITTED
from harness.measure.judged_table import JudgedTable
from harness.model import JudgeCondition, ProbabilityVerdict
from harness.stats.core.arrays import Floats
from harness.stats.estimation.calibration import Platt

NONE_RECORDED = "no probabilities were recorded"


class CertifiedProbabilities(msgspec.Struct, frozen=True):
    """The verdict on probabilities, with the numbers behind it, and the refit where one is needed.

    Attributes:
        verdict: `hold`, `hold after refit`, `do not hold` or `too few labels`.
        n, groups: answers with a probability and a commonest label, and independent texts among them.
        confidence, right: mean probability of these answers, and the share that is right.
        margin, alpha: of the tests.
        map_intercept, map_slope: logit P(right) = intercept + slope logit probability; None unless the verdict is `hold after refit`.
    """

    verdict: ProbabilityVerdict
    n: int
    groups: int
    confidence: float | None
    right: float | None
    margin: float
    alpha: float
    map_intercept: float | None = None
    map_slope: float | None = None

    def __post_init__(self) -> None:
        if (self.verdict == REFITTED) != (self.map_intercept is not None and self.map_slope is not None):
            raise ValueError("a refit stands where the verdict on probabilities is 'hold after refit', and there only")
        numbers = [value for value in (self.confidence, self.right, self.map_intercept, self.map_slope) if value is not None]
        if not all(map(math.isfinite, numbers)) or not all(0 <= value <= 1 for value in (self.confidence, self.right) if value is not None):
            raise ValueError("the numbers of probabilities are finite, and shares are from 0 to 1")
        if self.map_slope is not None and self.map_slope <= 0:
            raise ValueError("a refit rises: its slope is above 0")

    def refitted(self, values: Floats) -> Floats:
        """Return probabilities (items,) after the refit, where there is one; NaN stays NaN."""
        if self.map_intercept is None or self.map_slope is None:
            return values
        return np.where(np.isnan(values), math.nan, Platt(self.map_intercept, self.map_slope)(np.nan_to_num(values, nan=0.5)))


class BelievedProbabilities(msgspec.Struct, frozen=True, eq=False):
    """Probabilities of new answers that may be believed.

    Attributes:
        values: (items,) how likely each answer is people's commonest label; NaN where none was given.
        refitted: whether they were refitted, because the raw ones do not hold.
        verdict: on the raw ones.
        unchecked: what of judge, prompt and rubric could not be compared with the certificate.
    """

    values: Floats
    refitted: bool
    verdict: ProbabilityVerdict
    unchecked: tuple[str, ...]


def certified_probabilities(judged: JudgedTable, condition: JudgeCondition) -> dict[tuple[str, str], CertifiedProbabilities]:
    """Return what is certified of the probabilities of one judge under one condition, by language and metric."""
    options = ProbabilityOptions()
    cells: Iterable[CellProbabilities] = probabilities_of_table(judged, options)[0]
    certified = {}
    for cell in cells:
        if JudgeCondition.of(cell.key) == condition:
            refit = cell.refit if cell.verdict == REFITTED else None
            certified[str(cell.key["language"]), str(cell.key["metric"])] = CertifiedProbabilities(
                cell.verdict,
                cell.n,
                cell.groups,
                cell.confidence,
                cell.right,
                options.margin,
                options.alpha,
                None if refit is None else refit.map_intercept,
                None if refit is None else refit.map_slope,
            )
    return certified
