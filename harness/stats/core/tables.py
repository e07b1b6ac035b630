"""The annotators' aggregate (majority by drop, median or strict), and tables for coefficients: judge by aggregate, pairs, coincidences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import MISSING, Floats, Ints, ScaleError, Weights, as_values
from harness.stats.core.rows import Rows, count_classes

Rule = Literal["drop", "median", "strict"]

NO_MAJORITY = -2
"""The aggregate of an item that has labels but no unique mode."""


def aggregate(labels: ArrayLike, k: int, rule: Rule = "drop") -> Ints:
    """The class that stands for an item's annotators.

    `drop` and `strict`: the unique mode. Two annotators who differ, or a tie of 2-2, have no mode (-2). `pa` leaves such an
    item out under `drop`, and counts it as disagreement under `strict`.
    `median`: the lower median of the codes, which always exists. For ordinal and interval scales only.

    Args:
        labels: (items, raters) class codes, NaN or -1 where missing.
        rule: `drop`, `median` or `strict`.

    Returns:
        (items,) class codes; -1 for an item without labels, -2 for one without a majority.

    Raises:
        ValueError: for an unknown rule.

    >>> labels = [[0, 2, 2], [0, 1, 2], [1, 0, -1], [-1, -1, -1]]
    >>> aggregate(labels, k=3).tolist()
    [2, -2, -2, -1]
    >>> aggregate(labels, k=3, rule="median").tolist()
    [2, 1, 0, -1]
    """
    return aggregate_counts(count_classes(labels, k), rule)


def aggregate_counts(counts: Ints, rule: Rule) -> Ints:
    """`aggregate` of class counts (items, k).

    >>> aggregate_counts(count_classes([[0, 2, 2], [0, 1, -1]], k=3), "drop").tolist()
    [2, -2]
    """
    raters = counts.sum(axis=1)
    if rule == "median":
        # position (n - 1) // 2 of the sorted labels: the first class whose cumulated count exceeds it
        middle = np.argmax(np.cumsum(counts, axis=1) > ((raters - 1) // 2)[:, None], axis=1)
        return np.where(raters > 0, middle, MISSING)
    if rule not in ("drop", "strict"):
        raise ValueError(f"unknown rule '{rule}' for the aggregate; there are drop, median and strict")
    most = counts.max(axis=1, initial=0)
    unique = (counts == most[:, None]).sum(axis=1) == 1
    return np.where(raters == 0, MISSING, np.where(unique, np.argmax(counts, axis=1), NO_MAJORITY))


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
    """Return from sums of `annotator_pairs`: mean pair shares (..., k, k), Fleiss' margins (..., k), Gwet's margins (..., k)."""
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
    distance = np.abs(v[:, None] - v) / (v[-1] - v[0]) if k > 1 else np.zeros((1, 1))
    if weights == "linear":
        return 1.0 - distance
    if weights == "quadratic":
        return 1.0 - distance**2
    raise ScaleError(f"unknown weights '{weights}'; choose from: identity, linear, quadratic")
