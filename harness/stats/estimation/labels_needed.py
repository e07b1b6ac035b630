"""Labels that the rule of `use` needs for a given power: further ones of a cell, or the first ones before any judge was asked.

A plan needs the p of `use` in very many resamples of the same groups. Resamples differ only in how often each group occurs. So what the
tests need are sums of powers over the groups of each size, which are one matrix product; all else is arithmetic on a few numbers of each
resample.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.options import LEAST_EFFECTIVE
from harness.stats.core.arrays import Floats, Ints, ShapeError, as_index, same_shape
from harness.stats.core.groups import GroupSums, freedom_of_tests, group_cap
from harness.stats.core.many_cells import batch_by_shape, run_lockstep
from harness.stats.intervals.cluster_mean import MeanTest, mean_of_sums
from harness.stats.intervals.intervals import HallMean, wilson
from harness.stats.intervals.judge_tests import JudgeSums, to_correct
from harness.stats.intervals.noninferiority import GuardedMean, guarded_mean

_FEW_SIZES = 4  # with more of them, sums over groups are no fewer than groups
_ROUNDING = 1e-12


def use_p(sums: JudgeSums, margin: float, alpha: float, least: float = LEAST_EFFECTIVE) -> Floats:
    """`judge_tests(sums, margin, least).to_correct(alpha).use` without the tests that it does not need.

    Args:
        sums: with times (..., resamples, groups); sums of groups that are the same in all resamples, (..., 1, groups), are fastest.
        margin, least: as `judge_tests`.
        alpha: of one test.

    >>> from harness.stats.intervals.judge_tests import judge_sums, judge_tests
    >>> sums = judge_sums([0.0] * 70, [0.0, 1.0] * 35, range(70))
    >>> float(use_p(sums, 0.1, 0.05)) == float(judge_tests(sums, 0.1).to_correct(0.05).use)
    True
    """
    sizes, compared = _sizes(sums.gap), _sizes(sums.baseline)
    if sizes is None or compared is None:
        return _of_groups(sums, margin, alpha, least)
    gap, baseline = _powers(sums.gap, sizes, 3), _powers(sums.baseline, compared, 2)
    if not (gap[0].sum(axis=-1) > 0).all():
        return _of_groups(sums, margin, alpha, least)
    guarded = _guarded(gap, sizes)
    p = np.maximum(guarded.p(margin), _mean(baseline, compared).p_above(0.0))
    few = np.asarray(guarded.hall.freedom < least)  # they are the effective groups
    if few.any():
        parts = ([np.broadcast_to(part, sums.gap.times.shape)[few] for part in sums_of_test] for sums_of_test in sums)
        p[few] = _of_groups(JudgeSums(*(GroupSums(*part) for part in parts)), margin, alpha, least)
    return p


def _of_groups(sums: JudgeSums, margin: float, alpha: float, least: float) -> Floats:
    """From each group by itself: large ones may have to be capped."""
    cap = group_cap(sums.size, sums.gap.times, least)
    plain = _two_p(sums, margin)
    if np.isinf(cap).all():
        return np.maximum(*plain)
    return np.maximum(*(to_correct(*pair, alpha) for pair in zip(_two_p(sums, margin, cap), plain, strict=True)))


def _two_p(sums: JudgeSums, margin: float, cap: ArrayLike = math.inf) -> tuple[Floats, Floats]:
    """p of both that a `use` needs."""
    return guarded_mean(sums.gap, cap).p(margin), mean_of_sums(sums.capped(cap).baseline).p_above(0.0)


def _sizes(sums: GroupSums) -> Floats | None:
    """The different sizes of groups (C,); None where there are many, and where a group's sums differ from resample to resample."""
    if sums.times.ndim < 2 or not (sums.y.ndim == 1 or sums.y.shape[-2] == 1):
        return None
    sizes = np.unique(sums.size)
    sizes = sizes[sizes > 0]
    return sizes if 0 < len(sizes) <= _FEW_SIZES else None


def _powers(sums: GroupSums, sizes: Floats, most: int) -> list[Floats]:
    """For each power k up to `most`: the sum of times y^k over the groups of each size, (..., resamples, C)."""
    y, size = (part if part.ndim == 1 else part[..., 0, :] for part in (sums.y, sums.size))
    of_size = size[..., None] == sizes
    powers = np.concatenate([np.where(of_size, y[..., None] ** k, 0.0) for k in range(most + 1)], axis=-1)
    return np.split(sums.times @ powers, most + 1, axis=-1)


