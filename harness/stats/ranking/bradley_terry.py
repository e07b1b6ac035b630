"""Bradley–Terry strengths of systems from comparisons of two at a time, with the advantage of the first place and of the longer text."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, Ints, as_index, same_shape
from harness.stats.intervals.intervals import MIN_GROUPS, NO_VARIATION, TOO_FEW

NO_COMPARISON = "no comparison of two systems"
SEPARATED = (
    "separation: some systems, or one of the places, win every comparison that could show the opposite, so that no finite strength fits"
)
NOT_CONNECTED = "some systems were never compared with the others, not even through third ones"
NO_POSITION = "the place cannot be told from the systems, because each stands always in the same place"
_SLACK = 1e-9  # of a linear program


@dataclass(frozen=True, slots=True)
class BradleyTerry:
    """Strengths of systems in log-odds, their sum 0, and the log-odds for the first place; NaN where undefined, with the `reason`.

    `low` and `high` are the ends of the 95 % intervals. `position` is `(value, low, high)`. `n` comparisons, of `groups` source texts.
    """

    strengths: Floats
    low: Floats
    high: Floats
    position: tuple[float, float, float]
    n: int
    groups: int
    reason: str | None = None
    interval_reason: str | None = None
    position_reason: str | None = None


def bradley_terry(first: ArrayLike, second: ArrayLike, share: ArrayLike, systems: int, groups: ArrayLike) -> BradleyTerry:
    """Fit P(the first place wins) = 1 / (1 + exp(-(s_first - s_second + p))) by logistic regression; a tie is half a win of each.

    Intervals use the variance clustered by source text and t with one degree of freedom less than there are texts.

    Args:
        first: (n,) codes 0 … systems-1 of the system that was shown first.
        second: (n,) codes of the system that was shown second.
        share: (n,) in [0, 1], how much of the choice went to the first place; NaN where there is no choice.
        systems: how many systems there are.
        groups: (n,) any sortable codes of the source texts.

    Returns:
        `BradleyTerry`. Undefined under separation: if some strengths or the place could grow for ever and explain the choices better.

    Reference: Bradley & Terry (1952); Davidson & Beaver (1977) for the order; Albert & Anderson (1984) for separation.

    >>> a, b = [0, 0, 0, 1, 1] * 8, [1, 1, 1, 0, 0] * 8
    >>> found = bradley_terry(a, b, [1, 1, 0, 0, 1] * 8, 2, np.repeat(range(8), 5))
    >>> [round(float(each), 2) for each in (*found.strengths, found.position[0])]
    [0.17, -0.17, 0.35]
    """
    first_system, other = np.asarray(first, np.int64), np.asarray(second, np.int64)
    won, codes = np.asarray(share, np.float64), np.asarray(groups)
    same_shape("of the same comparisons", first=first_system, second=other, share=won, groups=codes)
    compared = ~np.isnan(won) & (first_system != other)
    first_system, other, won, codes = first_system[compared], other[compared], won[compared], codes[compared]
    cluster = np.unique(codes, return_inverse=True)[1]
    count = int(cluster.max(initial=-1)) + 1
    if not len(won):
        return _undefined(systems, NO_COMPARISON)
    contrasts = np.vstack([np.eye(systems - 1), -np.ones(systems - 1)])  # the strengths' sum is 0
    design = np.column_stack([contrasts[first_system] - contrasts[other], np.ones(len(won))])
    position_known = np.linalg.matrix_rank(design) > np.linalg.matrix_rank(design[:, :-1])
    design = design if position_known else design[:, :-1]
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return _undefined(systems, NOT_CONNECTED, len(won), count)
    if is_separated(design, won):
        return _undefined(systems, SEPARATED, len(won), count)
    fitted = fit_choices(design, won, cluster)
    weights = np.zeros((systems + 1, design.shape[1]))
    weights[:systems, : systems - 1] = contrasts
    weights[systems, systems - 1 :] = 1.0
    values, half = weights @ fitted.params, _half_widths(weights @ fitted.cov_params() @ weights.T, count)
    if not position_known:
        values[-1] = np.nan
    low, high = values - half, values + half
    return BradleyTerry(
        strengths=values[:-1],
        low=low[:-1],
        high=high[:-1],
        position=(float(values[-1]), float(low[-1]), float(high[-1])),
        n=len(won),
        groups=count,
        interval_reason=TOO_FEW if count < MIN_GROUPS else NO_VARIATION if np.isnan(low[:-1]).all() else None,
        position_reason=None if position_known else NO_POSITION,
    )


def _undefined(systems: int, reason: str, n: int = 0, groups: int = 0) -> BradleyTerry:
    nothing = np.full(systems, np.nan)
    return BradleyTerry(nothing, nothing, nothing, (np.nan, np.nan, np.nan), n, groups, reason, reason, reason)


def fit_choices(design: Floats, won: Floats, cluster: Ints | None):  # type: ignore[no-untyped-def]  # statsmodels has no types
    """The logistic regression of choices, with the variance clustered by source text; None for single comparisons."""
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_linear_model import GLM

    kind = {} if cluster is None else {"cov_type": "cluster", "cov_kwds": {"groups": cluster}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of separation when all choices are ties
        return GLM(won, design, family=Binomial()).fit(**kind)


def is_separated(design: Floats, won: Floats) -> bool:
    """Return True if some direction of the coefficients explains every choice at least as well and one better, by a linear program."""
    from scipy.optimize import linprog

    rows, which = np.unique(design, axis=0, return_inverse=True)
    wins, losses = (np.bincount(which.ravel(), weight, len(rows)) > 0 for weight in (won, 1 - won))
    tied, sign = wins & losses, np.where(wins, 1.0, -1.0)[:, None]
    one_way = (sign * rows)[~tied]
    if not len(one_way):
        return False
    equal = {"A_eq": rows[tied], "b_eq": np.zeros(int(tied.sum()))} if tied.any() else {}
    solution = linprog(-one_way.sum(axis=0), A_ub=-one_way, b_ub=np.zeros(len(one_way)), bounds=(-1, 1), **equal)
    return bool(-solution.fun > _SLACK)


def _half_widths(covariance: Floats, groups: int) -> Floats:
    """Half the lengths of the intervals; NaN with too few source texts, and where all of them say the same."""
    from scipy.stats import t

    if groups < MIN_GROUPS:
        return np.full(len(covariance), np.nan)
    variance = np.diag(covariance)
    return np.asarray(t.ppf(0.975, groups - 1) * np.sqrt(np.where(variance > _SLACK, variance, np.nan)))


LEAST_OVERLAP = 0.1
LEAST_TEXTS = 10
"""A pair of systems whose lengths hardly overlap, or with so few texts on one side, cannot be adjusted for length."""


class Overlap(NamedTuple):
    """The share of pairs in which the text of system `pair[0]` is the longer one; `refused` where lengths hardly overlap."""

    pair: tuple[int, int]
    share_longer: float
    n: int

    @property
    def hardly(self) -> bool:
        """Return True if one of the two is nearly always longer, in enough texts to say so."""
        return min(self.share_longer, 1 - self.share_longer) < LEAST_OVERLAP and self.n >= LEAST_TEXTS

    @property
    def refused(self) -> bool:
        shorter = min(self.share_longer, 1 - self.share_longer)
        return shorter < LEAST_OVERLAP or round(shorter * self.n) < LEAST_TEXTS


class AdjustedPreference(NamedTuple):
    """Strengths (systems,) in log-odds with system 0 at 0, without and with the length; the place and the length with error and p."""

    raw: Floats
    raw_place: float
    adjusted: Floats
    place: float
    length: float
    length_error: float
    length_p: float
    likelihood_ratio: float


def length_overlap(first: ArrayLike, second: ArrayLike, longer: ArrayLike) -> tuple[Overlap, ...]:
    """Return for every pair of systems that met the share in which the text of the lower number is longer.

    Args:
        first, second: (n,) codes of the systems that were shown first and second.
        longer: (n,) difference of the lengths, first minus second, in any unit; equal lengths count as not longer.

    >>> [each.share_longer for each in length_overlap([0, 1, 0], [1, 0, 1], [3.0, 2.0, -1.0])]
    [0.3333333333333333]
    """
    first_system, other, length_gap = np.asarray(first, np.int64), np.asarray(second, np.int64), np.asarray(longer, np.float64)
    shares = []
    for a, b in sorted({(min(x, y), max(x, y)) for x, y in zip(first_system.tolist(), other.tolist(), strict=True) if x != y}):
        forward, backward = (first_system == a) & (other == b), (first_system == b) & (other == a)
        n = int(forward.sum() + backward.sum())
        shares.append(Overlap((a, b), float(((length_gap[forward] > 0).sum() + (length_gap[backward] < 0).sum()) / n), n))
    return tuple(shares)


def preference_by_length(
    first: ArrayLike, second: ArrayLike, first_wins: ArrayLike, length_difference: ArrayLike, groups: ArrayLike | None = None
) -> AdjustedPreference:
    """Fit logit P(first wins) = s_first - s_second + place + length * difference, and the same without the length.

    What it finds is association: quality that drives length looks like a bias, and the adjustment then takes real quality away.

    Args:
        first, second: (n,) codes 0, 1, … of the systems shown first and second.
        first_wins: (n,) in [0, 1].
        length_difference: (n,) first minus second, standardised.
        groups: (n,) any sortable codes of the source texts, by which errors are clustered; None for single comparisons.

    Raises:
        ValueError: if no finite strengths fit (separation).

    >>> rng = np.random.default_rng(0)
    >>> apart = rng.normal(size=400)
    >>> won = rng.random(400) < 1 / (1 + np.exp(-0.8 * apart))
    >>> 0.5 < preference_by_length([0, 1] * 200, [1, 0] * 200, won, apart).length < 1.1
    True
    """
    first_system, other = np.asarray(first, np.int64), np.asarray(second, np.int64)
    won, length_gap = np.asarray(first_wins, np.float64), np.asarray(length_difference, np.float64)
    same_shape("of the same pairs", first=first_system, second=other, first_wins=won, lengths=length_gap)
    systems = int(max(first_system.max(), other.max())) + 1
    indicators = np.eye(systems)[:, 1:]  # the strength of the first system is 0
    design = np.column_stack([indicators[first_system] - indicators[other], np.ones(len(first_system))])
    cluster = None if groups is None else as_index(groups, len(first_system), "groups")
    longer = np.column_stack([design, length_gap])
    if is_separated(design, won) or is_separated(longer, won):
        raise ValueError(SEPARATED)
    raw, full = fit_choices(design, won, cluster), fit_choices(longer, won, cluster)
    return AdjustedPreference(
        raw=np.r_[0.0, raw.params[: systems - 1]],
        raw_place=float(raw.params[systems - 1]),
        adjusted=np.r_[0.0, full.params[: systems - 1]],
        place=float(full.params[systems - 1]),
        length=float(full.params[-1]),
        length_error=float(full.bse[-1]),
        length_p=_p(float(full.params[-1]), float(full.bse[-1]), cluster),
        likelihood_ratio=float(2 * (full.llf - raw.llf)),
    )


def _p(value: float, error: float, cluster: Ints | None) -> float:
    """Two-sided: of the normal distribution for single comparisons, of Student's t with groups - 1 degrees of freedom."""
    from scipy.stats import norm, t

    if not error > 0:
        return math.nan
    if cluster is None:
        return float(2 * norm.sf(abs(value / error)))
    return float(2 * t.sf(abs(value / error), int(cluster.max())))
