"""Lower bounds of all cells of a family, computed for many cells at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.decide.cell_tests import CellTests
from harness.stats.core.arrays import Floats
from harness.stats.intervals.judge_tests import lower_bounds, stacked

_AT_ONCE = 64  # cells, of about as many groups: short ones are filled up to the longest


class CellBounds(NamedTuple):
    """Of the gap: of one test, at the level of the family, and at that level if it were 0 in every text; and that of the baseline."""

    alone: float
    gap: float
    perfect: float
    base: float


def family_bounds(tests: Sequence[CellTests], alpha: float, level: Floats) -> list[CellBounds]:
    """The bounds of each cell, NaN where undefined.

    Args:
        tests: of the cells of a family.
        alpha: of one test.
        level: (cells,) what the correction leaves of it.
    """
    order = np.argsort([len(one.sums.gap.times) for one in tests], kind="stable")
    found = np.full((len(tests), len(CellBounds._fields)), np.nan)
    for first in range(0, len(order), _AT_ONCE):
        cells = order[first : first + _AT_ONCE]
        found[cells] = np.column_stack(_bounds([tests[cell] for cell in cells.tolist()], alpha, level[cells]))
    return [CellBounds(*row) for row in found.tolist()]


def _bounds(tests: Sequence[CellTests], alpha: float, level: Floats) -> tuple[Floats, ...]:
    sums, cap = stacked([one.sums for one in tests]), np.array([one.cap for one in tests])
    found = lower_bounds(sums, cap, alpha, np.stack([np.full_like(level, alpha), level]))
    perfect = sums._replace(gap=sums.gap._replace(y=np.zeros_like(sums.gap.y)))
    return found.gap[0], found.gap[1], lower_bounds(perfect, cap, alpha, level).gap, found.base[1]
