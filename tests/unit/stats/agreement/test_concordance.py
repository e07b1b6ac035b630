"""Concordant pairs against all pairs and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from harness.stats.agreement.concordance import ordering_credits, pair_sums, tau_b_by_stratum, tau_b_left_out
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
