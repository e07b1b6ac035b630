"""The guarded test and its bound; the gap of a judge item by item."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.core.arrays import ShapeError
from harness.stats.core.tables import agreement_weights
from harness.stats.intervals.noninferiority import gap_sums, guarded_mean, guarded_p, matched_gap, pair_agreement

differences = st.lists(st.sampled_from([-1.0, -2 / 3, -1 / 3, 0.0, 1 / 3, 2 / 3]), min_size=2, max_size=60)


@given(differences, st.floats(0.01, 0.4))
def test_the_bound_is_where_the_p_equals_the_level(d: list[float], alpha: float) -> None:
    sums = gap_sums(d, range(len(d)))
    bound = float(guarded_mean(sums).bound(alpha))
    assert -1 <= bound <= 0
    if -1 < bound < 0:
        assert guarded_p(sums, -bound) == pytest.approx(alpha, rel=1e-6)


@given(differences, st.floats(0.02, 0.5))
def test_a_lost_item_more_never_makes_the_judge_look_better(d: list[float], margin: float) -> None:
    before, after = (guarded_p(gap_sums(rows, range(len(rows))), margin) for rows in (d, [*d, -1.0]))
    assert after >= before - 0.02  # the variance grows with the loss, so that p may fall by a little where it is near 1


def test_undefined_items_are_left_out_and_nothing_gives_nothing() -> None:
    sums = gap_sums([0.0, math.nan, -0.5], [1, 2, 3])
    assert sums.groups == 2 and sums.units == 2
    empty = gap_sums([], [])
    assert math.isnan(guarded_p(empty, 0.1))


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match="same items"):
        gap_sums([0.0, 1.0], [1])


def test_the_gap_is_the_judges_agreement_minus_peoples_on_the_same_people() -> None:
    rng = np.random.default_rng(0)
    labels, judge = rng.integers(0, 3, (40, 4)), rng.integers(-1, 3, 40)
    counts = np.stack([(labels == code).sum(axis=1) for code in range(3)], axis=1)
    pairs = [np.mean([row[a] == row[b] for a in range(4) for b in range(4) if a != b]) for row in labels]
    agreed = [(row == own).mean() for row, own in zip(labels, judge, strict=True)]
    assert pair_agreement(counts) == pytest.approx(pairs)
    assert matched_gap(counts, judge) == pytest.approx(np.subtract(agreed, pairs))


def test_by_distance_a_class_agrees_the_more_the_closer_it_is() -> None:
    weights = agreement_weights(3, "linear")
    assert matched_gap([[0, 0, 2]], [2], weights).tolist() == [0.0]
    assert matched_gap([[0, 0, 2]], [1], weights).tolist() == [-0.5]
    assert matched_gap([[0, 0, 2]], [-1], weights).tolist() == [-1.0]
    assert pair_agreement([[1, 0, 1]], weights).tolist() == [0.0]


def test_beyond_the_bound_p_is_never_above_the_level() -> None:
    """Few unequal groups: p passes small levels more than once."""
    rng, often = np.random.default_rng(0), 0
    margins = np.linspace(0, 1, 201)
    for _ in range(300):
        n = int(rng.integers(6, 40))
        found = guarded_mean(gap_sums(rng.choice([0, 0, 0, -1, 1 / 3, -1 / 3], n), np.r_[0, 1, rng.integers(0, n // 3, n - 2)]))
        bound = -found.bound(0.001)
        above = np.array([found.p(margin) for margin in margins]) > 0.001
        often += np.count_nonzero(np.diff(above)) > 1
        assert not above[margins > bound + 1 / 32].any()
        assert bound in (0.0, 1.0) or found.p(bound) == pytest.approx(0.001, rel=1e-6)
    assert often
