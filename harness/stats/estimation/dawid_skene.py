"""Dawid and Skene's model: the true classes and each judge's confusion matrix, from the judges' scores alone.

It takes judges' errors as independent. Language models share errors, and then it claims far more than it is right: its posterior is no
confidence before it is recalibrated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import MISSING, Floats, Ints, as_labels

STEPS = 50
_LEAST = 1e-300


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """`posterior` (items, k) of the true class, `class_shares` (k,), `confusion` (judges, true, given), `loglik` of the last step.

    Rows of `confusion` are NaN for a true class that no item is given to, and for a judge without scores. An item without scores has the
    posterior NaN.
    """

    posterior: Floats
    class_shares: Floats
    confusion: Floats
    loglik: float

    @property
    def answer(self) -> Ints:
        """The most probable class of each item, the lower one on a tie; -1 without scores."""
        known = ~np.isnan(self.posterior).any(axis=1)
        return np.where(known, np.argmax(np.nan_to_num(self.posterior), axis=1), MISSING)


def dawid_skene(judges: ArrayLike, k: int, *, steps: int = STEPS) -> DawidSkene:
    """Expectation-maximisation from the judges' vote shares, without smoothing, for a fixed number of steps.

    Each step takes the class shares and P(given | true) of every judge from the current posterior, then the posterior
    P(true | scores) ∝ share(true) prod_j P_j(given | true).

    Args:
        judges: (items, judges) class codes 0 … k-1, NaN or -1 where missing.
        k: number of classes of the scale.
        steps: 1 or more.

    Raises:
        ScaleError, ShapeError: for codes off the scale, or another shape.  ValueError: for fewer steps than one.

    Reference: Dawid & Skene (1979).

    >>> found = dawid_skene([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]] * 5, 2)
    >>> found.answer[:4].tolist(), found.class_shares.round(2).tolist(), found.confusion[2].round(2).tolist()
    ([0, 1, 0, 1], [0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
    """
    codes = as_labels(judges, k)
    if steps < 1:
        raise ValueError(f"needs one step or more, got {steps}")
    given = (codes[..., None] == np.arange(k)) * 1.0
    votes = given.sum(axis=1)
    scored = votes.sum(axis=1) > 0
    if not scored.any():
        empty = np.full((len(codes), k), math.nan)
        return DawidSkene(empty, np.full(k, math.nan), np.full((codes.shape[1], k, k), math.nan), math.nan)
    given = given[scored]
    posterior = votes[scored] / votes[scored].sum(axis=1, keepdims=True)
    for _ in range(steps):
        shares = posterior.mean(axis=0)
        joint = np.einsum("it,ijg->jtg", posterior, given)
        total = joint.sum(axis=2, keepdims=True)
        confusion = np.divide(joint, total, out=np.full_like(joint, math.nan), where=total > 0)
        logs = np.log(np.maximum(np.nan_to_num(confusion), _LEAST))
        weight = np.log(np.maximum(shares, _LEAST)) + np.einsum("ijg,jtg->it", given, logs)
        top = weight.max(axis=1, keepdims=True)
        posterior = np.exp(weight - top)
        mass = posterior.sum(axis=1, keepdims=True)
        posterior = posterior / mass
        loglik = float((np.log(mass) + top).sum())
    everyone = np.full((len(codes), k), math.nan)
    everyone[scored] = posterior
    return DawidSkene(everyone, shares, confusion, loglik)
