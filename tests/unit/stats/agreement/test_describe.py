from __future__ import annotations

import math

import numpy as np
import pytest

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
    rarest_expected,
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
