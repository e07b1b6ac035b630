from __future__ import annotations

import numpy as np
import pytest

from harness.stats import count_classes, estimate, fleiss_kappa, human_pa, pa, tabulate
from harness.stats.agreement import agreement
from harness.stats.agreement.agreement import fleiss
from harness.stats.core.statistic import ratio


def test_ratio_is_nan_over_nothing() -> None:
    assert np.array_equal(ratio(np.array([1.0, 1.0, 0.0]), np.array([2.0, 0.0, 1e-17])), [0.5, np.nan, np.nan], True)


def test_cells_are_what_one_cell_is() -> None:
    rng = np.random.default_rng(0)
    labels, judge, cell = rng.integers(-1, 3, (300, 3)), rng.integers(-1, 3, 300), rng.integers(0, 5, 300)
    rows = tabulate(count_classes(labels, 3), judge, cell=cell, cells=6)
    found = estimate([agreement.share_of_pairs("human"), fleiss(), agreement.share_of_hits("median")], rows)
    for c in range(5):
        here = cell == c
        assert found["human_pa"][c] == pytest.approx(human_pa(labels[here], 3))
        assert found["human_fleiss"][c] == pytest.approx(fleiss_kappa(labels[here], 3))
        assert found["pa"][c] == pytest.approx(pa(judge[here], labels[here], 3, "median"))
    assert found["pa"][5].n == 0 and found["pa"][5].reason == "no overlap"
    assert found["human_pa"][5].reason == "no item with two annotators"


def test_names_are_found_once() -> None:
    rows = tabulate(count_classes([[0, 1]], 2))
    with pytest.raises(ValueError, match="human_fleiss"):
        estimate([fleiss(), fleiss("linear")], rows)
