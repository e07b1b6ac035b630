"""Scores standardised within annotator, and the share of variance between the levels of a factor."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.formula.api import ols

from harness.stats.agreement.severity import SingleScoreError, eta_squared, standardised
from harness.stats.core.arrays import ShapeError


def test_every_annotator_has_mean_0_and_standard_deviation_1() -> None:
    rng = np.random.default_rng(0)
    who = rng.integers(0, 4, 200)
    found = standardised(rng.normal(size=200) * (who + 1) + 10 * who, who)
    for one in range(4):
        assert found[who == one].mean() == pytest.approx(0, abs=1e-12) and found[who == one].std(ddof=1) == pytest.approx(1)


def test_one_score_an_annotator_is_refused_and_a_constant_annotator_is_0() -> None:
    with pytest.raises(SingleScoreError, match="annotator b has a single score") as caught:
        standardised([1, 2, 3], ["a", "a", "b"])
    assert caught.value.annotator == "b"
    assert standardised([5, 5, 5], ["a", "a", "a"]).tolist() == [0, 0, 0]
    assert len(standardised([], [])) == 0
    with pytest.raises(ShapeError):
        standardised([1, 2], ["a"])


def test_eta_squared_is_r_squared_of_the_factor() -> None:
    import pandas as pd

    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"score": rng.normal(size=60), "who": rng.choice(list("abc"), 60)})
    assert eta_squared(frame["score"], frame["who"]).value == pytest.approx(ols("score ~ who", frame).fit().rsquared)


def test_eta_squared_is_undefined_without_variance() -> None:
    assert eta_squared([2, 2], ["a", "b"]).reason == "all scores are equal"
    assert eta_squared([], []).reason == "no label"
    with pytest.raises(ShapeError):
        eta_squared([1], ["a", "b"])
