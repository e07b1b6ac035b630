"""Variance components and reliabilities: the printed example of Shrout & Fleiss, gaps, and the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.stats.agreement.generalizability import (
    Components,
    mean_squares,
    mixed_components,
    one_way_components,
    reliability,
    two_way_components,
)
from harness.stats.core.arrays import ShapeError

SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def test_the_printed_coefficients() -> None:
    two, one = reliability(two_way_components(SHROUT_FLEISS), [1, 4]), reliability(one_way_components(SHROUT_FLEISS), [1, 4])
    assert [round(x, 2) for each in two for x in (each.absolute, each.relative)] == [0.29, 0.71, 0.62, 0.91]
    assert [round(each.absolute, 2) for each in one] == [0.17, 0.44] and one[0].absolute == one[0].relative


def test_negative_components_are_cut_and_named() -> None:
    found = two_way_components([[0, 1], [1, 0]])
    assert found.item == 0 and found.cut == ("item", "annotator") and reliability(found, 2)[0].relative == 0
    assert one_way_components([[0, 1], [1, 0]]).cut == ("item",)


def test_without_variance_there_is_no_reliability() -> None:
    found = two_way_components(np.ones((4, 3)))
    assert found == Components(0.0, 0.0, 0.0) and math.isnan(reliability(found, 1)[0].absolute)


def test_components_of_a_known_world() -> None:
    rng = np.random.default_rng(3)
    scores = rng.normal(0, 1, (400, 1)) + rng.normal(0, 0.5, (1, 40)) + rng.normal(0, 0.8, (400, 40))
    found = two_way_components(scores)
    assert (found.item, found.annotator, found.residual) == pytest.approx((1, 0.25, 0.64), rel=0.35)


def test_gaps() -> None:
    scores = np.random.default_rng(5).normal(size=(25, 1)) + np.random.default_rng(6).normal(size=(25, 4)) + [0, 1, 2, 4]
    whole, balanced = mixed_components(scores), two_way_components(scores)
    assert (whole.item, whole.annotator, whole.residual) == pytest.approx((balanced.item, balanced.annotator, balanced.residual), rel=0.01)
    scores[:8, 0] = scores[20:, 3] = np.nan
    some = mixed_components(scores)
    assert some.reason is None and (some.item, some.residual) == pytest.approx((whole.item, whole.residual), rel=0.6)
    assert mixed_components([[1, np.nan], [np.nan, 2]]).reason == "too few scores"
    with pytest.raises(ValueError, match="without gaps"):
        mean_squares(scores)


@pytest.mark.parametrize("seed", range(4))
def test_gaps_are_as_in_statsmodels(seed: int) -> None:
    from pandas import DataFrame
    from statsmodels.regression.mixed_linear_model import MixedLM

    rng = np.random.default_rng(seed)
    scores = 3 + rng.normal(0, 1, (30, 1)) + rng.normal(0, 0.6, (1, 5)) + rng.normal(0, 0.7, (30, 5))
    scores[rng.random((30, 5)) < 0.35] = np.nan
    item, rater = np.nonzero(~np.isnan(scores))
    frame = DataFrame({"score": scores[item, rater], "item": item, "rater": rater, "one": 1})
    parts = {"item": "0+C(item)", "rater": "0+C(rater)"}
    oracle = MixedLM.from_formula("score ~ 1", groups="one", vc_formula=parts, data=frame).fit(reml=True)
    theirs = dict(zip(oracle.model.exog_vc.names, oracle.vcomp, strict=True))
    found = mixed_components(scores)
    assert (found.item, found.annotator, found.residual) == pytest.approx((theirs["item"], theirs["rater"], oracle.scale), rel=2e-3)


def test_scores_without_variance_have_no_components() -> None:
    assert mixed_components([[1, 1, np.nan], [1, np.nan, 1], [1, 1, 1]]).reason == "constant values"


def test_a_component_at_the_boundary_is_named() -> None:
    scores = np.random.default_rng(5).normal(size=(20, 1)) + np.tile([[0.5, -0.5], [-0.5, 0.5]], (10, 2)) * 0.4
    found = mixed_components(scores)
    assert found.annotator == pytest.approx(0, abs=1e-4) or found.reason


def test_input_is_checked() -> None:
    for scores in ([1, 2], [[1, 2]], [[1], [2]]):
        with pytest.raises(ShapeError):
            mean_squares(scores)
    with pytest.raises(ShapeError):
        mixed_components([1.0, 2.0])
