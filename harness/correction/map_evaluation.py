"""Measures scores before and after a map, over the same texts: agreement, loss and its parts, calibration error, leniency."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.correction.map_input import MapInput
from harness.correction.score_maps import LearntMap
from harness.stats.core.arrays import Floats
from harness.stats.estimation.map_quality import brier_losses, brier_parts, gain_test, mean_calibration_error
from harness.stats.estimation.number_map import isotonic_points
from harness.stats.intervals.cluster_mean import cluster_mean
from harness.stats.intervals.intervals import MIN_GROUPS, t_quantile

Bounds = tuple[float, float]


class ScoreQuality(msgspec.Struct, frozen=True, kw_only=True):
    """The quality of scores before or after a map, over the texts of one language. Undefined numbers are None.

    Attributes:
        agreement: share of people's labels that the score equals; after the map, that its most probable class equals. None of numbers.
        loss: Brier's score, or the mean squared error of numbers; = miscalibration - discrimination + uncertainty (CORP).
        error, error_ci: calibration error without its bias, in points of the scale: how far people's mean is from the score, or from the
            expected score of the map; of named classes, how far agreement is from the probability of the most probable class.
        leniency, leniency_ci: score minus people's mean in points, positive towards the best score; None of named classes.
        compared, compared_error: the number that languages are compared by, agreement or loss, with its standard error.
    """

    agreement: float | None
    loss: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    error: float
    error_ci: Bounds | None
    leniency: float | None
    leniency_ci: Bounds | None
    compared: float | None
    compared_error: float | None


class LossGains(NamedTuple):
    """The amount by which a map lowers the loss against raw scores and against the map without the score; `p` is the larger one-sided p."""

    over_scores: float
    over_constant: float
    p: float


@dataclass(frozen=True, eq=False)
class MapPredictions:
    """Texts with the predictions of the map of the other folds, (n, k) or (n,), and of the same map without the judge's score."""

    texts: MapInput
    learnt: LearntMap
    predicted: Floats
    constant: Floats


def compare_losses(predictions: MapPredictions, selected: NDArray[np.bool_]) -> LossGains | None:
    """Return the gains over some texts; None with fewer than two groups."""
    texts = predictions.texts.take(selected)
    if len(np.unique(texts.group)) < 2:
        return None
    raw, mapped, constant = (
        _compute_losses(texts, predicted)
        for predicted in (_raw_predictions(texts), predictions.predicted[selected], predictions.constant[selected])
    )
    over_scores, over_constant = (gain_test(losses, mapped, texts.group) for losses in (raw, constant))
    return LossGains(over_scores.mean, over_constant.mean, max(over_scores.p_above(0), over_constant.p_above(0)))


def _raw_predictions(texts: MapInput) -> Floats:
    """Return raw scores as predictions: with certainty the class that was given, or the number."""
    return texts.x if texts.kind == "numbers" else texts.answers


def _compute_losses(texts: MapInput, predicted: Floats) -> Floats:
    return np.asarray((predicted - texts.mean) ** 2) if texts.kind == "numbers" else brier_losses(predicted, texts.counts)


def measure_quality(predictions: MapPredictions, selected: NDArray[np.bool_], *, raw: bool) -> ScoreQuality:
    """Return how good raw scores, or the map's predictions, are over some texts (at least one)."""
    texts = predictions.texts.take(selected)
    predicted = _raw_predictions(texts) if raw else predictions.predicted[selected]
    losses = _compute_losses(texts, predicted)
    if texts.kind == "numbers":
        agreement: Floats | None = None
        expected: Floats | None = predicted
        loss, uncertainty = float(losses.mean()), float(texts.mean.var())
        recalibrated = np.interp(predicted, *isotonic_points(predicted, texts.mean))
        least = float(_compute_losses(texts, recalibrated).mean())
        parts = {"miscalibration": loss - least, "discrimination": uncertainty - least, "uncertainty": uncertainty}
    else:
        top, rows = predicted.argmax(axis=1), np.arange(len(texts))
        shares = texts.counts / texts.counts.sum(axis=1, keepdims=True)
        agreement = np.asarray((predicted * shares).sum(axis=1) if raw else shares[rows, top])
        expected = None if texts.values is None else np.asarray(predicted @ texts.values)
        parts = brier_parts(predicted, texts.counts)
    compared = cluster_mean(losses if agreement is None else agreement, texts.group)
    leniency = leniency_ci = None
    if expected is None:  # of named classes: the probability of the most probable one, and its share of the labels
        error = mean_calibration_error(predicted.max(axis=1), shares[rows, top], texts.group)
    else:
        error = mean_calibration_error(expected, texts.mean, texts.group)
        leniency = cluster_mean((expected - texts.mean) * texts.direction, texts.group)
        if leniency.groups >= MIN_GROUPS:
            half_width = t_quantile(0.95, leniency.interval_freedom) * leniency.error
            leniency_ci = leniency.mean - half_width, leniency.mean + half_width
    return ScoreQuality(
        agreement=None if agreement is None else float(agreement.mean()),
        loss=float(losses.mean()),
        **parts,
        error=error.error,
        error_ci=error.ci,
        leniency=None if leniency is None else leniency.mean,
        leniency_ci=leniency_ci,
        compared=compared.mean,
        compared_error=None if math.isnan(compared.error) else compared.error,
    )
