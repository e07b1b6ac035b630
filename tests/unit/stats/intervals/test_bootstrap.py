from __future__ import annotations

import numpy as np
import pytest

from harness.stats import cell_statistics, count_classes, estimate, human_statistics, intervals, tabulate
from harness.stats.agreement.agreement import fleiss
from harness.stats.intervals import bootstrap
from harness.stats.intervals.bootstrap import Draws, bca, cells_of, features_of, resample

RNG = np.random.default_rng(26)


def data(items: int = 240) -> tuple[np.ndarray, ...]:
    true = RNG.choice(3, items, p=[0.2, 0.3, 0.5])
    labels = np.where(RNG.random((items, 3)) < 0.6, true[:, None], RNG.integers(0, 3, (items, 3)))
    judge = np.where(RNG.random(items) < 0.5, true, RNG.integers(-1, 3, items))
    return labels, judge


def test_intervals_hold_the_estimate_and_stay_in_range() -> None:
    labels, judge = data()
    chosen = cell_statistics(3, "interval")
    for group in (None, RNG.integers(0, 30, 240)):
        rows = tabulate(count_classes(labels, 3), judge, group=group)
        values, found = estimate(chosen, rows), intervals(chosen, rows)
        for s in chosen:
            (i,) = found[s.name]
            assert s.bounds[0] <= i.lo < values[s.name].value[0] < i.hi <= s.bounds[1], s.name
            assert i.reason is None and i.design_effect is not None and i.design_effect > 0
            assert i.groups == (240 if group is None else 30) or s.name in ("mean_judge", "sd_judge") or group is None


def test_an_interval_does_not_depend_on_what_else_gets_one() -> None:
    labels, judge = data()
    chosen = cell_statistics(3, "interval")
    for group in (None, RNG.integers(0, 30, 240)):
        rows = tabulate(count_classes(labels, 3), judge, group=group)
        every, some = intervals(chosen, rows), intervals(chosen, rows, only={"pa", "cohen_kappa", "human_fleiss", "sd_judge"})
        assert some == {name: every[name] for name in ("pa", "cohen_kappa", "human_fleiss", "sd_judge")}


def test_a_cell_does_not_depend_on_its_neighbours() -> None:
    labels, judge = data()
    counts, cell = count_classes(labels, 3), np.repeat([0, 1, 2], 80)
    text = RNG.integers(0, 20, 240)
    chosen = cell_statistics(3, "ordinal")
    for group in (None, text):
        together = intervals(chosen, tabulate(counts, judge, cell=cell, group=group))
        for c in range(3):
            here = cell == c
            alone = intervals(chosen, tabulate(counts[here], judge[here], group=None if group is None else group[here]))
            for s in chosen:
                a, b = together[s.name][c], alone[s.name][0]
                assert (a.lo, a.hi) == pytest.approx((b.lo, b.hi)), s.name


def test_order_of_items_does_not_matter() -> None:
    labels, judge = data()
    text, mixed = RNG.integers(0, 25, 240), RNG.permutation(240)
    chosen = cell_statistics(3, "ordinal")
    first = intervals(chosen, tabulate(count_classes(labels, 3), judge, group=text))
    second = intervals(chosen, tabulate(count_classes(labels[mixed], 3), judge[mixed], group=text[mixed]))
    assert first == second


def test_singles_draw_items_and_groups_draw_groups() -> None:
    labels, _ = data()
    rows = tabulate(count_classes(labels, 3))
    (cell,) = cells_of(rows, fleiss().features(rows))
    drawn = np.concatenate(list(Draws(0, 2000).weights_for(cell)))
    assert (drawn.sum(axis=1) == 240).all()
    assert drawn.mean(axis=0) == pytest.approx(cell.times, rel=0.1)
    assert drawn.var(axis=0) == pytest.approx(cell.times * (1 - cell.times / 240), rel=0.2)
    grouped = tabulate(count_classes(labels, 3), group=np.repeat(np.arange(24), 10))
    (cell,) = cells_of(grouped, fleiss().features(grouped))
    drawn = np.concatenate(list(Draws(0, 2000).weights_for(cell)))
    assert drawn.shape == (2000, 24) and (drawn.sum(axis=1) == 24).all()
    assert drawn.var(axis=0) == pytest.approx(np.full(24, 23 / 24), rel=0.2)


