"""Prediction-powered inference: identities, edges, and its coverage by simulation with known truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from harness.stats.core.arrays import Floats, Ints, ShapeError
from harness.stats.estimation.prediction_powered import (
    PredictionPowered,
    PredictionPoweredShares,
    combine_estimates,
    correct_with_summary,
    enough_labels,
    prediction_powered_class_shares,
    prediction_powered_mean,
    prediction_powered_weighted,
    share_interval,
    summarise_labelled,
)
from harness.stats.intervals.cluster_mean import cluster_mean
from harness.stats.intervals.intervals import Interval

NAN = math.nan


def interval_of_share(found: PredictionPowered) -> Interval:
    return share_interval(found.value, found.error, found.freedom, found.interval.groups, found.n + found.unlabelled, 0.95)


def shares_of_codes(labels: Ints, judged: Ints, k: int) -> PredictionPoweredShares:
    return prediction_powered_class_shares(
        *(np.where(codes[:, None] < 0, NAN, codes[:, None] == np.arange(k)) for codes in (labels, judged))
    )


def drawn(seed: int, n: int = 40, unlabelled: int = 200, rho: float = 0.7) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    f = rng.normal(size=n + unlabelled)
    y = rho * f + math.sqrt(1 - rho**2) * rng.normal(size=n + unlabelled)
    y[n:] = NAN
    return y, f


def test_labels_alone_are_students_t() -> None:
    y, f = drawn(1)
    found = prediction_powered_mean(y, f, lam=0.0)
    labels = y[~np.isnan(y)]
    t = scipy_stats.t.interval(0.95, len(labels) - 1, labels.mean(), labels.std(ddof=1) / math.sqrt(len(labels)))
    assert (found.interval.lo, found.interval.hi) == pytest.approx(t) and found.gain == 1 and found.effective_n == 40
    assert found.value == found.alone and found.error == found.alone_error and found.labels_saved == 0


def test_plain_inference_measures_the_judges_error() -> None:
    y, f = drawn(2)
    known = ~np.isnan(y)
    assert prediction_powered_mean(y, f, lam=1.0).value == pytest.approx(f[~known].mean() + (y[known] - f[known]).mean())


@given(st.integers(0, 50), st.floats(0.1, 5.0), st.floats(-3.0, 3.0))
def test_the_judges_scale_does_not_matter(seed: int, slope: float, shift: float) -> None:
    """Scores on a wider scale than the labels: lam shrinks with the scale, unless it is cut."""
    y, f = drawn(seed)
    one, other = prediction_powered_mean(y, f / 10), prediction_powered_mean(y, f * slope + shift)
    again = prediction_powered_mean(y, f * slope)
    assert other.value == pytest.approx(again.value) and other.error == pytest.approx(again.error)
    assert one.lam == 1.0 or one.lam == pytest.approx(10 * prediction_powered_mean(y, f).lam)


@given(st.integers(0, 30))
def test_order_and_single_groups_do_not_matter(seed: int) -> None:
    y, f = drawn(seed)
    order = np.random.default_rng(seed).permutation(len(y))
    found, shuffled = prediction_powered_mean(y, f), prediction_powered_mean(y[order], f[order], np.arange(len(y)))
    assert shuffled.value == pytest.approx(found.value) and shuffled.error == pytest.approx(found.error)
    assert shuffled.freedom == found.freedom == 39


def test_a_constant_judge_says_nothing() -> None:
    y, _ = drawn(3)
    found = prediction_powered_mean(y, np.full(len(y), 0.1))
    assert found.lam == 0 and found.gain == 1 and math.isnan(found.rho) and found.judge_only == pytest.approx(0.1)


def test_a_judge_that_is_wrong_the_other_way_is_not_used() -> None:
    y, f = drawn(4)
    found = prediction_powered_mean(y, -f)
    assert found.lam == 0 and found.rho < 0 and found.effective_n == found.n


def test_failures_have_a_fixed_value() -> None:
    y, f = drawn(5)
    f[::7] = NAN
    filled = np.where(np.isnan(f), np.nanmean(f), f)
    assert prediction_powered_mean(y, f) == prediction_powered_mean(y, filled)
    assert prediction_powered_mean(y, np.full(len(y), NAN)).gain == 1


def test_too_few_labels() -> None:
    none = prediction_powered_mean([NAN, NAN], [1, 2])
    assert math.isnan(none.value) and math.isnan(none.error) and none.reason and math.isnan(none.interval.lo) and none.judge_only == 1.5
    one = prediction_powered_mean([3, NAN], [1, 2])
    assert one.value == 3 and math.isnan(one.error) and math.isnan(one.gain) and one.reason == one.interval.reason
    empty = prediction_powered_mean([], [])
    assert math.isnan(empty.value) and math.isnan(empty.judge_only) and empty.n == 0
    grouped = prediction_powered_mean([1, 2, 1, NAN], [1, 2, 1, 2], groups=[0, 0, 0, 1])
    assert math.isnan(grouped.error) and grouped.reason
    shares = shares_of_codes(np.array([0, -1]), np.array([0, 1]), 2)
    assert np.isnan(shares.error).all() and shares.reason and math.isnan(shares.gain)


def test_equal_labels_have_no_t_interval_but_a_share_has_one() -> None:
    y, f = np.r_[np.ones(40), np.full(100, NAN)], np.ones(140)
    assert prediction_powered_mean(y, f).interval.reason == "constant values"
    share = interval_of_share(prediction_powered_mean(y, f))
    assert 0.85 < share.lo < 0.95 and share.hi == 1


def test_without_unlabelled_items_it_is_labels_alone() -> None:
    found = prediction_powered_mean([1, 2, 3, 4], [1, 2, 3, 4])
    assert found.lam == 0 and found.value == 2.5 and found.unlabelled == 0


def test_shapes_and_ranges() -> None:
    with pytest.raises(ShapeError):
        prediction_powered_mean([1, 2], [1])
    with pytest.raises(ShapeError):
        prediction_powered_mean([1, 2], [1, 2], groups=[1])
    with pytest.raises(ShapeError):
        prediction_powered_class_shares([[0.0, 1.0]], [[0.0], [1.0]])
    with pytest.raises(ShapeError):
        combine_estimates([], [])


@given(st.integers(0, 40), st.integers(2, 5))
def test_shares_sum_to_one(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    labels, judged = rng.integers(0, k, 150), rng.integers(-1, k, 150)
    judged = np.where(rng.random(150) < 0.6, labels, judged)
    labels[40:] = -1
    found = shares_of_codes(labels, judged, k)
    assert found.value.sum() == pytest.approx(1)
    assert all(0 <= one.lo <= one.hi <= 1 for one in found.intervals) and found.gain > 0


def test_two_classes_are_one_share() -> None:
    rng = np.random.default_rng(6)
    labels = rng.integers(0, 2, 200)
    judged = np.where(rng.random(200) < 0.8, labels, 1 - labels)
    labels[50:] = -1
    both, one = shares_of_codes(labels, judged, 2), prediction_powered_mean(np.where(labels < 0, NAN, labels), judged)
    interval = interval_of_share(one)
    assert both.lam == pytest.approx(one.lam) and both.gain == pytest.approx(one.gain)
    assert both.value[1] == pytest.approx(one.value) and both.error[1] == pytest.approx(one.error)
    assert (both.intervals[1].lo, both.intervals[1].hi) == pytest.approx((interval.lo, interval.hi))


def test_groups_that_are_split_and_groups_that_are_not() -> None:
    """Whole groups: two cluster variances. Split groups that all share one shift: labelled and unlabelled items move together."""
    y, f = drawn(7, n=60, unlabelled=60)
    whole = np.r_[np.repeat(np.arange(6), 10), np.repeat(np.arange(6, 16), 6)]
    assert prediction_powered_mean(y, f, whole).freedom == 5 and prediction_powered_mean(y, f, whole).interval.groups == 6
    split = np.r_[np.repeat(np.arange(12), 5), np.repeat(np.arange(12), 5)]
    assert prediction_powered_mean(y, f, split).freedom == 11


def test_strata_and_systems() -> None:
    parts = [prediction_powered_mean(*drawn(seed)) for seed in (8, 9)]
    same = combine_estimates([parts[0], parts[0]], [0.5, 0.5])
    assert same.value == pytest.approx(parts[0].value) and same.error == pytest.approx(parts[0].error / math.sqrt(2))
    assert same.freedom == pytest.approx(78) and same.gain == pytest.approx(parts[0].gain)
    apart = combine_estimates(parts, [1, -1])
    assert apart.value == pytest.approx(parts[0].value - parts[1].value)
    assert apart.error == pytest.approx(math.hypot(parts[0].error, parts[1].error))
    undefined = combine_estimates([parts[0], prediction_powered_mean([1, NAN], [1, 2])], [1, -1])
    assert math.isnan(undefined.error) and undefined.reason and math.isnan(undefined.interval.lo)


def test_the_rule_of_small_samples() -> None:
    assert enough_labels(30, 20) and not enough_labels(30, 19) and not enough_labels(29, 29)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "rho", "coverage", "gain"), [(15, 0.5, 0.942, 1.19), (60, 0.5, 0.95, 1.28), (60, 0.0, 0.945, 1.0)])
def test_coverage_of_a_mean(n: int, rho: float, coverage: float, gain: float) -> None:
    """Normal labels and scores, ten times as many unlabelled items; coverage and gain (of variances) as simulated elsewhere."""
    runs = 1200
    found = [prediction_powered_mean(*drawn(1000 + seed, n, 10 * n, rho)) for seed in range(runs)]
    covered = np.mean([one.interval.lo <= 0 <= one.interval.hi for one in found])
    assert abs(covered - coverage) < 3 * math.sqrt(0.05 * 0.95 / runs)
    ratio = np.var([one.alone for one in found]) / np.var([one.value for one in found])
    assert ratio == pytest.approx(gain, abs=0.12)


@pytest.mark.slow
def test_coverage_with_few_groups() -> None:
    """Ten labelled and forty unlabelled groups of ten items, .3 of the variance shared: 94.7 % by groups, below 70 % by items elsewhere."""
    rng, runs = np.random.default_rng(12), 800
    groups = np.repeat(np.arange(50), 10)
    covered = []
    for _ in range(runs):
        shared = rng.normal(0, math.sqrt(0.3), 50)[groups]
        y = shared + rng.normal(0, math.sqrt(0.7), 500)
        f = 0.5 * y + rng.normal(0, 0.8, 500)
        found = [prediction_powered_mean(np.where(groups < 10, y, NAN), f, by) for by in (groups, None)]
        covered.append([one.interval.lo <= 0 <= one.interval.hi for one in found])
    by_groups, by_items = np.mean(covered, axis=0)
    assert abs(by_groups - 0.947) < 3 * math.sqrt(0.05 * 0.95 / runs) and by_items < 0.8


@pytest.mark.slow
def test_coverage_of_rare_shares() -> None:
    """Share .05, judge right in 95 %, 60 labels: the t interval covers 88 %, Wilson's on the effective n 95 %, as simulated elsewhere."""
    rng, runs = np.random.default_rng(13), 800
    covered = []
    for _ in range(runs):
        y = (rng.random(660) < 0.05).astype(float)
        f = np.where(rng.random(660) < 0.95, y, 1 - y)
        y[60:] = NAN
        found = prediction_powered_mean(y, f)
        covered.append([one.lo <= 0.05 <= one.hi for one in (interval_of_share(found), found.interval)])
    wilson, t = np.mean(covered, axis=0)
    assert abs(wilson - 0.954) < 3 * math.sqrt(0.05 * 0.95 / runs) and t < 0.92


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
