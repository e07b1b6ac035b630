"""Agreement rates of languages: coefficients, errors and tests in closed form.

One judge over languages: against statsmodels, and at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats
from statsmodels.stats.contingency_tables import cochrans_q
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from harness.stats.core.arrays import ShapeError
from harness.stats.intervals.cluster_mean import cluster_mean
from harness.stats.intervals.regression import OrdinalRows, logistic
from harness.stats.language_differences import (
    DifferentialFunctioning,
    _Alike,
    cluster_score_test,
    compare_rates,
    differential_functioning,
    parallel_consistency,
)

RNG = np.random.default_rng(4)
HIT = (RNG.random(240) < np.repeat([0.8, 0.7, 0.6], 80)) * 1
LANGUAGE = np.repeat([0, 1, 2], 80)
GROUPS = np.arange(240) // 4


def test_coefficients_are_differences_of_logits_with_cluster_errors() -> None:
    found = compare_rates(HIT, LANGUAGE, GROUPS, 3)
    share = np.array([HIT[each == LANGUAGE].mean() for each in range(3)])
    logits = np.log(share / (1 - share))
    assert found.share == pytest.approx(share)
    assert found.coefficients == pytest.approx(np.r_[logits[0], logits[1:] - logits[0]], abs=1e-6)
    # the plain sandwich has no G / (G - 1)
    errors = [cluster_mean(HIT[each == LANGUAGE], GROUPS[each == LANGUAGE]).error * math.sqrt(19 / 20) for each in range(3)]
    errors = np.array(errors) / (share * (1 - share))
    assert found.robust_se == pytest.approx(np.sqrt(np.r_[errors[0] ** 2, errors[1:] ** 2 + errors[0] ** 2]), rel=1e-4)
    assert found.p == pytest.approx(stats.chi2.sf(found.chi2, 2)) and found.p_f > found.p
    assert found.groups.tolist() == [20, 20, 20] and found.few_groups


def test_the_order_of_the_items_does_not_matter() -> None:
    order = RNG.permutation(240)
    assert compare_rates(HIT[order], LANGUAGE[order], GROUPS[order], 3).chi2 == pytest.approx(compare_rates(HIT, LANGUAGE, GROUPS, 3).chi2)


def test_parallel_items_share_a_group() -> None:
    """A text that is hard in both languages does not make them different."""
    hard = np.tile(RNG.random(100) < 0.5, 2) * 1
    hard[:3] = 1 - hard[:3]
    together = compare_rates(hard, np.repeat([0, 1], 100), np.tile(np.arange(100), 2), 2)
    apart = compare_rates(hard, np.repeat([0, 1], 100), np.arange(200), 2)
    assert together.robust_se[1] < 0.3 * apart.robust_se[1]


def test_few_groups_keep_the_level_by_f() -> None:
    rng, rejected = np.random.default_rng(2), 0
    for _ in range(120):
        right = np.repeat(rng.beta(7, 3, 24), 5)
        rejected += compare_rates(rng.random(120) < right, np.repeat([0, 1, 2], 40), np.arange(120) // 5, 3).p_f < 0.05
    assert rejected <= 18


def test_texts_that_are_right_in_every_language_leave_no_variation() -> None:
    found = compare_rates([1, 0, 1] * 12, np.repeat([0, 1, 2], 12), np.tile(np.arange(12), 3), 3)
    assert np.isnan(found.p) and found.reason == "no variation between texts"


def test_undefined() -> None:
    assert compare_rates([1, 1, 0, 1], [0, 0, 1, 1], range(4), 2).reason == "a language agrees always or never"
    assert compare_rates([1, 0], [0, 0], range(2), 2).reason == "a language has no items"
    assert compare_rates([1, 0, 1, 0], [0, 0, 1, 1], [0, 0, 1, 1], 2).reason == "too few independent texts"
    missing = compare_rates([1, 0, math.nan, 1, 0], [0, 0, 0, 1, 1], range(5), 2)
    assert missing.n.tolist() == [2, 2] and missing.chi2 == pytest.approx(0, abs=1e-9)
    with pytest.raises(ValueError, match="hits of 0 and 1"):
        compare_rates([2, 0], [0, 1], range(2), 2)
    with pytest.raises(ShapeError):
        compare_rates([1, 0], [0], range(2), 2)


def false_alarms(languages: int, texts: int, times: int) -> tuple[float, float]:
    """Share of sets in which languages with the same texts and the same chance to be right differ: by the Wald test, by the score test."""
    rng, found = np.random.default_rng(1), []
    for _ in range(times):
        right = np.tile(rng.beta(2.4, 0.6, texts), languages)
        where, group = np.repeat(np.arange(languages), texts), np.tile(np.arange(texts), languages)
        one = compare_rates(rng.random(len(right)) < right, where, group, languages)
        found.append((one.p, one.p_groups))
    p = np.array(found)
    return float((p[~np.isnan(p[:, 0]), 0] < 0.05).mean()), float((p[:, 1] < 0.05).mean())


@pytest.mark.slow
@pytest.mark.parametrize("texts", [20, 40, 60])
def test_nine_languages_on_the_same_texts_keep_the_level_by_groups(texts: int) -> None:
    before, after = false_alarms(9, texts, 600)
    assert before > 0.08 and after <= 0.065


def test_the_same_texts_are_tested_within_texts_too() -> None:
    """p by groups is never below that of Cochran's Q, and equals it where hits are nearly all right."""
    rng = np.random.default_rng(6)
    where, group = np.tile(np.arange(9), 40), np.repeat(np.arange(40), 9)
    tables = [(rng.random((40, 9)) < share) * 1 for share in (0.5, 0.85, 0.95) for _ in range(10)]
    pairs = [(compare_rates(hit.ravel(), where, group, 9).p_groups, cochrans_q(hit).pvalue) for hit in tables]
    assert all(p >= q - 1e-9 for p, q in pairs) and any(p == pytest.approx(q) for p, q in pairs[20:])


