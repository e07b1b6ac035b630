from __future__ import annotations

import math

import numpy as np
import pytest

from harness.stats import (
    count_classes,
    estimate,
    human_all_agree,
    human_loo,
    human_pa,
    judge_loo,
    pa,
    pa_failed_wrong,
    pa_pairwise,
    tabulate,
)
from harness.stats.agreement.agreement import gap, share_left_out, share_of_pairs
from tests.unit.stats import brute
from tests.unit.stats.simulate import Setting, draw

RNG = np.random.default_rng(7)


@pytest.mark.parametrize(("raters", "k"), [(2, 2), (3, 3), (4, 2), (5, 4)])
def test_definitions(raters: int, k: int) -> None:
    labels, judge = RNG.integers(-1, k, (120, raters)), RNG.integers(-1, k, 120)
    rows, scores = labels.tolist(), judge.tolist()
    assert human_pa(labels, k).value == pytest.approx(brute.human_pa(rows))
    assert human_all_agree(labels, k).value == pytest.approx(brute.all_agree(rows))
    assert human_loo(labels, k).value == pytest.approx(brute.loo(None, rows))
    assert judge_loo(judge, labels, k).value == pytest.approx(brute.loo(scores, rows))
    assert pa_pairwise(judge, labels, k).value == pytest.approx(brute.pa_pairwise(scores, rows))
    for rule in ("drop", "median", "strict"):
        assert pa(judge, labels, k, rule).value == pytest.approx(brute.pa(scores, rows, rule))  # type: ignore[arg-type]
        failed_wrong = pa_failed_wrong(judge, labels, k, rule).value  # type: ignore[arg-type]
        assert failed_wrong == pytest.approx(brute.pa(scores, rows, rule, failed_wrong=True))


def test_refusing_does_not_pay() -> None:
    labels = [[0, 0, 0]] * 4
    assert pa([0, -1, -1, 1], labels, 2) == (0.5, 2, None)
    assert pa_failed_wrong([0, -1, -1, 1], labels, 2) == (0.25, 4, None)


def test_strict_counts_items_without_majority_as_disagreement() -> None:
    labels = [[0, 1], [1, 1]]
    assert pa([0, 1], labels, 2) == (1.0, 1, None)
    assert pa([0, 1], labels, 2, "strict") == (0.5, 2, None)


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (pa([-1, -1], [[0, 0], [1, 1]], 2), "no overlap"),
        (pa_failed_wrong([0], [[0, 1]], 2), "no reference"),
        (human_pa([[0, -1], [1, -1]], 2), "no item with two annotators"),
        (human_loo([[0], [1]], 2), "no item with two annotators"),
        (human_all_agree(np.empty((0, 3)), 2), "no item with two annotators"),
        (pa_pairwise([-1], [[0, 1]], 2), "no item with two annotators and a readable score"),
        (judge_loo([0], [[0, -1]], 2), "no item with two annotators and a readable score"),
    ],
)
def test_undefined_is_nan_with_a_reason(found: tuple[float, int, str], reason: str) -> None:
    assert math.isnan(found[0]) and found[1] == 0 and found[2] == reason


def test_halves_of_a_pair_rest_on_the_same_items() -> None:
    labels, judge = [[0, 0], [0, 1], [1, 1]], [0, 0, -1]
    rows = tabulate(count_classes(labels, 2), judge)
    found = estimate([share_of_pairs("human", 0), share_of_pairs("judge", 0), gap("pairwise")], rows)
    assert [e.n[0] for e in found.values()] == [2, 2, 2]
    assert found["human_pa"].value[0] == 0.5 and found["pa_pairwise"].value[0] == 0.75
    assert found["pairwise_gap"].value[0] == 0.25
    assert human_pa(labels, 2).n == 3


def test_matched_pairs_have_one_expectation_for_an_exchangeable_judge() -> None:
    setting = Setting("exchangeable", 400, 5, concentration=6.0, exchangeable=True, missing=0.2)
    labels, judge, _, _ = draw(setting, 100, seed=11)
    rows = tabulate(count_classes(labels, 3), judge)
    pairs = [
        share_of_pairs("human", 0),
        share_of_pairs("judge", 0),
        share_left_out("human", 0),
        share_left_out("judge", 0),
    ]
    found = estimate(pairs, rows)
    assert found["pa_pairwise"].value[0] == pytest.approx(found["human_pa"].value[0], abs=0.003)
    assert found["judge_loo"].value[0] == pytest.approx(found["human_loo"].value[0], abs=0.003)