def _guarded(powers: list[Floats], sizes: Floats) -> GuardedMean:
    """`guarded_mean`: a lost item stands for a further group."""
    t0, t1, t2, t3 = powers
    groups, n = t0.sum(axis=-1), t0 @ sizes
    with np.errstate(divide="ignore", invalid="ignore"):
        square = (1 - 1 / groups)[..., None] * (n[..., None] / (n[..., None] - sizes))
        mean = (t1.sum(axis=-1) - 1) / (n + 1)
        scale, moved = (groups + 1) / (n + 1), mean[..., None] * sizes
        second = (square * (t2 - 2 * moved * t1 + moved**2 * t0)).sum(axis=-1) + (1 + mean) ** 2
        third = (square**1.5 * (t3 - moved * (3 * t2 - moved * (3 * t1 - moved * t0)))).sum(axis=-1) - (1 + mean) ** 3
        variance = scale**2 * second / groups
        skewness = scale**3 * third / (groups + 1) / (variance * np.sqrt(variance))
    hall = HallMean(mean, np.sqrt(variance), skewness, groups + 1, freedom_of_tests(sizes, t0) + 1)
    return GuardedMean(hall, scale)


def _mean(powers: list[Floats], sizes: Floats) -> MeanTest:
    """`mean_of_sums`."""
    t0, t1, t2 = powers
    groups, n = t0.sum(axis=-1), t0 @ sizes
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = t1.sum(axis=-1) / n
        moved = mean[..., None] * sizes
        centred = t2 - 2 * moved * t1 + moved**2 * t0
        centred = np.where(centred <= _ROUNDING * np.maximum(1.0, t2), 0.0, centred)
        squares = (centred * (n[..., None] / (n[..., None] - sizes))).sum(axis=-1) / n**2
    return MeanTest(mean, np.sqrt(np.where(groups > 1, squares, math.nan)), freedom_of_tests(sizes, t0))


GROWTH = 1.05
"""Ratio of neighbouring numbers of items that are tried."""
LIMIT = 3000
"""The largest number of further items that is given."""
FEW = 30
"""With fewer items, how often each kind of group occurs is drawn too (Bayesian bootstrap): a few items do not show it."""
UNSEEN = 0.5
"""Of a lost item, which is then added to those that were seen."""
NO_NUMBER = "at the gap seen no number of labels would do"
NOT_BETTER = "not better than a constant answer on the items seen"
TOO_MANY = "more than 3,000"
NO_ITEMS = "no items to plan from"
_AT_ONCE = 64  # of 400 resamples: enough to know that nearly none or nearly all are shown
_KNOWN = math.log(1e6)  # a trial ends early where the chance that its other resamples would turn it is below one in a million
_CELLS_AT_ONCE = 32  # more of them no longer fit into the cache of a core
_PLACES = 8  # groups of each cell are filled up to a multiple, so that most cells have arrays of one shape

Rule = Callable[[JudgeSums], Floats]
"""p-values (cells, resamples) of the rule, from the groups of each resample: sums (cells, 1, groups), times (cells, resamples, groups)."""


@dataclass(frozen=True, slots=True)
class MoreLabels:
    """About `more` further items (None with a `reason`), `planned` in all, and the `power` that they reach in the resamples.

    `more` is 0 where the items that are there would do for a judge as good as people: then it is the gap that is missing, not labels.
    """

    more: int | None
    planned: int | None
    power: float
    reason: str | None


class CellToPlan(NamedTuple):
    """The sums of a cell's groups, the level that its p is compared with, and the numbers that a plan must reach in any case."""

    seen: JudgeSums
    level: float
    least_items: int = 0
    least_groups: int = 0


