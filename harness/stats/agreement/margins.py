"""Do two raters use the classes equally often? Stuart-Maxwell, and McNemar for two classes.

Only between two single raters or two conditions. Voting moves margins by itself, so no caller passes a majority as one
of the two.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Ints, ShapeError, as_codes, as_index, same_shape
from harness.stats.intervals.intervals import MIN_GROUPS, TOO_FEW

NOBODY_DIFFERS = "no discordant units"
"""Reason of a test that has nothing to test: both raters gave the same class to every unit."""


class MarginTest(NamedTuple):
    """`statistic` (chi², or the smaller discordant count if exact), its `df`, `p`, the n pairs, and a reason."""

    statistic: float
    df: int
    p: float
    n: int
    reason: str | None = None


def stuart_maxwell(a: ArrayLike, b: ArrayLike, k: int, groups: ArrayLike | None = None) -> MarginTest:
    """Test that two raters have the same margins over the classes.

    With d = the differences of the margins and V = sum over units of (e_a - e_b)(e_a - e_b)', chi² = d' V⁺ d with
    df = rank V. Independent units are tested by statsmodels (see `stuart_maxwell_of_table`). Where units share a group,
    V sums the squares of the groups' sums of (e_a - e_b); statsmodels has no such form.

    Args:
        a, b: (n,) class codes 0 … k-1 of two single raters, NaN or -1 where missing.

    Returns:
        chi², df, p and the n units with both; NaN if n == 0 ("no overlap"), if nobody differs ("no discordant units"),
        or if units share groups and there are fewer than 8 groups ("too few independent texts").

    Reference: Stuart (1955); Maxwell (1970); Durkalski et al. (2003) for clusters.

    >>> table = [[20, 10, 5], [3, 30, 15], [0, 5, 40]]
    >>> stuart_maxwell_of_table(table).df
    2
    """
    x, y, shared = _pairs(a, b, k, groups)
    if shared is None:
        return stuart_maxwell_of_table(np.bincount(x * k + y, minlength=k * k).reshape(k, k))
    index = as_index(shared, len(x), "groups")
    if (count := int(index.max()) + 1) < MIN_GROUPS:
        return _undefined(len(x), TOO_FEW)
    moves = np.zeros((count, k))
    np.add.at(moves, (index, x), 1)
    np.add.at(moves, (index, y), -1)
    v = moves.T @ moves
    if not np.any(np.diag(v) > 0):
        return _undefined(len(x), NOBODY_DIFFERS)
    d = moves.sum(axis=0)
    statistic = float(d @ np.linalg.pinv(v, hermitian=True) @ d)
    return _chi_square(statistic, int(np.linalg.matrix_rank(v, hermitian=True)), len(x))


def stuart_maxwell_of_table(table: ArrayLike) -> MarginTest:
    """`stuart_maxwell` of independent units, from a k x k table of their counts, rater a in rows.

    The test is `SquareTable.homogeneity` of statsmodels. Its matrix is singular where some classes never mix with the
    others, so that each set of classes that mix is tested by itself; the chi² and the df of the sets add up.

    Raises ShapeError if the table is not square.

    >>> found = stuart_maxwell_of_table([[20, 10, 5], [3, 30, 15], [0, 5, 40]])
    >>> round(found.statistic, 6), found.df, round(found.p, 7)
    (13.764706, 2, 0.0010257)
    """
    t = np.asarray(table, np.float64)
    if t.ndim != 2 or t.shape[0] != t.shape[1]:
        raise ShapeError(f"table must be k x k, got shape {t.shape}")
    n = int(t.sum())
    if not n:
        return _undefined(0, "no overlap")
    if n == np.trace(t):
        return _undefined(n, NOBODY_DIFFERS)
    from scipy.sparse.csgraph import connected_components
    from statsmodels.stats.contingency_tables import SquareTable

    sets, of_class = connected_components(t, directed=False)
    statistic, df = 0.0, 0
    for index in range(sets):
        classes = np.flatnonzero(of_class == index)
        if len(classes) > 1:
            homogeneity = SquareTable(t[np.ix_(classes, classes)], shift_zeros=False).homogeneity()
            statistic, df = statistic + float(homogeneity.statistic), df + int(homogeneity.df)
    return _chi_square(statistic, df, n)


def mcnemar(a: ArrayLike, b: ArrayLike, groups: ArrayLike | None = None, *, method: Literal["exact", "chi2"] = "exact") -> MarginTest:
    """Test that two binary raters (or two conditions' hits) are 1 equally often.

    exact: the smaller of the discordant counts under Binomial(b + c, ½), two-sided, by statsmodels. chi2:
    (b - c)² / (b + c), df 1, without correction; with `groups`, (sum d_g)² / sum d_g² over the groups' sums of a - b.

    Args:
        a, b: (n,) 0 or 1, NaN or -1 where missing.
        groups: (n,) codes of what units share; only `chi2` accepts units that share one.
        method: `exact` or `chi2`.

    Returns:
        statistic, df (0 if exact), p and n; NaN if nothing is discordant.

    Raises:
        ValueError: for `exact` with units that share a group.

    Reference: McNemar (1947); Durkalski et al. (2003).

    >>> mcnemar([1] * 12 + [0] * 5, [0] * 10 + [1] * 7).p.__round__(4)
    0.3018
    """
    x, y, shared = _pairs(a, b, 2, groups)
    if method == "chi2":
        return stuart_maxwell(x, y, 2, shared)
    if shared is not None:
        raise ValueError("McNemar's exact test needs independent units: use method='chi2' with groups")
    if not (x != y).any():
        return _undefined(len(x), NOBODY_DIFFERS if len(x) else "no overlap")
    from statsmodels.stats.contingency_tables import mcnemar as exact_test

    test = exact_test(np.bincount(x * 2 + y, minlength=4).reshape(2, 2), exact=True)
    return MarginTest(float(test.statistic), 0, float(test.pvalue), len(x))


def _pairs(a: ArrayLike, b: ArrayLike, k: int, groups: ArrayLike | None) -> tuple[Ints, Ints, np.ndarray[Any, np.dtype[Any]] | None]:
    """Codes of the units with both; groups, or None where every group is single."""
    x, y = as_codes(a, k, "a"), as_codes(b, k, "b")
    same_shape("one-dimensional and of one length", a=x, b=y)
    used = (x >= 0) & (y >= 0)
    if groups is None:
        return x[used], y[used], None
    index = as_index(groups, len(x), "groups")[used]
    return x[used], y[used], index if len(np.unique(index)) < len(index) else None


def _chi_square(statistic: float, df: int, n: int) -> MarginTest:
    """The p is the upper tail itself: statsmodels takes 1 - cdf, which is 0 below 1e-16."""
    from scipy.stats import chi2

    statistic = max(0.0, statistic)
    return MarginTest(statistic, df, float(chi2.sf(statistic, df)), n)


def _undefined(n: int, reason: str) -> MarginTest:
    return MarginTest(np.nan, 0, np.nan, n, reason)
