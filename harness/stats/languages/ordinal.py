"""Ordinal logistic (proportional odds) regression by Newton's steps with analytic derivatives; each step is linear in the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from harness.stats.core.arrays import Floats, Ints
from harness.stats.intervals.logistic import logistic

_STEPS, _HALVINGS = 60, 30
_PRECISION = 1e-9  # of the log-likelihood, that the last step promises
_LARGEST_ERROR = 100.0  # of a parameter, in log-odds for one standard deviation of its predictor


class Derivatives(NamedTuple):
    """The log-likelihood at some parameters, and what a step needs.

    `scores`, sparse (rows, parameters), is the gradient of one item of each row, `gradient` (parameters,) the sum over all items, and
    `information` (parameters, parameters) the Hessian with its sign changed.
    """

    loglik: float
    scores: Any
    gradient: Floats
    information: Floats


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

        def less_line(of: Ints) -> Any:
            there = (of >= 0) & (of < thresholds)
            chosen = csr_array((np.ones(int(there.sum())), (rows[there], of[there])), shape=(len(rows), thresholds))
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
        bend_up = diags_array(self.weight * (by_up**2 - by_up * (1 - 2 * under_up)))
        bend_low = diags_array(self.weight * (by_low**2 - by_low * (1 - 2 * under_low)))
        both = diags_array(self.weight * by_up * by_low)
        information = self.upper.T @ (bend_up @ self.upper + both @ self.lower) + self.lower.T @ (bend_low @ self.lower + both @ self.upper)
        return Derivatives(float(self.weight @ np.log(chance)), scores, scores.T @ self.weight, information.toarray())

    def fit(self, start: Floats) -> OrdinalMaximum | None:
        """The maximum of the likelihood; None where it is not at finite parameters.

        The likelihood is concave in the parameters, so that Newton's steps, halved where they go too far, climb to its maximum. Where a
        predictor separates some of the classes there is none: the steps end where the likelihood is almost flat, and the error of a
        parameter is then very large.
        """
        parameters, here = start, self.derivatives(start)
        for _ in range(_STEPS):
            if here is None:
                return None
            try:
                step = np.asarray(np.linalg.solve(here.information, here.gradient), np.float64)
            except np.linalg.LinAlgError:
                return None
            promise = float(here.gradient @ step)
            parameters, here = self._climb(parameters, here, step)
            if promise < _PRECISION:
                return self._finite(parameters, here) if here else None
        return None

    def _climb(self, parameters: Floats, here: Derivatives, step: Floats) -> tuple[Floats, Derivatives | None]:
        for halving in range(_HALVINGS):
            moved = parameters + step / 2**halving
            there = self.derivatives(moved)
            if there and there.loglik >= here.loglik - _PRECISION:
                return moved, there
        return parameters, None

    def _finite(self, parameters: Floats, here: Derivatives) -> OrdinalMaximum | None:
        try:
            covariance = np.asarray(np.linalg.inv(here.information), np.float64)
        except np.linalg.LinAlgError:
            return None
        mean = self.weight @ -self.upper[:, : self.terms] / self.weight.sum()
        square = self.weight @ (self.upper[:, : self.terms] ** 2) / self.weight.sum()
        scale = np.r_[np.sqrt(square - mean**2), np.ones(len(parameters) - self.terms)]
        errors = np.sqrt(np.maximum(np.diag(covariance), 0)) * scale
        return OrdinalMaximum(parameters, here, covariance) if (errors < _LARGEST_ERROR).all() else None


@dataclass(frozen=True, slots=True)
class OrdinalMaximum:
    """The `parameters` at the maximum, the derivatives `at` them and the inverse of their information."""

    parameters: Floats
    at: Derivatives
    covariance: Floats
