"""Does a judge vary less than people do? An exact test of a judge that gives nearly everything one class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, ShapeError, as_codes, as_index
from harness.stats.core.at_once import at_once

_CELLS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class OneClass:
    """`others` of the judge's `n` readable answers are not its commonest class; `usual` of people's `labels` are their commonest class.

    `p_by_class` (k,) has for each class c the chance of so few groups with anything but c, `p` their sum, at most 1. NaN without a readable
    answer to a labelled item.
    """

    p: float
    p_by_class: Floats
    others: int
    n: int
    usual: int
    labels: int


def one_class_tests(cells: Sequence[tuple[ArrayLike, ArrayLike, ArrayLike]]) -> list[OneClass]:
    """Test of each cell's (counts, judge, groups) that the judge varies as much as people: it could change places with one of them.

    x is the number of answers other than the judge's commonest. For class c, item i has pi = the share of its labels and its answer, taken
    together, that are not c; a group has the largest pi of its items, because answers in one group may depend on each other. The number
    of groups with an answer that is not c is at least Poisson-binomial(pi), so that P(Poisson-binomial(pi) <= x) is exact, or too large,
    for a judge that is exchangeable with people item by item. p adds up all classes c, because the commonest was chosen from the data.

    Args:
        cells: of each the number of labels of each class (items, k); the judge's class codes 0 … k-1 (items,), NaN or -1 where there is no
            readable answer: such an item is left out, like one without labels; any sortable codes of what items share (items,).

    Reference: Hodges & Le Cam (1960) and Hong (2013), Poisson-binomial; exchangeability as in permutation tests.

    >>> [found] = one_class_tests([([[1, 1]] * 12, [0] * 12, range(12))])
    >>> found.others, found.usual / found.labels, round(found.p, 6) == round((2 / 3) ** 12 + (1 / 3) ** 12, 6)
    (0, 0.5, True)
    """
    made = [_Answers.of(*cell) for cell in cells]
    return at_once(_tested, made, lambda one: one.chances.shape, most=_CELLS_AT_ONCE)


class _Answers(NamedTuple):
    """What the test of a cell is made of; `chances` (k, groups) of an answer that is not the class."""

    others: int
    n: int
    usual: int
    labels: int
    chances: Floats

    @classmethod
    def of(cls, counts: ArrayLike, judge: ArrayLike, groups: ArrayLike) -> _Answers:
        table = np.asarray(counts, np.float64)
        if table.ndim != 2:
            raise ShapeError(f"counts must be items x classes, got shape {table.shape}")
        k = table.shape[1]
        code = as_codes(judge, k, "judge")
        if code.shape != table.shape[:1]:
            raise ShapeError(f"judge {code.shape} must be of the {len(table)} items of counts")
        index = as_index(groups, len(code), "groups")
        used = (code >= 0) & (table.sum(axis=1) > 0)
        table, code, index = table[used], code[used], index[used]
        if not len(code):
            return cls(0, 0, 0, 0, np.empty((k, 0)))
        given, labels = np.bincount(code, minlength=k), table.sum(axis=0)
        together = table + (code[:, None] == np.arange(k))
        other = 1 - together / together.sum(axis=1, keepdims=True)
        largest = np.zeros((int(index.max()) + 1, k))
        np.maximum.at(largest, index, other)
        return cls(int(len(code) - given.max()), len(code), int(labels.max()), int(labels.sum()), largest[np.unique(index)].T)


def _tested(alike: Sequence[_Answers]) -> list[OneClass]:
    """Of cells with as many classes and groups."""
    if not alike[0].n:
        return [OneClass(math.nan, np.full(len(one.chances), math.nan), 0, 0, 0, 0) for one in alike]
    found = _at_most([one.others for one in alike], np.stack([one.chances for one in alike]))
    return [OneClass(min(1.0, float(p.sum())), p, one.others, one.n, one.usual, one.labels) for one, p in zip(alike, found, strict=True)]


def _at_most(x: Sequence[int], chances: Floats) -> Floats:
    """P(number of successes <= x) (cells, k) of independent trials with the chances (cells, k, trials): one is added after the other."""
    trials = chances.shape[-1]
    exactly = np.zeros((*chances.shape[:-1], max((last for last in x if last < trials), default=0) + 1))
    exactly[..., 0] = 1.0
    for chance in np.moveaxis(chances, -1, 0)[..., None]:
        exactly[..., 1:] = exactly[..., 1:] * (1 - chance) + exactly[..., :-1] * chance
        exactly[..., 0] *= 1 - chance[..., 0]
    everything = np.ones(chances.shape[1])
    return np.array([of[:, : last + 1].sum(axis=-1) if last < trials else everything for of, last in zip(exactly, x, strict=True)])
