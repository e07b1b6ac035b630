"""Ranks of judges on the same units, with intervals, and groups of judges that are not shown to differ.

A table of agreement always has a first row. Whether the first judge is better than the second is a question about their
*difference* on the same texts. The interval of a rank and the groups below therefore come from the paired differences,
never from an overlap of two intervals.
Percentiles of bootstrapped ranks (Goldstein & Spiegelhalter 1996) would fail for near-equal judges: the ranks of the resamples are spread
about a wrong centre (Hall & Miller 2009).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from string import ascii_lowercase
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.agreement.correlation import NAMES, kendall_tau, pearson, spearman
from harness.stats.core.arrays import Estimate, Floats, Ints, ShapeError, as_index, same_shape, undefined
from harness.stats.core.groups import distinct_sums, group_sums, spread_of
from harness.stats.core.statistic import ratio
from harness.stats.intervals.bootstrap import CellSums, Draws
from harness.stats.intervals.intervals import (
    MIN_GROUPS,
    NO_VARIATION,
    TOO_FEW,
    Interval,
    no_interval,
    scatter_of,
    share_of_sums,
    t_quantile,
    tested_mean,
    two_sided,
)
from harness.stats.intervals.multiplicity import holm

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Ranks:
    """Ranks of J judges, 1 the best; `reason` says why there are no intervals and groups.

    For each judge (J,): `value` is the mean credit and `intervals` its interval; `gains` are the intervals of the value minus the
    baseline's, if a baseline was given; `rank` is 1 + the number of judges with a higher value, and equal values share a rank; `lo` and
    `hi` are the interval of the rank (0 if undefined); `letters` has one letter for each group of the judge (empty if undefined). `p`
    (J, J) is two-sided, of the paired differences, corrected over all pairs by Holm. `runs` are the groups as (first, last) places,
    from 1, among the judges sorted by value.
    """

    value: Floats
    intervals: tuple[Interval, ...]
    gains: tuple[Interval, ...]
    rank: Ints
    lo: Ints
    hi: Ints
    letters: tuple[str, ...]
    p: Floats
    runs: tuple[tuple[int, int], ...]
    groups: int
    reason: str | None


def rank_judges(
    credits: ArrayLike,
    groups: ArrayLike,
    baseline: ArrayLike | None = None,
    *,
    bounds: tuple[float, float] | None = (-1.0, 1.0),
    level: float = 0.95,
    seed: int = 0,
    resamples: int = 1000,
) -> Ranks:
    """Ranks of judges by their mean credit on the same units, with intervals, and groups of judges that are not shown to differ.

    Let D_jk be the mean difference of two judges on all units and p_jk its two-sided p, as `paired_difference` gives it. For judge j all
    k are tested together: p_jk is compared with the smallest p's of resamples under the hypothesis that no judge differs (Westfall &
    Young's step-down, all judges in the same resamples). B_j are the judges shown to be better than j, W_j those shown to be worse, and

        rank interval of j = [1 + |B_j|, J - |W_j|].

    It holds the true rank 1 + #{k better than j}, and J - #{k worse than j}, in `level` of the samples or more, ties or not.

    Groups: two judges are shown to differ if Holm's corrected p is below 1 - level for them *and* for every pair around them in the order
    of values. A group is a longest run of judges, in that order, of which no two are shown to differ. Two judges without a common
    letter are shown to differ; two judges with a common letter are not.

    Args:
        credits: (judges, units) in [0, 1], mostly 0 or 1; NaN (no answer) counts as 0.
        baseline: (units,) credits of a baseline that every judge should beat; it has no rank.
        bounds: smallest and largest possible difference of two credits, which guard their test; None for credits that are correlations,
            which are never near such ends.
        level, seed, resamples: confidence in (0, 1), of the bootstrap over groups. The draws depend on the number of groups only, so
            that a further judge changes no other judge's interval.

    Returns:
        `Ranks`; without intervals and groups for fewer than 8 groups ("too few independent texts") or no units ("no units").

    Raises:
        ValueError: for a level outside (0, 1) or fewer than 100 resamples.

    Reference: Goldstein & Spiegelhalter (1996); Hall & Miller (2009); Mogstad, Romano, Shaikh & Wilhelm (2024); Westfall & Young (1993);
    Piepho (2004), letters.

    >>> good, equal, bad = [1] * 40, [1] * 39 + [0], [0, 1] * 20
    >>> found = rank_judges([bad, good, equal], range(40))
    >>> found.rank.tolist(), list(zip(found.lo.tolist(), found.hi.tolist())), found.letters
    ([3, 1, 2], [(3, 3), (1, 2), (1, 2)], ('b', 'a', 'a'))
    """
    if not 0 < level < 1 or resamples < 100:
        raise ValueError(f"level must be in (0, 1) and resamples at least 100; got {level} and {resamples}")
    matrix = np.nan_to_num(np.asarray(credits, np.float64))
    sums, size = _by_group(matrix, groups)
    judges, texts = sums.shape
    value = sums.sum(axis=1) / size.sum() if texts else np.full(judges, math.nan)
    rank = 1 + (value[None, :] > value[:, None] + _ROUNDING).sum(axis=1)
    none = np.zeros(judges, np.int64)
    if texts < MIN_GROUPS or not judges:
        reason, without = TOO_FEW if texts else "no units", (no_interval(texts),) * judges
        gains, p = () if baseline is None else without, np.full((judges, judges), math.nan)
        return Ranks(value, without, gains, rank, none, none, ("",) * judges, p, (), texts, reason)
    # Mean credits (resamples, judges), all judges in the same resamples of the groups.
    columns = np.concatenate([sums, size[None]]).T
    cell = CellSums(columns, np.ones(texts), True, columns, size)
    totals = np.concatenate([weights @ columns for weights in Draws(seed, resamples).weights_for(cell)])
    drawn = totals[:, :-1] / totals[:, -1:]
    p = _pairwise_p(matrix, sums, size, bounds)
    alpha = 1 - level
    lo, hi = none.copy(), none.copy()
    for j in range(judges):
        differ = _against_all(j, p[j], drawn) <= alpha
        lo[j] = 1 + (differ & (value > value[j])).sum()
        hi[j] = judges - (differ & (value < value[j])).sum()
    corrected, upper = np.ones_like(p), np.triu_indices(judges, 1)  # Holm's correction over the pairs
    corrected[upper] = holm(p[upper])
    corrected = np.minimum(corrected, corrected.T)
    order = np.argsort(-value, kind="stable")
    runs = tuple(_runs(corrected[np.ix_(order, order)] <= alpha))
    letters = np.empty(judges, object)
    for rank_number, j in enumerate(order.tolist(), start=1):
        letters[j] = "".join(_letter(number) for number, (first, last) in enumerate(runs) if first <= rank_number <= last)
    intervals = tuple(
        share_of_sums(
            distinct_sums(sums[j], size, np.ones(len(size))),
            float(np.var(matrix[j])),
            partial(lambda values: float(spread_of(values)), drawn[:, j]),
            level=level,
        )
        for j in range(judges)
    )
    differences = [] if baseline is None else list(matrix - np.asarray(baseline, np.float64))
    gains = tuple(tested_mean(group_sums(gain, groups), scatter_of(gain), (-1.0, 1.0), level=level)[0] for gain in differences)
    return Ranks(value, intervals, gains, rank, lo, hi, tuple(letters.tolist()), corrected, runs, texts, None)


def _by_group(matrix: Floats, groups: ArrayLike) -> tuple[Floats, Floats]:
    """Sums of the credits (judges, G) and numbers of units (G,) of each group."""
    codes = np.asarray(groups)
    if matrix.ndim != 2 or codes.shape != matrix.shape[1:]:
        raise ShapeError(f"credits must be judges x units and groups of the same units; got {matrix.shape} and {codes.shape}")
    _, code = np.unique(codes, return_inverse=True)
    many = int(code.max(initial=-1)) + 1
    size = np.bincount(code, minlength=many).astype(np.float64)
    sums = np.zeros((len(matrix), many))
    for judge, row in enumerate(matrix):
        sums[judge] = np.bincount(code, row, minlength=many)
    return sums, size


def _pairwise_p(matrix: Floats, sums: Floats, size: Floats, bounds: tuple[float, float] | None) -> Floats:
    """Two-sided p (J, J) of every paired difference, as `paired_difference` gives it."""
    once, p = np.ones(len(size)), np.ones((len(sums), len(sums)))
    for j, (credits, judge_sums) in enumerate(zip(matrix, sums, strict=True)):
        gaps = credits - matrix
        scatter = np.where((gaps == gaps[:, :1]).all(axis=1), 0.0, gaps.var(axis=1))
        p[j] = np.nan_to_num(two_sided(judge_sums - sums, size, once, bounds, scatter).p, nan=1.0)  # NaN: the judges are equal everywhere
    return np.minimum(p, p.T)  # equal up to rounding


def _against_all(j: int, p: Floats, drawn: Floats) -> Floats:
    """Judge j's p-values (J,), corrected over the others: the step-down share of resamples in which so small a p occurs by chance."""
    from scipy.special import ndtri

    rivals = np.flatnonzero(np.arange(len(p)) != j)
    corrected = np.ones(len(p))
    if not len(rivals):
        return corrected
    gaps = drawn[:, j : j + 1] - drawn[:, rivals]
    spread = gaps.std(axis=0)
    by_chance = np.abs(gaps - gaps.mean(axis=0)) / np.where(spread > 0, spread, 1)
    order = np.argsort(p[rivals], kind="stable")
    least = np.maximum.accumulate(by_chance[:, order[::-1]], axis=1)[:, ::-1]  # the largest of this one and all less clear ones
    reached = -ndtri(np.clip(p[rivals][order] / 2, 1e-300, 0.5))
    share = (1 + (least >= reached).sum(axis=0)) / (1 + len(drawn))
    corrected[rivals[order]] = np.maximum(np.maximum.accumulate(share), p[rivals][order])
    return corrected