def about_more_each(
    cells: Sequence[CellToPlan], rule: Rule, *, margin: float = 0.1, power: float = 0.8, resamples: int = 400, seed: int = 0
) -> list[MoreLabels]:
    """Further items of each cell until the rule rejects with the wanted power, if the judge is as good as people.

    Groups are drawn with replacement, G n' / n of them, with the gaps moved to a mean of 0 and the differences from the baseline as they
    are. The numbers of items n' = n 1.05^j are tried, and the first with which the rule's p is at most the cell's level in the share
    `power` of the resamples is taken. The search halves the range of j, which relies on power rising with n'. n' - n is rounded up to tens.

    With fewer than 30 items, half a lost item is added, and every resample first draws how often each kind of group occurs.

    The searches go in step, so that the rule tests resamples of many cells at once; a cell's numbers do not depend on the others.

    Args:
        cells: the sums of each, and the level that its p is compared with.
        rule: function of the sums of each resample that gives its p, such as `use_p`.
        margin: of the gap.
        power: wanted, in (0, 1).
        resamples, seed: of the simulation.

    Returns:
        `MoreLabels` of each; without a number if no item has a gap, if the mean gap is -margin or less, if the mean difference from the
        baseline is 0 or less, or if more than 3,000 items would be needed.

    Reference: Efron & Tibshirani (1993), resampling to plan a sample; Rubin (1981), the Bayesian bootstrap.

    >>> from harness.stats.intervals.judge_tests import judge_sums
    >>> from harness.stats.estimation.labels_needed import use_p
    >>> gap, better = np.tile([0.0] * 8 + [1 / 3, -1 / 3], 6), np.tile([0.0] * 7 + [1.0] * 3, 6)
    >>> cell = CellToPlan(judge_sums(gap, better, np.arange(60)), level=0.05 / 45)
    >>> [found] = about_more_each([cell], lambda sums: use_p(sums, 0.1, 0.05))
    >>> 50 < found.more < 150, found.power >= 0.8
    (True, True)
    """

    def shape(sums: JudgeSums) -> tuple[int, ...]:
        return len(sums.gap.times), sums.gap.y.ndim, _places(sums)

    def tested(requests: list[JudgeSums]) -> list[Floats]:
        return batch_by_shape(lambda alike: rule(_stacked(alike)), requests, shape, most=_CELLS_AT_ONCE)

    return run_lockstep([_search(cell, margin, power, resamples, seed) for cell in cells], tested)


def _places(sums: JudgeSums) -> int:
    groups: int = sums.gap.times.shape[-1]
    return _PLACES * math.ceil(groups / _PLACES)


def _stacked(alike: Sequence[JudgeSums]) -> JudgeSums:
    """Resamples of cells as one: times (cells, resamples, places), and sums of groups that are the same in all resamples of a cell.

    Places without a group have the size 0 and are never drawn, so that what a cell gives does not depend on the others.
    """
    width = _places(alike[0])

    def filled(arrays: Sequence[Floats]) -> Floats:
        table = np.zeros((len(arrays), len(np.atleast_2d(arrays[0])), width))
        for of_cell, array in zip(table, arrays, strict=True):
            of_cell[:, : array.shape[-1]] = array
        return table

    times = filled([sums.gap.times for sums in alike])
    parts = zip(*((sums.gap, sums.baseline) for sums in alike), strict=True)
    return JudgeSums(
        *(GroupSums(filled([part.y for part in columns]), filled([part.size for part in columns]), times) for columns in parts)
    )


def _search(cell: CellToPlan, margin: float, power: float, resamples: int, seed: int) -> Generator[JudgeSums, Floats, MoreLabels]:
    """Gives resamples, and is sent their p."""
    seen = cell.seen
    # The reason why there is no plan.
    if not seen.gap.units or not seen.baseline.units:
        reason: str | None = NO_ITEMS
    elif seen.gap.mean <= -margin:
        reason = NO_NUMBER
    else:
        reason = None if seen.baseline.mean > 0 else NOT_BETTER
    if reason:
        return MoreLabels(None, None, math.nan, reason)
    items, total = round(seen.gap.units), float(seen.gap.times.sum())
    if items < FEW:
        # With a further group: a part of an item that the judge lost against people, as a few items do not show how often that happens.
        gap, baseline = seen
        times = np.append(gap.times, UNSEEN)
        lost = GroupSums(np.append(gap.y, -1.0), np.append(gap.size, 1.0), times)
        seen = JudgeSums(lost, GroupSums(np.append(baseline.y, 0.0), np.append(baseline.size, 0.0), times))
    else:
        seen = _moved(seen, seen.gap.times / total)
    least = max(items, cell.least_items, math.ceil(cell.least_groups * items / total))
    steps = max(0, math.floor(math.log((items + LIMIT) / least, GROWTH))) if least <= items + LIMIT else -1
    sizes = [math.ceil(least * GROWTH**step) for step in range(steps + 1)]

    @cache
    def trial(planned: int) -> _Trial:
        return _Trial(seen, max(1, round(total * planned / items)), items < FEW, resamples, seed)

    low, high = 0, len(sizes)
    while low < high:
        middle = (low + high) // 2
        tried = trial(sizes[middle])
        while (enough := tried.reaches(power)) is None:
            tried.count((yield tried.draw()) <= cell.level)
        low, high = (low, middle) if enough else (middle + 1, high)
    if low == len(sizes):
        return MoreLabels(None, None, math.nan, TOO_MANY)
    planned = sizes[low]
    while trial(planned).left:
        trial(planned).count((yield trial(planned).draw()) <= cell.level)
    return MoreLabels(10 * math.ceil((planned - items) / 10), planned, trial(planned).shown / resamples, None)


