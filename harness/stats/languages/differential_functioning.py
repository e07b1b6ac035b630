"""Differential item functioning (DIF): does a judge score texts that people score alike differently in different languages?

Ordinal logistic regression of the judge's score on people's mean score, then with the language, then with its interaction. People's mean
is measured with error, so languages of different quality show DIF where there is none: with one annotator in up to 82 % of data sets.
Test leniency first, and use DIF on parallel items or with its effect size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.core.arrays import Floats, Ints, as_codes, as_index, as_values, same_shape
from harness.stats.intervals.regression import Derivatives, OrdinalMaximum, OrdinalRows, logistic
from harness.stats.languages.agreement_by_language import cluster_score_test

_ROUNDING = 1e-12
_LARGEST_LEVERAGE = 0.99  # of a group without which some parameter could not be estimated
NEGLIGIBLE, LARGE = 0.035, 0.07
"""Differences of Nagelkerke's R² below and above which DIF counts as negligible and large (Jodoin & Gierl 2001)."""


@dataclass(frozen=True, slots=True)
class OrdinalFit:
    """One ordinal logistic model: `loglik`, `coefficients` and their `se`, Nagelkerke's pseudo-R²."""

    loglik: float
    coefficients: Floats
    se: Floats
    nagelkerke: float


@dataclass(frozen=True, slots=True)
class LikelihoodRatio:
    """`lr` = 2 (L_larger - L_smaller) with `df` and `p`, and what the larger model adds to Nagelkerke's pseudo-R².

    `p` takes items as independent. `p_groups` is that of the score test of the same parameters with groups as units and the variance CR2,
    in which a group counts the more, the more it moves the other parameters; NaN with no more groups than parameters.
    """

    lr: float
    df: int
    p: float
    p_groups: float
    delta_nagelkerke: float


@dataclass(frozen=True, slots=True)
class DifferentialFunctioning:
    """DIF over L languages on `n` items.

    Models: `human` (people's mean), `language` (and L - 1 indicators), `interaction` (and L - 1 products). Tests: `uniform` of language
    against human, `non_uniform` of interaction against language, `total`. `loglik_thresholds` is that of no predictor. `shift` (L,) is the
    change of the expected score, in points, if all items were in this language instead of the first, by the model `language`.
    All None or NaN with a `reason`.
    """

    n: int
    human: OrdinalFit | None
    language: OrdinalFit | None
    interaction: OrdinalFit | None
    uniform: LikelihoodRatio | None
    non_uniform: LikelihoodRatio | None
    total: LikelihoodRatio | None
    loglik_thresholds: float
    shift: Floats
    reason: str | None


