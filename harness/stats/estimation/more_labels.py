"""The approximate number of further labels of a cell for a given power of the rule of `use`, planned from its labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.core.arrays import Floats
from harness.stats.core.at_once import at_once, in_step
from harness.stats.core.groups import GroupSums
from harness.stats.intervals.judge_tests import JudgeSums

GROWTH = 1.05
"""Ratio of neighbouring numbers of items that are tried."""
LIMIT = 3000
"""The largest number of further items that is given."""
FEW = 30
"""With fewer items, how often each kind of group occurs is drawn too (Bayesian bootstrap): a few items do not show it."""
UNSEEN = 0.5
"""Of a lost item, which is then added to those that were seen."""
NO_NUMBER = "at the gap seen no number of labels would do"
NOT_BETTER = "not better than the baseline on the items seen"
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
    >>> from harness.stats.intervals.resampled_tests import use_p
    >>> gap, better = np.tile([0.0] * 8 + [1 / 3, -1 / 3], 6), np.tile([0.0] * 7 + [1.0] * 3, 6)
    >>> cell = CellToPlan(judge_sums(gap, better, np.arange(60)), level=0.05 / 45)
    >>> [found] = about_more_each([cell], lambda sums: use_p(sums, 0.1, 0.05))
    >>> 50 < found.more < 150, found.power >= 0.8
    (True, True)
    """

    def tested(asked: list[JudgeSums]) -> list[Floats]:
        return at_once(lambda alike: rule(_stacked(alike)), asked, _shapes, most=_CELLS_AT_ONCE)

    return in_step([_search(cell, margin, power, resamples, seed) for cell in cells], tested)


def _shapes(sums: JudgeSums) -> tuple[int, ...]:
    """Resamples with the same are tested together: as many of them, with as many places for groups."""
    return len(sums.gap.times), sums.gap.y.ndim, _places(sums)


def _places(sums: JudgeSums) -> int:
    groups: int = sums.gap.times.shape[-1]
    return _PLACES * math.ceil(groups / _PLACES)


def _stacked(alike: Sequence[JudgeSums]) -> JudgeSums:
    """Resamples of cells as one: times (cells, resamples, places), and sums of groups that are the same in all resamples of a cell.

    Places without a group have the size 0 and are never drawn, so that what a cell gives does not depend on the others.
    """
    places = _places(alike[0])

    def filled(arrays: Sequence[Floats]) -> Floats:
        found = np.zeros((len(arrays), len(np.atleast_2d(arrays[0])), places))
        for of_cell, each in zip(found, arrays, strict=True):
            of_cell[:, : each.shape[-1]] = each
        return found

    times = filled([sums.gap.times for sums in alike])
    parts = zip(*((sums.gap, sums.baseline) for sums in alike), strict=True)
    return JudgeSums(*(GroupSums(filled([part.y for part in of]), filled([part.size for part in of]), times) for of in parts))


def _search(cell: CellToPlan, margin: float, power: float, resamples: int, seed: int) -> Generator[JudgeSums, Floats, MoreLabels]:
    """Gives resamples, and is sent their p."""
    seen = cell.seen
    reason = _no_plan(seen, margin)
    if reason:
        return MoreLabels(None, None, math.nan, reason)
    items, total = round(seen.gap.units), float(seen.gap.times.sum())
    seen = _with_lost_item(seen) if items < FEW else _moved(seen, seen.gap.times / total)
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
        """Whether the share `power` of all resamples is shown; None while it may be either.

        Reference: Hoeffding (1963), the bound of draws without replacement.
        """
        tried = self.resamples - self.left
        share = self.shown / max(tried, 1)
        apart = sum(part * math.log(part / of) for part, of in ((share, power), (1 - share, 1 - power)) if part)
        return share >= power if not self.left or tried * apart > _KNOWN else None

    def draw(self) -> JudgeSums:
        """The next resamples."""
        some = min(_AT_ONCE, self.left)
        first = self.resamples - self.left
        self.left -= some
        if self.share.ndim == 1:
            return _drawn(self.seen, self.rng.multinomial(self.groups, self.share, some))
        share = self.share[first : first + some]
        return _drawn(_moved(self.seen, share), self.rng.multinomial(self.groups, share, some))

    def count(self, shown: NDArray[np.bool_]) -> None:
        self.shown += int(np.count_nonzero(shown))


def _moved(sums: JudgeSums, share: Floats) -> JudgeSums:
    """With a mean gap of 0 where groups have these shares, (groups,) or (resamples, groups)."""
    gap = sums.gap
    mean = np.vecdot(share, gap.y) / np.vecdot(share, gap.size)
    return sums._replace(gap=gap._replace(y=gap.y - mean[..., None] * gap.size))


def _with_lost_item(sums: JudgeSums) -> JudgeSums:
    """With a further group: a part of an item that the judge lost against people, as a few items do not show how often that happens."""
    gap, baseline = sums
    times = np.append(gap.times, UNSEEN)
    lost = GroupSums(np.append(gap.y, -1.0), np.append(gap.size, 1.0), times)
    return JudgeSums(lost, GroupSums(np.append(baseline.y, 0.0), np.append(baseline.size, 0.0), times))


def _drawn(sums: JudgeSums, draws: ArrayLike) -> JudgeSums:
    """The same groups, each as often as it was drawn in every resample: draws (resamples, groups)."""
    times = np.asarray(draws, np.float64)
    return JudgeSums(*(each._replace(times=times) for each in sums))


def _no_plan(seen: JudgeSums, margin: float) -> str | None:
    """Why there is no plan."""
    if not seen.gap.units or not seen.baseline.units:
        return NO_ITEMS
    if seen.gap.mean <= -margin:
        return NO_NUMBER
    return None if seen.baseline.mean > 0 else NOT_BETTER
