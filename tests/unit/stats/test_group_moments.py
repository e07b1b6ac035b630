"""The tests of a mean over groups from sums of groups are those of `hall_mean` and of statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from harness.stats.group_moments import cluster_t_p_values, group_features, group_moments, guarded_p_values
from harness.stats.groups import group_sums
from harness.stats.skewness import hall_mean

RNG = np.random.default_rng(8)


@pytest.mark.parametrize("size", [1, 6])
@pytest.mark.parametrize("margin", [0.05, 0.1])
def test_the_guarded_test_is_that_of_hall_mean(size: int, margin: float) -> None:
    for _ in range(20):
        d, groups = RNG.choice([-1, -1 / 3, 0, 1 / 3], 90, p=[0.08, 0.1, 0.6, 0.22]), RNG.integers(0, 90 // size, 90)
        sums = group_sums(d, groups)
        hall = hall_mean(sums.y, sums.size, sums.times, guard=-1.0, weight=1.0, floor=margin * (1 - margin), leverage=False)
        expected = hall._replace(freedom=hall.groups - 1).p_above(-margin)
        assert guarded_p_values(group_moments(group_features(sums.y, sums.size), sums.times), margin) == pytest.approx(expected, rel=1e-9)


def test_the_cluster_t_test_is_that_of_statsmodels() -> None:
    b, groups = RNG.choice([-1.0, 0.0, 1.0], 80), RNG.integers(0, 25, 80)
    fitted = sm.OLS(b, np.ones(80)).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    sums = group_sums(b, groups)
    p = float(cluster_t_p_values(group_moments(group_features(sums.y, sums.size), sums.times)))
    assert p == pytest.approx(fitted.pvalues[0] / 2 if fitted.params[0] > 0 else 1 - fitted.pvalues[0] / 2)


def test_many_resamples_at_once_are_those_of_each() -> None:
    features, draws = group_features([1.0, -2.0, 0.5], [2.0, 3.0, 1.0]), RNG.multinomial(40, [0.5, 0.2, 0.3], 6)
    together = group_moments(features, draws)
    for row, times in enumerate(draws):
        alone = group_moments(features, times)
        assert guarded_p_values(together, 0.1)[row] == pytest.approx(float(guarded_p_values(alone, 0.1)))
        assert cluster_t_p_values(together)[row] == pytest.approx(float(cluster_t_p_values(alone)))


def test_groups_without_items_do_not_count() -> None:
    some = group_moments(group_features([1.0, 0.0, -1.0], [1, 0, 1]), [5, 9, 3])
    assert some.groups == 8 and some.mean == pytest.approx(0.25)


def test_where_nothing_varies() -> None:
    same = group_moments(group_features([0.1 * 3], [3]), [10])
    assert cluster_t_p_values(same) == 0.0 and cluster_t_p_values(same, 0.2) == 1.0
    nobody = group_moments(group_features([0.0], [0]), [4])
    assert guarded_p_values(nobody, 0.1) == 1.0 and cluster_t_p_values(nobody) == 1.0
    one = group_moments(group_features([2.0], [4]), [1])
    assert cluster_t_p_values(one) == 1.0
