from __future__ import annotations

import numpy as np
import pytest

from harness.stats import NO_MAJORITY, aggregate
from harness.stats.core.arrays import ScaleError, ShapeError
from harness.stats.core.rows import agreement_weights, count_classes, count_long, tabulate
from tests.unit.stats import brute

RNG = np.random.default_rng(3)


@pytest.mark.parametrize(("raters", "k"), [(1, 2), (3, 3), (2, 30), (12, 5)])
def test_wide_and_long_counts_agree(raters: int, k: int) -> None:
    labels = RNG.integers(-1, k, (50, raters))
    expected = [[(row == c).sum() for c in range(k)] for row in labels]
    assert count_classes(labels, k).tolist() == expected
    item = np.repeat(np.arange(50), raters)
    assert count_long(item, labels.ravel(), 50, k).tolist() == expected


def test_rows_hold_every_item_once() -> None:
    labels, judge = RNG.integers(-1, 3, (200, 3)), RNG.integers(-1, 3, 200)
    cell, group = RNG.integers(0, 4, 200), RNG.integers(0, 30, 200)
    counts = count_classes(labels, 3)
    rows = tabulate(counts, judge, cell=cell, group=group, cells=6)
    assert rows.cells == 6 and rows.weight.sum() == 200
    assert rows.clustered == (True, True, True, True, False, False)
    seen = sorted(
        (int(rows.cell[q]), int(rows.group[q]), *rows.counts[p].tolist(), int(rows.judges[p, 0]))
        for q, p in enumerate(rows.pattern)
        for _ in range(int(rows.weight[q]))
    )
    ranks = np.unique(group, return_inverse=True)[1]
    assert seen == sorted((int(cell[i]), int(ranks[i]), *counts[i].tolist(), int(judge[i])) for i in range(200))


def test_single_groups_are_no_clusters() -> None:
    counts = count_classes([[0, 0], [0, 0], [0, 1], [1, 1]], 2)
    rows = tabulate(counts, cell=[0, 0, 1, 1], group=["a", "b", "a", "a"])
    assert rows.clustered == (False, True)
    assert rows.weight.tolist() == [2.0, 1.0, 1.0]


@pytest.mark.parametrize("k", [3, 60])
def test_sums_do_not_depend_on_the_way_they_are_counted(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    labels, cell = RNG.integers(0, k, (300, 4)), RNG.integers(0, 5, 300)
    counts = count_classes(labels, k)
    dense = tabulate(counts, cell=cell)
    sums = dense.sums(dense.counts.astype(float))
    assert np.allclose(sums, [counts[cell == c].sum(axis=0) for c in range(5)])
    monkeypatch.setattr("harness.stats.core.rows._DENSE", 0)
    monkeypatch.setattr("harness.stats.core.rows._KEYS", 1000)
    sorted_ = tabulate(counts, cell=cell)
    assert np.array_equal(sorted_.counts, dense.counts) and np.array_equal(sorted_.weight, dense.weight)
    assert np.allclose(sorted_.sums(sorted_.counts.astype(float)), sums)


def test_nothing_is_something_too() -> None:
    rows = tabulate(np.empty((0, 3), int), np.empty(0), cells=2)
    assert rows.cells == 2 and len(rows.weight) == 0
    assert rows.sums(np.empty((0, 4))).tolist() == [[0.0] * 4] * 2


def test_what_does_not_fit_is_refused() -> None:
    counts = count_classes([[0], [1]], 2)
    for bad in ({"judges": [0]}, {"cell": [0]}, {"group": [0]}):
        with pytest.raises(ShapeError):
            tabulate(counts, **bad)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="there is no judge 1"):
        tabulate(counts, [0, 1]).judge(1)
    with pytest.raises(ShapeError, match="item numbers"):
        count_long([0, 2], [0, 0], items=2, k=2)
    with pytest.raises(ShapeError, match="items x classes"):
        tabulate([1, 2])


TABLES_RNG = np.random.default_rng(5)


def test_drop_needs_a_unique_mode() -> None:
    labels = [[0, 1, -1, -1], [0, 0, 1, 1], [2, 2, 0, 1], [1, -1, -1, -1], [-1, -1, -1, -1]]
    for rule in ("drop", "strict"):
        assert aggregate(labels, 3, rule).tolist() == [-2, -2, 2, 1, -1]  # type: ignore[arg-type]


def test_median_is_the_lower_one() -> None:
    labels = TABLES_RNG.integers(-1, 5, (200, 4))
    for row, found in zip(labels, aggregate(labels, 5, "median"), strict=True):
        seen = sorted(brute.present(row.tolist()))
        assert found == (seen[(len(seen) - 1) // 2] if seen else -1)


def test_three_way_split_has_no_majority_but_a_median() -> None:
    assert aggregate([[2, 0, 1]], 3).tolist() == [NO_MAJORITY]
    assert aggregate([[2, 0, 1]], 3, "median").tolist() == [1]


def test_unknown_rule() -> None:
    with pytest.raises(ValueError, match="drop, median and strict"):
        aggregate([[0]], 2, "mean")  # type: ignore[arg-type]


def test_weights_follow_the_values_of_the_scale() -> None:
    assert agreement_weights(3, "linear", [0, 1, 4])[0].tolist() == [1.0, 0.75, 0.0]
    assert agreement_weights(3, "quadratic", [0, 1, 4])[1, 2] == pytest.approx(1 - 9 / 16)
    assert np.array_equal(agreement_weights(2, "linear"), np.eye(2))
    assert agreement_weights(1, "linear").tolist() == [[1.0]]


def test_unknown_weights() -> None:
    with pytest.raises(ScaleError, match="choose from: identity, linear, quadratic"):
        agreement_weights(3, "cubic")  # type: ignore[arg-type]
