"""Correlation, error and leniency of continuous scores: against SciPy, by hand, and by simulation with known truth."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pytest
from scipy import stats

from harness.stats.agreement import score_errors
from harness.stats.agreement.continuous import (
    correlation_difference,
    joined_groups,
    mean_of_segments,
    score_correlation,
    segment_correlations,
)
from harness.stats.agreement.correlation import Correlation
from harness.stats.agreement.score_errors import error_to_test
from harness.stats.core.arrays import Floats, ShapeError
from harness.stats.core.functions_of_sums import left_out_interval

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def correlated(rng: np.random.Generator, groups: int, size: int, rho: float) -> tuple[Floats, Floats, Floats]:
    """Scores of people and judge that correlate by rho; half of the variance of each is shared within a text."""
    both = np.linalg.cholesky(np.array([[1, rho], [rho, 1]]))
    text, own = (rng.normal(size=(n, 2)) @ both.T for n in (groups, groups * size))
    group = np.repeat(np.arange(groups), size)
    x, y = (text[group] + own).T
    return x, y, group


@pytest.mark.parametrize("method", SCIPY)
def test_values_are_scipys_where_scores_are_missing(method: Correlation) -> None:
    rng = np.random.default_rng(0)
    x, y, group = correlated(rng, 12, 5, 0.4)
    x, y = np.round(x, 1), np.round(y)
    y[3] = x[7] = math.nan
    known = ~np.isnan(x + y)
    found = score_correlation(method, x, y, group)
    assert found.value == pytest.approx(SCIPY[method](x[known], y[known]).statistic, abs=1e-12) and found.n == 58
    assert found.interval.lo < found.value < found.interval.hi and found.interval.groups == 12


@pytest.mark.parametrize("method", SCIPY)
def test_undefined_without_items_variation_or_texts(method: Correlation) -> None:
    assert score_correlation(method, [math.nan], [1.0], [0]).reason == "no overlap"
    assert score_correlation(method, [1, 2, 3], [5, 5, 5], range(3)).reason == "constant raters"
    assert score_correlation(method, [1, 2, 3], [1, 3, 2], range(3)).interval.reason == "too few independent texts"
    perfect = score_correlation(method, range(20), range(20), range(20))
    assert perfect.value == pytest.approx(1) and perfect.interval.reason == "no variation between texts"
    with pytest.raises(ShapeError):
        score_correlation(method, [1, 2], [1], [0, 0])


@pytest.mark.slow
@pytest.mark.parametrize("method", SCIPY)
@pytest.mark.parametrize(("groups", "size"), [(25, 6), (120, 1)])
def test_intervals_cover_the_truth(method: Correlation, groups: int, size: int) -> None:
    """300 samples: 92 to 98 % of the intervals hold the true correlation (three standard errors about 95 %)."""
    rng, rho = np.random.default_rng(1), 0.4
    truth = {"pearson": rho, "spearman": 6 / math.pi * math.asin(rho / 2), "kendall": 2 / math.pi * math.asin(rho)}[method]
    hits = []
    for _ in range(300):
        interval = score_correlation(method, *correlated(rng, groups, size, rho)).interval
        hits.append(interval.lo <= truth <= interval.hi)
    assert 0.912 <= np.mean(hits) <= 0.985


def test_correlations_within_source_texts_are_scipys() -> None:
    rng = np.random.default_rng(2)
    x, y, segment = rng.integers(0, 6, 90), rng.integers(0, 6, 90), rng.integers(0, 15, 90)
    found = segment_correlations(x, y, segment)
    for method, values in (("pearson", found.pearson), ("spearman", found.spearman), ("kendall", found.kendall)):
        expected = [SCIPY[method](x[segment == s], y[segment == s]).statistic for s in found.segment]
        assert values == pytest.approx(expected, abs=1e-12), method


def test_source_texts_with_one_output_or_a_constant_judge_are_counted() -> None:
    found = segment_correlations([1, 2, 3, 4, 5, 5], [7, 7, 1, 2, 3, math.nan], [0, 0, 1, 1, 2, 2])
    assert found.constant.tolist() == [0] and found.single == 1 and found.kendall[1] == 1
    assert len(segment_correlations([], [], []).segment) == 0
    assert segment_correlations([1, 2], [1, 2], [-1, -1]).single == 0


def test_the_mean_over_source_texts_gives_each_the_same_weight() -> None:
    found = mean_of_segments([1.0, 0.0, math.nan], [0, 0, 0])
    assert (found.value, found.n) == (0.5, 2) and found.interval.reason == "too few independent texts"
    assert mean_of_segments([math.nan], [0]).reason == "no source text has two scored outputs that differ"


def test_source_texts_that_share_a_group_are_one_cluster() -> None:
    assert joined_groups([0, 0, 1, 1, 2], ["a", "b", "b", "c", "d"]).tolist() == [0, 0, 1]


ERRORS: tuple[Literal["absolute", "squared", "signed"], ...] = ("absolute", "squared", "signed")


def test_error_and_leniency_by_hand() -> None:
    people, judge, group = np.arange(20.0), np.arange(20.0) + np.tile([2.0, -1.0], 10), np.arange(20)
    absolute, squared, signed = score_errors.tested_errors(
        [error_to_test(kind, people, judge, group, 100, direction=-1) for kind in ERRORS]
    )
    assert (absolute.value, signed.value) == (1.5, -0.5) and squared.value == pytest.approx(math.sqrt(2.5))
    assert squared.interval.lo < squared.value < squared.interval.hi
    assert [found.reason for found in score_errors.tested_errors([error_to_test(kind, [], [], []) for kind in ERRORS])] == [
        "no overlap"
    ] * 3


def test_a_value_that_no_group_changes_has_no_interval() -> None:
    assert left_out_interval(np.full(20, 0.5)).reason == "no variation between texts"
    assert left_out_interval(np.r_[0.5, np.full(19, math.nan)]).reason == "undefined without some texts"


@pytest.mark.parametrize("method", SCIPY)
def test_a_difference_of_correlations_is_scipys_and_its_error_the_jackknifes(method: Correlation) -> None:
    """Value and, for Pearson and Kendall, the interval against SciPy's coefficients without each group."""
    rng = np.random.default_rng(4)
    x, group = rng.normal(size=120), np.repeat(np.arange(12), 10)
    first, second = x + rng.normal(size=120), x + 2 * rng.normal(size=120)
    second[:3] = np.nan
    kept = ~np.isnan(second)

    def apart(used: np.ndarray[Any, Any]) -> float:
        return float(SCIPY[method](x[used], first[used]).statistic - SCIPY[method](x[used], second[used]).statistic)

    found = correlation_difference(method, x, first, second, group)
    assert (found.value, found.n) == (pytest.approx(apart(kept)), 117)
    without = np.array([apart(kept & (group != g)) for g in range(12)])
    error = np.sqrt(11 / 12 * ((without - without.mean()) ** 2).sum())
    half = (found.interval.hi - found.interval.lo) / 2
    assert half == pytest.approx(stats.t.ppf(0.975, 11) * error, rel=0.25)  # degrees of freedom are at most 11
    assert (found.p < 0.05) == (found.interval.lo > 0 or found.interval.hi < 0)


