"""Recalibration: maps from a judge's confidence to the share that is right, fitted on other groups than those they are applied to.

Platt's map needs the fewest labels and is the default below `ISOTONIC_FROM` answers. Isotonic regression follows any rising curve, but
with a few hundred answers its error is about three times as large.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, Ints, ShapeError, as_index
from harness.stats.estimation.calibration import CUT, brier_score, reliability_curve
from harness.stats.estimation.number_map import isotonic_points
from harness.stats.intervals.logistic import fit_logistic, logistic

ISOTONIC_FROM = 500
"""Fewest answers from which isotonic regression is considered."""


@dataclass(frozen=True, slots=True)
class Platt:
    """p -> expit(intercept + slope logit p)."""

    intercept: float
    slope: float

    def __call__(self, confidence: ArrayLike) -> Floats:
        return logistic(self.intercept + self.slope * logit(confidence))


@dataclass(frozen=True, slots=True)
class Isotonic:
    """A rising function: the fitted `share` at each `confidence`, straight lines between them, constant beyond."""

    confidence: Floats
    share: Floats

    def __call__(self, confidence: ArrayLike) -> Floats:
        return np.asarray(np.interp(np.asarray(confidence, np.float64), self.confidence, self.share))


Recalibrator = Platt | Isotonic


def logit(confidence: ArrayLike) -> Floats:
    """log(p / (1 - p)) with p cut to [1e-6, 1 - 1e-6].

    >>> logit([0.5, 0.0]).round(2).tolist()
    [0.0, -13.82]
    """
    p = np.clip(np.asarray(confidence, np.float64), CUT, 1 - CUT)
    return np.asarray(np.log(p / (1 - p)))


def fit_platt(confidence: ArrayLike, right: ArrayLike, *, softened: bool = False) -> Platt:
    """Intercept and slope on the logit of the confidence, by maximum likelihood.

    Args:
        confidence: (answers,) in [0, 1].
        right: (answers,) 0 or 1.
        softened: fit Platt's targets (n1 + 1) / (n1 + 2) and 1 / (n0 + 2) instead of 1 and 0, as scikit-learn does. They are used in any
            case where maximum likelihood has no finite solution: all answers right or all wrong, or a confidence that separates the two.

    Raises:
        ShapeError, ValueError: as `calibration.reliability_curve`; ValueError without answers.

    Reference: Platt (1999).

    >>> found = fit_platt([0.6, 0.6, 0.9, 0.9, 0.9], [0, 1, 1, 1, 0])
    >>> round(float(found([0.9])[0]), 3)
    0.667
    """
    p, y = _answers(confidence, right)
    soft = np.where(y > 0, (y.sum() + 1) / (y.sum() + 2), 1 / (len(y) - y.sum() + 2))
    target = soft if softened or _separated(p, y) else y
    x = logit(p)
    if np.ptp(x) == 0:  # one confidence says nothing of a slope
        return Platt(float(logit([target.mean()])[0] - x[0]), 1.0)
    intercept, slope = fit_logistic(x[:, None], target)
    return Platt(float(intercept), float(slope))


def _separated(p: Floats, y: Floats) -> bool:
    wrong, right = p[y == 0], p[y == 1]
    if not len(wrong) or not len(right):
        return True
    return bool(wrong.max() <= right.min() or right.max() <= wrong.min())


def fit_isotonic(confidence: ArrayLike, right: ArrayLike) -> Isotonic:
    """Isotonic regression of right on confidence. It makes exact 0 and 1, whose log loss is large. Args and errors as `fit_platt`.

    Reference: Zadrozny & Elkan (2002).

    >>> fit_isotonic([0.2, 0.4, 0.6], [1, 0, 1])([0.3, 0.5, 0.9]).tolist()
    [0.5, 0.75, 1.0]
    """
    return Isotonic(*isotonic_points(*_answers(confidence, right)))


def _answers(confidence: ArrayLike, right: ArrayLike) -> tuple[Floats, Floats]:
    p, y = np.asarray(confidence, np.float64), np.asarray(right, np.float64)
    reliability_curve(p, y, bins=None)  # checks both
    if not len(p):
        raise ValueError("no answers to recalibrate on")
    return p, y


def group_folds(groups: ArrayLike, folds: int = 5, *, seed: int = 0) -> Ints:
    """A fold 0 … folds-1 for each answer, the same for all answers of a group; sizes as equal as the groups allow.

    Groups are taken in random order, larger ones first, and each goes to the fold that holds the fewest answers.

    Args:
        groups: (answers,) any sortable codes.
        folds: at least 2; no more than there are groups.
        seed: of the order.

    Raises:
        ValueError: for fewer than 2 folds or fewer groups than folds.

    >>> np.bincount(group_folds([1, 1, 2, 3, 4, 4], folds=2)).tolist()
    [3, 3]
    """
    code = as_index(groups, len(np.asarray(groups)), "groups")
    size = np.bincount(code)
    if not 2 <= folds <= len(size):
        raise ValueError(f"{folds} folds need at least 2 folds and as many groups; there are {len(size)} groups")
    order = np.random.default_rng(seed).permutation(len(size))
    held, fold = np.zeros(folds, np.int64), np.empty(len(size), np.int64)
    for group in order[np.argsort(-size[order], kind="stable")]:
        fold[group] = np.argmin(held)
        held[fold[group]] += size[group]
    return fold[code]


def cross_fitted(
    confidence: ArrayLike, right: ArrayLike, folds: ArrayLike, fit: Callable[[ArrayLike, ArrayLike], Recalibrator] = fit_platt
) -> Floats:
    """Recalibrated confidences, each from a map that was fitted on the other folds.

    Args:
        confidence, right: as `fit`.
        folds: (answers,) fold codes, from `group_folds`.
        fit: `fit_platt`, `fit_isotonic`, or any function of (confidence, right) that returns a map.

    Raises:
        ValueError: with a single fold.

    >>> cross_fitted([0.9] * 8, [1, 1, 1, 0] * 2, [0, 0, 0, 0, 1, 1, 1, 1], fit_isotonic).round(3).tolist()[::4]
    [0.75, 0.75]
    """
    p, y, fold = np.asarray(confidence, np.float64), np.asarray(right), np.asarray(folds)
    if not p.shape[:1] == y.shape == fold.shape:
        raise ShapeError(f"confidence {p.shape}, right {y.shape} and folds {fold.shape} must be of the same answers")
    chosen = np.unique(fold)
    if len(chosen) < 2:
        raise ValueError("cross-fitting needs at least two folds")
    out = np.empty_like(p)
    for each in chosen:
        out[fold == each] = fit(p[fold != each], y[fold != each])(p[fold == each])
    return out


def recalibrated(confidence: ArrayLike, right: ArrayLike, folds: ArrayLike) -> tuple[Floats, str]:
    """Cross-fitted confidences by the map that suits the number of answers, and its name, "platt" or "isotonic".

    Below `ISOTONIC_FROM` answers it is Platt's. From there on it is isotonic regression where its cross-fitted Brier score is lower.

    Args and errors as `cross_fitted`.

    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(600)
    >>> recalibrated(p, rng.random(600) < p, np.arange(600) % 5)[1]
    'platt'
    """
    platt = cross_fitted(confidence, right, folds, fit_platt)
    if len(platt) < ISOTONIC_FROM:
        return platt, "platt"
    isotonic = cross_fitted(confidence, right, folds, fit_isotonic)
    return (isotonic, "isotonic") if brier_score(isotonic, right) < brier_score(platt, right) else (platt, "platt")