class _Trial:
    """The resamples of one number of groups, drawn and tested a part at a time, until it is known whether enough of them are shown.

    Where shares are drawn (`few`), each resample is moved to a mean gap of 0; else `seen` is.
    """

    def __init__(self, seen: JudgeSums, groups: int, few: bool, resamples: int, seed: int) -> None:
        self.seen, self.groups, self.resamples, self.left, self.shown = seen, groups, resamples, resamples, 0
        self.rng, times = np.random.default_rng(seed), seen.gap.times
        self.share = self.rng.dirichlet(times, resamples) if few else times / times.sum()

    def reaches(self, power: float) -> bool | None:
        """Return True if the share `power` of all resamples is shown; None while it may be either.

        Reference: Hoeffding (1963), the bound of draws without replacement.
        """
        tried = self.resamples - self.left
        share = self.shown / max(tried, 1)
        divergence = sum(part * math.log(part / expected) for part, expected in ((share, power), (1 - share, 1 - power)) if part)
        return share >= power if not self.left or tried * divergence > _KNOWN else None

    def draw(self) -> JudgeSums:
        """The next resamples."""
        some = min(_AT_ONCE, self.left)
        first = self.resamples - self.left
        self.left -= some
        if self.share.ndim == 1:
            return _drawn(self.seen, self.rng.multinomial(self.groups, self.share, some))
        share = self.share[first : first + some]
        return _drawn(_moved(self.seen, share), self.rng.multinomial(self.groups, share, some))

    def count(self, successes: NDArray[np.bool_]) -> None:
        self.shown += int(np.count_nonzero(successes))


def _moved(sums: JudgeSums, share: Floats) -> JudgeSums:
    """With a mean gap of 0 where groups have these shares, (groups,) or (resamples, groups)."""
    gap = sums.gap
    mean = np.vecdot(share, gap.y) / np.vecdot(share, gap.size)
    return sums._replace(gap=gap._replace(y=gap.y - mean[..., None] * gap.size))


def _drawn(sums: JudgeSums, draws: ArrayLike) -> JudgeSums:
    """The same groups, each as often as it was drawn in every resample: draws (resamples, groups)."""
    times = np.asarray(draws, np.float64)
    return JudgeSums(*(group_sums._replace(times=times) for group_sums in sums))


USUAL_RULE: Rule = partial(use_p, margin=0.1, alpha=0.05)
_MOST_PATTERNS = 200_000
_RESAMPLES = 1000
_STEPS = math.ceil(math.log(LIMIT, GROWTH)) + 1


@dataclass(frozen=True, slots=True)
class FirstLabels:
    """`texts` to label (None: more than 3,000) for the rule of `use` to hold with `power`, for a judge that is as good as people.

    `right` is the share of texts with a majority of people on which such a judge gives the majority, `with_majority` the share of those
    texts, `constant` the share of right answers of the best constant.
    """

    texts: int | None
    power: float
    right: float
    with_majority: float
    constant: float


