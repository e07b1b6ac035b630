from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from harness.stats import weighted_f1

RNG = np.random.default_rng(14)


@pytest.mark.parametrize("k", [2, 4])
def test_f1_is_scikit_learns(k: int) -> None:
    reference, judge = RNG.integers(0, k, 70), RNG.integers(0, k - 1, 70)  # the judge never says the last class
    oracle = f1_score(reference, judge, labels=range(k), average="weighted", zero_division=0)
    assert weighted_f1(judge, reference[:, None], k).value == pytest.approx(oracle)


def test_undefined() -> None:
    assert weighted_f1([-1], [[0]], 2).reason == "no overlap"
    assert weighted_f1([0, 0], [[1], [1]], 2) == (0.0, 2, None)
