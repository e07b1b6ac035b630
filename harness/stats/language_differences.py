"""A judge's agreement over languages: do rates differ (score tests and GEE with groups as units), are scores of the same items consistent?

Consistent does not mean right, and translations differ in quality, so that different scores may be right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.agreement.agreement import fleiss_kappa
from harness.stats.core.arrays import Estimate, Floats, Ints, ShapeError, as_codes, as_index, as_labels, as_values, same_shape
from harness.stats.intervals.intervals import NO_VARIATION
from harness.stats.intervals.regression import Derivatives, OrdinalMaximum, OrdinalRows, logistic

_ROUNDING = 1e-9


class ClusterScore(NamedTuple):
    """`statistic` = U' V^-1 U of the score U over `groups`, V the sum of squares of groups; `df` is the rank of V and `p` in [0, 1].

    NaN where no group's score differs from 0, or where there are no more groups than `df`.
    """

    statistic: float
    df: int
    groups: int
    p: float


def cluster_score_test(squares: ArrayLike, score: ArrayLike, information: ArrayLike, tested: ArrayLike, groups: int) -> ClusterScore:
    """Test that some parameters of a model are 0, at the estimates of the others: the generalised score test with groups as units.

    What the estimated parameters explain is taken away first: U = U_t - I_te I_ee^-1 U_e, and V likewise. The statistic lies below G, the
    number of groups. If the scores of groups were normal, (G - df) / df · statistic / (G - statistic) would have the distribution
    F(df, G - df) exactly; p is its upper tail, and at least 2^(df - G), the least that the signs of G groups can show. A Wald test with the
    same variance is too easy where groups are few or parameters many; this test keeps its level there, whether a group lies within one
    language or spans all of them.

    Args:
        squares: (parameters, parameters) sum over groups of u u', u the score of a group.
        score: (parameters,) sum of u.
        information: (parameters, parameters) minus the second derivatives of the log-likelihood.
        tested: (parameters,) which of them are tested; the score of the others is 0.
        groups: G.

    Reference: Boos (1992); Rotnitzky & Jewell (1990); Hotelling (1931) for the distribution.

    >>> u = np.array([1.0, -0.5, 2.0, 1.5, 0.5, 1.0])
    >>> found = cluster_score_test([[u @ u]], [u.sum()], [[1.0]], [True], len(u))
    >>> round(found.statistic, 3), found.df, round(found.p, 4)
    (3.457, 1, 0.0478)
    """
    v, u, i, which = np.asarray(squares, np.float64), np.asarray(score, np.float64), np.asarray(information, np.float64), np.asarray(tested)
    if not v.shape == i.shape == (len(u), len(u)) or which.shape != u.shape:
        raise ShapeError(f"squares {v.shape}, score {u.shape}, information {i.shape} and tested {which.shape} differ in their parameters")
    projection = np.zeros((int(which.sum()), len(u)))
    projection[:, which] = np.eye(len(projection))
    projection[:, ~which] = -np.linalg.solve(i[np.ix_(~which, ~which)], i[np.ix_(~which, which)]).T
    v, u = projection @ v @ projection.T, projection @ u
    size = np.sqrt(np.maximum(np.diag(v), 0.0))
    varied = np.flatnonzero(size > _ROUNDING)
    v, u = v[np.ix_(varied, varied)] / np.outer(size[varied], size[varied]), u[varied] / size[varied]
    values, vectors = np.linalg.eigh(v)
    positive = values > _ROUNDING
    df = int(positive.sum())
    if not 0 < df < groups:
        return ClusterScore(math.nan, df, groups, math.nan)
    from scipy.special import fdtrc

    statistic = float(((vectors[:, positive].T @ u) ** 2 / values[positive]).sum())
    remaining = groups - statistic
    p = float(fdtrc(df, groups - df, (groups - df) / df * statistic / remaining)) if remaining > _ROUNDING * groups else 0.0
    return ClusterScore(statistic, df, groups, max(p, 2.0 ** (df - groups)))


_LEAST_VARIANCE = 1e-9
FEW_GROUPS = 30
"""With fewer groups in a language the normal approximation is too easy; take `p_f`."""


@dataclass(frozen=True, slots=True)
class RateComparison:
    """Agreement rates of L languages and tests that they are equal.

    `share` and `n` (L,); `groups` (L,) of each language. `p_groups` is that of the score test with groups as units. Where every group has
    items in two languages or more, it is at least that of the Cochran-Mantel-Haenszel test with groups as strata: where hits are nearly
    all right, the score test is too easy there (wrong in 8 % of data sets in place of 5, with nine languages on the same 40 texts). The
    Wald test of GEE is too easy as well (8 to 16 %, on the same 40 to 60 texts). Of it, `coefficients` (L,) are the logit of the first
    language's share and the differences of the others from it, `robust_se` their standard errors; `chi2` with `df` = L - 1 has `p`; `p_f`
    refers chi2 / df to F(df, G - L), which suits few groups (`few_groups`). NaN with a `reason`.
    """

    share: Floats
    n: Ints
    groups: Ints
    coefficients: Floats
    robust_se: Floats
    chi2: float
    df: int
    p: float
    p_f: float
    p_groups: float
    reason: str | None

    @property
    def few_groups(self) -> bool:
        return bool((self.groups < FEW_GROUPS).any())


def compare_rates(hit: ArrayLike, language: ArrayLike, groups: ArrayLike, languages: int) -> RateComparison:
    """Tests that the share of hits is the same in all languages: score test by groups, and GEE (binomial, independence, robust by groups).

    With a coefficient for each language the estimates of GEE are the languages' shares, and the sandwich has a closed form: the tests hold
    it equal to statsmodels' GEE.

    Args:
        hit: (items,) 0 or 1; NaN where there is none.
        language: (items,) codes 0 … languages-1; 0 is the reference.
        groups: (items,) any sortable codes; a group may span languages (parallel items).
        languages: number L of languages, 2 or more.

    Returns:
        `RateComparison`; the Wald test is undefined where a language has no items, or agrees always or never (its logit is infinite), or
        where there are no more groups than languages. `p_groups` needs items in every language, and more groups than languages.

    Raises:
        ValueError: for other hits or codes.

    Reference: Liang & Zeger (1986); Boos (1992); Landis, Heyman & Koch (1978).

    >>> found = compare_rates([1, 0, 1, 1, 0, 0, 1, 0] * 5, [0, 0, 0, 0, 1, 1, 1, 1] * 5, range(40), 2)
    >>> found.share.tolist(), round(found.chi2, 2), found.df
    ([0.75, 0.25], 9.05, 1)
    """
    y, where = np.asarray(hit, np.float64), np.asarray(language, np.int64)
    same_shape(hit=y, language=where)
    code = as_index(groups, len(y), "groups")
    present = ~np.isnan(y)
    y, where, code = y[present], where[present], code[present]
    if languages < 2 or not np.isin(y, (0, 1)).all() or not ((where >= 0) & (where < languages)).all():
        raise ValueError("needs hits of 0 and 1, and codes of two or more languages")
    n = np.bincount(where, minlength=languages)
    group = np.unique(code, return_inverse=True)[1]
    groups = int(group.max(initial=-1)) + 1
    per_language = np.bincount(np.unique(group * languages + where) % languages, minlength=languages)
    share = np.divide(np.bincount(where, y, languages), n, out=np.full(languages, math.nan), where=n > 0)
    empty, nan = np.full(languages, math.nan), math.nan
    p_groups = _p_by_groups(y, where, group, n) if n.all() else nan
    if np.isnan(share).any():
        reason: str | None = "a language has no items"
    elif ((share == 0) | (share == 1)).any():
        reason = "a language agrees always or never"
    else:
        reason = "too few independent texts" if groups <= languages else None
    if reason:
        return RateComparison(share, n, per_language, empty, empty, nan, languages - 1, nan, nan, p_groups, reason)
    from scipy.special import chdtrc, fdtrc

    logit, weight = np.log(share / (1 - share)), n * share * (1 - share)
    differences = np.eye(languages)
    differences[1:, 0] = -1
    covariance = differences @ (_squares(y - share[where], where, group, languages) / np.outer(weight, weight)) @ differences.T
    if not (np.linalg.eigvalsh(covariance[1:, 1:]) > _LEAST_VARIANCE).all():  # the same texts are right in every language, say
        return RateComparison(share, n, per_language, empty, empty, nan, languages - 1, nan, nan, p_groups, NO_VARIATION)
    b, df = differences @ logit, languages - 1
    wald = float(b[1:] @ np.linalg.solve(covariance[1:, 1:], b[1:]))
    p_f = float(fdtrc(df, groups - languages, wald / df))
    return RateComparison(share, n, per_language, b, np.sqrt(np.diag(covariance)), wald, df, float(chdtrc(df, wald)), p_f, p_groups, None)


def _squares(residual: Floats, where: Ints, group: Ints, languages: int) -> Floats:
    """(languages, languages) sum over groups of the products of their sums of residuals in each language."""
    from scipy.sparse import coo_array

    sums = coo_array((residual, (group, where)), shape=(int(group.max()) + 1, languages)).tocsr()
    return np.asarray((sums.T @ sums).toarray())


def _p_by_groups(y: Floats, where: Ints, group: Ints, n: Ints) -> float:
    """Return the p of equal rates: the common share is estimated, the differences of all but the first language are tested.

    Where every group spans languages, the hits of a group are exchanged among its items too, and the larger p counts.
    """
    share = float(y.mean())
    if not 0 < share < 1:
        return math.nan
    score, squares = np.bincount(where, y - share), _squares(y - share, where, group, len(n))
    design = np.eye(len(n))
    design[0] = 1
    information = share * (1 - share) * (design * n) @ design.T
    groups = int(group.max()) + 1
    p = cluster_score_test(design @ squares @ design.T, design @ score, information, np.arange(len(n)) > 0, groups).p
    items = np.zeros((groups, len(n)))
    np.add.at(items, (group, where), 1)
    spans = bool(((items > 0).sum(axis=1) > 1).all())
    if not spans or math.isnan(p):
        return p
    hits, language_hits = (np.bincount(code, y).astype(np.float64) for code in (group, where))
    return max(p, _p_within_groups(hits, items, language_hits))


def _p_within_groups(hits: Floats, items: Floats, language_hits: Floats) -> float:
    """Return the p of the Cochran-Mantel-Haenszel test of languages and hits with groups as strata.

    With one item of each language in each group it is Cochran's Q.

    Args:
        hits: (groups,) hits of each group.
        items: (groups, languages) items of each group; more than one language in every group.
        language_hits: (languages,) hits of each language.

    Reference: Landis, Heyman & Koch (1978); Cochran (1950).
    """
    from scipy.special import chdtrc

    size = items.sum(axis=1)
    variance = hits * (size - hits) / (size * (size - 1))
    covariance = np.diag(variance @ items) - (items * (variance / size)[:, None]).T @ items
    score = language_hits - (hits / size) @ items
    values, vectors = np.linalg.eigh(covariance)
    positive = values > _ROUNDING * max(float(values[-1]), 1.0)
    if not positive.any():
        return 1.0  # no group has both a hit and a miss, so nothing moves within groups
    return float(chdtrc(int(positive.sum()), ((vectors[:, positive].T @ score) ** 2 / values[positive]).sum()))


@dataclass(frozen=True, slots=True)
class ParallelConsistency:
    """Agreement of L languages on n items with two scores or more.

    `fleiss` and `randolph` are chance-corrected, by the scores' shares and by 1 / k; `agreement` is the mean share of agreeing pairs of
    languages; `pairwise` (L, L) the share of items that two languages score alike, NaN without common items; `shares` (k,) of all scores.
    """

    fleiss: Estimate
    randolph: float
    agreement: float
    pairwise: Floats
    shares: Floats


def parallel_consistency(scores: ArrayLike, k: int) -> ParallelConsistency:
    """Fleiss' and Randolph's kappa, pairwise agreement and class shares of one judge over languages.

    Randolph's kappa is (P - 1 / k) / (1 - 1 / k) with P the mean share of agreeing pairs; it does not move with the classes' shares.

    Args:
        scores: (items, languages) class codes 0 … k-1, NaN or -1 where missing.

    Returns:
        `ParallelConsistency`; Fleiss' kappa is NaN with a reason for a judge that gives one class to everything.

    Reference: Fleiss (1971); Randolph (2005).

    >>> found = parallel_consistency([[0, 0], [1, 1], [1, 0], [1, 1]], k=2)
    >>> round(found.fleiss.value, 3), found.randolph, found.agreement, found.pairwise.tolist()
    (0.467, 0.5, 0.75, [[1.0, 0.75], [0.75, 1.0]])
    """
    codes = as_labels(scores, k)
    votes = (codes[..., None] == np.arange(k)) * 1.0
    counts = votes.sum(axis=1)
    raters = counts.sum(axis=1)
    paired = raters > 1
    n = raters[paired]
    agree = ((counts[paired] * (counts[paired] - 1)).sum(axis=1) / (n * (n - 1))).mean() if paired.any() else math.nan
    pairs = sum(rater.T @ rater for rater in np.moveaxis(votes, 2, 0))
    common = (codes >= 0).T.astype(np.float64) @ (codes >= 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        pairwise = np.where(common > 0, pairs / common, math.nan)
        shares = counts.sum(axis=0) / counts.sum()
        randolph = float((agree - 1 / k) / (1 - 1 / k)) if k > 1 else math.nan
    return ParallelConsistency(fleiss_kappa(codes, k), randolph, float(agree), pairwise, shares)


_NO_DIRECTION = 1e-12
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
    from scipy.special import chdtrc

    code, people, where = as_codes(judge, k, "judge"), np.asarray(human, np.float64), np.asarray(language, np.int64)
    same_shape(judge=code, human=people, language=where)
    cluster = None if groups is None else as_index(groups, len(code), "groups")
    used = (code >= 0) & ~np.isnan(people)
    code, people, where = code[used], people[used], where[used]
    if languages < 2 or not ((where >= 0) & (where < languages)).all():
        raise ValueError(f"needs codes 0 to {languages - 1} of two or more languages")
    if len(np.unique(where)) < languages:
        return _nothing(len(code), languages, "a language has no items")
    if not (_varies(code, where, languages) & _varies(people, where, languages)).all():
        return _nothing(len(code), languages, "constant values in a language")
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
        df, gain = (larger - smaller) * (languages - 1), summaries[larger].nagelkerke - summaries[smaller].nagelkerke
        lr = max(0.0, 2 * (summaries[larger].loglik - summaries[smaller].loglik))
        return LikelihoodRatio(lr, df, float(chdtrc(df, lr)), p, gain)

    shift = _shift(fits[1].maximum.parameters, alike, languages, as_values(values, k)[classes])
    first, second, third = summaries
    return DifferentialFunctioning(len(y), first, second, third, test(0, 1), test(1, 2), test(0, 2), null, shift, None)


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
        people, indicators = self.people[:, None], self.where[:, None] == np.arange(1, languages)
        design = np.hstack([people, indicators, people * indicators][: effects + 1])
        rows = OrdinalRows.of(design, self.y, self.weight)
        maximum = rows.fit(smaller.at_start_of(rows) if smaller else rows.start())
        return _Fitted(rows, maximum) if maximum else None

    def summary(self, fitted: _Fitted, null: float) -> OrdinalFit:
        n, loglik, terms = self.weight.sum(), fitted.maximum.derivatives.loglik, fitted.rows.terms
        nagelkerke = (1 - math.exp(2 * (null - loglik) / n)) / (1 - math.exp(2 * null / n))
        covariance = bread = fitted.maximum.covariance  # of independent items
        if self.groups is not None:  # the sandwich by groups with the correction for few groups of statsmodels
            groups, squares = self._by_groups(fitted.maximum.derivatives.scores)
            correction = groups / (groups - 1) * (n - 1) / (n - len(bread)) if groups > 1 and n > len(bread) else math.nan
            covariance = np.asarray(correction * bread @ squares @ bread)
        errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))[:terms]
        return OrdinalFit(loglik, fitted.maximum.parameters[:terms], errors, nagelkerke)

    def _by_groups(self, scores: Floats, leverage: ArrayLike = 0.0) -> tuple[int, Floats]:
        """The number of groups, and the sum of squares of their scores, each divided by 1 - leverage, (groups,)."""
        if self.groups is None:
            return int(self.weight.sum()), scores.T @ (self.weight[:, None] * scores)
        of_groups = np.asarray(self.groups @ scores)
        larger = np.broadcast_to(1 / (1 - np.asarray(leverage)), of_groups.shape[:1])
        return len(of_groups), of_groups.T @ (larger[:, None] * of_groups)

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
        untested_whitener = _whitener(information[np.ix_(~tested, ~tested)])
        projection = np.zeros((int(tested.sum()), len(tested)))
        projection[:, tested] = np.eye(len(projection))
        projection[:, ~tested] = -information[np.ix_(tested, ~tested)] @ untested_whitener.T @ untested_whitener
        projection = _whitener(projection @ information @ projection.T) @ projection
        up, low = rows.upper @ projection.T, rows.lower @ projection.T  # (rows, tested)
        bend_up, cross, bend_low = derivatives.bends[:, :, None]
        left_up, left_low = bend_up * up + cross * low, cross * up + bend_low * low
        total = self.groups @ (left_up * up + left_low * low).sum(axis=1)
        right_up, right_low = rows.upper[:, ~tested] @ untested_whitener.T, rows.lower[:, ~tested] @ untested_whitener.T
        taken = (
            self.groups @ (left_up[:, [tested_one]] * right_up + left_low[:, [tested_one]] * right_low)
            for tested_one in range(len(projection))
        )
        squares = sum((of_groups**2).sum(axis=1) for of_groups in taken)
        share = np.divide(squares, total, out=np.zeros(len(total)), where=total > 0)
        return np.asarray(np.minimum(share, _LARGEST_LEVERAGE))


def _whitener(matrix: Floats) -> Floats:
    """Return W with W' W = the inverse of a matrix without negative eigenvalues, in the directions that it has."""
    values, vectors = np.linalg.eigh(matrix)
    positive = values > _NO_DIRECTION * values[-1]
    return np.asarray((vectors[:, positive] / np.sqrt(values[positive])).T)


def _shift(parameters: Floats, alike: _Alike, languages: int, values: Floats) -> Floats:
    """Mean expected score of all items in each language, less that in the first, by the model `language`."""
    b, thresholds = np.split(parameters, [languages])
    people, row = np.unique(alike.people, return_inverse=True)
    share = np.bincount(row, alike.weight) / alike.weight.sum()
    line = people * b[0] + np.r_[0.0, b[1:]][:, None]
    above = logistic(line[..., None] - thresholds)  # P(judge > c), (languages, people's means, classes - 1)
    expected = values[0] + (above @ np.diff(values)) @ share
    return np.asarray(expected - expected[0])