def first_labels(
    shares: ArrayLike,
    agreement: float,
    people: int = 2,
    rule: Rule = USUAL_RULE,
    *,
    level: float = 0.05,
    power: float = 0.8,
    least: int = 0,
) -> FirstLabels:
    """The number of independent texts with which a judge as good as people is shown to be so.

    The model: a text has a class, drawn from `shares`; each person, and the judge, gives it with probability s, or else a class drawn from
    `shares`. Two of them agree with probability s² + (1 - s²) Σ shares², so s follows from `agreement`. Numbers of texts that grow by 5 %
    are tried, and the first with which the rule's p is at most `level` in the share `power` of the resamples is taken (the search
    relies on power rising with the number), rounded up to tens.

    Args:
        shares: (classes,) how often people give each class; positive or 0, and scaled to a sum of 1.
        agreement: of two people on a text, in [Σ shares², 1]: below that they would agree less often than by chance.
        people: who label each text, at least 2.
        rule: as in `about_more_each`.
        level: that its p is compared with: alpha, divided by the number of cells among which it is shared.
        power: wanted, in (0, 1).
        least: texts that the rule asks for in any case.

    Raises:
        ShapeError: for shares that are none, fewer than two people, an agreement outside its range, or too many patterns
            of answers to list (200,000).

    Reference: Efron & Tibshirani (1993), resampling to plan a sample.

    >>> found = first_labels([0.2, 0.3, 0.5], 0.7)
    >>> 150 < found.texts < 350, round(found.constant, 2)
    (True, 0.54)
    """
    pi = np.asarray(shares, np.float64)
    if pi.ndim != 1 or len(pi) < 2 or not np.isfinite(pi).all() or (pi < 0).any() or pi.max() >= pi.sum():
        raise ShapeError("shares are two or more numbers that are not negative, and at least two of them above 0")
    if people < 2 or len(pi) ** (people + 1) > _MOST_PATTERNS:
        raise ShapeError(f"{people} people and {len(pi)} classes: at least two people, and at most {_MOST_PATTERNS:,} patterns of answers")
    pi = pi / pi.sum()
    chance = float(pi @ pi)
    if not chance <= agreement <= 1:
        raise ShapeError(
            f"an agreement of {agreement:g} is outside {chance:.2f} to 1: people who guess with these shares reach {chance:.2f}"
        )
    seen, share, facts = _patterns(pi, math.sqrt((agreement - chance) / (1 - chance)), people)
    sizes = [math.ceil(max(least, 2) * GROWTH**step) for step in range(_STEPS) if max(least, 2) * GROWTH**step <= LIMIT]

    @cache
    def reached(size: int) -> float:
        times = np.random.default_rng(0).multinomial(size, share, _RESAMPLES).astype(np.float64)
        sums = JudgeSums(*(GroupSums(part.y[None, None], part.size, times[None]) for part in seen))
        return float(np.mean(rule(sums) <= level))

    index = bisect_left(sizes, power, key=reached)
    if index == len(sizes):
        return FirstLabels(None, reached(LIMIT), *facts)
    return FirstLabels(10 * math.ceil(sizes[index] / 10), reached(sizes[index]), *facts)


def _patterns(pi: Floats, s: float, people: int) -> tuple[JudgeSums, Floats, tuple[float, float, float]]:
    """The distinct pairs of gap and difference from the baseline, how often each occurs, and the facts of `FirstLabels`."""
    classes = len(pi)
    said = np.indices((classes,) * (people + 1)).reshape(people + 1, -1)  # of the judge, then of each person
    votes = s * np.eye(classes) + (1 - s) * pi  # by the text's class
    chance = pi @ np.prod(votes[:, said], axis=1)
    judge, labels = said[0], said[1:]
    pairs = [(labels[i] == labels[j]) for i in range(people) for j in range(i)]
    gap = (labels == judge).mean(axis=0) - np.mean(pairs, axis=0)
    counts = (labels[None] == np.arange(classes)[:, None, None]).sum(axis=1)
    majority = np.where((counts == counts.max(axis=0)).sum(axis=0) == 1, counts.argmax(axis=0), -1)
    has_majority = majority >= 0
    constant = np.bincount(majority[has_majority], chance[has_majority], classes).argmax()
    better = np.where(has_majority, (judge == majority) * 1.0 - (majority == constant), 0.0)
    rows, pattern = np.unique(np.column_stack([np.round(gap, 12), better, has_majority]), axis=0, return_inverse=True)
    share = np.asarray(np.bincount(pattern.ravel(), chance), np.float64)
    sums = JudgeSums(GroupSums(rows[:, 0], np.ones(len(rows)), share), GroupSums(rows[:, 1], rows[:, 2], share))
    with_majority = float(chance[has_majority].sum())
    right, best = (float(chance[has_majority & (given_class == majority)].sum()) / with_majority for given_class in (judge, constant))
    return sums, share / share.sum(), (right, with_majority, best)


