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
    """Coefficients (k,), or contrasts (m,) of them, with error, freedom and two-sided p; all NaN where columns cannot be told apart.

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

    @property
    def interval(self) -> tuple[Floats, Floats]:
        """The ends of 95 % intervals: t_.975 errors around each coefficient."""
        from scipy.special import stdtrit

        reach = stdtrit(self.freedom, 0.975) * self.errors
        return self.coefficients - reach, self.coefficients + reach


def cluster_regression(y: ArrayLike, columns: ArrayLike, groups: ArrayLike, contrasts: ArrayLike | None = None) -> ClusterRegression:
    """Least squares with the bias-reduced cluster variance CR2 and Satterthwaite degrees of freedom for each coefficient.

    A_g = (I - H_gg)^-1/2, V = M (sum_g X_g' A_g e_g e_g' A_g X_g) M with M = (X'X)^-1, and the degrees of freedom of coefficient j are
    (sum of eigenvalues)² / (sum of their squares) of P'P, where p_g = (I - H)_g' A_g X_g M_j. The working model is of independent items.

    Args:
        y: (items,) differences between judge and people.
        columns: (items, k) covariates, a column of ones among them.
        contrasts: (m, k) sums of coefficients that are wanted instead, such as the last level of a factor whose levels sum to 0.

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
    wanted = np.eye(k) if contrasts is None else np.asarray(contrasts, np.float64)
    if n <= k or count < 2 or np.linalg.matrix_rank(design) < k:
        nothing = np.full(len(wanted), math.nan)
        return ClusterRegression(nothing, nothing, nothing, nothing, nothing, n, count)
    bread = np.asarray(np.linalg.inv(design.T @ design), np.float64)
    plain = bread @ design.T @ response
    residual = response - design @ plain
    lines = bread @ wanted.T  # (k, m)
    score, squares, lean = np.empty((count, len(wanted))), np.empty((count, len(wanted))), np.empty((count, k, len(wanted)))
    order = np.argsort(index, kind="stable")
    for g, at in enumerate(np.split(order, np.flatnonzero(np.diff(index[order])) + 1)):
        own = design[at]
        adjusted = _inverse_root(np.eye(len(own)) - own @ bread @ own.T) @ own @ lines  # (items of g, m)
        score[g] = adjusted.T @ residual[at]
        squares[g], lean[g] = (adjusted**2).sum(axis=0), own.T @ adjusted
    coefficients, errors = wanted @ plain, np.sqrt((score**2).sum(axis=0))
    freedom = np.array([_freedom(squares[:, j], lean[:, :, j], bread) for j in range(len(wanted))])
    return ClusterRegression(coefficients, errors, freedom, *_tests(coefficients, errors, freedom), n, count)


def _inverse_root(matrix: Floats) -> Floats:
    """The inverse root of a symmetric matrix; directions that the regression fits exactly count as none."""
    values, vectors = np.linalg.eigh(matrix)
    roots = np.where(values > _SLACK, 1 / np.sqrt(np.maximum(values, _SLACK)), 0.0)
    return np.asarray((vectors * roots) @ vectors.T)


def _freedom(squares: Floats, lean: Floats, bread: Floats) -> float:
    """(trace)² / (sum of squares) of P'P = diag(squares) - U (X'X)^-1 U', U = `lean` (groups, k), without a matrix of all groups."""
    inner = lean.T @ lean @ bread
    own = np.einsum("gi,ij,gj->g", lean, bread, lean)
    trace = float(squares.sum() - own.sum())
    total = float((squares**2).sum() - 2 * (squares * own).sum() + np.trace(inner @ inner))
    return trace**2 / total if total > 0 else math.nan


def _tests(coefficients: Floats, errors: Floats, freedom: Floats) -> tuple[Floats, Floats]:
    from scipy.special import stdtr, stdtrit

    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stdtr(freedom, -np.abs(coefficients / errors))
    return np.asarray(p), np.asarray((stdtrit(freedom, 0.975) + stdtrit(freedom, 0.8)) * errors)