def differential_functioning(
    judge: ArrayLike,
    human: ArrayLike,
    language: ArrayLike,
    languages: int,
    k: int,
    *,
    values: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> DifferentialFunctioning:
    """Uniform and non-uniform DIF by ordinal (proportional odds) logistic regression.

    logit P(judge > c) = x b - threshold_c, with x = people's mean; and languages; and products. Likelihood-ratio tests with L - 1 df
    each, McFadden's 1 - L / L0 and Nagelkerke's (1 - exp(2 (L0 - L) / n)) / (1 - exp(2 L0 / n)).

    Args:
        judge: (items,) class codes 0 … k-1, NaN or -1 where there is no readable score.
        human: (items,) mean of the annotators in points; NaN where there is none.
        language: (items,) codes 0 … languages-1; 0 is the reference.
        languages: number L of languages, 2 or more.
        groups: (items,) codes of what items share; None if items are independent. The coefficients' standard errors and `p_groups` are by
            groups, the likelihood-ratio tests those of independent items.

    Returns:
        `DifferentialFunctioning`; undefined where a language has no items, the judge or people do not vary, or a fit does not converge
        (as where people's means separate some of the judge's classes from the others).

    Reference: Zumbo (1999); Jodoin & Gierl (2001); Bell & McCaffrey (2002) for CR2.

    >>> rng = np.random.default_rng(0)
    >>> human, language = rng.integers(0, 7, 300) / 3, np.arange(300) % 2
    >>> judge = np.clip(np.round(human + 0.5 * language + rng.normal(0, 0.6, 300)), 0, 2)
    >>> found = differential_functioning(judge, human, language, 2, k=3)
    >>> found.uniform.p < 0.001, 0.2 < float(found.shift[1]) < 0.6
    (True, True)
    """
    code, people, where = as_codes(judge, k, "judge"), np.asarray(human, np.float64), np.asarray(language, np.int64)
    same_shape(judge=code, human=people, language=where)
    cluster = None if groups is None else as_index(groups, len(code), "groups")
    used = (code >= 0) & ~np.isnan(people)
    code, people, where = code[used], people[used], where[used]
    if languages < 2 or not ((where >= 0) & (where < languages)).all():
        raise ValueError(f"needs codes 0 to {languages - 1} of two or more languages")
    if reason := _undefined(code, people, where, languages):
        return _nothing(len(code), languages, reason)
    classes, y = np.unique(code, return_inverse=True)
    counts = np.bincount(y)
    null = float(counts @ np.log(counts / len(y)))
    alike = _Alike.of(y, people, where, None if cluster is None else np.unique(cluster[used], return_inverse=True)[1])
    fits: list[_Fitted] = []
    for effects in range(3):
        fitted = alike.fit(effects, languages, fits[-1] if fits else None)
        if fitted is None:
            return _nothing(len(code), languages, "the ordinal regression does not converge")
        fits.append(fitted)
    summaries = [alike.summary(fitted, null) for fitted in fits]

    def test(smaller: int, larger: int) -> LikelihoodRatio:
        p = alike.p_by_groups(fits[smaller], fits[larger])
        return _ratio(summaries[smaller], summaries[larger], p, (larger - smaller) * (languages - 1))

    shift = _shift(fits[1].maximum.parameters, alike, languages, as_values(values, k)[classes])
    first, second, third = summaries
    return DifferentialFunctioning(len(y), first, second, third, test(0, 1), test(1, 2), test(0, 2), null, shift, None)


def _undefined(code: Ints, people: Floats, where: Ints, languages: int) -> str | None:
    if len(np.unique(where)) < languages:
        return "a language has no items"
    if not (_varies(code, where, languages) & _varies(people, where, languages)).all():
        return "constant values in a language"
    return None


def _varies(values: Ints | Floats, where: Ints, languages: int) -> NDArray[np.bool_]:
    """(languages,) whether an item has another value than the language's first one."""
    first = values[np.unique(where, return_index=True)[1]]
    return np.bincount(where, values != first[where], languages) > 0


def _nothing(n: int, languages: int, reason: str) -> DifferentialFunctioning:
    return DifferentialFunctioning(n, None, None, None, None, None, None, math.nan, np.full(languages, math.nan), reason)


@dataclass(frozen=True, slots=True)
class _Fitted:
    """A model of `OrdinalRows` with `terms` coefficients, at its maximum."""

    rows: OrdinalRows
    maximum: OrdinalMaximum

    def at_start_of(self, larger: OrdinalRows) -> Floats:
        """These parameters in a model with more coefficients, which are 0."""
        more = np.zeros(larger.terms - self.rows.terms)
        coefficients, thresholds = np.split(self.maximum.parameters, [self.rows.terms])
        return np.asarray(np.r_[coefficients, more, thresholds])


@dataclass(frozen=True, slots=True)
class _Alike:
    """Items of one language, class and mean score of people are one row, so that a fit costs what there are different rows.

    Of rows: `y`, `people`, `where` and the number of items, `weight`. `groups`, sparse (groups, rows), has the items of each group; None
    if items are independent.
    """

    y: Ints
    people: Floats
    where: Ints
    weight: Floats
    groups: Any | None

    @classmethod
    def of(cls, y: Ints, people: Floats, where: Ints, group: Ints | None) -> _Alike:
        from scipy.sparse import coo_array

        levels, level = np.unique(people, return_inverse=True)
        classes = int(y.max()) + 1
        code, row, weight = np.unique((where * len(levels) + level) * classes + y, return_inverse=True, return_counts=True)
        table = None if group is None else coo_array((np.ones(len(y)), (group, row)), shape=(int(group.max()) + 1, len(code))).tocsr()
        return cls(code % classes, levels[code // classes % len(levels)], code // classes // len(levels), weight * 1.0, table)

    def fit(self, effects: int, languages: int, smaller: _Fitted | None) -> _Fitted | None:
        """People's mean; and languages (own 1); and products (own 2)."""
        rows = OrdinalRows.of(self._design(effects, languages), self.y, self.weight)
        maximum = rows.fit(smaller.at_start_of(rows) if smaller else rows.start())
        return _Fitted(rows, maximum) if maximum else None

    def _design(self, effects: int, languages: int) -> Any:
        from scipy.sparse import csr_array, hstack

        rows = np.flatnonzero(self.where > 0)
        indicators = csr_array((np.ones(len(rows)), (rows, self.where[rows] - 1)), shape=(len(self.y), languages - 1))
        products = csr_array((self.people[rows], (rows, self.where[rows] - 1)), shape=(len(self.y), languages - 1))
        return hstack([csr_array(self.people[:, None]), indicators, products][: effects + 1], format="csr")

    def summary(self, fitted: _Fitted, null: float) -> OrdinalFit:
        n, loglik, terms = self.weight.sum(), fitted.maximum.derivatives.loglik, fitted.rows.terms
        nagelkerke = (1 - math.exp(2 * (null - loglik) / n)) / (1 - math.exp(2 * null / n))
        errors = np.sqrt(np.maximum(np.diag(self._covariance(fitted)), 0.0))[:terms]
        return OrdinalFit(loglik, fitted.maximum.parameters[:terms], errors, nagelkerke)

    def _covariance(self, fitted: _Fitted) -> Floats:
        """Return the covariance of independent items, or the sandwich by groups with the correction for few groups of statsmodels."""
        bread, n = fitted.maximum.covariance, self.weight.sum()
        if self.groups is None:
            return bread
        groups, squares = self._by_groups(fitted.maximum.derivatives.scores)
        correction = groups / (groups - 1) * (n - 1) / (n - len(bread)) if groups > 1 and n > len(bread) else math.nan
        return np.asarray(correction * bread @ squares @ bread)

    def _by_groups(self, scores: Any, leverage: ArrayLike = 0.0) -> tuple[int, Floats]:
        """The number of groups, and the sum of squares of their scores, each divided by 1 - leverage, (groups,)."""
        from scipy.sparse import diags_array

        if self.groups is None:
            return int(self.weight.sum()), (scores.T @ (diags_array(self.weight) @ scores)).toarray()
        of_groups = self.groups @ scores
        larger = diags_array(np.broadcast_to(1 / (1 - np.asarray(leverage)), of_groups.shape[:1]))
        return of_groups.shape[0], (of_groups.T @ (larger @ of_groups)).toarray()

    def p_by_groups(self, smaller: _Fitted, larger: _Fitted) -> float:
        """Return the p of the score test of the coefficients that only the larger model has, with the bias-reduced variance CR2."""
        derivatives = larger.rows.derivatives(smaller.at_start_of(larger.rows))
        if derivatives is None:
            return math.nan
        index = np.arange(len(derivatives.gradient))
        tested = (index >= smaller.rows.terms) & (index < larger.rows.terms)
        leverage = 0.0 if self.groups is None else self._leverage(larger.rows, derivatives, tested)
        groups, squares = self._by_groups(derivatives.scores, leverage)
        return cluster_score_test(squares, derivatives.gradient, derivatives.information, tested, groups).p

    def _leverage(self, rows: OrdinalRows, derivatives: Derivatives, tested: NDArray[np.bool_]) -> Floats:
        """Return how much of a group's score of the tested parameters the estimates of the others take away, (groups,) in [0, 1).

        For a group with information I_g: u = U_t - I_te I_ee^-1 U_e has the variance B = P I_g P' at the true parameters, and at their
        estimates B - A I_ee^-1 A' with A = P I_g (columns of the others). Of several tested parameters, the leverage is that of their
        sum in units of their total variance.
        """
        information = derivatives.information
        others = _whitener(information[np.ix_(~tested, ~tested)])
        projection = np.zeros((int(tested.sum()), len(tested)))
        projection[:, tested] = np.eye(len(projection))
        projection[:, ~tested] = -information[np.ix_(tested, ~tested)] @ others.T @ others
        projection = _whitener(projection @ information @ projection.T) @ projection
        up, low = rows.upper @ projection.T, rows.lower @ projection.T  # (rows, tested)
        bend_up, cross, bend_low = derivatives.bends[:, :, None]
        left_up, left_low = bend_up * up + cross * low, cross * up + bend_low * low
        own = self.groups @ (left_up * up + left_low * low).sum(axis=1)
        right_up, right_low = rows.upper[:, ~tested] @ others.T, rows.lower[:, ~tested] @ others.T
        taken = (
            self.groups @ (left_up[:, [tested_one]] * right_up + left_low[:, [tested_one]] * right_low)
            for tested_one in range(len(projection))
        )
        squares = sum((of_groups**2).sum(axis=1) for of_groups in taken)
        share = np.divide(squares, own, out=np.zeros(len(own)), where=own > 0)
        return np.asarray(np.minimum(share, _LARGEST_LEVERAGE))


def _whitener(matrix: Floats) -> Floats:
    """Return W with W' W = the inverse of a matrix without negative eigenvalues, in the directions that it has."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > _ROUNDING * values[-1]
    return np.asarray((vectors[:, kept] / np.sqrt(values[kept])).T)


def _ratio(smaller: OrdinalFit, larger: OrdinalFit, p_groups: float, df: int) -> LikelihoodRatio:
    from scipy.special import chdtrc

    lr = max(0.0, 2 * (larger.loglik - smaller.loglik))
    return LikelihoodRatio(lr, df, float(chdtrc(df, lr)), p_groups, larger.nagelkerke - smaller.nagelkerke)


def _shift(parameters: Floats, alike: _Alike, languages: int, values: Floats) -> Floats:
    """Mean expected score of all items in each language, less that in the first, by the model `language`."""
    b, thresholds = np.split(parameters, [languages])
    people, row = np.unique(alike.people, return_inverse=True)
    share = np.bincount(row, alike.weight) / alike.weight.sum()
    line = people * b[0] + np.r_[0.0, b[1:]][:, None]
    above = logistic(line[..., None] - thresholds)  # P(judge > c), (languages, people's means, classes - 1)
    expected = values[0] + (above @ np.diff(values)) @ share
    return np.asarray(expected - expected[0])
