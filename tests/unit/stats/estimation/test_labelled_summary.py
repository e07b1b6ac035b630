"""Correction from a summary of the labels: equal to prediction-powered inference where both apply, and valid under unequal weights."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats import ShapeError, prediction_powered_mean
from harness.stats.estimation.labelled_summary import correct_with_summary, prediction_powered_weighted, summarise_labelled
from harness.stats.estimation.prediction_powered import share_interval
from harness.stats.intervals.cluster_mean import cluster_mean

NAN = math.nan


def made(seed: int, items: int = 120, of_group: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, scores and groups that are related."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(items // of_group), of_group)
    truth = rng.normal(size=items // of_group)[groups] + rng.normal(size=items)
    return np.round(truth + 2), np.round(truth + 2.4 + 0.6 * rng.normal(size=items)), groups


SIZES = {
    "single": [1] * 90,
    "equal": [3] * 40,
    "one large": [60, *[3] * 40],
    "geometric": [round(size) for size in np.geomspace(1, 25, 40)],
}


@pytest.mark.parametrize("share", [False, True], ids=["mean", "share"])
@pytest.mark.parametrize("groups", SIZES.values(), ids=SIZES.keys())
@pytest.mark.parametrize("seed", range(4))
def test_it_is_prediction_powered_inference_on_whole_groups(seed: int, groups: list[int], share: bool) -> None:
    """Labelled groups are drawn, so that labelled and new ones have different sizes; the lam is chosen."""
    rng = np.random.default_rng(seed)
    index = np.repeat(np.arange(len(groups)), groups)
    labelled = (rng.permutation(len(groups)) < 22 + 5 * seed)[index]
    truth = rng.normal(size=len(groups))[index] + rng.normal(size=len(index))
    y, f = np.round(truth + 2), np.round(truth + 2.4 + 0.6 * rng.normal(size=len(index)))
    if share:
        y, f = (y > 2) * 1.0, (f > 2) * 1.0
    short = correct_with_summary(summarise_labelled(y[labelled], f[labelled], index[labelled]), f[~labelled], index[~labelled], share=share)
    whole = prediction_powered_mean(np.where(labelled, y, NAN), f, index)
    for name in ("lam", "value", "error", "freedom", "effective_n"):
        assert getattr(short, name) == pytest.approx(getattr(whole, name), rel=1e-9, abs=1e-9), name
    interval, groups_seen = whole.interval, whole.interval.groups
    if share:
        interval = share_interval(whole.value, whole.error, whole.freedom, groups_seen, len(y), 0.95)
    assert (short.interval.lo, short.interval.hi) == pytest.approx((interval.lo, interval.hi), rel=1e-9, abs=1e-9)


def test_variances_are_those_of_cluster_means() -> None:
    y, f, groups = made(2)
    found = summarise_labelled(y, f, groups)
    assert math.sqrt(found.variance_label) == pytest.approx(cluster_mean(y, groups).error)
    assert math.sqrt(found.variance_judge) == pytest.approx(cluster_mean(f, groups).error)
    equal = summarise_labelled(y, f, groups, weights=np.full(len(y), 7.0))
    assert equal.covariance == pytest.approx(found.covariance) and equal.groups == found.groups == 40


@given(st.integers(0, 10_000), st.floats(-3, 3))
def test_a_shift_of_the_judge_changes_nothing(seed: int, shift: float) -> None:
    y, f, groups = made(seed, 30)
    labelled = groups < 5
    one, other = (
        correct_with_summary(summarise_labelled(y[labelled], f[labelled] + by, groups[labelled]), f[~labelled] + by, groups[~labelled])
        for by in (0.0, shift)
    )
    assert one.value == pytest.approx(other.value, abs=1e-8) and one.error == pytest.approx(other.error, abs=1e-8)


def test_a_constant_judge_leaves_the_labels_alone() -> None:
    found = correct_with_summary(summarise_labelled([0.0, 1.0, 1.0], [2.0, 2.0, 2.0]), [2.0] * 10)
    assert (found.lam, found.effective_n) == (0.0, 3.0) and found.value == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("labels", "new", "reason"),
    [([1.0], [1.0, 2.0], "fewer than two independent labels"), ([1.0, 2.0], [1.0], "fewer than two independent scores")],
)
def test_too_few_is_undefined_with_its_reason(labels: list[float], new: list[float], reason: str) -> None:
    found = correct_with_summary(summarise_labelled(labels, labels), new)
    assert found.reason == reason and math.isnan(found.value) and math.isnan(found.interval.lo) and found.interval.reason


def test_no_items_are_no_means() -> None:
    found = summarise_labelled([], [])
    assert (found.n, found.groups) == (0, 0) and math.isnan(found.mean_label)


def test_a_share_stays_between_0_and_1() -> None:
    labels, scores = [0.0] * 39 + [1.0], [0.0] * 38 + [1.0] * 2
    found = correct_with_summary(summarise_labelled(labels, scores), [0.0] * 95 + [1.0] * 5, share=True)
    assert 0 <= found.interval.lo < found.value < found.interval.hi <= 1


def test_gaps_wrong_weights_and_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="no gaps"):
        summarise_labelled([1.0, NAN], [1.0, 2.0])
    with pytest.raises(ValueError, match="no gaps"):
        correct_with_summary(summarise_labelled([1.0, 2.0], [1.0, 2.0]), [NAN, 1.0])
    with pytest.raises(ValueError, match="above 0"):
        summarise_labelled([1.0, 2.0], [1.0, 2.0], weights=[1.0, 0.0])
    with pytest.raises(ShapeError):
        summarise_labelled([1.0], [1.0, 2.0])
    with pytest.raises(ShapeError):
        prediction_powered_weighted([1.0, 2.0], [1.0, 2.0], [1.0])


@pytest.mark.parametrize("of_group", [1, 3])
def test_equal_weights_are_nearly_the_unweighted_estimate(of_group: int) -> None:
    y, f, groups = made(3, 900, of_group)
    labelled = np.random.default_rng(0).random(900) < 0.3
    shown = np.where(labelled, y, NAN)
    weighted = prediction_powered_weighted(shown, f, np.full(900, 3.0), groups)
    plain = prediction_powered_mean(shown, f, groups)
    assert weighted.value == pytest.approx(plain.value, abs=1e-12)
    assert weighted.lam == pytest.approx(plain.lam, abs=1e-12) and weighted.error == pytest.approx(plain.error, rel=0.02)


def test_weights_undo_a_biased_choice_of_labels() -> None:
    """Texts with a high score are labelled five times as often: 93 to 97 of 100 weighted intervals hold the truth, few plain ones do."""
    rng, held, plain = np.random.default_rng(7), 0, 0
    for _ in range(300):
        f = rng.integers(0, 3, 600).astype(float)
        y = f + rng.normal(0.3, 1, 600)
        chance = np.where(f == 2, 0.5, 0.1)
        shown = np.where(rng.random(600) < chance, y, NAN)
        found = prediction_powered_weighted(shown, f, 1 / chance)
        held += found.interval.lo <= 1.3 <= found.interval.hi
        alone = prediction_powered_mean(shown, f, lam=0.0)
        plain += alone.interval.lo <= 1.3 <= alone.interval.hi
    assert 0.91 <= held / 300 <= 0.98 and plain / 300 < 0.5


def test_without_unlabelled_items_the_labels_stand_alone() -> None:
    found = prediction_powered_weighted([0.0, 1.0, 1.0], [0.0, 1.0, 0.0], [1.0, 1.0, 2.0])
    assert (found.value, found.lam, found.gain) == (0.75, 0.0, 1.0)
    assert prediction_powered_weighted([NAN], [1.0], [1.0]).reason == "fewer than two independent labels"
