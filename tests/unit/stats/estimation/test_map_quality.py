"""Maps recover what made the labels, show falling languages, and show no gain where scores carry nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize

from harness.stats.core.arrays import ShapeError
from harness.stats.estimation.map_quality import (
    brier_losses,
    brier_parts,
    gap_best_worst,
    least_groups,
    mean_calibration_error,
    rank_for_this_draw,
    threshold_by_group,
    threshold_by_size,
    threshold_one_per_group,
)
from harness.stats.estimation.score_maps import LabelledScores, _Fit, fit_nominal_map, fit_number_map, fit_ordinal_map, isotonic_points


def _labels(rng: np.random.Generator, slopes: list[float], n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    language = np.repeat(np.arange(len(slopes)), n)
    x = rng.normal(size=len(language))
    noise = rng.logistic(size=len(language))
    return x, np.digitize(np.asarray(slopes)[language] * x + noise, [-1.0, 1.0]), language


def _scores(x: np.ndarray, y: np.ndarray, language: np.ndarray) -> LabelledScores:
    return LabelledScores.of(x, np.eye(3)[y], language)


def test_the_gradient_and_the_curvature_are_those_of_the_loss() -> None:
    x, y, language = _labels(np.random.default_rng(1), [1.0, 0.5], 30)
    fit = _Fit(_scores(x, y, language).table()[0], True)
    design, penalty, kept = fit._design(0.7, 0.3)
    at = np.r_[fit.cuts, np.random.default_rng(2).normal(size=len(kept)) * 0.3]
    split = len(fit.cuts)

    def gradient(t: np.ndarray) -> np.ndarray:
        return fit._derivatives(t[:split], t[split:], design, penalty)[0]

    assert optimize.check_grad(lambda t: fit._loss(t[:split], t[split:], design, penalty), gradient, at) < 1e-4
    hessian = fit._derivatives(at[:split], at[split:], design, penalty)[1]
    numeric = np.array([(gradient(at + step) - gradient(at - step)) / 2e-5 for step in np.eye(len(at)) * 1e-5])
    assert hessian == pytest.approx(numeric, abs=1e-4)


def test_a_covariate_is_told_apart_from_the_score() -> None:
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=(2, 2000))
    y = np.digitize(x - 0.8 * z + rng.logistic(size=2000), [-1.0, 1.0])
    found = fit_ordinal_map(LabelledScores.of(x, np.eye(3)[y], np.zeros(2000), covariates=z))
    assert [found.slope, *found.further] == pytest.approx([1.0, -0.8], abs=0.15)


def test_a_falling_language_is_named_and_a_rising_one_recovered() -> None:
    x, y, language = _labels(np.random.default_rng(3), [1.5, 1.5, -1.0], 400)
    found = fit_ordinal_map(_scores(x, y, language))
    assert found.falls() == [2]
    assert (found.slope + found.slopes)[:2] == pytest.approx([1.5, 1.5], abs=0.4)


def test_separated_labels_and_missing_classes_give_finite_probabilities() -> None:
    found = fit_ordinal_map(LabelledScores.of([0, 0, 1, 1], np.eye(4)[[1, 1, 2, 2]], [0] * 4))
    p = found.probabilities([0.0, 1.0], 0)
    assert np.isfinite(p).all() and p.sum(axis=1) == pytest.approx([1, 1])
    assert p.argmax(axis=1).tolist() == [1, 2]


def test_tables_of_alike_languages_lean_on_each_other() -> None:
    rng = np.random.default_rng(6)
    language, answer = np.repeat(np.arange(8), 20), rng.integers(0, 3, 160)
    alike = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    counts = np.array([rng.multinomial(1, alike[a]) for a in answer])
    found = fit_nominal_map(answer, counts, language, languages=8, answers=3)
    own = fit_nominal_map(answer[:20], counts[:20], language[:20], languages=1, answers=3)
    assert found.weight > 10
    assert np.abs(found.tables[0] - alike).max() < np.abs(own.tables[0] - alike).max()
    assert found.tables.sum(axis=2) == pytest.approx(np.ones((9, 3)))


def test_shifts_of_numbers_shrink_and_a_falling_language_is_named() -> None:
    rng = np.random.default_rng(7)
    language, x = np.repeat(np.arange(3), 200), rng.uniform(0, 100, 600)
    y = np.where(language == 2, 60 - 0.2 * x, 10 + 0.5 * x + 5 * language) + rng.normal(size=600)
    assert fit_number_map(x, y, language, 3).falls() == [2]
    two = language < 2
    found = fit_number_map(x[two], y[two], language[two], 2)
    assert found.predict([50, 50], [0, 1]) == pytest.approx([35, 40], abs=0.5)
    rising = fit_number_map(x[two], y[two], language[two], 2, "isotonic")
    assert (np.diff(rising.predict(np.linspace(0, 100, 50), 0)) >= -1e-12).all()


def test_the_calibration_error_is_near_zero_of_calibrated_scores_and_its_interval_covers() -> None:
    rng, covered, found = np.random.default_rng(8), 0, []
    for _ in range(200):
        group = np.repeat(np.arange(40), 3)
        x = rng.uniform(1, 3, 120)
        y = x + 0.3 + rng.normal(scale=0.5, size=40)[group] + rng.normal(scale=0.5, size=120)
        error = mean_calibration_error(x, y, group)
        assert error.ci
        covered += error.ci[0] <= 0.3 <= error.ci[1]
        found.append(error.squared)
    assert covered >= 185 and np.mean(found) == pytest.approx(0.09, abs=0.015)


def test_parts_add_up_to_the_score() -> None:
    rng = np.random.default_rng(4)
    p, y = rng.dirichlet(np.ones(3), 80), rng.integers(0, 3, (80, 3)) + np.array([0, 0, 1])
    parts = brier_parts(p, y)
    whole = parts["miscalibration"] - parts["discrimination"] + parts["uncertainty"]
    assert whole == pytest.approx(brier_losses(p, y).mean(), abs=1e-9)
    single = np.eye(3)[rng.integers(0, 3, 80)]
    fitted = np.column_stack([np.interp(p[:, at], *isotonic_points(p[:, at], single[:, at])) for at in range(3)])
    gained = ((single - single.mean(axis=0)) ** 2 - (single - fitted) ** 2).mean(axis=0).sum()
    assert brier_parts(p, single)["discrimination"] == pytest.approx(gained, abs=1e-9)


def test_bad_input_is_refused_with_the_reason() -> None:
    with pytest.raises(ValueError, match="needs labels"):
        LabelledScores.of([1.0], [[0, 0]], [0])
    with pytest.raises(ShapeError, match="same texts"):
        LabelledScores.of([1.0], [[0, 1]], [0, 0])
    with pytest.raises(ValueError, match="standard error"):
        gap_best_worst([0.5, 0.6], [0.1, 0.0])


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.2])
def test_the_least_number_of_groups_is_where_a_threshold_becomes_finite(alpha: float) -> None:
    least = least_groups(alpha)
    for groups in (least - 1, least):
        found = [threshold_by_group(np.arange(groups), np.arange(groups), alpha), threshold_one_per_group(np.arange(groups), alpha)]
        assert [math.isfinite(one) for one in found] == [groups == least] * 2


def test_a_share_of_misses_outside_its_range_is_refused() -> None:
    for alpha in (0.0, 1.0, -0.1):
        with pytest.raises(ValueError, match="between 0 and 1"):
            least_groups(alpha)


@pytest.mark.slow
@pytest.mark.parametrize("groups", [30, 100, 500])
def test_coverage_of_a_random_text_of_a_new_group(groups: int) -> None:
    """Unequal groups, larger ones harder, scores with ties: at least 89.5 % at 90 %."""
    rng = np.random.default_rng(groups)
    hits = []
    for _ in range(3000):
        sizes = rng.geometric(0.4, groups + 1)
        code = np.repeat(np.arange(groups + 1), sizes)
        scores = np.round(np.abs(rng.normal(size=groups + 1)[code] + rng.normal(size=len(code))) * np.sqrt(sizes)[code], 1)
        seen = code < groups
        hits.append(np.mean(scores[~seen] <= threshold_by_group(scores[seen], code[seen], 0.1)))
    assert np.mean(hits) >= 0.895


@pytest.mark.slow
def test_this_draw_is_held_with_the_confidence_that_was_asked() -> None:
    rng, rank = np.random.default_rng(3), rank_for_this_draw(60, 0.1)
    covered = [threshold_one_per_group(rng.random(60), 0.1, rank=rank) for _ in range(4000)]
    assert np.mean(np.array(covered) >= 0.9) >= 0.94


def test_by_size_is_never_narrower_for_a_larger_new_group() -> None:
    scores, groups = np.arange(40.0), np.repeat(np.arange(20), 2)
    found = [threshold_by_size(scores, groups, 0.1, size=m) for m in (1, 2, 3, 10)]
    assert found == sorted(found) and math.isinf(found[-1])
