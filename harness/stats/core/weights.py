"""Agreement weights of two classes: 1 for the same class, and less for classes that are further apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, ScaleError, Weights, as_values


def agreement_weights(k: int, weights: Weights = "identity", values: ArrayLike | None = None) -> Floats:
    """Weights w of shape (k, k) over the classes of the scale, used or not.

    identity: 1 if c = d else 0.  linear: 1 - |v_c - v_d| / (v_max - v_min).  quadratic: 1 - that fraction squared.

    Args:
        k: number of classes of the scale.
        weights: `identity`, `linear` or `quadratic`.
        values: (k,) rising numbers that the classes stand for; default their positions.

    Raises:
        ScaleError: for values that are not k rising numbers, or unknown weights.

    Reference: Cohen (1968).

    >>> agreement_weights(3, "quadratic").tolist()
    [[1.0, 0.75, 0.0], [0.75, 1.0, 0.75], [0.0, 0.75, 1.0]]
    """
    if weights == "identity":
        return np.eye(k)
    v = as_values(values, k)
    apart = np.abs(v[:, None] - v) / (v[-1] - v[0]) if k > 1 else np.zeros((1, 1))
    if weights == "linear":
        return 1.0 - apart
    if weights == "quadratic":
        return 1.0 - apart**2
    raise ScaleError(f"unknown weights '{weights}'; choose from: identity, linear, quadratic")
