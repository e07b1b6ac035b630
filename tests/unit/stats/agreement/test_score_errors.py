"""Distances of judge and people on continuous scores, against every pair written out."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.agreement.score_errors import distance_of_judge, distance_of_people, median_without_group
from harness.stats.core.arrays import ShapeError
from harness.stats.core.rows import count_classes
from harness.stats.intervals.noninferiority import gap_sums, guarded_p, matched_gap, pair_agreement

LABELS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 10)), max_size=20)


@given(LABELS)
def test_distances_of_people_are_those_of_all_pairs(labels: list[tuple[int, int]]) -> None:
    item, score = np.array(labels, np.int64).reshape(-1, 2).T
    found = distance_of_people(item, score, 5)
    for number in range(5):
        pairs = [abs(a - b) for a, b in combinations(score[item == number].tolist(), 2)]
        assert found[number] == pytest.approx(np.mean(pairs) if pairs else np.nan, nan_ok=True)


def test_with_few_scores_the_gap_is_that_of_weighted_agreement() -> None:
    """d = people's distance - the judge's is their weighted agreement the other way round."""
    rng = np.random.default_rng(0)
    labels, judge = rng.integers(0, 5, (40, 3)), rng.integers(0, 5, 40)
    weights = 1 - np.abs(np.subtract.outer(np.arange(5), np.arange(5))) / 4
    item = np.repeat(np.arange(40), 3)
    people, own = distance_of_people(item, labels.ravel(), 40), distance_of_judge(item, labels.ravel(), np.arange(40), judge)
    counts = count_classes(labels, 5)
    assert 1 - people / 4 == pytest.approx(pair_agreement(counts, weights))
    assert (people - own) / 4 == pytest.approx(matched_gap(counts, judge, weights))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=20))
def test_the_median_leaves_the_items_own_group_out(items: list[tuple[int, int]]) -> None:
    values, group = np.array(items, np.float64).T
    found = median_without_group(values, group)
    for number, own in enumerate(group):
        others = values[group != own]
        assert found[number] == pytest.approx(np.median(others) if len(others) else np.nan, nan_ok=True)


def test_arrays_of_different_length_are_refused() -> None:
    with pytest.raises(ShapeError):
        distance_of_people([0, 1], [1.0], 2)


def test_a_judge_that_is_worse_by_the_margin_is_seldom_shown_to_be_as_good() -> None:
    """The rule's test of the gap on distances: 400 samples of 40 texts, whose gap is the margin exactly; 5 % may pass, plus 3 errors."""
    rng, margin = np.random.default_rng(3), 0.1
    item, group = np.repeat(np.arange(120), 2), np.repeat(np.arange(40), 3)
    text = rng.normal(0, 0.03, (400, 40))
    passed = []
    for shared in text:
        people, judge = rng.normal(0.6, 0.08, (120, 2)), rng.normal(0.6, 0.08, 120) + rng.choice([-0.2, 0.2], 120)
        d = distance_of_people(item, people.ravel(), 120) - distance_of_judge(item, people.ravel(), np.arange(120), judge)
        d += shared[group] - _EXPECTED_GAP - margin
        passed.append(guarded_p(gap_sums(d, group), margin) <= 0.05)
    assert np.mean(passed) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def _expected_gap() -> float:
    """The mean gap of the simulated judge, from many items."""
    rng, n = np.random.default_rng(4), 400_000
    people, judge = rng.normal(0.6, 0.08, (n, 2)), rng.normal(0.6, 0.08, n) + rng.choice([-0.2, 0.2], n)
    return float((np.abs(people[:, 0] - people[:, 1]) - np.abs(people - judge[:, None]).mean(axis=1)).mean())


_EXPECTED_GAP = _expected_gap()
