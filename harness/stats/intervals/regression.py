"""Regressions: logistic with an optional ridge penalty, ordinal logistic (proportional odds), and linear with errors by group (CR2).

Likelihoods are maximised by Newton's method. A step of the ordinal model is linear in the rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, Ints, ShapeError, as_index

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
    """Return True if the log loss curves in every direction: where features separate the targets, it only falls to a limit."""
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


_STEPS, _HALVINGS = 60, 30
_PRECISION = 1e-9  # of the log-likelihood, that the last step promises
_LARGEST_ERROR = 100.0  # of a parameter, in log-odds for one standard deviation of its predictor


class Derivatives(NamedTuple):
    """The log-likelihood at some parameters, and what a step needs.

    `scores`, sparse (rows, parameters), is the gradient of one item of each row, `gradient` (parameters,) the sum over all items, and
    `information` (parameters, parameters) the Hessian with its sign changed. `bends` (3, rows) are the second derivatives of one item of
    each row, with their sign changed: twice by the threshold above, by both thresholds, twice by the one below.
    """

    loglik: float
    scores: Any
    gradient: Floats
    information: Floats
    bends: Floats


@dataclass(frozen=True, slots=True)
class OrdinalRows:
    """Rows of predictors with a class each; items that are alike are one row with a weight.

    logit P(class > c) = x b - threshold_c. The parameters are the coefficients b, then the thresholds, of which there is one fewer than
    classes. `upper` and `lower`, sparse (rows, parameters), times the parameters are the threshold above each row's class less x b, and
    the one below it less x b.
    """

    classes: Ints
    weight: Floats
    terms: int
    upper: Any
    lower: Any

    @classmethod
    def of(cls, design: Any, classes: Ints, weight: Floats) -> OrdinalRows:
        """Predictors, sparse (rows, terms); codes 0 … k-1, all used, k of 2 or more; numbers of items, (rows,)."""
        from scipy.sparse import csr_array, hstack

        rows, thresholds = np.arange(len(classes)), int(classes.max())

        def less_line(threshold: Ints) -> Any:
            inside = (threshold >= 0) & (threshold < thresholds)
            chosen = csr_array((np.ones(int(inside.sum())), (rows[inside], threshold[inside])), shape=(len(rows), thresholds))
            return hstack([-design, chosen], format="csr")

        return cls(classes, weight, design.shape[1], less_line(classes), less_line(classes - 1))

    def start(self) -> Floats:
        """The parameters that fit best without predictors."""
        below = np.cumsum(np.bincount(self.classes, self.weight))[:-1] / self.weight.sum()
        return np.asarray(np.r_[np.zeros(self.terms), np.log(below / (1 - below))])

    def derivatives(self, parameters: Floats) -> Derivatives | None:
        """At these parameters; None where a class has no chance, as where thresholds do not rise."""
        from scipy.sparse import diags_array

        up = np.where(self.classes < self.classes.max(), self.upper @ parameters, np.inf)
        low = np.where(self.classes > 0, self.lower @ parameters, -np.inf)
        under_up, under_low = logistic(up), logistic(low)
        with np.errstate(over="ignore"):
            chance = under_up * logistic(-low) * -np.expm1(low - up)  # under_up - under_low, without cancellation
        if not (chance > 0).all():
            return None
        by_up, by_low = under_up * (1 - under_up) / chance, -under_low * (1 - under_low) / chance
        scores = diags_array(by_up) @ self.upper + diags_array(by_low) @ self.lower
        bends = np.stack([by_up**2 - by_up * (1 - 2 * under_up), by_up * by_low, by_low**2 - by_low * (1 - 2 * under_low)])
        bend_up, cross, bend_low = (diags_array(self.weight * bend) for bend in bends)
        information = self.upper.T @ (bend_up @ self.upper + cross @ self.lower) + self.lower.T @ (
            bend_low @ self.lower + cross @ self.upper
        )
        return Derivatives(float(self.weight @ np.log(chance)), scores, scores.T @ self.weight, information.toarray(), bends)

    def fit(self, start: Floats) -> OrdinalMaximum | None:
        """The maximum of the likelihood; None where it is not at finite parameters.

        The likelihood is concave in the parameters, so that Newton's steps, halved where they go too far, climb to its maximum. Where a
        predictor separates some of the classes there is none: the steps end where the likelihood is almost flat, and the error of a
        parameter is then very large.
        """
        parameters, current = start, self.derivatives(start)
        for _ in range(_STEPS):
            if current is None:
                return None
            try:
                step = np.asarray(np.linalg.solve(current.information, current.gradient), np.float64)
            except np.linalg.LinAlgError:
                return None
            promise = float(current.gradient @ step)
            parameters, current = self._climb(parameters, current, step)
            if promise < _PRECISION:
                return self._finite(parameters, current) if current else None
        return None

    def _climb(self, parameters: Floats, current: Derivatives, step: Floats) -> tuple[Floats, Derivatives | None]:
        for halving in range(_HALVINGS):
            moved = parameters + step / 2**halving
            candidate = self.derivatives(moved)
            if candidate and candidate.loglik >= current.loglik - _PRECISION:
                return moved, candidate
        return parameters, None

    def _finite(self, parameters: Floats, current: Derivatives) -> OrdinalMaximum | None:
        try:
            covariance = np.asarray(np.linalg.inv(current.information), np.float64)
        except np.linalg.LinAlgError:
            return None
        mean = self.weight @ -self.upper[:, : self.terms] / self.weight.sum()
        square = self.weight @ (self.upper[:, : self.terms] ** 2) / self.weight.sum()
        scale = np.r_[np.sqrt(square - mean**2), np.ones(len(parameters) - self.terms)]
        errors = np.sqrt(np.maximum(np.diag(covariance), 0)) * scale
        return OrdinalMaximum(parameters, current, covariance) if (errors < _LARGEST_ERROR).all() else None


@dataclass(frozen=True, slots=True)
class OrdinalMaximum:
    """The `parameters` at the maximum, the derivatives `at` them and the inverse of their information."""

    parameters: Floats
    derivatives: Derivatives
    covariance: Floats


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
        """Return the coefficients that have too few degrees of freedom for a test."""
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
    for g, rows in enumerate(np.split(order, np.flatnonzero(np.diff(index[order])) + 1)):
        group_design = design[rows]
        # The inverse root of a symmetric matrix; directions that the regression fits exactly count as none.
        values, vectors = np.linalg.eigh(np.eye(len(group_design)) - group_design @ bread @ group_design.T)
        roots = np.where(values > _SLACK, 1 / np.sqrt(np.maximum(values, _SLACK)), 0.0)
        inverse_root = np.asarray((vectors * roots) @ vectors.T)
        adjusted = inverse_root @ group_design @ lines  # (items of g, m)
        score[g] = adjusted.T @ residual[rows]
        squares[g], lean[g] = (adjusted**2).sum(axis=0), group_design.T @ adjusted
    coefficients, errors = wanted @ plain, np.sqrt((score**2).sum(axis=0))
    freedom = np.array([_freedom(squares[:, j], lean[:, :, j], bread) for j in range(len(wanted))])
    from scipy.special import stdtr, stdtrit

    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stdtr(freedom, -np.abs(coefficients / errors))
    tests = (np.asarray(p), np.asarray((stdtrit(freedom, 0.975) + stdtrit(freedom, 0.8)) * errors))
    return ClusterRegression(coefficients, errors, freedom, *tests, n, count)


def _freedom(squares: Floats, lean: Floats, bread: Floats) -> float:
    """(trace)² / (sum of squares) of P'P = diag(squares) - U (X'X)^-1 U', U = `lean` (groups, k), without a matrix of all groups."""
    inner = lean.T @ lean @ bread
    diagonal = np.einsum("gi,ij,gj->g", lean, bread, lean)
    trace = float(squares.sum() - diagonal.sum())
    total = float((squares**2).sum() - 2 * (squares * diagonal).sum() + np.trace(inner @ inner))
    return trace**2 / total if total > 0 else math.nan
