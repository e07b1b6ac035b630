"""Is a judge as often right as it is sure? Calibration of the probability that it gave to its own score, language by language."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness.correction.cell_results import KeyedRow
from harness.decide.options import DecisionOptions
from harness.measure.cells import bounds, number, sort_key
from harness.measure.compare import JudgedTables
from harness.measure.judged_table import JudgedTable
from harness.measure.options import MeasureOptions
from harness.stats import (
    brier_score,
    calibration_error,
    corp_decomposition,
    debiased_interval,
    fit_platt,
    group_folds,
    log_loss,
    recalibrated,
    reliability_curve,
)
from harness.stats.core.arrays import Floats, Ints

NO_PROBABILITIES = "no probabilities are recorded; ask with the variant 'probabilities', or write 'probs' into the judgments"
NO_LABELS = "no answer with a probability has an aggregate of labels"
FOLDS = 5
"""Parts of the texts; confidences of each are recalibrated by what the others say."""


class Calibration(KeyedRow, frozen=True, kw_only=True):
    """The calibration of one judge's confidence in one language on one metric. Undefined numbers are None, with a `reason`.

    Attributes:
        n, groups: answers with a probability and an aggregate of labels, and independent texts among them.
        confidence: mean probability that the judge gave to its own scores.
        right: share of these scores that equal the aggregate.
        bins: the reliability curve: for each bin of about equally many answers `n`, mean `confidence` and `share` right.
        ece: expected calibration error, sum of w |confidence - share| over bins. It is biased upward: see `error`.
        debiased, debiased_ci: sum of w (confidence - share)² without its bias, which may be negative, and its 95 % interval.
        error: sqrt(max(0, debiased)), in units of probability.
        brier: mean (confidence - right)² = miscalibration - discrimination + uncertainty, by isotonic regression (CORP).
        log_loss: mean -log of the probability of what happened, in nats.
        recalibration: with `method` (`platt` or `isotonic`), `brier` and `log_loss` of confidences that were each corrected by what other
            texts say, and `intercept` and `slope` of Platt's map on the logit scale, fitted to all answers; None with `no_recalibration`,
            the reason.
        reason: why nothing is defined.
    """

    n: int
    groups: int
    confidence: float | None = None
    right: float | None = None
    bins: tuple[dict[str, float], ...] = ()
    ece: float | None = None
    debiased: float | None = None
    debiased_ci: tuple[float, float] | None = None
    error: float | None = None
    brier: float | None = None
    miscalibration: float | None = None
    discrimination: float | None = None
    uncertainty: float | None = None
    log_loss: float | None = None
    recalibration: dict[str, Any] | None = None
    no_recalibration: str | None = None
    reason: str | None = None


def calibrations(aligned: JudgedTables, compare: MeasureOptions, options: DecisionOptions) -> tuple[Calibration, ...]:
    """Return the calibration of every judge, by language and metric; fewer independent texts than `options.groups` are not recalibrated."""
    results = [calibration for judged in aligned.tables for calibration in _of_data(judged, "source" in aligned.by, compare, options)]
    return tuple(sorted(results, key=lambda calibration: sort_key(calibration.key)))


def _of_data(judged: JudgedTable, by_source: bool, compare: MeasureOptions, options: DecisionOptions) -> Iterator[Calibration]:
    column = judged.judgments.confidence
    confidence = np.array([*column.values, math.nan], np.float64)[column.codes]
    right, group = judged.hit, judged.group
    for key, rows in judged.rows_by_cell(by_source):
        sure = ~np.isnan(confidence[rows])
        if not sure.any():
            yield Calibration(key=key, n=0, groups=0, reason=NO_PROBABILITIES, no_recalibration=NO_PROBABILITIES)
            continue
        used = rows[sure & ~np.isnan(right[rows])]
        yield calibration_of(key, confidence[used], right[used], group[used], seed=compare.seed, least_groups=options.groups)


def calibration_of(key: dict[str, Any], confidence: Floats, right: Floats, group: Ints, *, seed: int, least_groups: int) -> Calibration:
    """Return the calibration of one cell.

    Args:
        key: what it is of.
        confidence: (answers,) probability of the score that was given, in [0, 1].
        right: (answers,) 1 where it equals the aggregate of the labels, else 0.
        group: (answers,) codes of the texts that answers share.
        seed: of the bootstrap and of the folds.
        least_groups: fewer independent texts are not recalibrated.

    >>> sure = np.tile([0.9, 0.6], 20)
    >>> found = calibration_of({}, sure, np.tile([1.0, 1.0, 1.0, 0.0], 10), np.arange(40), seed=0, least_groups=20)
    >>> found.right, round(found.brier, 3), found.recalibration["method"]
    (0.75, 0.135, 'platt')
    """
    n, groups = len(confidence), len(np.unique(group))
    if not n:
        return Calibration(key=key, n=0, groups=0, reason=NO_LABELS, no_recalibration=NO_LABELS)
    curve, error = reliability_curve(confidence, right), calibration_error(confidence, right)
    corp = corp_decomposition(confidence, right)
    recalibration, why_not = _recalibration(confidence, right, group, seed, least_groups)
    points = zip(curve.n.tolist(), curve.confidence.tolist(), curve.share.tolist(), strict=True)
    return Calibration(
        key=key,
        n=n,
        groups=groups,
        confidence=float(confidence.mean()),
        right=float(right.mean()),
        bins=tuple({"n": n_bin, "confidence": sure, "share": share} for n_bin, sure, share in points),
        ece=number(error.ece),
        debiased=number(error.debiased),
        debiased_ci=bounds(debiased_interval(confidence, right, group, seed=seed)),
        error=number(error.debiased_root),
        brier=number(corp.score),
        miscalibration=number(corp.miscalibration),
        discrimination=number(corp.discrimination),
        uncertainty=number(corp.uncertainty),
        log_loss=number(log_loss(confidence, right)),
        recalibration=recalibration,
        no_recalibration=why_not,
        reason=error.reason,
    )


def _recalibration(
    confidence: Floats, right: Floats, group: Ints, seed: int, least_groups: int
) -> tuple[dict[str, Any] | None, str | None]:
    if len(np.unique(group)) < max(least_groups, FOLDS):
        return None, f"fewer than {max(least_groups, FOLDS)} independent texts"
    corrected, method = recalibrated(confidence, right, group_folds(group, FOLDS, seed=seed))
    platt = fit_platt(confidence, right)
    losses = {"brier": brier_score(corrected, right), "log_loss": log_loss(corrected, right)}
    return {"method": method, **losses, "intercept": platt.intercept, "slope": platt.slope}, None


def calibration_note(results: Sequence[Calibration]) -> str | None:
    """Return a sentence for readers where no judge has probabilities; None where one has."""
    if not results or any(calibration.n for calibration in results):
        return None
    return f"Calibration: {results[0].reason}."
