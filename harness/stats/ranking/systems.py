"""Systems as a judge and as people rank them: correlation over systems, and soft pairwise accuracy.

Soft pairwise accuracy also counts whether the judge is as sure as people are that one system is better than another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.agreement.correlation import NAMES, kendall_tau, pearson, spearman
from harness.stats.core.arrays import Estimate, Floats, Ints, as_index, same_shape, undefined
from harness.stats.core.statistic import ratio
from harness.stats.intervals.intervals import MIN_GROUPS, NO_VARIATION, Interval, no_interval, t_quantile

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
    people, judge = (_p(np.where(shared, table[first] - table[second], 0.0)[shared_text], signs) for table in tables)
    return Estimate(float(1 - np.abs(people - judge).mean()), systems)


def _p(differences: Floats, signs: Floats) -> Floats:
    """The p of every pair (pairs,), from its differences by source text (pairs, segments), 0 where the two do not share it."""
    real = differences.sum(axis=1)
    drawn = signs @ differences.T
    near = 1e-9 * np.maximum(np.abs(differences).sum(axis=1), 1.0)  # sums of the same numbers in another order are equal
    return np.asarray((drawn > real + near).mean(axis=0) + 0.5 * (np.abs(drawn - real) <= near).mean(axis=0))
