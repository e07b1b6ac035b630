"""Statistics of conditions: item credits, entropy, superiority, slopes, Page's trend and rank correlation within strata."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau
from scipy.stats import t as student_t

from harness import stats
from harness.stats import bootstrap_from_sums, entropy_bits, item_credits, page_falling, slope, superiority, tau_within
from harness.stats.agreement.agreement import alpha_of_judge, share_of_hits, share_of_pairs
from harness.stats.core.groups import degrees_of_freedom

LABELS = np.array([[0, 0, 1], [1, 1, 2], [2, 2, 2], [0, 1, 2], [1, -1, -1]])
JUDGE = np.array([0, 2, -1, 1, 1])


@pytest.mark.parametrize(
    ("statistic", "whole"),
    [
        (share_of_hits(), stats.pa(JUDGE, LABELS, 3)),
        (share_of_hits(failed_wrong=True), stats.pa_failed_wrong(JUDGE, LABELS, 3)),
        (share_of_pairs("judge", 0), stats.pa_pairwise(JUDGE, LABELS, 3)),
    ],
    ids=["pa", "pa_failed_wrong", "pa_pairwise"],
)
def test_credits_have_the_statistic_as_their_mean(statistic: stats.Statistic, whole: stats.Estimate) -> None:
    credits = item_credits(statistic, stats.count_classes(LABELS, 3), JUDGE)
    assert np.nanmean(credits) == pytest.approx(whole.value) and (~np.isnan(credits)).sum() == whole.n


def test_a_coefficient_has_no_credits() -> None:
    with pytest.raises(ValueError, match="not a mean over items"):
        item_credits(alpha_of_judge("nominal"), stats.count_classes(LABELS, 3), JUDGE)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6))
def test_entropy_lies_between_one_answer_and_all_different(counts: list[int]) -> None:
    bits = float(entropy_bits(counts))
    if not sum(counts):
        assert math.isnan(bits)
    else:
        assert 0 <= bits <= math.log2(len(counts)) + 1e-12 and (bits == 0) == (max(counts) == sum(counts))
        assert bits == pytest.approx(float(entropy_bits(counts[::-1])))


def test_negative_counts_have_no_entropy() -> None:
    with pytest.raises(ValueError, match="not negative"):
        entropy_bits([1, -1])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
@settings(max_examples=40)
def test_superiority_of_one_is_the_inferiority_of_the_other(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs, float).T
    one, other = superiority(a, b, range(len(a))), superiority(b, a, range(len(a)))
    assert one.value + other.value == pytest.approx(1)
    assert one.value == pytest.approx(np.mean([(x > y) + (x == y) / 2 for x, y in pairs]))
    if one.interval.reason is None:
        assert one.interval.lo <= one.value <= one.interval.hi


def test_what_differs_by_rounding_is_equal() -> None:
    assert superiority([0.1 + 0.2], [0.3], [0]).value == 0.5


def test_superiority_of_nothing_is_undefined() -> None:
    found = superiority([math.nan], [1.0], [0])
    assert math.isnan(found.value) and (found.n, found.reason) == (0, "no overlap")


def test_superiority_respects_groups() -> None:
    """Ten items of one text are one text."""
    first, second = np.tile([1.0, 0.0], 40), np.zeros(80)
    alone = superiority(first, second, np.arange(80)).interval
    shared = superiority(np.repeat(first[:8], 10), np.zeros(80), np.repeat(np.arange(8), 10)).interval
    assert shared.hi - shared.lo > 2 * (alone.hi - alone.lo)


def test_a_slope_is_least_squares() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.uniform(0, 1, 60), rng.normal(0, 1, 60)
    found = slope(x, y, np.arange(60))
    assert found.value == pytest.approx(np.polyfit(x, y, 1)[0])
    assert (found.p < 0.05) == (found.interval.lo > 0 or found.interval.hi < 0)


def test_a_slope_of_one_condition_is_undefined() -> None:
    found = slope([1.0, 1.0], [0, 1], [0, 1])
    assert math.isnan(found.value) and found.reason == "one condition only"


def test_few_texts_have_no_interval() -> None:
    found = slope([0, 1] * 7, [0, 1] * 7, np.repeat(np.arange(7), 2))
    assert found.value == 1 and math.isnan(found.p) and found.interval.reason == "too few independent texts"


def test_where_all_texts_say_the_same_there_is_neither_interval_nor_p() -> None:
    found = slope([0, 1] * 10, [0, 1] * 10, np.repeat(np.arange(10), 2))
    assert math.isnan(found.p) and found.interval.reason == "no variation between texts"


def test_names_of_groups_do_not_matter() -> None:
    rng = np.random.default_rng(1)
    features, groups = rng.normal(1, 1, (40, 2)), np.repeat(np.arange(10), 4)
    ratio = lambda sums: sums[..., 0] / sums[..., 1]  # noqa: E731
    one, other = bootstrap_from_sums(features, ratio, groups), bootstrap_from_sums(features, ratio, 99 - groups)
    assert (one.interval.lo, one.p) == pytest.approx((other.interval.lo, other.p))


@pytest.mark.slow
def test_intervals_of_slopes_hold_the_truth() -> None:
    """30 texts of 3 items at 4 temperatures; a true slope of -0.2, texts unlike each other."""
    rng = np.random.default_rng(2)
    heat, groups = np.tile([0, 0.3, 0.7, 1.0], 90), np.repeat(np.arange(30), 12)
    held = 0
    for _ in range(500):
        level = np.repeat(np.clip(rng.normal(0.7, 0.1, 30), 0.4, 1), 12)
        hits = rng.random(360) < level - 0.2 * heat
        interval = slope(heat, hits, groups, resamples=300).interval
        held += interval.lo <= -0.2 <= interval.hi
    assert 0.92 <= held / 500 <= 0.98


def test_page_is_scipys_with_the_order_turned() -> None:
    from scipy.stats import page_trend_test

    table = np.random.default_rng(3).normal(0, 1, (12, 4)) - np.arange(4)
    expected = page_trend_test(-table)
    found = page_falling(table)
    assert (found.statistic, found.p, found.blocks) == pytest.approx((expected.statistic, expected.pvalue, 12))


def test_page_is_one_sided() -> None:
    table = np.tile([1.0, 2.0, 3.0], (10, 1))
    assert page_falling(table).p > 0.99 and page_falling(table[:, ::-1]).p < 0.001


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (np.zeros((10, 2)), "fewer than three conditions"),
        (np.zeros((7, 3)), "too few independent texts"),
        (np.ones((20, 3)), "no variation between texts"),
    ],
    ids=["two columns", "seven rows", "constant"],
)
def test_page_is_undefined_with_a_reason(table: np.ndarray, reason: str) -> None:
    found = page_falling(table)
    assert math.isnan(found.p) and found.reason == reason


@pytest.mark.slow
def test_page_errs_on_the_safe_side_with_ties() -> None:
    """Hits are 0 or 1, so ranks tie: a true hypothesis is rejected in no more than 5 %."""
    rng = np.random.default_rng(4)
    rejected = [page_falling((rng.random((30, 4)) < 0.7).astype(float)).p < 0.05 for _ in range(1000)]
    assert np.mean(rejected) <= 0.065


def brute_tau(x: np.ndarray, y: np.ndarray) -> float:
    signs = [(np.sign(x[i] - x[j]), np.sign(y[i] - y[j])) for i, j in combinations(range(len(x)), 2)]
    a, b = np.array(signs).T
    return float((a * b).sum() / np.sqrt((a != 0).sum() * (b != 0).sum()))


def test_tau_within_one_stratum_is_tau() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 9, 40), rng.integers(0, 3, 40)
    found = tau_within(x, y, np.zeros(40), np.arange(40))
    assert found.value == pytest.approx(stats.kendall_tau(x, y).value) and found.n == 40


def test_strata_are_averaged_by_their_items() -> None:
    rng = np.random.default_rng(6)
    x, y, strata = rng.integers(0, 9, 60), rng.integers(0, 3, 60), np.repeat([0, 1], [20, 40])
    both = [brute_tau(x[strata == s], y[strata == s]) for s in (0, 1)]
    assert tau_within(x, y, strata, np.arange(60)).value == pytest.approx((20 * both[0] + 40 * both[1]) / 60)


def test_the_interval_of_tau_is_that_of_leaving_one_group_out() -> None:
    rng = np.random.default_rng(7)
    x, y, group = rng.integers(0, 9, 90).astype(float), rng.integers(0, 3, 90).astype(float), np.repeat(np.arange(15), 6)
    tau = tau_within(x, y, np.zeros(90), group)
    without = np.array([kendalltau(x[group != left_out], y[group != left_out]).statistic for left_out in range(15)])
    error = math.sqrt(14 / 15 * ((without - without.mean()) ** 2).sum())
    reach = student_t.ppf(0.975, degrees_of_freedom(without - without.mean(), np.ones(15))) * error
    assert (tau.interval.lo, tau.interval.hi) == pytest.approx((tau.value - reach, tau.value + reach))


def test_strata_without_an_order_do_not_count() -> None:
    """In the second stratum all scores are the same."""
    found = tau_within([1, 2, 3, 4, 5], [1, 2, 3, 0, 0], [0, 0, 0, 1, 1], range(5))
    assert (found.value, found.n) == (1.0, 3)
    nothing = tau_within([1, 2], [0, 0], [0, 0], range(2))
    assert math.isnan(nothing.value) and nothing.reason == "constant scores"
    assert tau_within([math.nan], [1.0], [0], [0]).reason == "no overlap"


@pytest.mark.slow
def test_intervals_of_tau_hold_the_truth() -> None:
    """Independent x and y within strata, 25 texts of 8: the truth is 0."""
    rng = np.random.default_rng(8)
    groups, held = np.repeat(np.arange(25), 8), 0
    for _ in range(300):
        x, y, strata = rng.integers(20, 300, 200), rng.integers(0, 3, 200), rng.integers(0, 3, 200)
        interval = tau_within(x, y, strata, groups).interval
        held += interval.lo <= 0 <= interval.hi
    assert 0.92 <= held / 300 <= 0.98
