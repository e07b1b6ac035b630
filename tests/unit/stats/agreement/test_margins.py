from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import SquareTable
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_statsmodels

from harness.stats import mcnemar, stuart_maxwell, stuart_maxwell_of_table
from harness.stats.core.arrays import ShapeError

RNG = np.random.default_rng(18)


def table_of(a: np.ndarray, b: np.ndarray, k: int) -> np.ndarray:
    return np.bincount(a * k + b, minlength=k * k).reshape(k, k)


def test_stuart_maxwell_is_statsmodels() -> None:
    a, b = RNG.integers(0, 4, 200), RNG.integers(0, 4, 200)
    oracle = SquareTable(table_of(a, b, 4).astype(float), shift_zeros=False).homogeneity()
    for found in (stuart_maxwell(a, b, 4), stuart_maxwell_of_table(table_of(a, b, 4))):
        assert (found.statistic, found.df, found.p) == pytest.approx((oracle.statistic, oracle.df, oracle.pvalue))


def test_classes_that_never_mix_are_tested_apart() -> None:
    parts = [np.array([[10, 5], [2, 9]]), np.array([[7, 1], [6, 3]])]
    whole = np.zeros((4, 4))
    whole[:2, :2], whole[2:, 2:] = parts
    found = stuart_maxwell_of_table(whole)
    assert found.df == 2
    assert found.statistic == pytest.approx(sum(stuart_maxwell_of_table(p).statistic for p in parts))


def test_single_groups_change_nothing_and_copies_are_seen_through() -> None:
    a, b = RNG.integers(0, 3, 100), RNG.integers(0, 3, 100)
    plain = stuart_maxwell(a, b, 3)
    assert stuart_maxwell(a, b, 3, groups=np.arange(100)) == plain
    twice = stuart_maxwell(np.tile(a, 2), np.tile(b, 2), 3, groups=np.tile(np.arange(100), 2))
    assert twice.statistic == pytest.approx(plain.statistic) and twice.n == 200


def test_mcnemar_is_statsmodels() -> None:
    a, b = RNG.integers(0, 2, 90), RNG.integers(0, 2, 90)
    table = table_of(a, b, 2)
    exact = mcnemar_of_statsmodels(table, exact=True)
    assert mcnemar(a, b)[:3:2] == pytest.approx((exact.statistic, exact.pvalue))
    chi2 = mcnemar_of_statsmodels(table, exact=False, correction=False)
    found = mcnemar(a, b, method="chi2")
    assert (found.statistic, found.p, found.df) == pytest.approx((chi2.statistic, chi2.pvalue, 1))


def test_undefined() -> None:
    for found in (stuart_maxwell([0, 1], [0, 1], 3), mcnemar([0, 1], [0, 1]), mcnemar([0, 1], [0, 1], method="chi2")):
        assert math.isnan(found.p) and found.n == 2 and found.reason == "no discordant units"
    assert stuart_maxwell([-1], [0], 2).reason == "no overlap" == mcnemar([], []).reason
    assert stuart_maxwell_of_table(np.zeros((2, 2))).reason == "no overlap"
    assert stuart_maxwell([0, 1, 1], [1, 0, 0], 2, groups=[0, 0, 1]).reason == "too few independent texts"
    with pytest.raises(ValueError, match="independent units"):
        mcnemar([0, 1], [1, 0], groups=[0, 0])
    with pytest.raises(ShapeError):
        mcnemar([0, 1], [1])
    with pytest.raises(ShapeError, match="k x k"):
        stuart_maxwell_of_table([[1, 2]])


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 5])
def test_level(size: int) -> None:
    rng, rejected = np.random.default_rng(19), 0
    for _ in range(1000):
        shares = rng.dirichlet([2, 3, 5], 200 // size) if size > 1 else np.tile([0.2, 0.3, 0.5], (200, 1))
        both = [np.array([rng.choice(3, size, p=p) for p in shares]).ravel() for _ in range(2)]
        rejected += stuart_maxwell(*both, 3, groups=np.repeat(np.arange(200 // size), size)).p < 0.05
    assert 0.03 <= rejected / 1000 <= 0.07


def test_a_very_small_p_is_not_0() -> None:
    assert 0 < stuart_maxwell_of_table([[100, 400, 0], [10, 100, 5], [0, 3, 100]]).p < 1e-30


def test_chi_square_tail() -> None:
    found = stuart_maxwell_of_table([[30, 15], [5, 40]])
    assert found.p == pytest.approx(stats.chi2.sf(5.0, 1))
