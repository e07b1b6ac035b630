"""DIF: what it finds where there is some, and where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize
from scipy.sparse import csr_array

from harness.stats.core.arrays import ShapeError
from harness.stats.intervals.regression import OrdinalRows, logistic
from harness.stats.languages.agreement_by_language import cluster_score_test
from harness.stats.languages.differential_functioning import DifferentialFunctioning, _Alike, differential_functioning


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


def test_undefined() -> None:
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


def false_alarms(languages: int, groups: int, times: int) -> tuple[float, float]:
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
    before, after = false_alarms(languages, 20, 500)
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
    rows = OrdinalRows.of(csr_array(rng.normal(size=(40, 2))), rng.permutation(np.arange(40) % 4), rng.integers(1, 4, 40) * 1.0)
    at = np.array([0.3, -0.4, -1.0, 0.1, 1.2])
    here, step = rows.derivatives(at), 1e-6
    assert here is not None and rows.derivatives(at[[0, 1, 4, 3, 2]]) is None
    for place in range(5):
        moved = [rows.derivatives(at + sign * step * (np.arange(5) == place)) for sign in (1, -1)]
        (up, down) = moved
        assert up and down and (up.loglik - down.loglik) / 2 / step == pytest.approx(here.gradient[place], abs=1e-5)
        assert -(up.gradient - down.gradient) / 2 / step == pytest.approx(here.information[place], abs=1e-5)
