"""A judge drawn like each annotator shows no difference from them in the matched pairs, and would show one elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from harness.stats import Estimates, Interval, count_classes, estimate, intervals, tabulate
from harness.stats.agreement.agreement import gap, share_of_hits, share_of_pairs

from .simulate import Setting, difference, draw

SETS = 1000
SETTINGS = [
    Setting("240 single items", 240, exchangeable=True),
    Setting("40 texts of 6", 40, 6, concentration=6.0, exchangeable=True),
    Setting("200 single items, five raters, gaps", 200, exchangeable=True, missing=0.25, raters=5),
    Setting("30 texts of 8, five raters, gaps", 30, 8, concentration=20.0, exchangeable=True, missing=0.25, raters=5),
]
MISMATCH = difference(share_of_hits(), share_of_pairs("human", 0), "pa_minus_human_pa")


def share_that_differs(found: tuple[Interval, ...]) -> float:
    return float(np.mean([i.lo > 0 or i.hi < 0 for i in found]))


def standard_errors_from_zero(found: Estimates) -> float:
    return float(abs(found.value.mean()) / (found.value.std() / np.sqrt(len(found.value))))


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.name)
def test_an_exchangeable_judge_differs_where_the_comparison_is_unfair_only(setting: Setting) -> None:
    labels, judge, group, cell = draw(setting, SETS, seed=12)
    rows = tabulate(count_classes(labels, 3), judge, cell=cell, group=group)
    chosen = [gap("pairwise"), gap("loo"), MISMATCH]
    values, found = estimate(chosen, rows), intervals(chosen, rows)
    for name in ("pairwise_gap", "loo_gap"):
        assert standard_errors_from_zero(values[name]) < 3 and abs(values[name].value.mean()) < 0.003
        assert 0.015 <= share_that_differs(found[name]) <= 0.07  # less than 5 %: differences are guarded
    # the aggregate is right more often than a single annotator, so everybody agrees with it more often than people do
    # among themselves: `pa` less `human_pa`, on the same items, makes the judge look better than those it is one of
    assert values[MISMATCH.name].value.mean() > 0.03
    assert share_that_differs(found[MISMATCH.name]) > 0.25


def test_with_three_annotators_the_two_matched_pairs_are_one() -> None:
    labels, judge, _, _ = draw(Setting("three annotators", 200), 1, seed=13)
    found = estimate([gap("pairwise"), gap("loo")], tabulate(count_classes(labels, 3), judge))
    assert found["pairwise_gap"].value == pytest.approx(found["loo_gap"].value)
