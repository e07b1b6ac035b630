"""Many tests at once: Holm for the family, Benjamini-Hochberg and Benjamini-Yekutieli for the false discovery rate.

These are own lines and not `statsmodels.stats.multitest.multipletests`: every report has q-values, and that import takes 0.8 s (0.2 s
after scipy.stats), as long as it takes to read a finished run again. Tests hold the two equal.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats


def holm(p: ArrayLike) -> Floats:
    """Holm's step-down adjusted p-values, which control the family-wise error rate.

    p_(i) becomes max over j <= i of (m - j + 1) p_(j), at most 1. If every hypothesis with an adjusted p <= alpha is rejected, the
    probability of at least one false rejection is at most alpha, under any dependence.

    Args:
        p: p-values of any shape (a grid); NaN where a test is undefined. NaN stays NaN and does not count in the family's size m.

    Raises:
        ValueError: for p outside [0, 1].

    Reference: Holm (1979).

    >>> holm([0.01, 0.04, float("nan"), 0.03]).round(3).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    return _adjust(p, lambda q, m: np.maximum.accumulate(q * (m - np.arange(m))))


def benjamini_hochberg(p: ArrayLike) -> Floats:
    """Benjamini-Hochberg's q: the smallest false discovery rate at which a test is rejected, for independent tests.

    p_(i) becomes min over j >= i of m p_(j) / j, also valid under positive dependence. Args, NaN and errors as `holm`.

    Reference: Benjamini & Hochberg (1995).

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    return _adjust(p, _step_up)


def benjamini_yekutieli(p: ArrayLike) -> Floats:
    """Benjamini-Yekutieli's q, valid under any dependence: `benjamini_hochberg` times 1 + 1/2 + … + 1/m, at most 1.

    Args, NaN and errors as `holm`. Reference: Benjamini & Yekutieli (2001).

    >>> benjamini_yekutieli([0.01, 0.04, 0.03]).round(3).tolist()
    [0.055, 0.073, 0.073]
    """
    return _adjust(p, lambda q, m: _step_up(q, m) * (1 / np.arange(1, m + 1)).sum())


def _step_up(rising: Floats, m: int) -> Floats:
    scaled = rising * m / np.arange(1, m + 1)
    return np.minimum.accumulate(scaled[::-1])[::-1]


def _adjust(p: ArrayLike, step: Callable[[Floats, int], Floats]) -> Floats:
    values = np.asarray(p, np.float64)
    out = np.full(values.shape, np.nan)
    defined = ~np.isnan(values)
    family = values[defined]
    if ((family < 0) | (family > 1)).any():
        raise ValueError(f"p-values lie between 0 and 1; found {family[(family < 0) | (family > 1)][0]}")
    order = np.argsort(family, kind="stable")
    adjusted = np.empty(len(family))
    adjusted[order] = np.minimum(step(family[order], len(family)), 1.0) if len(family) else []
    out[defined] = adjusted
    return out
