"""Linear regression of items that share groups, with errors by group that hold for few and unequal groups (CR2)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, ShapeError, as_index

LEAST_FREEDOM = 4.0
"""Below so many degrees of freedom a test of a coefficient says nothing."""
_SLACK = 1e-10


class ClusterRegression(NamedTuple):
    """Coefficients (k,) with their errors, degrees of freedom and two-sided p; all NaN where columns cannot be told apart.

    `detectable` is the smallest coefficient that would be found with a power of 80 % at the level of 5 %: (t_.975 + t_.8) times the error.
    """

    coefficients: Floats
    errors: Floats
    freedom: Floats
    p: Floats
    detectable: Floats
    n: int
    groups: int

    @property
    def refused(self) -> Floats:
        """Which coefficients have too few degrees of freedom for a test."""
        return np.asarray(~(self.freedom >= LEAST_FREEDOM))


def cluster_regression(y: ArrayLike, columns: ArrayLike, groups: ArrayLike) -> ClusterRegression:
    """Least squares with the bias-reduced cluster variance CR2 and Satterthwaite degrees of freedom for each coefficient.

    A_g = (I - H_gg)^-1/2, V = M (sum_g X_g' A_g e_g e_g' A_g X_g) M with M = (X'X)^-1, and the degrees of freedom of coefficient j are
    (sum of eigenvalues)² / (sum of their squares) of P'P, where p_g = (I - H)_g' A_g X_g M_j. The working model is of independent items.

    Args:
        y: (items,) differences between judge and people.
        columns: (items, k) covariates, a column of ones among them.
        groups: (items,) any sortable codes of what items share.

    Raises:
        ShapeError: if the arrays are not of one length.

    Reference: Bell & McCaffrey (2002); Pustejovsky & Tipton (2018).

    >>> y = [1.0, 2.0, 2.5, 4.0, 4.5, 6.5, 7.0, 8.5]
    >>> found = cluster_regression(y, np.column_stack([np.ones(8), range(8)]), [0, 0, 1, 1, 2, 2, 3, 3])
    >>> found.coefficients.round(3).tolist(), bool(found.refused[1])
    ([0.75, 1.071], True)
    """
    response, design = np.asarray(y, np.float64), np.asarray(columns, np.float64)
    if design.ndim != 2 or len(response) != len(design):
        raise ShapeError(f"y {response.shape} and columns {design.shape} must be of the same items")
    index = as_index(groups, len(response), "groups")
    n, k, count = len(response), design.shape[1], int(index.max(initial=-1)) + 1
    if n <= k or count < 2 or np.linalg.matrix_rank(design) < k:
        nothing = np.full(k, math.nan)
        return ClusterRegression(nothing, nothing, nothing, nothing, nothing, n, count)
    bread = np.linalg.inv(design.T @ design)
    coefficients = bread @ design.T @ response
    residual = response - design @ coefficients
    score, lean = np.empty((count, k)), np.empty((count, n, k))
    for g in range(count):
        at = index == g
        own = design[at]
        adjusted = _inverse_root(np.eye(len(own)) - own @ bread @ own.T) @ own @ bread  # (items of g, k)
        score[g] = adjusted.T @ residual[at]
        lean[g] = -design @ (bread @ (own.T @ adjusted))
        lean[g][at] += adjusted
    errors = np.sqrt((score**2).sum(axis=0))
    freedom = np.array([_freedom(lean[:, :, j]) for j in range(k)])
    return ClusterRegression(coefficients, errors, freedom, *_tests(coefficients, errors, freedom), n, count)


def _inverse_root(matrix: Floats) -> Floats:
    """The inverse root of a symmetric matrix; directions that the regression fits exactly count as none."""
    values, vectors = np.linalg.eigh(matrix)
    roots = np.where(values > _SLACK, 1 / np.sqrt(np.maximum(values, _SLACK)), 0.0)
    return np.asarray((vectors * roots) @ vectors.T)


def _freedom(lean: Floats) -> float:
    inner = lean @ lean.T
    squares = float((inner**2).sum())
    return float(np.trace(inner)) ** 2 / squares if squares > 0 else math.nan


def _tests(coefficients: Floats, errors: Floats, freedom: Floats) -> tuple[Floats, Floats]:
    from scipy.special import stdtr, stdtrit

    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stdtr(freedom, -np.abs(coefficients / errors))
    return np.asarray(p), np.asarray((stdtrit(freedom, 0.975) + stdtrit(freedom, 0.8)) * errors)
