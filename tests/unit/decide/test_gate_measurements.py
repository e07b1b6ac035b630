"""How far a judge varies between sets of texts: only with three sets or more, and its interval covers the truth."""

from __future__ import annotations

import numpy as np
import pytest

from harness.decide.gate_measurements import gap_over_sets


def test_two_sets_or_sets_without_an_error_say_nothing() -> None:
    assert gap_over_sets([0.1, 0.2], [0.01, 0.01]) is None
    assert gap_over_sets([0.1, 0.2, 0.3], [0.01, 0.01, 0.0]) is None


@pytest.mark.parametrize("sd", [0.0, 0.05])
def test_the_interval_holds_the_true_spread_in_95_of_100_cases(sd: float) -> None:
    rng, errors, rounds = np.random.default_rng(1), np.array([0.02, 0.03, 0.03, 0.04]), 1500
    gaps = -0.05 + sd * rng.normal(size=(rounds, 4)) + errors * rng.normal(size=(rounds, 4))
    found = [gap_over_sets(row.tolist(), errors.tolist()) for row in gaps]
    share = float(np.mean([one is not None and one.lo <= sd <= one.hi for one in found]))
    assert 0.935 <= share <= (0.99 if sd == 0 else 0.965), "at 0 only one end can miss"
