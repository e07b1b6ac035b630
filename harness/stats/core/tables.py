"""Tables for coefficients: judge by aggregate, pairs of annotators, coincidences; and how far two classes agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.aggregate import Rule, aggregate_counts
from harness.stats.core.arrays import Floats, ScaleError, Weights, as_values
from harness.stats.core.rows import Rows


@dataclass(frozen=True, slots=True)
class Joint:
    """[used, k x k cells]: items by aggregate (row) and judge (column), of items with both."""

    rule: Rule = "drop"
    judge: int = 0

    def __call__(self, rows: Rows, /) -> Floats:
        reference, score = aggregate_counts(rows.counts, self.rule), rows.judge(self.judge)
        used = np.flatnonzero((reference >= 0) & (score >= 0))
        out = np.zeros((len(reference), 1 + rows.k**2))
        out[used, 0] = 1.0
        out[used, 1 + reference[used] * rows.k + score[used]] = 1.0
        return out


def coincidences(rows: Rows, /) -> Floats:
    """[two labels or more, k x k coincidences of values within an item, each divided by n_i - 1]."""
    return _pairs(rows, power=1)


def annotator_pairs(rows: Rows, /) -> Floats:
    """[two labels or more, k x k shares of an item's ordered pairs, k labels, labelled at all, k shares of labels].

    The k labels are of items with two or more (Fleiss' margins), the k shares of items with one or more (Gwet's).
    """
    n = rows.raters[:, None]
    shares = rows.counts / np.maximum(n, 1)
    return np.concatenate([_pairs(rows, power=2), np.where(n >= 2, rows.counts, 0), n >= 1, shares], axis=1)


def _pairs(rows: Rows, power: int) -> Floats:
    n, c = rows.raters, rows.counts.astype(np.float64)
    pairs = c[:, :, None] * c[:, None, :]
    diagonal = np.arange(rows.k)
    pairs[:, diagonal, diagonal] = c * (c - 1)
    pairs /= np.maximum((n - 1) * n ** (power - 1), 1)[:, None, None]
    used = (n >= 2).astype(np.float64)
    return np.concatenate([used[:, None], pairs.reshape(len(n), rows.k**2) * used[:, None]], axis=1)


def square(sums: Floats) -> Floats:
    """The k x k table in sums (..., 1 + k²), from the second column on."""
    k = round((sums.shape[-1] - 1) ** 0.5)
    return sums[..., 1:].reshape(*sums.shape[:-1], k, k)


def split_pairs(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Of sums of `annotator_pairs`: mean pair shares (..., k, k), Fleiss' margins (..., k), Gwet's margins (..., k)."""
    k = round((sums.shape[-1] - 1) ** 0.5) - 1  # 1 + k² + k + 1 + k = (k + 1)² + 1
    pairs = sums[..., 1 : 1 + k * k].reshape(*sums.shape[:-1], k, k)
    labels, shares = sums[..., 1 + k * k : 1 + k * k + k], sums[..., -k:]
    return (
        pairs / np.maximum(sums[..., 0], 1)[..., None, None],
        labels / np.maximum(labels.sum(axis=-1, keepdims=True), 1),
        shares / np.maximum(sums[..., -k - 1], 1)[..., None],
    )


def agreement_weights(k: int, weights: Weights = "identity", values: ArrayLike | None = None) -> Floats:
    """Weights w of shape (k, k) over the classes of the scale, used or not.

    identity: 1 if c = d else 0.  linear: 1 - |v_c - v_d| / (v_max - v_min).  quadratic: 1 - that fraction squared.

    Args:
        weights: `identity`, `linear` or `quadratic`.

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
