"""Stacking: a logistic regression that learns from labelled items how to weigh the judges of a panel, applied to other groups."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, ShapeError, as_labels
from harness.stats.intervals.logistic import fit_logistic, logistic

PENALTY = 1.0
"""Of the squared coefficients; scikit-learn's default C = 1."""


def class_indicators(judges: ArrayLike, k: int) -> Floats:
    """Features of a stack: [judge j says c] for every judge and every class but the lowest, (items, judges (k - 1)).

    A missing score has 1 / k in each: it speaks for no class.

    >>> class_indicators([[0, 2], [1, -1]], 3).round(2).tolist()
    [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.33, 0.33]]
    """
    codes = as_labels(judges, k)
    says = np.where(codes[..., None] < 0, 1 / k, (codes[..., None] == np.arange(1, k)) * 1.0)
    return np.asarray(says.reshape(len(codes), -1), np.float64)


def cross_fitted_stack(judges: ArrayLike, reference: ArrayLike, k: int, folds: ArrayLike, *, penalty: float = PENALTY) -> Floats:
    """Probability of each class by ridge logistic regression on the judges' indicators, each item from a fit on the other folds.

    Each class is fitted against the rest, so with three classes or more a row need not add up to 1. The answer is the class with the
    largest probability.

    Args:
        judges: (items, judges) class codes 0 … k-1, NaN or -1 where missing.
        reference: (items,) class codes, negative where there is none; such items are predicted and not learnt from.
        k: number of classes of the scale, 2 or more.
        folds: (items,) fold codes that keep groups together, from `recalibration.group_folds`.
        penalty: above 0.

    Returns:
        (items, k) probabilities; NaN for a fold without references in the others. A class that the other folds do not hold has 0, the only
        class that they hold has 1.

    Raises:
        ShapeError, ScaleError: for arrays of different items, codes off the scale.  ValueError: with a single fold or without penalty.

    Reference: Wolpert (1992); Breiman (1996).

    >>> judges, people = [[0, 1], [1, 0], [1, 1], [0, 0]] * 10, [0, 1, 1, 0] * 10  # the first judge is right, the second guesses
    >>> cross_fitted_stack(judges, people, 2, [0, 1] * 20).argmax(axis=1)[:4].tolist()
    [0, 1, 1, 0]
    """
    features, ref, fold = class_indicators(judges, k), np.asarray(reference, np.int64), np.asarray(folds)
    if not ref.shape == fold.shape == features.shape[:1]:
        raise ShapeError(f"judges of {len(features)} items, reference {ref.shape} and folds {fold.shape} must be of the same items")
    if len(np.unique(fold)) < 2 or not penalty > 0:
        raise ValueError("a stack needs two folds or more and a penalty above 0")
    out = np.full((len(features), k), math.nan)
    for each in np.unique(fold):
        learnt, applied = (fold != each) & (ref >= 0), fold == each
        for c in range(k):
            target = (ref[learnt] == c) * 1.0
            if not len(target):
                continue
            if np.ptp(target) == 0:
                out[applied, c] = target[0]
                continue
            b = fit_logistic(features[learnt], target, penalty)
            out[applied, c] = logistic(b[0] + features[applied] @ b[1:])
    return out
