from __future__ import annotations

import math

import numpy as np
import pytest

from harness.stats import krippendorff_alpha, krippendorff_alpha_interval
from harness.stats.core.arrays import ShapeError

RNG = np.random.default_rng(10)


def by_pairs(labels: np.ndarray, distance: object) -> float:
    """Alpha from all pairs of values: within items, and among all pairable values."""
    items = [row[row >= 0] for row in labels if (row >= 0).sum() >= 2]
    values = np.concatenate(items)
    n = len(values)
    within = sum(
        distance(a, b) / (len(item) - 1)  # type: ignore[operator]
        for item in items
        for i, a in enumerate(item)
        for j, b in enumerate(item)
        if i != j
    )
    among = sum(distance(a, b) for i, a in enumerate(values) for j, b in enumerate(values) if i != j)  # type: ignore[operator]
    return 1 - (within / n) / (among / (n * (n - 1)))


@pytest.mark.parametrize("kind", ["nominal", "ordinal", "interval"])
def test_alpha_is_a_ratio_of_pairs(kind: str) -> None:
    labels = RNG.integers(-1, 4, (25, 4))
    values = np.array([0.0, 1.0, 3.0, 4.0])
    used = labels[(labels >= 0).sum(axis=1) >= 2]
    n = np.array([(used == c).sum() for c in range(4)])

    def ordinal(a: int, b: int) -> float:
        low, high = min(a, b), max(a, b)
        return float((n[low : high + 1].sum() - (n[a] + n[b]) / 2) ** 2)

    distance = {
        "nominal": lambda a, b: float(a != b),
        "interval": lambda a, b: (values[a] - values[b]) ** 2,
        "ordinal": ordinal,
    }[kind]
    found = krippendorff_alpha(labels, 4, kind, values)  # type: ignore[arg-type]
    assert found.value == pytest.approx(by_pairs(labels, distance))
    assert found.n == len(used)


def test_real_numbers_have_the_interval_alpha_of_their_classes() -> None:
    labels = RNG.integers(-1, 5, (40, 3))
    scores = np.where(labels < 0, np.nan, labels * 2.5 + 1e6)
    assert krippendorff_alpha_interval(scores).value == pytest.approx(krippendorff_alpha(labels, 5, "interval").value)


def test_undefined() -> None:
    assert krippendorff_alpha([[1, 1], [1, 1]], 3, "ordinal").reason == "constant raters"
    assert krippendorff_alpha([[1, -1], [-1, 0]], 3, "nominal").reason == "no item with two annotators"
    assert krippendorff_alpha_interval([[1.5, 1.5], [1.5, 1.5]]).reason == "constant raters"
    assert math.isnan(krippendorff_alpha_interval([[1.5, math.nan]]).value)
    with pytest.raises(ShapeError):
        krippendorff_alpha_interval([1.0, 2.0])
