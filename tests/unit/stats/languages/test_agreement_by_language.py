"""Agreement rates of languages: coefficients, errors and tests in closed form.

One judge over languages: against statsmodels, and at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import cochrans_q
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from harness.stats.core.arrays import ShapeError
from harness.stats.intervals.cluster_mean import cluster_mean
from harness.stats.languages.agreement_by_language import compare_rates, parallel_consistency

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
