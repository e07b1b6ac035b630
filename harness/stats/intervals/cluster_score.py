"""Score tests with independent groups, instead of their items, as units."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import ShapeError

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
    kept = values > _ROUNDING
    df = int(kept.sum())
    if not 0 < df < groups:
        return ClusterScore(math.nan, df, groups, math.nan)
    from scipy.special import fdtrc

    statistic = float(((vectors[:, kept].T @ u) ** 2 / values[kept]).sum())
    left = groups - statistic
    p = float(fdtrc(df, groups - df, (groups - df) / df * statistic / left)) if left > _ROUNDING * groups else 0.0
    return ClusterScore(statistic, df, groups, max(p, 2.0 ** (df - groups)))
