"""Label sets hold what they promise, and say "every score" where labels are too few."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.stats.estimation.conformal import (
    least_groups,
    rank_for_this_draw,
    threshold_by_group,
    threshold_by_size,
    threshold_one_per_group,
)


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
