"""Severity of annotators: scores standardised within annotator, and the share of variance that a factor explains."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Estimate, Floats, as_index, same_shape, undefined

NOTHING_VARIES = "all scores are equal"


class SingleScoreError(ValueError):
    """An annotator with one score cannot be standardised; `annotator` is the code."""

    def __init__(self, annotator: object) -> None:
        super().__init__(f"annotator {annotator} has a single score: standardising needs two or more of each")
        self.annotator = annotator


def standardised(scores: ArrayLike, annotator: ArrayLike) -> Floats:
    """Every score less the mean of its annotator's scores, divided by their standard deviation (n - 1).

    Scores of an annotator who gave one score to everything are 0: they are at this annotator's mean.

    Args:
        scores: (labels,) numbers without gaps.
        annotator: (labels,) any sortable codes of persons.

    Returns:
        (labels,) standardised scores: of every annotator with mean 0 and standard deviation 1 (or all 0).

    Raises:
        SingleScoreError: for an annotator with one score.

    >>> standardised([80, 100, 20, 40], ["kind", "kind", "strict", "strict"]).round(3).tolist()
    [-0.707, 0.707, -0.707, 0.707]
    """
    v, codes = np.asarray(scores, np.float64), np.asarray(annotator)
    same_shape("of the same labels", scores=v, annotator=codes)
    who = as_index(codes, len(v), "annotator")
    n = np.bincount(who)
    if (n == 1).any():
        raise SingleScoreError(codes[np.flatnonzero(n[who] == 1)[0]])
    apart = v - (np.bincount(who, v) / np.maximum(n, 1))[who]
    spread = np.sqrt(np.bincount(who, apart**2) / np.maximum(n - 1, 1))
    flat = spread <= 1e-12 * max(1.0, float(np.abs(v).max(initial=0)))
    return np.where(flat[who], 0.0, apart / np.where(flat, 1.0, spread)[who])


def eta_squared(scores: ArrayLike, factor: ArrayLike) -> Estimate:
    """The share of the scores' variance that lies between the levels of a factor: one-way eta².

    sum_g n_g (mean_g - mean)² / sum_i (score_i - mean)². It is 1 for a factor with a level for every score, so compare factors with few
    levels only with each other. Where annotators did not score the same items, the share of annotators holds that of their items too.

    Args:
        scores: (labels,) numbers without gaps.
        factor: (labels,) any sortable codes: who scored, whose output it is, which source text.

    Returns:
        value in [0, 1] and n, the labels; NaN without labels ("no label") and if all scores are equal.

    Reference: Cohen (1988), eta².

    >>> eta_squared([80, 100, 20, 40], ["kind", "kind", "strict", "strict"])
    Estimate(value=0.9, n=4, reason=None)
    """
    v, codes = np.asarray(scores, np.float64), np.asarray(factor)
    same_shape("of the same labels", scores=v, factor=codes)
    if not len(v):
        return undefined(0, "no label")
    apart = v - v.mean()
    total = float(apart @ apart)
    if np.ptp(v) == 0 or math.isclose(total, 0.0, abs_tol=1e-24):
        return undefined(len(v), NOTHING_VARIES)
    level = as_index(codes, len(v), "factor")
    sums, n = np.bincount(level, apart), np.bincount(level)
    return Estimate(float((sums**2 / n).sum() / total), len(v))
