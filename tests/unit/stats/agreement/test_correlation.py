from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from harness.stats import count_classes, estimate, kendall_tau, pearson, spearman, tabulate
from harness.stats.agreement.correlation import NAMES, correlation_with_humans
from harness.stats.core.arrays import ShapeError

RNG = np.random.default_rng(15)


def oracle(x: np.ndarray, y: np.ndarray) -> list[float]:
    return [stats.kendalltau(x, y).statistic, stats.spearmanr(x, y).statistic, stats.pearsonr(x, y).statistic]


@pytest.mark.parametrize("levels", [2, 5, 1000])
def test_correlations_are_scipys(levels: int) -> None:
    x = RNG.integers(0, levels, 200) / 7
    y = x + RNG.integers(0, levels, 200)
    found = [f(x, y).value for f in (kendall_tau, spearman, pearson)]
    assert found == pytest.approx(oracle(x, y))


def test_large_tables_go_to_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = RNG.normal(size=50), RNG.normal(size=50)
    direct = kendall_tau(x, y)
    monkeypatch.setattr("harness.stats.agreement.correlation._TABLE", 10)
    assert kendall_tau(x, y) == pytest.approx(direct)


def test_many_cells_against_the_mean_of_the_annotators() -> None:
    values = np.array([1.0, 2.0, 4.0])
    labels, cell = RNG.integers(-1, 3, (400, 3)), RNG.integers(0, 3, 400)
    judge = np.where(RNG.random(400) < 0.6, labels.max(axis=1), RNG.integers(-1, 3, 400))
    rows = tabulate(count_classes(labels, 3), judge, cell=cell)
    found = estimate([correlation_with_humans(m, 3, values) for m in NAMES], rows)
    scores = np.where(labels < 0, np.nan, values[labels])
    used = ~np.isnan(scores).all(axis=1) & (judge >= 0)
    for c in range(3):
        here = used & (cell == c)
        expected = oracle(np.nanmean(scores[here], axis=1), values[judge[here]])
        assert [found[n].value[c] for n in NAMES.values()] == pytest.approx(expected)
        assert found["spearman"].n[c] == here.sum()


def test_undefined() -> None:
    for f in (kendall_tau, spearman, pearson):
        assert f([1, 1, 1], [1, 2, 3]).reason == "constant raters"
        assert f([math.nan], [1]) == pytest.approx((math.nan, 0, "no overlap"), nan_ok=True)
        with pytest.raises(ShapeError):
            f([1, 2], [1])
    rows = tabulate(count_classes([[0], [1], [1]], 2), [1, 1, 1])
    for e in estimate([correlation_with_humans(m, 2) for m in NAMES], rows).values():
        assert e[0].reason == "constant raters" and e[0].n == 3
