"""Entropy: the variety of several answers to one question."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats


def entropy_bits(counts: ArrayLike) -> Floats:
    """Shannon's entropy of counts, in bits: 0 if all answers are the same, log2(n) if all n differ.

    -sum p log2 p over the last axis, p = counts / their sum.

    Args:
        counts: (..., k) how often each answer was given; not negative.

    Returns:
        (...) bits in [0, log2 k]; NaN without answers.

    Raises:
        ValueError: for negative counts.

    Reference: Shannon (1948).

    >>> entropy_bits([[5, 0], [2, 2], [0, 0]]).tolist()
    [0.0, 1.0, nan]
    """
    table = np.asarray(counts, np.float64)
    if (table < 0).any():
        raise ValueError("counts are not negative")
    total = table.sum(axis=-1, keepdims=True)
    share = np.divide(table, total, out=np.zeros_like(table), where=total > 0)
    logs = np.log2(share, out=np.zeros_like(share), where=share > 0)
    bits = -(share * logs).sum(axis=-1) + 0.0  # no -0
    return np.where(total[..., 0] > 0, bits, np.nan)
