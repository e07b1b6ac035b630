"""The share of a class against a bar, where texts of one group have something in common at least."""

from __future__ import annotations

import numpy as np
import pytest

from harness.options import BAR_CORRELATION
from harness.stats.intervals.recall_bar import share_found

TEN_EACH = np.repeat(np.arange(20), 10)


def test_one_wrong_text_in_few_groups_shows_no_independence() -> None:
    """All texts right say that a group counts as one text. One wrong text of 200 must not make each text count."""
    right = np.ones(200)
    assert share_found(right, TEN_EACH).p_above(0.9, BAR_CORRELATION) == share_found(right, TEN_EACH).p_above(0.9) > 0.05
    right[0] = 0
    found = share_found(right, TEN_EACH)
    assert found.p_above(0.9) < 0.001 and found.p_above(0.9, BAR_CORRELATION) > 10 * found.p_above(0.9)
    assert found.p_above(0.9, 1.0) > 0.05  # groups alone count


@pytest.mark.parametrize("correlation", [0.0, 0.16, 1.0])
def test_single_texts_are_independent_whatever_groups_have_in_common(correlation: float) -> None:
    found = share_found([1] * 44 + [0] * 6, range(50))
    assert found.lower(0.05, correlation) == found.lower(0.05) and found.p_above(0.8, correlation) == found.p_above(0.8)


def test_a_correlation_that_is_seen_needs_no_guard() -> None:
    """Groups are all right or all wrong: the design effect is larger than any that is assumed."""
    right = np.repeat([1] * 18 + [0] * 2, 10)
    found = share_found(right, TEN_EACH)
    assert found.lower(0.05, BAR_CORRELATION) == found.lower(0.05) and found.upper(0.05) > 0.9


def test_one_large_group_does_not_make_all_others_worth_little() -> None:
    """The correlation counts in the capped groups."""
    group = np.concatenate([np.zeros(60, int), np.repeat(np.arange(1, 61), 2)])
    right = np.ones(180)
    right[::30] = 0
    found = share_found(right, group)
    assert found.cap is not None and found.lower(0.05, BAR_CORRELATION) > 0.85
