"""The plain cluster variance, against statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.core.arrays import ShapeError
from harness.stats.core.groups import ClusterVariance
from harness.stats.intervals.cluster_mean import SampleOfGroups, cluster_mean, cluster_mean_each


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 3)), min_size=4, max_size=40))
def test_equals_ols_on_a_constant(rows: list[tuple[int, int]]) -> None:
    groups, values = np.array(rows).T
    found = cluster_mean(values, groups, variance="cr1")
    assert found.groups == len(set(groups)) and found.n == len(rows)
    if found.groups > 1 and found.error > 0:
        fit = sm.OLS(values.astype(float), np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": groups})
        assert found.mean == pytest.approx(fit.params[0]) and found.error == pytest.approx(fit.bse[0], rel=1e-9)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 3), st.sampled_from([0.5, 1.0, 4.0])), min_size=4, max_size=40))
def test_weighted_equals_wls_on_a_constant(rows: list[tuple[int, int, float]]) -> None:
    groups, values, weights = np.array(rows).T
    found = cluster_mean(values, groups, weights, variance="cr1")
    if found.groups > 1 and found.error > 0:
        fit = sm.WLS(values, np.ones(len(values)), weights).fit(cov_type="cluster", cov_kwds={"groups": groups.astype(int)})
        assert found.mean == pytest.approx(fit.params[0]) and found.error == pytest.approx(fit.bse[0], rel=1e-9)


def test_single_items_have_the_usual_error() -> None:
    values = [1.0, 4.0, 2.0, 2.5]
    assert cluster_mean(values).error == pytest.approx(np.std(values, ddof=1) / 2)


def test_edges() -> None:
    assert math.isnan(cluster_mean([]).mean)
    assert math.isnan(cluster_mean([1, 0, 1], [7, 7, 7]).error)
    assert cluster_mean([0.1] * 30).error == 0
    assert cluster_mean([0.1, 0.3] * 30, np.repeat(np.arange(30), 2)).error == 0  # items vary, groups do not
    with pytest.raises(ShapeError):
        cluster_mean([1, 0, 1], [1, 2])
    with pytest.raises(ShapeError):
        cluster_mean([[1, 0]])


@pytest.mark.parametrize("variance", ["cr2", "cr1"])
def test_a_mean_does_not_depend_on_those_made_at_once(variance: ClusterVariance) -> None:
    rng = np.random.default_rng(0)
    samples = [SampleOfGroups([])]
    for _ in range(200):
        values = rng.integers(-1, 2, rng.integers(1, 12)) / 3
        groups = [None, rng.integers(0, 4, len(values)), np.arange(len(values)) // 2][rng.integers(3)]
        samples.append(SampleOfGroups(values, groups, [None, rng.uniform(1, 3, len(values))][rng.integers(2)]))
    alone = [cluster_mean(*sample, variance=variance) for sample in samples]
    assert repr(cluster_mean_each(samples, variance=variance)) == repr(alone)
