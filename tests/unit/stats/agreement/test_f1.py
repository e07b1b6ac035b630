from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from harness.stats import weighted_f1
from harness.stats.agreement.f1 import f1_of_pairs, human_weighted_f1
from harness.stats.core.arrays import ShapeError

RNG = np.random.default_rng(14)


@pytest.mark.parametrize("k", [2, 4])
def test_f1_is_scikit_learns(k: int) -> None:
    reference, judge = RNG.integers(0, k, 70), RNG.integers(0, k - 1, 70)  # the judge never says the last class
    oracle = f1_score(reference, judge, labels=range(k), average="weighted", zero_division=0)
    assert weighted_f1(judge, reference[:, None], k).value == pytest.approx(oracle)


def test_undefined() -> None:
    assert weighted_f1([-1], [[0]], 2).reason == "no overlap"
    assert weighted_f1([0, 0], [[1], [1]], 2) == (0.0, 2, None)


def test_f1_of_people_is_the_mean_of_scikit_learns_over_ordered_pairs() -> None:
    labels = RNG.integers(0, 3, (60, 4))
    labels[RNG.random((60, 4)) < 0.3] = -1
    oracle = []
    for a in range(4):
        for b in range(4):
            both = (labels[:, a] >= 0) & (labels[:, b] >= 0)
            if a != b:
                oracle.append(f1_score(labels[both, a], labels[both, b], labels=range(3), average="weighted", zero_division=0))
    found = human_weighted_f1(labels, 3)
    assert found.value == pytest.approx(np.mean(oracle)) and found.n == ((labels >= 0).sum(axis=1) >= 2).sum()


def test_people_that_share_no_item_have_no_f1() -> None:
    assert human_weighted_f1([[0, -1], [-1, 1]], 2).reason == human_weighted_f1(np.empty((0, 2)), 2).reason == "no item with two annotators"
    with pytest.raises(ShapeError):
        f1_of_pairs([0, 0], [0], [1, 1])
