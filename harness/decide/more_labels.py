"""About how many more texts have to be labelled before a judge that is as good as people would be shown to be so."""

from __future__ import annotations

from harness.decide.cell_tests import CellTests
from harness.decide.options import DecisionOptions

MORE_THAN = 3000
"""The largest number of further texts that is tried."""


def labels_needed(one: CellTests, level: float, options: DecisionOptions) -> int | None:
    return None
