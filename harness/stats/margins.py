"""Do two raters use the classes equally often? Stuart-Maxwell, and McNemar for two classes.

Only between two single raters or two conditions: voting moves margins by itself, so a majority is not accepted as a
side by anything that calls this.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.arrays import Floats, Ints, ShapeError, as_codes, as_index
from harness.stats.intervals import MIN_GROUPS, TOO_FEW


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
    df = rank V. Classes nobody used, and classes on which nobody moved, drop out by themselves. With `groups`, V sums
    the squares of the groups' sums of (e_a - e_b), so that units of a text may go together.

    Args:
        a, b: (n,) class codes 0 … k-1 of two single raters, NaN or -1 where missing.
        k: number of classes of the scale.
        groups: (n,) any sortable codes of what units share; default none do.

    Returns:
        chi², df, p and the n units with both; NaN if n == 0 ("no overlap"), if nobody differs ("no discordant units"),
        or with units that share texts, fewer than 8 of them.

    Raises:
        ScaleError, ShapeError: for codes off the scale, arrays of different units.

    Reference: Stuart (1955); Maxwell (1970); Durkalski et al. (2003) for clusters.

    >>> table = [[20, 10, 5], [3, 30, 15], [0, 5, 40]]
    >>> stuart_maxwell_of_table(table).df
    2
    """
    x, y, shared = _pairs(a, b, k, groups)
    if not len(x):
        return _undefined(0, "no overlap")
    moves = np.zeros((len(x), k))
    moves[np.arange(len(x)), x] += 1
    moves[np.arange(len(x)), y] -= 1
    if shared is not None:
        index = as_index(shared, len(x), "groups")
        if (count := int(index.max()) + 1) < MIN_GROUPS:
            return _undefined(len(x), TOO_FEW)
        sums = np.zeros((count, k))
        np.add.at(sums, index, moves)
        moves = sums
    return _chi_square(moves.sum(axis=0), moves.T @ moves, len(x))


def stuart_maxwell_of_table(table: ArrayLike) -> MarginTest:
    """`stuart_maxwell` of a k x k table of counts, rater a in rows.

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
    rows, columns = t.sum(axis=1), t.sum(axis=0)
    return _chi_square(rows - columns, np.diag(rows + columns) - t - t.T, n)


def mcnemar(a: ArrayLike, b: ArrayLike, groups: ArrayLike | None = None, *, method: Literal["exact", "chi2"] = "exact") -> MarginTest:
    """Test that two binary raters (or two conditions' hits) are 1 equally often.

    exact: the smaller of the discordant counts under Binomial(b + c, ½), two-sided. chi2: (b - c)² / (b + c), df 1,
    without correction; with `groups`, (sum d_g)² / sum d_g² over the groups' sums of a - b.

    Args:
        a, b: (n,) 0 or 1, NaN or -1 where missing.
        groups: (n,) codes of what units share; asks for `chi2` if any two units share one.
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
        raise ValueError("McNemar's exact test needs independent units: take method='chi2' with groups")
    up, down = int((x > y).sum()), int((x < y).sum())
    if up + down == 0:
        return _undefined(len(x), "no discordant units" if len(x) else "no overlap")
    from scipy.stats import binomtest

    return MarginTest(float(min(up, down)), 0, float(binomtest(up, up + down).pvalue), len(x))


def _pairs(a: ArrayLike, b: ArrayLike, k: int, groups: ArrayLike | None) -> tuple[Ints, Ints, np.ndarray[Any, np.dtype[Any]] | None]:
    """Codes of the units with both; groups, or None where every group is single."""
    x, y = as_codes(a, k, "a"), as_codes(b, k, "b")
    if x.ndim != 1 or x.shape != y.shape:
        raise ShapeError(f"a {x.shape} and b {y.shape} must be one-dimensional and of one length")
    used = (x >= 0) & (y >= 0)
    if groups is None:
        return x[used], y[used], None
    index = as_index(groups, len(x), "groups")[used]
    return x[used], y[used], index if len(np.unique(index)) < len(index) else None


def _chi_square(d: Floats, v: Floats, n: int) -> MarginTest:
    if not np.any(np.diag(v) > 0):
        return _undefined(n, "no discordant units")
    from scipy.stats import chi2

    df = int(np.linalg.matrix_rank(v, hermitian=True))
    statistic = max(0.0, float(d @ np.linalg.pinv(v, hermitian=True) @ d))
    return MarginTest(statistic, df, float(chi2.sf(statistic, df)), n)


def _undefined(n: int, reason: str) -> MarginTest:
    return MarginTest(np.nan, 0, np.nan, n, reason)