def test_a_judge_does_not_differ_from_itself_and_an_undefined_one_has_a_reason() -> None:
    x, y, group = np.arange(20.0), np.arange(20.0) % 7, np.arange(20)
    same = correlation_difference("pearson", x, y, y, group)
    assert same.value == 0 and np.isnan(same.p) and same.interval.reason
    constant = correlation_difference("kendall", x, y, np.ones(20), group)
    assert np.isnan(constant.value) and constant.reason == "constant raters"
    assert correlation_difference("spearman", x, y, np.full(20, np.nan), group).reason == "no overlap"


def test_few_texts_often_enough_show_no_difference_where_there_is_none() -> None:
    """Two equally good judges on 20 documents of 6 items: the difference is shown in about 5 of 100 samples."""
    rng = np.random.default_rng(8)
    group, shown = np.repeat(np.arange(20), 6), 0
    for _ in range(200):
        truth = rng.normal(size=120) + np.repeat(rng.normal(size=20), 6)
        first, second = (truth + rng.normal(size=120) + np.repeat(rng.normal(size=20), 6) for _ in range(2))
        shown += correlation_difference("kendall", truth, first, second, group).p < 0.05
    assert 2 <= shown <= 18


def weighted_values(x: Floats, y: Floats, group: Any, weights: Floats | None = None) -> list[Any]:
    """Every statistic that takes weights: its value and its interval."""
    found = [score_correlation(method, x, y, group, weights) for method in ("pearson", "spearman", "kendall")]
    found += score_errors.tested_errors([error_to_test(kind, x, y, group, None, weights, -1) for kind in ERRORS])
    return [number for one in found for number in (one.value, one.interval.lo, one.interval.hi)]


@pytest.mark.parametrize("decimals", [0, 3], ids=["ties", "no ties"])
def test_whole_weights_are_repeated_texts(decimals: int) -> None:
    x, y, group = correlated(np.random.default_rng(7), 12, 4, 0.6)
    x, y = x.round(decimals), y.round(decimals)
    y[3] = math.nan
    times = np.arange(len(x)) % 3 + 1
    again = [np.repeat(values, times) for values in (x, y, group)]
    weighted, repeated = weighted_values(x, y, group, 5.0 * times), weighted_values(*again)
    assert weighted == pytest.approx(repeated) and weighted != pytest.approx(weighted_values(x, y, group))


def test_equal_weights_change_nothing() -> None:
    x, y, group = correlated(np.random.default_rng(8), 12, 4, 0.6)
    assert weighted_values(x, y, group, np.full(len(x), 3.0)) == pytest.approx(weighted_values(x, y, group))


@pytest.mark.parametrize("method", SCIPY)
def test_weights_describe_all_texts_that_were_drawn_from(method: Correlation) -> None:
    """Texts with high scores are drawn four times as often: weighted, the mean over samples is the truth; unweighted, it is not."""
    rng = np.random.default_rng(9)
    x, y, _ = correlated(rng, 400, 1, 0.7)
    y = np.where(x > 0.5, -y, y)
    truth = SCIPY[method](x, y)[0]
    probability = np.where(x > 0.5, 0.4, 0.1)
    samples = [np.flatnonzero(rng.random(400) < probability) for _ in range(150)]
    weighted = np.array([score_correlation(method, x[own], y[own], own, 1 / probability[own]).value for own in samples])
    plain = np.array([score_correlation(method, x[own], y[own], own).value for own in samples])
    error = weighted.std() / math.sqrt(len(weighted))
    assert abs(weighted.mean() - truth) < 4 * error < 0.05 < abs(plain.mean() - truth)


def test_weights_of_other_items_are_refused() -> None:
    with pytest.raises(ShapeError, match="weights"):
        error_to_test("absolute", [1, 2], [2, 1], [0, 1], None, [1.0])
