"""Random-effects summaries against statsmodels, and at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.meta_analysis import combine_effects

from harness.stats.core.arrays import ShapeError
from harness.stats.estimation.shrinkage import meta_analysis

GAP, VARIANCE = [-0.05, 0.0, 0.1, 0.02, 0.07], [0.0004, 0.0009, 0.0016, 0.0009, 0.001]


def test_heterogeneous_estimates_are_as_in_statsmodels() -> None:
    found, oracle = meta_analysis(GAP, VARIANCE), combine_effects(np.array(GAP), np.array(VARIANCE), method_re="iterated")
    assert (found.tau2, found.mean, found.se_hksj) == pytest.approx((oracle.tau2, oracle.mean_effect_re, math.sqrt(oracle.var_hksj_re)))
    assert (found.q, found.i2) == pytest.approx((oracle.q, oracle.i2))


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0.001, 0.1)), min_size=2, max_size=9))
def test_nothing_is_negative_and_the_prediction_is_wider(languages: list[tuple[float, float]]) -> None:
    gap, variance = zip(*languages, strict=True)
    found = meta_analysis(gap, variance)
    assert found.tau2 >= 0 and 0 <= found.i2 < 1 and found.weights.sum() == pytest.approx(1)
    assert min(gap) - 1e-9 <= found.mean <= max(gap) + 1e-9
    if found.k > 2:
        assert found.prediction[1] - found.prediction[0] >= 2 * found.se


def test_the_interval_of_the_variance_is_that_of_metafor() -> None:
    """The trials of the BCG vaccine (Colditz et al. 1994): `confint` of metafor's REML fit prints tau² .1197 to 1.1115 (Q-profile)."""
    treated = [(4, 119), (6, 300), (3, 228), (62, 13536), (33, 5036), (180, 1361), (8, 2537), (505, 87886), (29, 7470), (17, 1699)]
    treated += [(186, 50448), (5, 2493), (27, 16886)]
    others = [(11, 128), (29, 274), (11, 209), (248, 12619), (47, 5761), (372, 1079), (10, 619), (499, 87892), (45, 7232), (65, 1600)]
    others += [(141, 27197), (3, 2338), (29, 17825)]
    a, b = np.array(treated, float).T
    c, d = np.array(others, float).T
    found = meta_analysis(np.log(a / (a + b) / (c / (c + d))), 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d))
    assert found.tau2_interval == pytest.approx((0.1197, 1.1115), abs=5e-5)
    assert found.tau2_interval[0] < found.tau2 < found.tau2_interval[1]


def test_few_estimates() -> None:
    one = meta_analysis([0.1, math.nan], [0.01, 0.01])
    assert one.k == 1 and math.isnan(one.mean) and one.reason
    two = meta_analysis([0.1, 0.2], [0.01, 0.01])
    assert two.mean == pytest.approx(0.15) and math.isnan(two.prediction[0])
    assert meta_analysis([], []).reason == "fewer than two estimates"


def test_missing_languages_keep_their_place() -> None:
    found = meta_analysis([*GAP[:2], math.nan, *GAP[2:]], [*VARIANCE[:2], 0.1, *VARIANCE[2:]])
    whole = meta_analysis(GAP, VARIANCE)
    assert found.mean == pytest.approx(whole.mean) and math.isnan(found.weights[2]) and len(found.weights) == 6


def test_equal_estimates_have_no_heterogeneity() -> None:
    found = meta_analysis([0.1] * 4, VARIANCE[:4])
    assert found.tau2 == 0 and found.i2 == 0 and found.q == pytest.approx(0, abs=1e-12) and found.se > 0
    assert found.tau2_interval == (0, 0), "closer together than chance brings them"


def test_input_is_checked() -> None:
    with pytest.raises(ValueError, match="above 0"):
        meta_analysis([0.1, 0.2], [0.0, 0.1])
    with pytest.raises(ShapeError):
        meta_analysis([0.1, 0.2], [0.1])


@pytest.mark.parametrize("seed", range(20))
def test_the_variance_between_languages_is_as_in_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    variance = rng.uniform(0.0002, 0.01, 9)
    estimate = rng.normal(0, 0.15, 9) + rng.normal(0, np.sqrt(variance))
    found = meta_analysis(estimate, variance)
    assert found.tau2 == pytest.approx(combine_effects(estimate, variance, method_re="iterated").tau2, rel=1e-4)
    w = 1 / (variance + found.tau2)
    assert w @ (estimate - found.mean) ** 2 == pytest.approx(8)
