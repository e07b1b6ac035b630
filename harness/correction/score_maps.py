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

    def predict(self, map_input: MapInput, language: int | None = None) -> Floats:
        """Return (n, k) probabilities of classes, or (n,) numbers, for the texts' languages or another code; -1 is an unseen language."""
        code: Any = map_input.language if language is None else language
        if isinstance(self.fitted, OrdinalMap):
            return self.fitted.probabilities((map_input.x - self.centre) / self.unit, code, map_input.covariates)
        if isinstance(self.fitted, NominalMap):
            return self.fitted.probabilities(map_input.x, np.broadcast_to(code, len(map_input)))
        return self.fitted.predict(map_input.x, code)

    def curve(self, language: int) -> Curve:
        """Return the map of one language (-1: one that was not seen) as the numbers that a certificate holds."""
        fitted = self.fitted
        if isinstance(fitted, OrdinalMap):
            slope, shift = fitted.slope, 0.0
            if language >= 0:
                slope, shift = slope + float(fitted.slopes[language]), float(fitted.shifts[language])
            slope /= self.unit
            return ClassCurve(tuple((fitted.cuts - shift + slope * self.centre).tolist()), slope, tuple(fitted.further.tolist()))
        if isinstance(fitted, NominalMap):
            return ClassTable(tuple(tuple(row) for row in fitted.tables[language].tolist()))
        low, high = self.scores
        x = fitted.x if len(fitted.x) > 2 else np.unique([low, high])
        return NumberLine(tuple(x.tolist()), tuple(fitted.predict(x, language).tolist()))


def learn(map_input: MapInput, *, rule: NumberRule = "linear", with_score: bool = True, near: LearntMap | None = None) -> LearntMap:
    """Return the map of all texts (at least one).

    `with_score` False learns the same map without the judge's score. Spreads are sought `near` a map of most of the same texts.
    """
    centre, unit = (near.centre, near.unit) if near else _centre_and_unit(map_input.x)
    fitted: OrdinalMap | NominalMap | NumberMap
    if map_input.kind == "ordered":
        start = near.fitted if near is not None and isinstance(near.fitted, OrdinalMap) else None
        fitted = fit_ordinal_map(_labelled_scores(map_input, centre, unit), with_score=with_score, start=start)
    elif map_input.kind == "named":
        fitted = _table(map_input, with_score)
    else:
        fitted = fit_number_map(map_input.x, map_input.mean, map_input.language, len(map_input.cells), rule if with_score else "constant")
    return _fitted_map(map_input, fitted, centre, unit)


def cross_fitted(map_input: MapInput, folds: Ints, *, rule: NumberRule = "linear", with_score: bool = True) -> tuple[Floats, LearntMap]:
    """Return the predictions by the other folds for each text, (n, k) or (n,), and the map of all texts; args as `learn`."""
    if map_input.kind == "ordered":
        centre, unit = _centre_and_unit(map_input.x)
        predicted, fitted = cross_fitted_map(_labelled_scores(map_input, centre, unit), folds, with_score=with_score)
        return predicted, _fitted_map(map_input, fitted, centre, unit)
    learnt = learn(map_input, rule=rule, with_score=with_score)
    predicted = learnt.predict(map_input)
    for fold in np.unique(folds):
        in_fold = folds == fold
        if not in_fold.all():
            predicted[in_fold] = learn(map_input.take(~in_fold), rule=rule, with_score=with_score).predict(map_input.take(in_fold))
    return predicted, learnt


def _fitted_map(map_input: MapInput, fitted: OrdinalMap | NominalMap | NumberMap, centre: float, unit: float) -> LearntMap:
    falls = frozenset() if isinstance(fitted, NominalMap) else frozenset(fitted.falls())
    return LearntMap(fitted, centre, unit, falls, (float(map_input.x.min()), float(map_input.x.max())))


def _centre_and_unit(x: Floats) -> tuple[float, float]:
    return float(x.mean()), float(x.std()) or 1.0


def _labelled_scores(map_input: MapInput, centre: float, unit: float) -> LabelledScores:
    x = (map_input.x - centre) / unit
    if len(np.unique(x)) > _STEPS_A_SD:
        x = np.round(x * _STEPS_A_SD) / _STEPS_A_SD
    return LabelledScores.of(x, map_input.counts, map_input.language, languages=len(map_input.cells), covariates=map_input.covariates)


def _table(map_input: MapInput, with_score: bool) -> NominalMap:
    k = map_input.counts.shape[1]
    answer = map_input.x if with_score else np.zeros(len(map_input))
    table = fit_nominal_map(answer, map_input.counts, map_input.language, languages=len(map_input.cells), answers=k if with_score else 1)
    if with_score:
        return table
    return NominalMap(np.repeat(table.tables, k, axis=1), table.weight)
