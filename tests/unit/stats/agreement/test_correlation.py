from __future__ import annotations

import math
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from harness.stats import count_classes, estimate, kendall_tau, pearson, spearman, tabulate
from harness.stats.agreement import correlation
from harness.stats.agreement.concordance import joined_groups
from harness.stats.agreement.correlation import (
    NAMES,
    Correlation,
    correlation_difference,
    correlation_with_humans,
    distance_of_judge,
    distance_of_people,
    error_to_test,
    mean_of_segments,
    median_without_group,
    score_correlation,
    segment_correlations,
)
from harness.stats.core.arrays import Floats, ShapeError
from harness.stats.core.statistic import left_out_interval
from harness.stats.intervals.noninferiority import gap_sums, guarded_p, matched_gap, pair_agreement

RNG = np.random.default_rng(15)


def oracle(x: np.ndarray, y: np.ndarray) -> list[float]:
    return [stats.kendalltau(x, y).statistic, stats.spearmanr(x, y).statistic, stats.pearsonr(x, y).statistic]


@pytest.mark.parametrize("levels", [2, 5, 1000])
def test_correlations_are_scipys(levels: int) -> None:
    x = RNG.integers(0, levels, 200) / 7
    y = x + RNG.integers(0, levels, 200)
    found = [f(x, y).value for f in (kendall_tau, spearman, pearson)]
    assert found == pytest.approx(oracle(x, y))


def test_large_tables_go_to_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = RNG.normal(size=50), RNG.normal(size=50)
    direct = kendall_tau(x, y)
    monkeypatch.setattr("harness.stats.agreement.correlation._TABLE", 10)
    assert kendall_tau(x, y) == pytest.approx(direct)


def test_many_cells_against_the_mean_of_the_annotators() -> None:
    values = np.array([1.0, 2.0, 4.0])
    labels, cell = RNG.integers(-1, 3, (400, 3)), RNG.integers(0, 3, 400)
    judge = np.where(RNG.random(400) < 0.6, labels.max(axis=1), RNG.integers(-1, 3, 400))
    rows = tabulate(count_classes(labels, 3), judge, cell=cell)
    found = estimate([correlation_with_humans(m, 3, values) for m in NAMES], rows)
    scores = np.where(labels < 0, np.nan, values[labels])
    used = ~np.isnan(scores).all(axis=1) & (judge >= 0)
    for c in range(3):
        here = used & (cell == c)
        expected = oracle(np.nanmean(scores[here], axis=1), values[judge[here]])
        assert [found[n].value[c] for n in NAMES.values()] == pytest.approx(expected)
        assert found["spearman"].n[c] == here.sum()


def test_undefined() -> None:
    for f in (kendall_tau, spearman, pearson):
        assert f([1, 1, 1], [1, 2, 3]).reason == "constant raters"
        assert f([math.nan], [1]) == pytest.approx((math.nan, 0, "no overlap"), nan_ok=True)
        with pytest.raises(ShapeError):
            f([1, 2], [1])
    rows = tabulate(count_classes([[0], [1], [1]], 2), [1, 1, 1])
    for e in estimate([correlation_with_humans(m, 2) for m in NAMES], rows).values():
        assert e[0].reason == "constant raters" and e[0].n == 3


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
    absolute, squared, signed = correlation.tested_errors([error_to_test(kind, people, judge, group, 100, direction=-1) for kind in ERRORS])
    assert (absolute.value, signed.value) == (1.5, -0.5) and squared.value == pytest.approx(math.sqrt(2.5))
    assert squared.interval.lo < squared.value < squared.interval.hi
    assert [found.reason for found in correlation.tested_errors([error_to_test(kind, [], [], []) for kind in ERRORS])] == ["no overlap"] * 3


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
    found += correlation.tested_errors([error_to_test(kind, x, y, group, None, weights, -1) for kind in ERRORS])
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


LABELS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 10)), max_size=20)


@given(LABELS)
def test_distances_of_people_are_those_of_all_pairs(labels: list[tuple[int, int]]) -> None:
    item, score = np.array(labels, np.int64).reshape(-1, 2).T
    found = distance_of_people(item, score, 5)
    for number in range(5):
        pairs = [abs(a - b) for a, b in combinations(score[item == number].tolist(), 2)]
        assert found[number] == pytest.approx(np.mean(pairs) if pairs else np.nan, nan_ok=True)


def test_with_few_scores_the_gap_is_that_of_weighted_agreement() -> None:
    """d = people's distance - the judge's is their weighted agreement the other way round."""
    rng = np.random.default_rng(0)
    labels, judge = rng.integers(0, 5, (40, 3)), rng.integers(0, 5, 40)
    weights = 1 - np.abs(np.subtract.outer(np.arange(5), np.arange(5))) / 4
    item = np.repeat(np.arange(40), 3)
    people, own = distance_of_people(item, labels.ravel(), 40), distance_of_judge(item, labels.ravel(), np.arange(40), judge)
    counts = count_classes(labels, 5)
    assert 1 - people / 4 == pytest.approx(pair_agreement(counts, weights))
    assert (people - own) / 4 == pytest.approx(matched_gap(counts, judge, weights))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=20))
def test_the_median_leaves_the_items_own_group_out(items: list[tuple[int, int]]) -> None:
    values, group = np.array(items, np.float64).T
    found = median_without_group(values, group)
    for number, own in enumerate(group):
        others = values[group != own]
        assert found[number] == pytest.approx(np.median(others) if len(others) else np.nan, nan_ok=True)


def test_arrays_of_different_length_are_refused() -> None:
    with pytest.raises(ShapeError):
        distance_of_people([0, 1], [1.0], 2)


def test_a_judge_that_is_worse_by_the_margin_is_seldom_shown_to_be_as_good() -> None:
    """The rule's test of the gap on distances: 400 samples of 40 texts, whose gap is the margin exactly; 5 % may pass, plus 3 errors."""
    rng, margin = np.random.default_rng(3), 0.1
    item, group = np.repeat(np.arange(120), 2), np.repeat(np.arange(40), 3)
    text = rng.normal(0, 0.03, (400, 40))
    passed = []
    for shared in text:
        people, judge = rng.normal(0.6, 0.08, (120, 2)), rng.normal(0.6, 0.08, 120) + rng.choice([-0.2, 0.2], 120)
        d = distance_of_people(item, people.ravel(), 120) - distance_of_judge(item, people.ravel(), np.arange(120), judge)
        d += shared[group] - _EXPECTED_GAP - margin
        passed.append(guarded_p(gap_sums(d, group), margin) <= 0.05)
    assert np.mean(passed) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def _expected_gap() -> float:
    """The mean gap of the simulated judge, from many items."""
    rng, n = np.random.default_rng(4), 400_000
    people, judge = rng.normal(0.6, 0.08, (n, 2)), rng.normal(0.6, 0.08, n) + rng.choice([-0.2, 0.2], n)
    return float((np.abs(people[:, 0] - people[:, 1]) - np.abs(people - judge[:, None]).mean(axis=1)).mean())


_EXPECTED_GAP = _expected_gap()