@pytest.mark.parametrize("text", [1, 3])
def test_a_resample_with_the_sums_of_the_sample_has_exactly_its_value(text: int) -> None:
    """Else rounding would decide whether such a resample lies below the value, and the interval would depend on the processor."""
    labels, judge = np.tile([[0, 0], [1, 1], [2, 1]], (8, 1)), np.tile([0, 1, 1], 8)
    chosen = cell_statistics(3, "ordinal")
    rows = tabulate(count_classes(labels, 3), judge, group=np.arange(24) // text)
    features, place = features_of(chosen, rows)
    (cell,) = cells_of(rows, features)
    found = resample([cell], Draws(0, 2000))
    for statistic in chosen:
        at = place[statistic.features]
        drawn = found.rows[-2000:, at]
        equal = (drawn == found.rows[0, at]).all(axis=1)
        assert equal.any()
        values = found.values(statistic, at)
        assert (values.replicates[0, equal] == values.value).all(), statistic.name


def test_resamples_in_pieces_are_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    labels, _ = data()
    rows = tabulate(count_classes(labels, 3), group=np.repeat(np.arange(24), 10), cell=np.repeat([0, 1], 120))
    whole = intervals([fleiss()], rows)
    monkeypatch.setattr(bootstrap, "_CHUNK", 3000)
    for a, b in zip(whole["human_fleiss"], intervals([fleiss()], rows)["human_fleiss"], strict=True):
        assert (a.lo, a.hi) == pytest.approx((b.lo, b.hi), abs=0.05)


def test_cells_without_an_interval_say_why() -> None:
    chosen = human_statistics(2, "ordinal")
    labels = [[0, 0]] * 6 + [[1, 1]] * 20
    found = intervals(chosen, tabulate(count_classes(labels, 2), cell=[0] * 6 + [1] * 20, cells=3))
    assert [i.reason for i in found["human_fleiss"]] == ["too few independent texts", "constant raters", "no units"]
    assert [i.reason for i in found["human_pa"]] == ["too few independent texts", None, "no units"]
    perfect = intervals([fleiss()], tabulate(count_classes([[0, 0], [1, 1]] * 10, 2)))["human_fleiss"][0]
    assert perfect.reason == "no variation between texts"
    rare = intervals([fleiss()], tabulate(count_classes([[0, 0]] * 30 + [[0, 1]], 2)))["human_fleiss"][0]
    assert rare.reason == "undefined in many resamples"


def test_no_statistic_and_no_item() -> None:
    rows = tabulate(np.empty((0, 2), int), np.empty(0))
    assert intervals([], rows) == {}
    assert all(e[0].n == 0 and e[0].reason for e in estimate(cell_statistics(2, "ordinal"), rows).values())
    assert all(i[0].method == "none" for i in intervals(cell_statistics(2, "ordinal"), rows).values())


def test_bad_arguments() -> None:
    rows = tabulate([[1, 1]])
    for bad in ({"level": 1.0}, {"resamples": 10}):
        with pytest.raises(ValueError, match="level"):
            intervals([fleiss()], rows, **bad)  # type: ignore[arg-type]


def test_bca_of_something_normal_is_normal() -> None:
    x = RNG.normal(0, 1, 400)
    draws = np.array([RNG.choice(x, 400).mean() for _ in range(4000)])
    lo, hi = bca(x.mean(), draws, (x.sum() - x) / 399, np.ones(400))
    half = 1.966 * x.std(ddof=1) / 20
    assert (lo, hi) == pytest.approx((x.mean() - half, x.mean() + half), abs=0.012)
    assert np.isnan(bca(0.0, np.zeros(100), np.zeros(10), np.ones(10))).all()


def test_people_with_few_rare_cases_have_no_interval_of_what_depends_on_them() -> None:
    """A sample that lacks its rare cases does not show it: the intervals would hold the truth far less often than they say."""
    labels = np.ones((60, 3), int)
    labels[:4] = 0
    labels[4, 0] = 0
    rows = tabulate(count_classes(labels, 2))
    found = intervals(human_statistics(2, "interval"), rows)
    for name in ("human_fleiss", "human_alpha_nominal", "human_alpha_ordinal", "human_alpha_interval"):
        assert found[name][0].reason == "too few rare cases for an interval"
    assert found["human_ac1"][0].reason is None
    labels[4] = 0
    found = intervals(human_statistics(2, "interval"), tabulate(count_classes(labels, 2)))
    assert found["human_fleiss"][0].reason != "too few rare cases for an interval"