FLOOR = 2
"""Fewest labels of a stratum: a variance needs two."""
_NEGLIGIBLE = 1e-12


def items_for_wilson(share: float, half_width: float, *, level: float = 0.95, effect: float = 1.0) -> float:
    """Fewest items at which Wilson's interval of the share has the half-width or less, times the design effect, rounded up.

    Args:
        share: expected, in [0, 1]; the number of successes may be a fraction.
        half_width: above 0.
        effect: design effect.

    Raises:
        ValueError: for a half-width of 0 or less.

    >>> items_for_wilson(0.9, 0.03)
    388.0
    """
    if not half_width > 0:
        raise ValueError(f"a half-width must be above 0, got {half_width}")

    def narrow(n: int) -> bool:
        lo, hi = wilson(share * n, n, level)
        return (hi - lo) / 2 <= half_width

    return math.ceil(effect * fewest(narrow, 1)) * 1.0


def fewest(enough: Callable[[int], bool], least: int) -> int:
    """The smallest n >= least that is enough; `enough` must become true, and stay so.

    >>> fewest(lambda n: n * n > 50, 1)
    8
    """
    high = max(least, 2)
    while not enough(high):
        high *= 2
    return least + bisect_left(range(least, high), True, key=enough)


def neyman_allocation(sizes: ArrayLike, sds: ArrayLike, n: float, *, floor: ArrayLike = FLOOR) -> Floats:
    """Labels of each stratum that give the stratified mean the smallest variance, as real numbers that add up to n.

    n_h = n N_h S_h / sum N_h S_h, at least `floor` and at most N_h; strata at a bound are fixed there and the rest is allocated again.

    Args:
        sizes: (strata,) items N_h.
        sds: (strata,) standard deviation S_h within each, 0 or more; all equal gives proportional allocation.
        n: labels in all.
        floor: fewest labels of a stratum, one number or (strata,), or all of a stratum that is smaller.

    Returns:
        (strata,) numbers of labels; `whole_labels` rounds them.

    Raises:
        ValueError: for a negative sd, or n below the floors or above the number of items.

    Reference: Neyman (1934); Cochran (1977), sections 5.5 and 5.8.

    >>> neyman_allocation([200, 60, 10], [0.1, 0.4, 0.9], 100).round(1).tolist()
    [40.9, 49.1, 10.0]
    """
    count, sd = np.asarray(sizes, np.float64), np.asarray(sds, np.float64)
    same_shape("of the same strata", sizes=count, sds=sd)
    if (sd < 0).any() or np.isnan(sd).any():
        raise ValueError(f"standard deviations are 0 or more; found {sd[~(sd >= 0)][0]}")
    return _proportional_within(count * sd, count, n, np.minimum(floor, count), count)


def proportional_allocation(sizes: ArrayLike, n: float, *, floor: ArrayLike = 0.0) -> Floats:
    """n N_h / sum N_h labels of each stratum, as real numbers; args and errors as `neyman_allocation`.

    >>> proportional_allocation([900, 400, 150, 50], 120).tolist()
    [72.0, 32.0, 12.0, 4.0]
    """
    count = np.asarray(sizes, np.float64)
    return neyman_allocation(count, np.ones_like(count), n, floor=floor)


def _proportional_within(weight: Floats, fallback: Floats, total: float, low: Floats, high: Floats) -> Floats:
    """Shares of `total` proportional to weight within [low, high]: clip(c weight, low, high) with the c that adds up.

    The sum is a piecewise linear function of c that bends where a share meets a bound, so c is found by interpolation. Shares without
    weight rise from `low`, in proportion to `fallback`, only after all others are at `high`.
    """
    if not low.sum() - 1e-9 <= total <= high.sum() + 1e-9:
        raise ValueError(f"{total:g} labels cannot be allocated: the strata take {low.sum():g} to {high.sum():g}")
    if not (weight > 0).any():
        return low if low.sum() == high.sum() else _proportional_within(fallback, fallback, total, low, high)
    w = np.where(weight > 0, weight, _NEGLIGIBLE * weight.max() * fallback / max(float(fallback.max()), _NEGLIGIBLE))
    used = w > 0
    bends = np.unique(np.concatenate([low[used] / w[used], high[used] / w[used], [0.0]]))
    sums = np.clip(bends[:, None] * w, low, high).sum(axis=1)
    return np.asarray(np.clip(np.interp(total, sums, bends) * w, low, high))


