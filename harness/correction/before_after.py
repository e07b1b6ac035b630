"""How good scores are before and after a map, over the same texts: agreement, loss and its parts, calibration error, leniency."""

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

Ends = tuple[float, float]


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a map, over the texts of one language. Undefined numbers are None.

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
    error_ci: Ends | None
    leniency: float | None
    leniency_ci: Ends | None
    compared: float | None
    compared_error: float | None


class ComparedLosses(NamedTuple):
    """By how much a map lowers the loss against raw scores and against the map without the score; `p` is the larger one-sided p."""

    over_scores: float
    over_constant: float
    p: float


@dataclass(frozen=True, eq=False)
class AfterMap:
    """Texts with what the map of the other folds says of them, (n, k) or (n,), and the same map without the judge's score."""

    given: MapInput
    learnt: LearntMap
    predicted: Floats
    constant: Floats


def compared_losses(after: AfterMap, own: NDArray[np.bool_]) -> ComparedLosses | None:
    """The gains over some texts; None with fewer than two groups."""
    given = after.given.take(own)
    if len(np.unique(given.group)) < 2:
        return None
    mapped = _losses(given, after.predicted[own])
    over = [gain_test(_losses(given, other), mapped, given.group) for other in (_raw(given), after.constant[own])]
    return ComparedLosses(over[0].mean, over[1].mean, max(one.p_above(0) for one in over))


def _raw(given: MapInput) -> Floats:
    """What a raw score says: with certainty the class that was given, or the number."""
    return given.x if given.kind == "numbers" else given.answers


def _losses(given: MapInput, says: Floats) -> Floats:
    return np.asarray((says - given.mean) ** 2) if given.kind == "numbers" else brier_losses(says, given.counts)


def side_of(after: AfterMap, own: NDArray[np.bool_], *, raw: bool) -> Side:
    """One side, over some texts (at least one)."""
    given = after.given.take(own)
    says = _raw(given) if raw else after.predicted[own]
    losses = _losses(given, says)
    agreement = None if given.kind == "numbers" else _agreement(given, says, raw=raw)
    compared = cluster_mean(losses if agreement is None else agreement, given.group)
    expected = _expected(given, says)
    error = mean_calibration_error(*_promised(given, says, expected), given.group)
    lenient = None if expected is None else cluster_mean((expected - given.mean) * given.direction, given.group)
    ends = None
    if lenient is not None and lenient.groups >= MIN_GROUPS:
        reach = t_quantile(0.95, lenient.interval_freedom) * lenient.error
        ends = lenient.mean - reach, lenient.mean + reach
    return Side(
        agreement=None if agreement is None else float(agreement.mean()),
        loss=float(losses.mean()),
        **(_number_parts(says, given.mean) if given.kind == "numbers" else brier_parts(says, given.counts)),
        error=error.error,
        error_ci=error.ci,
        leniency=None if lenient is None else lenient.mean,
        leniency_ci=ends,
        compared=compared.mean,
        compared_error=None if math.isnan(compared.error) else compared.error,
    )


def _agreement(given: MapInput, says: Floats, *, raw: bool) -> Floats:
    shares = given.counts / given.counts.sum(axis=1, keepdims=True)
    return np.asarray((says * shares).sum(axis=1) if raw else shares[np.arange(len(given)), says.argmax(axis=1)])


def _expected(given: MapInput, says: Floats) -> Floats | None:
    """(n,) the mean score that is said, in points; None of named classes."""
    return says if given.kind == "numbers" else None if given.values is None else np.asarray(says @ given.values)


def _promised(given: MapInput, says: Floats, expected: Floats | None) -> tuple[Floats, Floats]:
    """What is said of each text and what people's labels say of it: mean scores, or the share of the most probable class."""
    if expected is not None:
        return expected, given.mean
    top = says.argmax(axis=1)
    return says.max(axis=1), given.counts[np.arange(len(given)), top] / given.counts.sum(axis=1)


def _number_parts(says: Floats, mean: Floats) -> dict[str, float]:
    loss, constant = float(((says - mean) ** 2).mean()), float(mean.var())
    recalibrated = float(((np.interp(says, *isotonic_points(says, mean)) - mean) ** 2).mean())
    return {"miscalibration": loss - recalibrated, "discrimination": constant - recalibrated, "uncertainty": constant}
