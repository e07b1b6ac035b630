"""What a million labels may cost; `make bench` prints what they do cost, beside other libraries."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import pytest

from harness.stats import cell_statistics, count_classes, estimate, intervals, tabulate
from harness.stats.agreement.kappa import fleiss

BUDGETS = {  # CPU seconds: a million labels of 135 cells x 2,470 items x 3 raters, three classes
    "all coefficients of 135 cells": 0.25,
    "1,000 resamples of Fleiss' kappa, one cell": 0.003,
    "1,000 resamples of Fleiss' kappa, 135 cells": 0.4,
    "1,000 resamples of Fleiss' kappa, 135 cells, clustered": 5.0,
}


def cpu(function: Callable[[], object], rounds: int = 5) -> float:
    best = float("inf")
    for _ in range(rounds):
        begin = time.process_time()
        function()
        best = min(best, time.process_time() - begin)
    return best


def measure() -> list[float]:
    """CPU seconds of each budget's work."""
    rng = np.random.default_rng(0)
    cells, items = 135, 2470
    cell = np.repeat(np.arange(cells), items)
    true = rng.choice(3, cells * items, p=[0.1, 0.2, 0.7])
    labels = np.where(rng.random((len(true), 3)) < 0.6, true[:, None], rng.choice(3, (len(true), 3)))
    judge = np.where(rng.random(len(true)) < 0.5, true, rng.choice(3, len(true)))
    chosen, counts = cell_statistics(3, "interval"), count_classes(labels, 3)
    one, rows = tabulate(counts[:items], judge[:items]), tabulate(counts, judge, cell=cell)
    grouped = tabulate(counts, judge, cell=cell, group=np.arange(len(true)) // 3)
    intervals([fleiss()], one)  # imports scipy
    return [
        cpu(lambda: estimate(chosen, tabulate(count_classes(labels, 3), judge, cell=cell))),
        cpu(lambda: intervals([fleiss()], one), rounds=20),
        cpu(lambda: intervals([fleiss()], rows)),
        cpu(lambda: intervals([fleiss()], grouped), rounds=1),
    ]


@pytest.mark.slow
def test_a_million_labels() -> None:
    for (name, budget), cost in zip(BUDGETS.items(), measure(), strict=True):
        assert cost <= budget, f"{name}: {cost:.4f} s"


def test_importing_is_numpy_only() -> None:
    heavy = ("scipy", "statsmodels", "sklearn", "pandas")
    code = f"import sys, harness.stats; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