def _runs(differ: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Yield the longest runs, (first, last) from 1, of judges of which no two differ; `differ` (J, J) is in the order of values.

    Two judges differ only if all pairs around them differ. Otherwise letters in a sorted table would be ambiguous.
    """
    around = np.logical_and.accumulate(differ, axis=0)
    around = np.logical_and.accumulate(around[:, ::-1], axis=1)[:, ::-1]
    reached = -1
    for first, row in enumerate(~np.triu(around, 1)):
        last = int(np.flatnonzero(row)[-1])
        if last > reached:
            yield first + 1, last + 1
            reached = last


def _letter(number: int) -> str:
    """a … z, then a2 … z2, and so on: a letter and a number stay one name where several stand together.

    >>> _letter(0), _letter(27)
    ('a', 'b2')
    """
    round_, letter = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[letter] + (str(round_ + 1) if round_ else "")


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
    from scipy.stats import t

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
    values, half = weights @ fitted.params, np.full(systems + 1, np.nan)  # no intervals of too few source texts
    if count >= MIN_GROUPS:  # and none of a number on which all source texts say the same
        variance = np.diag(weights @ fitted.cov_params() @ weights.T)
        half = t.ppf(0.975, count - 1) * np.sqrt(np.where(variance > _SLACK, variance, np.nan))
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
    from scipy.stats import norm, t

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
    length_p = math.nan
    if full.bse[-1] > 0:  # two-sided: of the normal distribution for single comparisons, of Student's t with groups - 1 degrees of freedom
        reached = abs(float(full.params[-1]) / float(full.bse[-1]))
        length_p = float(2 * (norm.sf(reached) if cluster is None else t.sf(reached, int(cluster.max()))))
    return AdjustedPreference(
        raw=np.r_[0.0, raw.params[: systems - 1]],
        raw_place=float(raw.params[systems - 1]),
        adjusted=np.r_[0.0, full.params[: systems - 1]],
        place=float(full.params[systems - 1]),
        length=float(full.params[-1]),
        length_error=float(full.bse[-1]),
        length_p=length_p,
        likelihood_ratio=float(2 * (full.llf - raw.llf)),
    )


_ONE = {"kendall": kendall_tau, "spearman": spearman, "pearson": pearson}
_CHUNK = 1 << 22


@dataclass(frozen=True, slots=True)
class SystemCorrelation:
    """Correlations of system means, with intervals over texts; `judge` and `human` are the means, by system."""

    estimate: dict[str, Estimate]
    interval: dict[str, Interval]
    judge: Floats
    human: Floats


def system_correlation(
    judge: ArrayLike,
    human: ArrayLike,
    system: ArrayLike,
    group: ArrayLike | None = None,
    *,
    paired: bool = True,
    seed: int = 0,
    resamples: int = 1000,
) -> SystemCorrelation:
    """Kendall's tau-b, Spearman's rho and Pearson's r between the systems' mean scores.

    A system's mean is over the items with a judge's score and a human one (pass the mean over annotators). If not `paired`,
    each side's mean is over all items that this side has scored.
    Intervals resample groups (documents) and keep the systems: estimate ± t x bootstrap standard error. Their target is the
    correlation that samples of this many documents give for these systems. More documents mean less noise in the means and
    therefore, usually, a higher correlation. In simulations 93-98 % of the intervals cover this target. No interval covers the
    correlation of the true means; the percentile interval, whose resamples have the noise twice, covers neither.

    Args:
        judge, human: (items,) numbers, NaN where missing.
        system: (items,) any sortable codes; the results follow their sorted order.
        group: (items,) what items share across systems; default every item its own.
        paired: whether an item that one side did not score is left out of the other side's mean too.

    Returns:
        `estimate` and `interval` by "kendall_tau", "spearman", "pearson"; n is the number of systems with items.
        NaN with fewer than two systems, or if either side gives all systems the same mean.

    Reference: Deutsch, Dror & Roth (2021), resampling inputs at system level.

    >>> found = system_correlation([1, 2, 3, 2], [1, 3, 4, 2], ["a", "b", "c", "a"])
    >>> found.estimate["kendall_tau"]
    Estimate(value=1.0, n=3, reason=None)
    """
    a, b = np.asarray(judge, np.float64), np.asarray(human, np.float64)
    names, index = np.unique(np.asarray(system), return_inverse=True)
    same_shape(judge=a, human=b, system=index)
    groups = np.arange(len(a)) if group is None else as_index(group, len(a), "group")
    of_a, of_b = ~np.isnan(a), ~np.isnan(b)
    if paired:
        of_a = of_b = of_a & of_b
    used = of_a | of_b
    code = as_index(groups[used], int(used.sum()), "group")
    sums = np.concatenate(
        [_sums(values[used], chosen[used], index[used], code, len(names)) for values, chosen in ((a, of_a), (b, of_b))], axis=1
    )
    mean_a, mean_b = _means(sums.sum(axis=0))
    estimates = {NAMES[m]: _ONE[m](mean_a, mean_b) for m in NAMES}
    estimates = {name: value if value.n >= 2 else undefined(value.n, "fewer than two systems") for name, value in estimates.items()}
    present = ~(np.isnan(mean_a) | np.isnan(mean_b))
    intervals = _intervals(sums[:, :, present], estimates, seed, resamples)
    return SystemCorrelation(estimates, intervals, mean_a, mean_b)


def _sums(values: Floats, chosen: NDArray[np.bool_], system: Ints, group: Ints, systems: int) -> Floats:
    """Sums (groups, 2, systems) of 1 and of the values, of the items `chosen` one side."""
    groups = int(group.max(initial=-1)) + 1
    key, size = group * systems + system, groups * systems
    parts = [np.bincount(key[chosen], w, minlength=size).reshape(groups, systems) for w in (np.ones(int(chosen.sum())), values[chosen])]
    return np.stack(parts, axis=1)


def _means(sums: Floats) -> tuple[Floats, Floats]:
    """Means of a and b from sums (..., 4, systems), rounded so that equal means are equal."""
    return np.round(ratio(sums[..., 1, :], sums[..., 0, :]), 12), np.round(ratio(sums[..., 3, :], sums[..., 2, :]), 12)


def _intervals(sums: Floats, estimates: dict[str, Estimate], seed: int, resamples: int) -> dict[str, Interval]:
    groups, _, systems = sums.shape
    if groups < MIN_GROUPS:
        return {name: no_interval(groups) for name in estimates}
    if not systems:
        return {name: no_interval(groups, estimate.reason) for name, estimate in estimates.items()}
    flat = sums.reshape(groups, -1)
    rng, parts = np.random.default_rng(seed), []
    step = max(1, _CHUNK // max(groups, systems * systems))
    for done in range(0, resamples, step):
        weights = rng.multinomial(groups, np.full(groups, 1 / groups), min(step, resamples - done)).astype(np.float64)
        a, b = _means((weights @ flat).reshape(-1, 4, systems))
        x, y = _signs(a), _signs(b)
        axes = (1, 2)
        tau = ratio((x * y).sum(axis=axes), np.sqrt((x * x).sum(axis=axes) * (y * y).sum(axis=axes)))
        parts.append([tau, _r(_ranks(a), _ranks(b)), _r(a, b)])
    out = {}
    for name, estimate, *replicates in zip(estimates, estimates.values(), *parts, strict=True):
        drawn = np.concatenate(replicates)
        defined = drawn[~np.isnan(drawn)]
        half = t_quantile(0.95, groups - 1) * float(np.std(defined)) if len(defined) else 0.0
        if estimate.reason is not None or len(defined) < 0.9 * resamples:
            out[name] = no_interval(groups, estimate.reason or "undefined in many resamples")
        elif half > 0:
            lo, hi = max(-1.0, estimate.value - half), min(1.0, estimate.value + half)
            out[name] = Interval(lo, hi, "cluster bootstrap (t)", groups, None, None)
        else:
            out[name] = no_interval(groups, NO_VARIATION)
    return out


def _signs(v: Floats) -> Floats:
    return np.sign(v[:, :, None] - v[:, None, :])


def _ranks(v: Floats) -> Floats:
    ranks: Floats = _signs(v).sum(axis=2)
    return ranks


def _r(a: Floats, b: Floats) -> Floats:
    x, y = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    spread = np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    return np.clip(ratio((x * y).sum(axis=1), spread), -1, 1)


FEW_SYSTEMS = "fewer than two systems"
NO_SHARED = "no two systems share a scored source text"


def soft_pairwise_accuracy(
    x: ArrayLike, y: ArrayLike, system: ArrayLike, segment: ArrayLike, *, seed: int = 0, permutations: int = 1000
) -> Estimate:
    """Soft pairwise accuracy (SPA): 1 minus the mean over pairs of systems of |p_people - p_judge|.

    p is the one-sided p of a paired permutation test that the first system is better: the two systems' scores of a source text change
    places at random, and p is the share of permutations with a mean difference above the real one, ties counted half. The same
    permutations serve all pairs, people and judge. A judge that orders two systems as people do, but is much less sure of it, gets less
    than full credit; on two systems that people cannot tell apart, either order costs little.

    Args:
        x, y: (items,) people's and the judge's scores, NaN where missing (such items are left out of both).
        system: (items,) any sortable codes.
        segment: (items,) any sortable codes of the source texts; several items of one system and text are averaged.
        seed, permutations: of the test.

    Returns:
        value in [0, 1], n the number of systems; NaN with fewer than two systems, and if no pair of them shares a source text. Pairs that
        share none do not count. It has no interval.

    Reference: Thompson, Mathur, Deutsch & Khayrallah (2024), Improving statistical significance in human evaluation of automatic metrics
    via soft pairwise accuracy.

    >>> soft_pairwise_accuracy([1, 2, 3, 4], [1, 2, 3, 4], ["a", "b", "a", "b"], [0, 0, 1, 1])
    Estimate(value=1.0, n=2, reason=None)
    """
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    names, texts = np.asarray(system), np.asarray(segment)
    same_shape(x=a, y=b, system=names, segment=texts)
    used = ~(np.isnan(a) | np.isnan(b))
    size = int(used.sum())
    row, column = as_index(names[used], size, "system"), as_index(texts[used], size, "segment")
    systems, segments = int(row.max(initial=-1)) + 1, int(column.max(initial=-1)) + 1
    if systems < 2:
        return undefined(systems, FEW_SYSTEMS)
    key = row * segments + column
    times = np.bincount(key, minlength=systems * segments)
    tables = [(np.bincount(key, v, minlength=len(times)) / np.maximum(times, 1)).reshape(systems, segments) for v in (a[used], b[used])]
    first, second = np.triu_indices(systems, 1)
    scored = times.reshape(systems, segments) > 0
    shared = scored[first] & scored[second]
    shared_text = shared.any(axis=1)
    if not shared_text.any():
        return undefined(systems, NO_SHARED)
    signs = np.random.default_rng(seed).choice(np.array([-1.0, 1.0]), (permutations, segments))
    people, judge = (_p_by_signs(np.where(shared, table[first] - table[second], 0.0)[shared_text], signs) for table in tables)
    return Estimate(float(1 - np.abs(people - judge).mean()), systems)


def _p_by_signs(differences: Floats, signs: Floats) -> Floats:
    """The p of every pair (pairs,), from its differences by source text (pairs, segments), 0 where the two do not share it."""
    real = differences.sum(axis=1)
    drawn = signs @ differences.T
    near = 1e-9 * np.maximum(np.abs(differences).sum(axis=1), 1.0)  # sums of the same numbers in another order are equal
    return np.asarray((drawn > real + near).mean(axis=0) + 0.5 * (np.abs(drawn - real) <= near).mean(axis=0))
