"""Does a judge agree equally often in each language? Logistic regression by generalised estimating equations, groups as clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.arrays import Floats, Ints, ShapeError, as_index
from harness.stats.intervals import NO_VARIATION

_LEAST_VARIANCE = 1e-9
FEW_GROUPS = 30
"""With fewer groups in a language the normal approximation is too easy; take `p_f`."""


@dataclass(frozen=True, slots=True)
class RateComparison:
    """Agreement rates of L languages and the Wald test that they are equal.

    `share` and `n` (L,); `groups` (L,) of each language. `coefficients` (L,) are the logit of the first language's share and the
    differences of the others from it, `robust_se` their standard errors. `chi2` with `df` = L - 1 has `p`; `p_f` refers chi2 / df to
    F(df, G - L), which suits few groups (`few_groups`). NaN with a `reason`.
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
    reason: str | None

    @property
    def few_groups(self) -> bool:
        return bool((self.groups < FEW_GROUPS).any())


def compare_rates(hit: ArrayLike, language: ArrayLike, groups: ArrayLike, languages: int) -> RateComparison:
    """Wald test that the share of hits is the same in all languages: GEE, binomial, independence, robust covariance by groups.

    Args:
        hit: (items,) 0 or 1; NaN where there is none.
        language: (items,) codes 0 … languages-1; 0 is the reference.
        groups: (items,) any sortable codes; a group may span languages (parallel items).
        languages: number L of languages, 2 or more.

    Returns:
        `RateComparison`; only shares and counts where a language has no items, or agrees always or never (its logit is infinite), or
        where there are no more groups than languages.

    Raises:
        ShapeError: if the arrays are not of the same items.  ValueError: for other hits or codes.

    Reference: Liang & Zeger (1986).

    >>> found = compare_rates([1, 0, 1, 1, 0, 0, 1, 0] * 5, [0, 0, 0, 0, 1, 1, 1, 1] * 5, range(40), 2)
    >>> found.share.tolist(), round(found.chi2, 2), found.df
    ([0.75, 0.25], 9.05, 1)
    """
    y, where = np.asarray(hit, np.float64), np.asarray(language, np.int64)
    if y.ndim != 1 or y.shape != where.shape:
        raise ShapeError(f"hit {y.shape} and language {where.shape} must be of the same items")
    code = as_index(groups, len(y), "groups")
    known = ~np.isnan(y)
    y, where, code = y[known], where[known], code[known]
    if languages < 2 or not np.isin(y, (0, 1)).all() or not ((where >= 0) & (where < languages)).all():
        raise ValueError("needs hits of 0 and 1, and codes of two or more languages")
    n = np.bincount(where, minlength=languages)
    per_language = np.array([len(np.unique(code[where == each])) for each in range(languages)])
    share = np.divide(np.bincount(where, y, languages), n, out=np.full(languages, math.nan), where=n > 0)
    reason = _undefined(share, len(np.unique(code)), languages)
    if reason:
        empty = np.full(languages, math.nan)
        return RateComparison(share, n, per_language, empty, empty, math.nan, languages - 1, math.nan, math.nan, reason)
    from scipy.special import fdtrc
    from scipy.stats import chi2
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_estimating_equations import GEE

    design = np.column_stack([np.ones(len(y)), where[:, None] == np.arange(1, languages)]).astype(np.float64)
    order = np.argsort(code, kind="stable")
    fitted = GEE(y[order], design[order], groups=code[order], family=Binomial()).fit()
    b, covariance = np.asarray(fitted.params), np.asarray(fitted.cov_params())
    if not (np.linalg.eigvalsh(covariance[1:, 1:]) > _LEAST_VARIANCE).all():  # the same texts are right in every language, say
        empty = np.full(languages, math.nan)
        return RateComparison(share, n, per_language, empty, empty, math.nan, languages - 1, math.nan, math.nan, NO_VARIATION)
    wald, df = float(b[1:] @ np.linalg.solve(covariance[1:, 1:], b[1:])), languages - 1
    p_f = float(fdtrc(df, len(np.unique(code)) - languages, wald / df))
    return RateComparison(share, n, per_language, b, np.sqrt(np.diag(covariance)), wald, df, float(chi2.sf(wald, df)), p_f, None)


def _undefined(share: Floats, groups: int, languages: int) -> str | None:
    if np.isnan(share).any():
        return "a language has no items"
    if ((share == 0) | (share == 1)).any():
        return "a language agrees always or never"
    return "too few independent texts" if groups <= languages else None
