"""What must hold for any labels: hypothesis looks for those for which it does not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import harness.stats as hs

K = 4
RATERS = st.integers(2, 5)
LABELS = st.tuples(st.integers(1, 30), RATERS).flatmap(lambda shape: hnp.arrays(np.int64, shape, elements=st.integers(-1, K - 1)))
PAIR = st.integers(1, 40).flatmap(lambda n: hnp.arrays(np.int64, (2, n), elements=st.integers(-1, K - 1)))
OF_HUMANS = {
    "pa": lambda x: hs.human_pa(x, K),
    "loo": lambda x: hs.human_loo(x, K),
    "all agree": lambda x: hs.human_all_agree(x, K),
    "fleiss": lambda x: hs.fleiss_kappa(x, K),
    "fleiss quadratic": lambda x: hs.fleiss_kappa(x, K, "quadratic"),
    "alpha nominal": lambda x: hs.krippendorff_alpha(x, K, "nominal"),
    "alpha ordinal": lambda x: hs.krippendorff_alpha(x, K, "ordinal"),
    "alpha interval": lambda x: hs.krippendorff_alpha(x, K, "interval"),
    "ac1": lambda x: hs.gwet_ac(x, K),
    "ac2": lambda x: hs.gwet_ac(x, K, "quadratic"),
}
OF_TWO = {
    "kappa": lambda a, b: hs.cohen_kappa(a, b, K),
    "kappa linear": lambda a, b: hs.cohen_kappa(a, b, K, "linear"),
    "kappa quadratic": lambda a, b: hs.cohen_kappa(a, b, K, "quadratic"),
    "tau": lambda a, b: hs.kendall_tau(gaps(a), gaps(b)),
    "rho": lambda a, b: hs.spearman(gaps(a), gaps(b)),
    "r": lambda a, b: hs.pearson(gaps(a), gaps(b)),
    "pa": lambda a, b: hs.pa(a, b[:, None], K),
}
NOMINAL = ["pa", "loo", "all agree", "fleiss", "alpha nominal", "ac1"]


def gaps(codes: np.ndarray) -> np.ndarray:
    return np.where(codes < 0, np.nan, codes.astype(float))


def same(a: Any, b: Any) -> bool:
    return a.n == b.n and ((math.isnan(a.value) and math.isnan(b.value)) or abs(a.value - b.value) < 1e-9)


# Drawing the labels takes longer than all statistics of them: each drawn table serves all.


@given(labels=LABELS, random=st.randoms(use_true_random=False))
def test_order_of_items_and_raters_does_not_matter(labels: np.ndarray, random: Any) -> None:
    items, raters = list(range(labels.shape[0])), list(range(labels.shape[1]))
    random.shuffle(items)
    random.shuffle(raters)
    for name, statistic in OF_HUMANS.items():
        assert same(statistic(labels), statistic(labels[items][:, raters])), name


@given(labels=LABELS, new=st.permutations(range(K)))
def test_nominal_classes_may_be_renamed(labels: np.ndarray, new: list[int]) -> None:
    renamed = np.where(labels < 0, -1, np.array(new)[labels])
    for name in NOMINAL:
        assert same(OF_HUMANS[name](labels), OF_HUMANS[name](renamed)), name


@given(labels=LABELS)
def test_an_ordered_scale_may_be_read_backwards(labels: np.ndarray) -> None:
    for name, statistic in OF_HUMANS.items():
        assert same(statistic(labels), statistic(np.where(labels < 0, -1, K - 1 - labels))), name


@given(column=hnp.arrays(np.int64, st.integers(1, 30), elements=st.integers(0, K - 1)), raters=RATERS)
def test_identical_raters_agree_fully_or_are_constant(column: np.ndarray, raters: int) -> None:
    for name, statistic in OF_HUMANS.items():
        found = statistic(np.tile(column[:, None], raters))
        if len(set(column.tolist())) == 1 and name not in ("pa", "loo", "all agree", "ac1", "ac2"):
            assert math.isnan(found.value) and found.reason == "constant raters" and found.n == len(column), name
        else:
            assert found.value == pytest.approx(1) and found.n == len(column), name


@given(pair=PAIR)
def test_two_raters_may_change_places(pair: np.ndarray) -> None:
    for name, statistic in OF_TWO.items():
        assert same(statistic(pair[0], pair[1]), statistic(pair[1], pair[0])), name


@given(labels=LABELS)
def test_values_are_in_range_or_nan_with_a_reason(labels: np.ndarray) -> None:
    found = {name: statistic(labels) for name, statistic in OF_HUMANS.items()}
    found |= {name: statistic(labels[:, 0], labels[:, 1]) for name, statistic in OF_TWO.items() if name not in OF_HUMANS}
    for name, value in found.items():
        if math.isnan(value.value):
            assert value.reason, name
        else:
            assert value.reason is None and value.n > 0 and value.value <= 1 + 1e-12, name
            assert value.value >= (0 if name in ("pa", "loo", "all agree") else -1 - 1e-9) or name[:2] in ("al", "ac"), name


@given(labels=LABELS, judge=hnp.arrays(np.int64, 30, elements=st.integers(-1, K - 1)))
def test_leniency_changes_sign_with_direction(labels: np.ndarray, judge: np.ndarray) -> None:
    judge = judge[: len(labels)]
    up, down = (hs.leniency(judge, labels, K, d) for d in (1, -1))  # type: ignore[arg-type]
    assert up.n == down.n and (math.isnan(up.value) or up.value == -down.value)
    turned = hs.leniency(np.where(judge < 0, -1, K - 1 - judge), np.where(labels < 0, -1, K - 1 - labels), K, -1)
    assert same(up, turned)


@settings(max_examples=25, deadline=None)
@given(
    labels=hnp.arrays(np.int64, (24, 3), elements=st.integers(-1, K - 1)),
    judge=hnp.arrays(np.int64, 24, elements=st.integers(-1, K - 1)),
    group=hnp.arrays(np.int64, 24, elements=st.integers(0, 20)),
)
def test_intervals_are_inside_the_range(labels: np.ndarray, judge: np.ndarray, group: np.ndarray) -> None:
    rows = hs.tabulate(hs.count_classes(labels, K), judge, group=group)
    chosen = hs.cell_statistics(K, "interval")
    found = hs.intervals(chosen, rows, resamples=100)
    for s in chosen:
        (i,) = found[s.name]
        if i.reason is None:
            assert i.lo < i.hi and i.groups >= 8 and i.lo >= s.bounds[0] - 1e-9 and i.hi <= s.bounds[1] + 1e-9
        else:
            assert math.isnan(i.lo) and math.isnan(i.hi) and i.method == "none"


@given(p=st.lists(st.floats(0, 1) | st.just(math.nan), max_size=20))
def test_adjusted_p_values_keep_order_and_grow(p: list[float]) -> None:
    for adjust in (hs.holm, hs.benjamini_hochberg, hs.benjamini_yekutieli):
        q = adjust(p)
        known = ~np.isnan(q)
        assert (q[known] >= np.array(p)[known] - 1e-12).all() and (q[known] <= 1).all()
        order = np.argsort(np.array(p)[known], kind="stable")
        assert (np.diff(q[known][order]) >= -1e-12).all()