def test_a_group_within_one_language_leaves_the_score_test_alone() -> None:
    """Nothing can be exchanged within such a group, so that the texts in common would say little of all groups."""
    rng = np.random.default_rng(6)
    where, group = np.tile(np.arange(9), 40), np.repeat(np.arange(40), 9)
    for _ in range(50):
        hit = (rng.random((40, 9)) < 0.95) * 1
        by_exchange = cochrans_q(hit).pvalue
        if compare_rates(hit.ravel(), where, group, 9).p_groups == pytest.approx(by_exchange):
            assert compare_rates(np.r_[hit.ravel(), 1], np.r_[where, 0], np.r_[group, 40], 9).p_groups < by_exchange
            return
    raise AssertionError("no table in which the exchange decides")


def test_a_difference_on_the_same_texts_is_shown() -> None:
    rng = np.random.default_rng(0)
    where, group = np.repeat(np.arange(4), 60), np.tile(np.arange(60), 4)
    hit = rng.random(240) < np.array([0.9, 0.9, 0.9, 0.5])[where]
    assert compare_rates(hit, where, group, 4).p_groups < 1e-4


def test_a_language_that_is_always_right_has_a_score_test() -> None:
    found = compare_rates(np.r_[np.ones(30), np.arange(30) % 2], np.repeat([0, 1], 30), np.arange(60), 2)
    assert np.isnan(found.p) and found.reason == "a language agrees always or never" and found.p_groups < 0.01


SCORES = np.random.default_rng(9).integers(0, 3, (40, 4))


def test_kappas_are_those_of_statsmodels() -> None:
    found, table = parallel_consistency(SCORES, 3), aggregate_raters(SCORES)[0]
    assert found.fleiss.value == pytest.approx(fleiss_kappa(table))
    assert found.randolph == pytest.approx(fleiss_kappa(table, method="randolph"))
    off = found.pairwise[~np.eye(4, dtype=bool)]
    assert found.agreement == pytest.approx(off.mean()) and (found.pairwise == found.pairwise.T).all()
    assert found.shares == pytest.approx([np.mean(score == SCORES) for score in range(3)])


def test_a_constant_judge_is_consistent_without_a_kappa() -> None:
    found = parallel_consistency(np.ones((10, 3)), 3)
    assert np.isnan(found.fleiss.value) and found.fleiss.reason and found.agreement == 1 and found.randolph == 1


def test_gaps() -> None:
    scores = SCORES.copy()
    scores[:, 3] = -1
    found = parallel_consistency(scores, 3)
    assert found.agreement == pytest.approx(parallel_consistency(SCORES[:, :3], 3).agreement)
    assert np.isnan(found.pairwise[3]).all()


def test_without_pairs_nothing_is_defined() -> None:
    for scores in (np.empty((0, 3)), [[0, -1], [-1, 1]]):
        found = parallel_consistency(scores, 2)
        assert np.isnan(found.agreement) and np.isnan(found.randolph) and np.isnan(found.fleiss.value)


