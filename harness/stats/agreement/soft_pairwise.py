"""Soft pairwise accuracy of systems: is a judge as sure as people are that one system is better than another?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Estimate, Floats, as_index, same_shape, undefined

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
    known = shared.any(axis=1)
    if not known.any():
        return undefined(systems, NO_SHARED)
    signs = np.random.default_rng(seed).choice(np.array([-1.0, 1.0]), (permutations, segments))
    people, judge = (_p(np.where(shared, table[first] - table[second], 0.0)[known], signs) for table in tables)
    return Estimate(float(1 - np.abs(people - judge).mean()), systems)


def _p(differences: Floats, signs: Floats) -> Floats:
    """The p of every pair (pairs,), from its differences by source text (pairs, segments), 0 where the two do not share it."""
    real = differences.sum(axis=1)
    drawn = signs @ differences.T
    near = 1e-9 * np.maximum(np.abs(differences).sum(axis=1), 1.0)  # sums of the same numbers in another order are equal
    return np.asarray((drawn > real + near).mean(axis=0) + 0.5 * (np.abs(drawn - real) <= near).mean(axis=0))
