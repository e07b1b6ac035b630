"""Panels: their gain over the best of their members."""

from __future__ import annotations

import numpy as np
import pytest

from harness.stats.core.arrays import Floats, ShapeError
from harness.stats.intervals.cluster_mean import cluster_mean
from harness.stats.intervals.paired import best_on_other_folds, difference_from_best

RNG = np.random.default_rng(2)


def best_of_others(hits: Floats, folds: Floats) -> Floats:
    """Hits of the judge that is best on the other folds."""
    return hits[np.arange(len(hits)), best_on_other_folds(hits, folds)]


def test_the_best_judge_is_chosen_on_other_folds() -> None:
    """Of equal judges the best on the same items is flattered, the best on other folds is not."""
    flattered, fair = [], []
    for _ in range(200):
        hits = (RNG.random((60, 8)) < 0.75) * 1.0
        flattered.append(hits.mean(axis=0).max())
        fair.append(best_of_others(hits, np.arange(60) % 5).mean())
    assert np.mean(flattered) == pytest.approx(0.827, abs=0.015)
    assert np.mean(fair) == pytest.approx(0.75, abs=0.015)


def test_input_is_checked() -> None:
    with pytest.raises(ShapeError):
        difference_from_best([1.0], [[1.0], [0.0]], [0, 1], 0.0)


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
        apart = cluster_mean(ours - best_of_others(hits, rng.permutation(items) % 5))
        lo, hi = apart.interval()
        folds_alone += not lo <= 0 <= hi
        by_members += difference_from_best(ours, hits, range(items), apart.mean).p < 0.05
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