def world(kinder: float, seed: int, n: int = 300, steeper: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    language, quality = np.arange(n) % 3, rng.normal(0, 1.2, n)
    line = quality * (1.5 + steeper * (language == 2)) + kinder * (language == 2)
    judge = (line[:, None] + rng.logistic(size=n)[:, None] > np.array([-2.0, -0.7, 0.7, 2.0])).sum(axis=1)
    return judge, quality, language


def test_uniform_dif_is_found_and_its_shift() -> None:
    judge, human, language = world(1.0, 0)
    found = differential_functioning(judge, human, language, 3, 5)
    assert found.uniform is not None and found.non_uniform is not None and found.language is not None
    assert found.uniform.p < 1e-3 and found.non_uniform.p > 0.01
    assert found.language.coefficients[2] == pytest.approx(1.0, abs=4 * found.language.se[2])
    assert 0.2 < found.shift[2] < 1.0 and abs(found.shift[1]) < 0.3 and found.shift[0] == 0


def test_non_uniform_dif_is_found() -> None:
    found = differential_functioning(*world(0.0, 1, 600, steeper=2.0), 3, 5)
    assert found.non_uniform is not None and found.non_uniform.p < 1e-3


@pytest.mark.slow
def test_without_dif_the_level_is_kept() -> None:
    p = [test.uniform.p for seed in range(40) if (test := differential_functioning(*world(0.0, seed, 150), 3, 5)).uniform]
    assert np.mean(np.array(p) < 0.05) <= 0.15 and np.mean(np.array(p) < 0.5) == pytest.approx(0.5, abs=0.25)


def test_the_likelihood_is_at_its_maximum() -> None:
    judge, human, language = world(0.5, 3, 120)

    def minus(theta: np.ndarray) -> float:
        cuts = np.r_[-np.inf, np.cumsum(np.r_[theta[1], np.exp(theta[2:])]), np.inf]
        below = np.where(np.isinf(cuts), np.sign(cuts) * 0.5 + 0.5, logistic(np.nan_to_num(cuts) - theta[0] * human[:, None]))
        return -float(np.log(below[np.arange(120), judge + 1] - below[np.arange(120), judge]).sum())

    best = optimize.minimize(minus, np.r_[1.0, -2.0, 0.0, 0.0, 0.0]).fun
    found = differential_functioning(judge, human, language, 3, 5)
    assert found.human is not None and found.human.loglik == pytest.approx(-best, abs=1e-4)


def test_groups_widen_the_errors() -> None:
    judge, human, language = (np.repeat(each, 4) for each in world(0.5, 5, 120))
    plain = differential_functioning(judge, human, language, 3, 5)
    grouped = differential_functioning(judge, human, language, 3, 5, groups=np.repeat(np.arange(120), 4))
    assert plain.language is not None and grouped.language is not None
    assert (grouped.language.se > 1.6 * plain.language.se).all()
    assert grouped.language.coefficients == pytest.approx(plain.language.coefficients)


def test_points_of_the_scale() -> None:
    judge, human, language = world(1.0, 0)
    one, ten = (differential_functioning(judge, human, language, 3, 5, values=np.arange(5) * step) for step in (1, 10))
    assert ten.shift == pytest.approx(10 * one.shift)


def reasons(found: DifferentialFunctioning) -> str | None:
    assert found.uniform is None and np.isnan(found.shift).all()
    return found.reason


def test_undefined_of_differential_functioning() -> None:
    judge, human, language = world(1.0, 0, 90)
    assert reasons(differential_functioning(np.where(language == 1, 2, judge), human, language, 3, 5)) == "constant values in a language"
    assert reasons(differential_functioning(judge, human, language * 2, 5, 5)) == "a language has no items"
    assert reasons(differential_functioning(np.full(90, -1), human, language, 3, 5)) == "a language has no items"
    assert reasons(differential_functioning((human > 0) * 1, human, language, 3, 2)) is not None  # people separate the judge's classes
    with pytest.raises(ShapeError):
        differential_functioning(judge, human[1:], language, 3, 5)
    with pytest.raises(ValueError, match="two or more"):
        differential_functioning(judge, human, language, 2, 5)


@pytest.mark.parametrize("seed", range(10))
def test_where_people_separate_some_classes_there_is_no_fit_on_any_processor(seed: int) -> None:
    rng = np.random.default_rng(seed)
    language, human = np.arange(42) % 3, rng.integers(0, 2, 42) * 2.0
    judge = np.where(human == 0, 0, rng.integers(1, 3, 42))
    assert reasons(differential_functioning(judge, human, language, 3, 3)) is not None


def test_missing_scores_are_left_out() -> None:
    judge, human, language = world(1.0, 0)
    judge[:5], human = -1, human.copy()
    human[5:8] = np.nan
    found = differential_functioning(judge, human, language, 3, 5)
    kept = differential_functioning(judge[8:], human[8:], language[8:], 3, 5)
    assert found.n == 292 and found.uniform == kept.uniform


def false_alarms_by_language(languages: int, groups: int, times: int) -> tuple[float, float]:
    """Share of sets without DIF, of groups of five items with a shift in common, in which some is found: items or groups as units."""
    rng, found = np.random.default_rng(1), []
    for _ in range(times):
        group = np.repeat(np.arange(groups), 5)
        human, shift = rng.normal(0, 1.2, len(group)), np.repeat(rng.normal(0, 1, groups), 5)
        line = human * 1.5 + shift + rng.logistic(size=len(group))
        judge = (line[:, None] > np.array([-2.0, -0.7, 0.7, 2.0])).sum(axis=1)
        one = differential_functioning(judge, human, group % languages, languages, 5, groups=group).uniform
        if one:
            found.append((one.p, one.p_groups))
    before, after = (np.array(found) < 0.05).mean(axis=0)
    return float(before), float(after)


@pytest.mark.slow
@pytest.mark.parametrize("languages", [2, 3])
def test_groups_are_the_units_of_a_test(languages: int) -> None:
    before, after = false_alarms_by_language(languages, 20, 500)
    assert before > 0.12 and after <= 0.075


def test_a_group_that_decides_the_other_parameters_counts_for_more() -> None:
    """With large and small groups the plain score test by groups is too easy: its p is the smaller one."""
    rng, group = np.random.default_rng(2), np.repeat(np.arange(40), np.r_[np.full(36, 3), np.full(4, 40)])
    human, language = rng.normal(0, 1.2, len(group)), group % 2
    line = human * 1.5 + rng.normal(0, 1, 40)[group] + rng.logistic(size=len(group))
    judge = (line[:, None] > np.array([-2.0, -0.7, 0.7, 2.0])).sum(axis=1)
    alike = _Alike.of(judge, human, language, group)
    first = alike.fit(0, 2, None)
    assert first is not None
    second = alike.fit(1, 2, first)
    assert second is not None
    derivatives = second.rows.derivatives(first.at_start_of(second.rows))
    assert derivatives is not None
    tested = np.arange(len(derivatives.gradient)) == 1
    leverage = alike._leverage(second.rows, derivatives, tested)
    assert (leverage >= 0).all() and leverage[-4:].min() > 3 * leverage[:36].max()
    groups, squares = alike._by_groups(derivatives.scores)
    plain = cluster_score_test(squares, derivatives.gradient, derivatives.information, tested, groups).p
    assert plain < alike.p_by_groups(first, second) < plain + 0.2


def test_many_items_and_languages_are_fitted_at_once() -> None:
    rng = np.random.default_rng(0)
    where, human = np.tile(np.arange(30), 2000), rng.integers(0, 7, 60_000) / 3
    judge = np.clip(np.round(human + rng.normal(0, 0.6, 60_000)), 0, 2)
    found = differential_functioning(judge, human, where, 30, 3)
    assert found.reason is None and found.uniform is not None and found.uniform.df == 29


def test_the_derivatives_are_those_of_the_likelihood() -> None:
    rng = np.random.default_rng(1)
    rows = OrdinalRows.of(rng.normal(size=(40, 2)), rng.permutation(np.arange(40) % 4), rng.integers(1, 4, 40) * 1.0)
    at = np.array([0.3, -0.4, -1.0, 0.1, 1.2])
    here, step = rows.derivatives(at), 1e-6
    assert here is not None and rows.derivatives(at[[0, 1, 4, 3, 2]]) is None
    for place in range(5):
        moved = [rows.derivatives(at + sign * step * (np.arange(5) == place)) for sign in (1, -1)]
        (up, down) = moved
        assert up and down and (up.loglik - down.loglik) / 2 / step == pytest.approx(here.gradient[place], abs=1e-5)
        assert -(up.gradient - down.gradient) / 2 / step == pytest.approx(here.information[place], abs=1e-5)
