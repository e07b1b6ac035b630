"""The decomposition adds up to its score."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from harness.stats.agreement.score_decomposition import corp_decomposition
from harness.stats.estimation.calibration import brier_score, log_loss
from harness.stats.estimation.number_map import isotonic_points

answers = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), min_size=1, max_size=60)


@given(answers)
def test_corp_adds_up_and_its_parts_are_not_negative(cell: list[tuple[float, int]]) -> None:
    p, y = (np.array(column) for column in zip(*cell, strict=True))
    found = corp_decomposition(p, y)
    assert found.miscalibration - found.discrimination + found.uncertainty == pytest.approx(brier_score(p, y))
    assert min(found.miscalibration, found.discrimination, found.uncertainty) >= -1e-12


def test_isotonic_values_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(2)
    p, y = np.round(rng.random(150), 2), rng.integers(0, 2, 150)
    oracle = IsotonicRegression(out_of_bounds="clip").fit(p, y)
    assert isotonic_points(p, y)[1] == pytest.approx(oracle.predict(np.unique(p)))


def test_the_log_loss_is_decomposed_alike() -> None:
    rng = np.random.default_rng(2)
    p = rng.random(150)
    y = rng.random(150) < p
    found = corp_decomposition(p, y, "log_loss")
    assert found.score == pytest.approx(log_loss(p, y))
    assert found.score == pytest.approx(found.miscalibration - found.discrimination + found.uncertainty)


def test_a_constant_confidence_does_not_discriminate() -> None:
    found = corp_decomposition(np.full(20, 0.75), [1, 0, 1, 1] * 5)
    assert found.discrimination == pytest.approx(0) and found.miscalibration == pytest.approx(0)


def test_without_answers_nothing_is_defined() -> None:
    assert np.isnan(corp_decomposition([], []).score)
