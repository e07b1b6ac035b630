"""A judge's agreement over languages: do rates differ (score tests and GEE with groups as units), are scores of the same items consistent?

Consistent does not mean right, and translations differ in quality, so that different scores may be right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.agreement.coefficients import fleiss_kappa
from harness.stats.core.arrays import Estimate, Floats, Ints, ShapeError, as_index, as_labels, same_shape
from harness.stats.intervals.intervals import NO_VARIATION

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
