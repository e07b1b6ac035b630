"""Consistency of one judge on the same items in several languages. Languages stand as raters.

Consistent does not mean right, and translations differ in quality, so that different scores may be right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.agreement.kappa import fleiss_kappa
from harness.stats.core.arrays import Estimate, Floats, as_labels


@dataclass(frozen=True, slots=True)
class ParallelConsistency:
    """Agreement of L languages on n items with two scores or more.

    `fleiss` and `randolph` are chance-corrected, by the scores' shares and by 1 / k; `agreement` is the mean share of agreeing pairs of
    languages; `pairwise` (L, L) the share of items that two languages score alike, NaN without common items; `shares` (k,) of all scores.
    """

    fleiss: Estimate
    randolph: float
    agreement: float
    pairwise: Floats
    shares: Floats


def parallel_consistency(scores: ArrayLike, k: int) -> ParallelConsistency:
    """Fleiss' and Randolph's kappa, pairwise agreement and class shares of one judge over languages.

    Randolph's kappa is (P - 1 / k) / (1 - 1 / k) with P the mean share of agreeing pairs; it does not move with the classes' shares.

    Args:
        scores: (items, languages) class codes 0 … k-1, NaN or -1 where missing.

    Returns:
        `ParallelConsistency`; Fleiss' kappa is NaN with a reason for a judge that gives one class to everything.

    Reference: Fleiss (1971); Randolph (2005).

    >>> found = parallel_consistency([[0, 0], [1, 1], [1, 0], [1, 1]], k=2)
    >>> round(found.fleiss.value, 3), found.randolph, found.agreement, found.pairwise.tolist()
    (0.467, 0.5, 0.75, [[1.0, 0.75], [0.75, 1.0]])
    """
    codes = as_labels(scores, k)
    given = (codes[..., None] == np.arange(k)) * 1.0
    counts = given.sum(axis=1)
    raters = counts.sum(axis=1)
    paired = raters > 1
    n = raters[paired]
    agree = ((counts[paired] * (counts[paired] - 1)).sum(axis=1) / (n * (n - 1))).mean() if paired.any() else math.nan
    both = sum(one.T @ one for one in np.moveaxis(given, 2, 0))
    common = (codes >= 0).T.astype(np.float64) @ (codes >= 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        pairwise = np.where(common > 0, both / common, math.nan)
        shares = counts.sum(axis=0) / counts.sum()
        randolph = float((agree - 1 / k) / (1 - 1 / k)) if k > 1 else math.nan
    return ParallelConsistency(fleiss_kappa(codes, k), randolph, float(agree), pairwise, shares)
