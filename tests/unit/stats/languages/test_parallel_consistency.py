"""One judge over languages: against statsmodels, and at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from harness.stats.languages.parallel_consistency import parallel_consistency

SCORES = np.random.default_rng(9).integers(0, 3, (40, 4))


def test_kappas_are_those_of_statsmodels() -> None:
    found, table = parallel_consistency(SCORES, 3), aggregate_raters(SCORES)[0]
    assert found.fleiss.value == pytest.approx(fleiss_kappa(table))
    assert found.randolph == pytest.approx(fleiss_kappa(table, method="randolph"))
    off = found.pairwise[~np.eye(4, dtype=bool)]
    assert found.agreement == pytest.approx(off.mean()) and (found.pairwise == found.pairwise.T).all()
    assert found.shares == pytest.approx([np.mean(score == SCORES) for score in range(3)])


def test_a_constant_judge_is_consistent_without_a_kappa() -> None:
    found = parallel_consistency(np.ones((10, 3)), 3)
    assert np.isnan(found.fleiss.value) and found.fleiss.reason and found.agreement == 1 and found.randolph == 1


def test_gaps() -> None:
    scores = SCORES.copy()
    scores[:, 3] = -1
    found = parallel_consistency(scores, 3)
    assert found.agreement == pytest.approx(parallel_consistency(SCORES[:, :3], 3).agreement)
    assert np.isnan(found.pairwise[3]).all()


def test_without_pairs_nothing_is_defined() -> None:
    for scores in (np.empty((0, 3)), [[0, -1], [-1, 1]]):
        found = parallel_consistency(scores, 2)
        assert np.isnan(found.agreement) and np.isnan(found.randolph) and np.isnan(found.fleiss.value)
