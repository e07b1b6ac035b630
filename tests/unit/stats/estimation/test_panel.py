"""Panels: rules of combination, gain over the best judge, and what theory says of majorities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.core.arrays import ScaleError, ShapeError
from harness.stats.estimation.panel import (
    difference_from_best,
    error_correlation,
    majority_accuracy,
    panel_gain,
    panel_hits,
    panel_majority,
    panel_mean,
    panel_median,
)

RNG = np.random.default_rng(2)


@given(st.lists(st.lists(st.integers(-1, 3), min_size=3, max_size=3), min_size=1, max_size=20))
def test_an_answer_is_one_that_a_judge_gave(scores: list[list[int]]) -> None:
    nominal, ordinal, median = panel_majority(scores, 4), panel_majority(scores, 4, "ordinal"), panel_median(scores, 4)
    for row, one, two, middle in zip(scores, nominal, ordinal, median, strict=True):
        given_scores = sorted(score for score in row if score >= 0)
        assert middle == (given_scores[(len(given_scores) - 1) // 2] if given_scores else -1)
        assert one in given_scores or one == -1
        assert two == (one if one >= 0 else middle)
    mean = panel_mean(scores, 4)
    assert np.isnan(mean).tolist() == (median < 0).tolist()


def test_a_mean_is_of_the_scale_s_values() -> None:
    assert panel_mean([[0, 2], [1, -1]], 3, [1, 2, 5]).tolist() == [3.0, 2.0]


def test_the_best_judge_is_chosen_on_other_folds() -> None:
    """Of equal judges the best on the same items is flattered, the best on other folds is not."""
    flattered, fair = [], []
    for _ in range(200):
        hits = (RNG.random((60, 8)) < 0.75) * 1.0
        folds = np.arange(60) % 5
        flattered.append(-panel_gain(np.zeros(60), hits, range(60)).difference.mean)
        fair.append(-panel_gain(np.zeros(60), hits, range(60), folds=folds).difference.mean)
    assert np.mean(flattered) == pytest.approx(0.827, abs=0.015)
    assert np.mean(fair) == pytest.approx(0.75, abs=0.015)


def test_items_without_reference_are_left_out() -> None:
    hits = panel_hits([[0, 1], [1, 1], [1, -1]], [0, -2, 1], 2)
    assert np.isnan(hits[1]).all() and hits[2].tolist() == [1.0, 0.0]
    found = panel_gain([1.0, np.nan, 0.0], hits, range(3))
    assert found.difference.n == 2 and found.difference.mean == pytest.approx(-0.5) and found.interval()[0] < -0.5


def test_correlation_of_errors() -> None:
    hits = RNG.integers(0, 2, (80, 3)).astype(float)
    assert error_correlation(hits) == pytest.approx(np.corrcoef(hits.T))
    perfect = np.column_stack([hits, np.ones(80)])
    assert np.isnan(error_correlation(perfect)[3]).all() and np.isnan(error_correlation(np.full((2, 2), np.nan))).all()


def test_three_independent_judges() -> None:
    for p in (0.6, 0.75):
        assert majority_accuracy(p, 3) == pytest.approx(3 * p**2 - 2 * p**3)
    assert majority_accuracy(0.7, 4) == pytest.approx(majority_accuracy(0.7, 3))  # a tie is half right
    assert majority_accuracy(0.7, 9, 1.0) == 0.7 and majority_accuracy(1.0, 3, 0.2) == 1
    rising = [majority_accuracy(0.7, 5, rho) for rho in (0.0, 1e-6, 0.3, 0.6, 0.99)]
    assert rising == sorted(rising, reverse=True) and rising[0] == pytest.approx(rising[1], abs=1e-4)


def test_input_is_checked() -> None:
    with pytest.raises(ScaleError):
        panel_majority([[0, 5]], 3)
    with pytest.raises(ShapeError):
        panel_hits([[0, 1]], [0, 1], 2)
    with pytest.raises(ShapeError):
        panel_gain([1.0], [[1.0], [0.0]], [0, 1])
    with pytest.raises(ValueError, match="1 judge"):
        majority_accuracy(0.7, 0)


def test_the_interval_and_p_of_the_best_member_say_the_same() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        hits, ours = (rng.random((80, 3)) < 0.6) * 1.0, (rng.random(80) < 0.55 + 0.01 * seed) * 1.0
        found = difference_from_best(ours, hits, range(80), 0.0)
        assert (found.p < 0.05) == (found.interval.lo > 0 or found.interval.hi < 0)


def false_alarms(members: int, items: int, times: int, seed: int = 1) -> tuple[float, float]:
    """Share of sets in which a panel that is as good as each of its equal members differs: by folds as if independent, and by members."""
    rng, folds_alone, by_members = np.random.default_rng(seed), 0, 0
    for _ in range(times):
        hits, ours = (rng.random((items, members)) < 0.75) * 1.0, (rng.random(items) < 0.75) * 1.0
        gain = panel_gain(ours, hits, range(items), folds=rng.permutation(items) % 5)
        lo, hi = gain.interval()
        folds_alone += not lo <= 0 <= hi
        by_members += difference_from_best(ours, hits, range(items), gain.difference.mean).p < 0.05
    return folds_alone / times, by_members / times


@pytest.mark.slow
def test_a_panel_as_good_as_its_members_is_not_shown_to_differ() -> None:
    before, after = false_alarms(8, 60, 600)
    assert before > 0.07 and after <= 0.05


@pytest.mark.slow
def test_a_better_panel_is_shown() -> None:
    rng = np.random.default_rng(1)
    hits = (rng.random((400, 3)) < 0.75) * 1.0
    found = difference_from_best((hits.sum(axis=1) >= 2) * 1.0, hits, range(400), 0.1)
    assert found.p < 0.01 and found.interval.lo > 0
