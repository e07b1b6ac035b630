"""The map from a judge's answer to probabilities of people's classes where classes have no order: a table of shares for each language.

In language l, of texts with answer x, people gave class y with probability (n_lxy + a q_xy) / (n_lx + a): the shares q of all languages
count as `a` labels, with the `a` that has the largest Dirichlet-multinomial likelihood. Source: Good 1965, partial pooling of tables.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, Ints

LEAST_WEIGHT, LARGEST_WEIGHT = 0.5, 1000.0


class NominalMap(msgspec.Struct, frozen=True, eq=False):
    """A fitted table.

    Attributes:
        tables: (L + 1, answers, k) probabilities of people's classes; the last table is that of a language that the fit has not seen.
        weight: the number of labels that the other languages count as.
    """

    tables: Floats
    weight: float

    def probabilities(self, answer: ArrayLike, language: ArrayLike = -1) -> Floats:
        """(n, k) probabilities of classes at the judge's answers (codes) in languages 0 … L-1, or -1."""
        return np.asarray(self.tables[np.asarray(language), np.asarray(answer, np.int64)])


def fit_nominal_map(answer: ArrayLike, counts: ArrayLike, language: ArrayLike, *, languages: int, answers: int) -> NominalMap:
    """Fit the tables.

    Args:
        answer: (n,) codes 0 … answers-1 of the judge's answers; all 0 gives the map without the judge's answer.
        counts: (n, k) how many labels gave each class.
        language: (n,) codes 0 … languages-1.
        languages, answers: L, and the number of possible answers.

    >>> found = fit_nominal_map([0, 0, 1, 1], [[2, 0], [1, 0], [0, 2], [0, 1]], [0, 0, 0, 0], languages=1, answers=2)
    >>> found.probabilities([0, 1], 0).round(2).tolist()
    [[0.97, 0.03], [0.03, 0.97]]
    """
    n = counted_answers(answer, counts, language, languages=languages, answers=answers)
    k = n.shape[2]
    overall = (n.sum(axis=(0, 1)) + 0.5) / (n.sum() + k / 2)
    together = (n.sum(axis=0) + overall) / (n.sum(axis=(0, 2)) + 1)[:, None]
    weight = _weight(n, together) if languages > 1 else 1.0
    own = (n + weight * together) / (n.sum(axis=2, keepdims=True) + weight)
    return NominalMap(np.concatenate([own, together[None]]), weight)


def counted_answers(answer: ArrayLike, counts: ArrayLike, language: ArrayLike, *, languages: int, answers: int) -> Floats:
    """(languages, answers, k) labels by language, the judge's answer and class; args as `fit_nominal_map`.

    >>> counted_answers([1], [[0, 3]], [0], languages=1, answers=2).tolist()
    [[[0.0, 0.0], [0.0, 3.0]]]
    """
    each = np.asarray(counts, np.float64)
    place: Ints = np.asarray(language, np.int64) * answers + np.asarray(answer, np.int64)
    table = np.stack([np.bincount(place, column, languages * answers) for column in each.T], axis=1)
    return np.asarray(table.reshape(languages, answers, each.shape[1]))


def _weight(n: Floats, together: Floats) -> float:
    """The weight of the other languages with the largest likelihood."""
    from scipy import optimize
    from scipy.special import gammaln

    total = n.sum(axis=2)

    def loss(log_weight: float) -> float:

        prior = np.exp(log_weight) * together
        parts = (gammaln(n + prior) - gammaln(prior)).sum(axis=2)
        weight = prior.sum(axis=1)
        return -float((parts + gammaln(weight) - gammaln(total + weight)).sum())

    ends = (np.log(LEAST_WEIGHT), np.log(LARGEST_WEIGHT))
    return float(np.exp(optimize.minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 0.01}).x))
