"""Logistic regression by Newton's method, with an optional ridge penalty and fractional targets."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, ShapeError

_STEPS = 100
_DONE = 1e-10
_FLAT = 1e-8
_ROUNDING = 1e-12


def fit_logistic(x: ArrayLike, y: ArrayLike, penalty: float = 0.0) -> Floats:
    """Intercept and slopes, (1 + features,), that minimise the log loss plus a ridge penalty of the slopes.

    Minimises sum_i -[y_i log q_i + (1 - y_i) log(1 - q_i)] + penalty / 2 * sum_j b_j², q = expit(b_0 + x b); the intercept is not
    penalised. penalty = 1 is scikit-learn's default C = 1.

    Args:
        x: (n, features).
        y: (n,) targets in [0, 1]; fractions are allowed.
        penalty: of the slopes, 0 or more.

    Raises:
        ValueError: if there is no finite minimum (without penalty where x separates y; with one class only).

    Reference: Hastie, Tibshirani & Friedman (2009), section 4.4.

    >>> fit_logistic([[0.0], [0.0], [1.0], [1.0]], [0.25, 0.25, 0.5, 0.5]).round(4).tolist()
    [-1.0986, 1.0986]
    """
    rows, target = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if rows.ndim != 2 or target.shape != rows.shape[:1]:
        raise ShapeError(f"x {rows.shape} and y {target.shape} must be of the same rows")
    design = np.column_stack([np.ones(len(rows)), rows])
    ridge = np.r_[0.0, np.full(rows.shape[1], float(penalty))]
    b = np.zeros(design.shape[1])
    loss = _loss(design, target, ridge, b)
    for _ in range(_STEPS):
        q = logistic(design @ b)
        gradient = design.T @ (q - target) + ridge * b
        if np.abs(gradient).max(initial=0.0) < _DONE * max(1, len(rows)):
            if penalty > 0 or _determined(rows, q):
                return b
            break
        hessian = (design.T * (q * (1 - q))) @ design + np.diag(ridge)
        try:
            step = np.linalg.solve(hessian, gradient)
        except np.linalg.LinAlgError:
            break
        size = 1.0
        while _loss(design, target, ridge, b - size * step) > loss + _ROUNDING * abs(loss) and size > _DONE:
            size /= 2
        b = b - size * step
        loss = _loss(design, target, ridge, b)
    raise ValueError("the logistic regression has no finite solution: its features separate the targets, or all targets are equal")


def _determined(rows: Floats, q: Floats) -> bool:
    """Whether the log loss curves in every direction: where features separate the targets, it only falls to a limit."""
    spread = rows.std(axis=0)
    if not (spread > 0).all():
        return False
    scaled = np.column_stack([np.ones(len(rows)), (rows - rows.mean(axis=0)) / spread])
    return bool(np.linalg.eigvalsh((scaled.T * (q * (1 - q))) @ scaled / len(rows))[0] > _FLAT)


def _loss(design: Floats, target: Floats, ridge: Floats, b: Floats) -> float:
    z = design @ b
    return float((np.logaddexp(0, z) - target * z).sum() + ridge @ b**2 / 2)


def logistic(z: ArrayLike) -> Floats:
    """1 / (1 + exp(-z)), without overflow.

    >>> logistic([0.0, -1000.0]).tolist()
    [0.5, 0.0]
    """
    x = np.asarray(z, np.float64)
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1, small) / (1 + small))
