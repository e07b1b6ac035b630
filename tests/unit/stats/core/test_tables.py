"""

How far two classes agree."""

from __future__ import annotations

import numpy as np
import pytest

from harness.stats import NO_MAJORITY, aggregate
from harness.stats.core.arrays import ScaleError
from harness.stats.core.tables import agreement_weights
from tests.unit.stats import brute

RNG = np.random.default_rng(5)


def test_drop_needs_a_unique_mode() -> None:
    labels = [[0, 1, -1, -1], [0, 0, 1, 1], [2, 2, 0, 1], [1, -1, -1, -1], [-1, -1, -1, -1]]
    for rule in ("drop", "strict"):
        assert aggregate(labels, 3, rule).tolist() == [-2, -2, 2, 1, -1]  # type: ignore[arg-type]


def test_median_is_the_lower_one() -> None:
    labels = RNG.integers(-1, 5, (200, 4))
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
