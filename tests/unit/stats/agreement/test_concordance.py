"""Concordant pairs against all pairs and SciPy."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from harness.stats.agreement.concordance import ordering_credits, pair_sums, tau_b_by_stratum, tau_b_left_out, tie_calibrated_accuracy
from harness.stats.core.arrays import ShapeError

ITEMS = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 2)), max_size=30)


@given(ITEMS)
def test_sums_are_those_of_all_pairs(items: list[tuple[int, int, int]]) -> None:
    x, y, stratum = np.array(items, np.int64).reshape(-1, 3).T
    together = stratum[:, None] == stratum
    found = pair_sums(x, y, stratum)
    assert found.signs.tolist() == (np.sign(x[:, None] - x) * np.sign(y[:, None] - y) * together).sum(axis=1).tolist()
    assert found.untied_x.tolist() == ((x[:, None] != x) & together).sum(axis=1).tolist()
    assert found.untied_y.tolist() == ((y[:, None] != y) & together).sum(axis=1).tolist()


def test_tau_without_each_group_is_scipys_without_it() -> None:
    rng = np.random.default_rng(0)
    x, group = rng.normal(size=80), rng.integers(0, 9, 80)
    y = np.round(x + rng.normal(size=80))
    found = tau_b_left_out(x, y, group)
    assert found[0] == pytest.approx(kendalltau(x, y).statistic)
    assert found[1:] == pytest.approx([kendalltau(x[group != g], y[group != g]).statistic for g in range(9)])


def test_tau_of_each_stratum_is_scipys() -> None:
    rng = np.random.default_rng(1)
    x, y, stratum = rng.integers(0, 5, 60), rng.integers(0, 4, 60), rng.integers(0, 6, 60)
    assert tau_b_by_stratum(x, y, stratum) == pytest.approx(
        [kendalltau(x[stratum == s], y[stratum == s]).statistic for s in range(6)], nan_ok=True
    )


def test_nothing_and_arrays_of_different_items() -> None:
    assert len(tau_b_by_stratum([], [], [])) == 0
    with pytest.raises(ShapeError, match="one length"):
        pair_sums([1, 2], [1])


def test_credits_are_tau_b_with_missing_scores_tied() -> None:
    """Every pair is looked at: one with a missing y counts as a tie of y."""
    rng = np.random.default_rng(2)
    x, stratum = rng.integers(0, 4, 90).astype(float), rng.integers(0, 8, 90)
    y = np.where(rng.random(90) < 0.3, np.nan, rng.integers(0, 5, 90))
    y[stratum == 3], x[stratum == 5] = np.nan, 1.0
    wanted = []
    for s in range(8):
        a, b = x[stratum == s], y[stratum == s]
        dx, dy = (np.sign(v[:, None] - v)[np.triu_indices(len(v), 1)] for v in (a, b))
        dy = np.nan_to_num(dy)
        spread = np.sqrt((dx**2).sum() * (dy**2).sum())
        wanted.append(np.nan if not dx.any() else (dx * dy).sum() / spread if spread else 0.0)
    assert ordering_credits(x, y, stratum) == pytest.approx(wanted, nan_ok=True)
    assert np.isnan(wanted[5]) and wanted[3] == 0


def test_credits_without_gaps_are_tau_b() -> None:
    rng = np.random.default_rng(3)
    x, y, stratum = rng.normal(size=60), rng.normal(size=60), rng.integers(0, 6, 60)
    assert ordering_credits(x, y, stratum) == pytest.approx(tau_b_by_stratum(x, y, stratum))


def accuracy(x: list[int], y: list[int], segment: list[int], epsilon: float) -> float:
    """The mean over source texts of the share of correct pairs, pair by pair."""
    shares = []
    for text in sorted(set(segment)):
        pairs = list(combinations([i for i, s in enumerate(segment) if s == text], 2))
        right = [
            (x[i] == x[j]) if abs(y[i] - y[j]) <= epsilon else np.sign(x[i] - x[j]) == np.sign(y[i] - y[j]) and x[i] != x[j]
            for i, j in pairs
        ]
        shares += [np.mean(right)] if pairs else []
    return float(np.mean(shares)) if shares else math.nan


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 2)), min_size=1, max_size=14))
def test_it_is_the_best_of_all_thresholds(items: list[tuple[int, int, int]]) -> None:
    x, y, segment = (list(column) for column in zip(*items, strict=True))
    found = tie_calibrated_accuracy(x, y, segment, segment)
    every = [accuracy(x, y, segment, epsilon) for epsilon in range(10)]
    if math.isnan(every[0]):
        assert found.reason and math.isnan(found.value)
    else:
        assert found.value == pytest.approx(max(every))
        assert found.value == pytest.approx(every[int(found.epsilon)])
        assert all(one < max(every) - 1e-12 for one in every[: int(found.epsilon)])


def test_by_hand() -> None:
    """People tie b and c. The judge has them 2 apart and the others at least 8 apart: from 2 on all three pairs are right."""
    found = tie_calibrated_accuracy([1, 5, 5], [10, 18, 20], [0, 0, 0], [0, 0, 0])
    assert (found.value, found.epsilon, found.pairs, found.segments) == (1.0, 2.0, 3, 1)


def test_a_constant_judge_gets_the_share_of_ties() -> None:
    found = tie_calibrated_accuracy([1, 1, 2, 3], [7, 7, 7, 7], [0, 0, 0, 0], [0, 0, 0, 0])
    assert found.value == pytest.approx(1 / 6) and found.epsilon == 0


def test_the_interval_chooses_epsilon_in_every_resample() -> None:
    rng = np.random.default_rng(0)
    segment = np.repeat(np.arange(60), 8)
    truth = rng.normal(size=480)
    people, judge = np.round(truth + rng.normal(size=480)), truth + rng.normal(size=480)
    found = tie_calibrated_accuracy(people, judge, segment, segment // 2)
    assert found.interval.lo < found.value < found.interval.hi and found.interval.groups == 30
    assert found.epsilon_interval.lo < found.epsilon < found.epsilon_interval.hi
    assert found == tie_calibrated_accuracy(people, judge, segment, segment // 2)


def test_nothing_to_pair() -> None:
    assert tie_calibrated_accuracy([1, 2], [1, 2], [0, 1], [0, 1]).reason
    assert tie_calibrated_accuracy([1, math.nan], [1, 2], [0, 0], [0, 1]).pairs == 0
    with pytest.raises(ShapeError):
        tie_calibrated_accuracy([1], [1], [0, 1], [0])