def whole_labels(allocation: ArrayLike) -> Ints:
    """Whole numbers with the same sum (rounded), by largest remainders; the first stratum wins a tie.

    >>> whole_labels([43.49, 45.1, 24.16, 7.25]).tolist()
    [44, 45, 24, 7]
    """
    share = np.asarray(allocation, np.float64)
    labels = np.floor(share + 1e-9).astype(np.int64)
    order = np.argsort(-(share - labels), kind="stable")
    labels[order[: round(float(share.sum())) - int(labels.sum())]] += 1
    return labels


def stratified_variance(sizes: ArrayLike, sds: ArrayLike, labels: ArrayLike, *, finite: bool = True) -> float:
    """Variance of the stratified mean that an allocation gives: sum W_h² S_h² / n_h, with W_h = N_h / N.

    Args:
        sizes, sds: as `neyman_allocation`.
        labels: (strata,) n_h, real or whole.
        finite: multiply each term by 1 - n_h / N_h, for a claim about these items only.

    Returns:
        NaN if a stratum has no labels.

    Raises ShapeError if the arrays are not of the same strata.

    >>> stratified_variance([100, 100], [0.5, 0.5], [10, 10], finite=False)
    0.0125
    """
    count, sd, n = (np.asarray(column, np.float64) for column in (sizes, sds, labels))
    same_shape("of the same strata", sizes=count, sds=sd, labels=n)
    if not (n > 0).all():
        return float("nan")
    terms = (count / count.sum()) ** 2 * sd**2 / n
    return float((terms * (1 - n / count)).sum() if finite else terms.sum())


def gain_over_simple_sample(y: ArrayLike, weight: ArrayLike, stratum: ArrayLike | None = None) -> float:
    """The variance of a mean in a simple random sample of as many items, divided by that of the weighted mean in this sample.

    1 / Kish's design effect. With influences z_i = w_i (y_i - mean) / sum w, the variance of the weighted mean is
    sum_h n_h / (n_h - 1) sum_i (z_hi - mean of z_h)² over the strata; that of the simple sample is sum w (y - mean)² / sum w / (n - 1).
    Above 1, the strata gain more than unequal weights lose. Strata with a single item are taken together.

    Args:
        y: (items,) values of the drawn items; NaN where unknown.
        weight: (items,) 1 / inclusion probability.
        stratum: (items,) sortable codes of what the items were drawn from; None: one stratum.

    Returns:
        The gain; NaN with fewer than two items, and if a variance is 0 or cannot be estimated.

    Reference: Kish (1965); Särndal, Swensson & Wretman (1992), section 5.7, linearised ratio; Cochran (1977), section 5A.12, strata taken
    together.

    >>> gain_over_simple_sample([1, 1, 1, 0, 0, 0, 1, 0], np.ones(8)).__round__(3)
    1.0
    >>> gain_over_simple_sample([1, 1, 1, 0, 0, 0, 1, 0], np.ones(8), [0, 0, 0, 1, 1, 1, 0, 0]).__round__(3)
    2.286
    """
    values, weights = np.asarray(y, np.float64), np.asarray(weight, np.float64)
    codes = as_index(stratum, len(values), "stratum")
    same_shape(y=values, weight=weights)
    labelled = ~np.isnan(values)
    values, weights, codes = values[labelled], weights[labelled], codes[labelled]
    n = np.bincount(codes)
    codes = np.unique(np.where(n[codes] > 1, codes, -1), return_inverse=True)[1]
    n = np.bincount(codes)
    if len(values) < 2 or n.min() < 2:
        return math.nan
    off = values - np.average(values, weights=weights)
    simple = float(np.average(off**2, weights=weights)) / (len(values) - 1)
    z = weights * off / weights.sum()
    z -= (np.bincount(codes, z) / n)[codes]
    drawn = float((n / (n - 1)) @ np.bincount(codes, z**2))
    return simple / drawn if simple > 0 and drawn > 0 else math.nan
