from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import SquareTable
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_statsmodels

from harness.stats import (
    agreement_level,
    count_classes,
    coverage,
    distribution_by_agreement,
    distribution_of_judge,
    distribution_of_labels,
    estimate,
    intervals,
    leniency,
    mcnemar,
    rarest_expected,
    stuart_maxwell,
    stuart_maxwell_of_table,
    tabulate,
)
from harness.stats.agreement.describe import mean_score, sd_score
from harness.stats.core.arrays import ShapeError

RNG = np.random.default_rng(20)


def test_leniency_points_towards_the_best() -> None:
    labels, judge = RNG.integers(-1, 3, (80, 3)), RNG.integers(-1, 3, 80)
    values = np.array([1.0, 2.0, 4.0])
    seen = np.where(labels < 0, np.nan, values[labels])
    used = (judge >= 0) & ~np.isnan(seen).all(axis=1)
    expected = np.mean(values[judge[used]] - np.nanmean(seen[used], axis=1))
    up, down = leniency(judge, labels, 3, 1, values), leniency(judge, labels, 3, -1, values)
    assert up.value == pytest.approx(expected) and up.n == used.sum()
    assert down.value == -up.value
    assert leniency([-1], [[0]], 2, 1).reason == "no overlap"


def test_mean_and_standard_deviation() -> None:
    labels, judge = RNG.integers(-1, 4, (60, 3)), RNG.integers(-1, 4, 60)
    rows = tabulate(count_classes(labels, 4), judge)
    values = [1.0, 2.0, 3.0, 7.0]
    chosen = [f(4, values, judge=j) for f in (mean_score, sd_score) for j in (None, 0)]
    found = estimate(chosen, rows)
    said, judged = (np.take(values, x[x >= 0]) for x in (labels, judge))
    assert found["mean_labels"][0] == pytest.approx((said.mean(), said.size, None))
    assert found["sd_labels"].value[0] == pytest.approx(said.std(ddof=1))
    assert found["mean_judge"].value[0] == pytest.approx(judged.mean())
    assert found["sd_judge"].value[0] == pytest.approx(judged.std(ddof=1))
    assert all(i[0].lo < found[name].value[0] < i[0].hi for name, i in intervals(chosen, rows).items())
    one = estimate([sd_score(2), mean_score(2, judge=0)], tabulate([[1, 0]], [-1]))
    assert one["sd_labels"][0].reason == "a single score" and one["mean_judge"][0].reason == "no readable score"


def test_levels_of_agreement() -> None:
    counts = [[2, 0, 0], [1, 1, 0], [2, 2, 0], [1, 0, 0], [0, 0, 0]]
    assert agreement_level(counts, raters=None).tolist() == [0, 2, 1, -1, -1]
    assert agreement_level(counts).tolist() == [-1] * 5
    with pytest.raises(ShapeError):
        agreement_level([1, 2])


def distribution(codes: np.ndarray, k: int) -> np.ndarray:
    return np.bincount(codes[codes >= 0], minlength=k) / (codes >= 0).sum()


def test_distribution_by_agreement() -> None:
    labels, judge, cell = RNG.integers(0, 3, (300, 3)), RNG.integers(-1, 3, 300), RNG.integers(0, 2, 300)
    rows = tabulate(count_classes(labels, 3), judge, cell=cell)
    found = distribution_by_agreement(rows)
    distinct = np.array([len(set(row)) for row in labels.tolist()]) - 1
    for c in range(2):
        for level in range(3):
            here = (cell == c) & (distinct == level)
            assert found.items[c, level] == here.sum()
            assert found.labels[c, level] == pytest.approx(distribution(labels[here], 3))
            assert found.judge[c, level] == pytest.approx(distribution(judge[here], 3))
    assert distribution_of_labels(rows)[1] == pytest.approx(distribution(labels[cell == 1], 3))
    assert distribution_of_judge(rows)[0] == pytest.approx(distribution(judge[cell == 0], 3))


def test_coverage_counts_references() -> None:
    rows = tabulate(count_classes([[0, 0], [0, 1], [1, 1], [-1, -1]], 2), [0, 1, -1, 1], cells=2)
    n_ref, n, share = coverage(rows)
    assert (n_ref[0], n[0], share[0]) == (2, 1, 0.5) and n_ref[1] == 0 and math.isnan(share[1])
    assert coverage(rows, rule="strict").n_ref[0] == 3


def test_rarest_class_of_the_scale() -> None:
    rows = tabulate(count_classes([[0, 0, 0], [0, 0, 1], [0, 1, 1], [0, 0, 0]], 2), cells=2)
    assert rarest_expected(rows).tolist() == [pytest.approx(1.0), 0.0]
    assert rarest_expected(tabulate(count_classes([[0], [1]], 3))).tolist() == [0.0]


MARGINS_RNG = np.random.default_rng(18)


def table_of(a: np.ndarray, b: np.ndarray, k: int) -> np.ndarray:
    return np.bincount(a * k + b, minlength=k * k).reshape(k, k)


def test_stuart_maxwell_is_statsmodels() -> None:
    a, b = MARGINS_RNG.integers(0, 4, 200), MARGINS_RNG.integers(0, 4, 200)
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
    a, b = MARGINS_RNG.integers(0, 3, 100), MARGINS_RNG.integers(0, 3, 100)
    plain = stuart_maxwell(a, b, 3)
    assert stuart_maxwell(a, b, 3, groups=np.arange(100)) == plain
    twice = stuart_maxwell(np.tile(a, 2), np.tile(b, 2), 3, groups=np.tile(np.arange(100), 2))
    assert twice.statistic == pytest.approx(plain.statistic) and twice.n == 200


def test_mcnemar_is_statsmodels() -> None:
    a, b = MARGINS_RNG.integers(0, 2, 90), MARGINS_RNG.integers(0, 2, 90)
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
