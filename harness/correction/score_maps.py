"""Learns the map of one metric, by the kind of its scale: all languages together, each with a curve of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.correction.map_input import MapInput
from harness.correction.score_curves import ClassCurve, ClassTable, Curve, NumberLine
from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.class_maps import LabelledScores, NominalMap, OrdinalMap, cross_fitted_map, fit_nominal_map, fit_ordinal_map
from harness.stats.estimation.number_map import NumberMap, NumberRule, fit_number_map

METHODS = {
    "ordered": "proportional odds, languages partly pooled",
    "named": "shares of classes by answer, languages partly pooled",
    "numbers": "{}, shifts of languages partly pooled",
}
_STEPS_A_SD = 100
"""Scores are rounded to this part of their standard deviation where more are different, so that fits count rows."""


@dataclass(frozen=True, eq=False)
class LearntMap:
    """A map of one metric. The fit reads (score - centre) / unit, and has seen scores from the lowest to the highest of `scores`.

    `falls` has the codes of the languages in which it falls.
    """

    fitted: OrdinalMap | NominalMap | NumberMap
    centre: float
    unit: float
    falls: frozenset[int]
    scores: tuple[float, float]

    def predict(self, given: MapInput, language: int | None = None) -> Floats:
        """(n, k) probabilities of classes, or (n,) numbers, for the texts' languages or another code; -1 is an unseen language."""
        code: Any = given.language if language is None else language
        if isinstance(self.fitted, OrdinalMap):
            return self.fitted.probabilities((given.x - self.centre) / self.unit, code, given.covariates)
        if isinstance(self.fitted, NominalMap):
            return self.fitted.probabilities(given.x, np.broadcast_to(code, len(given)))
        return self.fitted.predict(given.x, code)

    def curve(self, language: int) -> Curve:
        """The map of one language (-1: one that was not seen) as the numbers that a certificate holds."""
        found = self.fitted
        if isinstance(found, OrdinalMap):
            slope, shift = found.slope, 0.0
            if language >= 0:
                slope, shift = slope + float(found.slopes[language]), float(found.shifts[language])
            slope /= self.unit
            return ClassCurve(tuple((found.cuts - shift + slope * self.centre).tolist()), slope, tuple(found.further.tolist()))
        if isinstance(found, NominalMap):
            return ClassTable(tuple(tuple(row) for row in found.tables[language].tolist()))
        low, high = self.scores
        x = found.x if len(found.x) > 2 else np.unique([low, high])
        return NumberLine(tuple(x.tolist()), tuple(found.predict(x, language).tolist()))


def learn(given: MapInput, *, rule: NumberRule = "linear", with_score: bool = True, near: LearntMap | None = None) -> LearntMap:
    """The map of all texts (at least one).

    `with_score` False learns the same map without the judge's score. Spreads are sought `near` a map of most of the same texts.
    """
    centre, unit = (near.centre, near.unit) if near else _centre(given.x)
    fitted: OrdinalMap | NominalMap | NumberMap
    if given.kind == "ordered":
        start = near.fitted if near is not None and isinstance(near.fitted, OrdinalMap) else None
        fitted = fit_ordinal_map(_rows(given, centre, unit), with_score=with_score, start=start)
    elif given.kind == "named":
        fitted = _table(given, with_score)
    else:
        fitted = fit_number_map(given.x, given.mean, given.language, len(given.cells), rule if with_score else "constant")
    return _learnt(given, fitted, centre, unit)


def cross_fitted(given: MapInput, folds: Ints, *, rule: NumberRule = "linear", with_score: bool = True) -> tuple[Floats, LearntMap]:
    """What the other folds say of each text, (n, k) or (n,), and the map of all texts; args as `learn`."""
    if given.kind == "ordered":
        centre, unit = _centre(given.x)
        out, fitted = cross_fitted_map(_rows(given, centre, unit), folds, with_score=with_score)
        return out, _learnt(given, fitted, centre, unit)
    whole = learn(given, rule=rule, with_score=with_score)
    out = whole.predict(given)
    for one in np.unique(folds):
        own = folds == one
        if not own.all():
            out[own] = learn(given.take(~own), rule=rule, with_score=with_score).predict(given.take(own))
    return out, whole


def _learnt(given: MapInput, fitted: OrdinalMap | NominalMap | NumberMap, centre: float, unit: float) -> LearntMap:
    falls = frozenset() if isinstance(fitted, NominalMap) else frozenset(fitted.falls())
    return LearntMap(fitted, centre, unit, falls, (float(given.x.min()), float(given.x.max())))


def _centre(x: Floats) -> tuple[float, float]:
    return float(x.mean()), float(x.std()) or 1.0


def _rows(given: MapInput, centre: float, unit: float) -> LabelledScores:
    x = (given.x - centre) / unit
    if len(np.unique(x)) > _STEPS_A_SD:
        x = np.round(x * _STEPS_A_SD) / _STEPS_A_SD
    return LabelledScores.of(x, given.counts, given.language, languages=len(given.cells), covariates=given.covariates)


def _table(given: MapInput, with_score: bool) -> NominalMap:
    k = given.counts.shape[1]
    answer = given.x if with_score else np.zeros(len(given))
    found = fit_nominal_map(answer, given.counts, given.language, languages=len(given.cells), answers=k if with_score else 1)
    if with_score:
        return found
    return NominalMap(np.repeat(found.tables, k, axis=1), found.weight)
