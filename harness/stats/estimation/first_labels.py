"""How many texts to label before any judge was asked: a plan from assumptions on people, for a judge that is one more of them."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, ShapeError
from harness.stats.core.groups import GroupSums
from harness.stats.estimation.more_labels import GROWTH, LIMIT, Rule
from harness.stats.intervals.judge_tests import JudgeSums
from harness.stats.intervals.resampled_tests import use_p

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

    place = bisect_left(sizes, power, key=reached)
    if place == len(sizes):
        return FirstLabels(None, reached(LIMIT), *facts)
    return FirstLabels(10 * math.ceil(sizes[place] / 10), reached(sizes[place]), *facts)


def _patterns(pi: Floats, s: float, people: int) -> tuple[JudgeSums, Floats, tuple[float, float, float]]:
    """The distinct pairs of gap and difference from the baseline, how often each occurs, and the facts of `FirstLabels`."""
    classes = len(pi)
    said = np.indices((classes,) * (people + 1)).reshape(people + 1, -1)  # of the judge, then of each person
    given = s * np.eye(classes) + (1 - s) * pi  # by the text's class
    chance = pi @ np.prod(given[:, said], axis=1)
    judge, labels = said[0], said[1:]
    pairs = [(labels[i] == labels[j]) for i in range(people) for j in range(i)]
    gap = (labels == judge).mean(axis=0) - np.mean(pairs, axis=0)
    counts = (labels[None] == np.arange(classes)[:, None, None]).sum(axis=1)
    majority = np.where((counts == counts.max(axis=0)).sum(axis=0) == 1, counts.argmax(axis=0), -1)
    known = majority >= 0
    constant = np.bincount(majority[known], chance[known], classes).argmax()
    better = np.where(known, (judge == majority) * 1.0 - (majority == constant), 0.0)
    rows, place = np.unique(np.column_stack([np.round(gap, 12), better, known]), axis=0, return_inverse=True)
    share = np.asarray(np.bincount(place.ravel(), chance), np.float64)
    sums = JudgeSums(GroupSums(rows[:, 0], np.ones(len(rows)), share), GroupSums(rows[:, 1], rows[:, 2], share))
    with_majority = float(chance[known].sum())
    right, best = (float(chance[known & (given_class == majority)].sum()) / with_majority for given_class in (judge, constant))
    return sums, share / share.sum(), (right, with_majority, best)
