"""Lower bounds of all cells of a family, computed for many cells at once."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from harness.decide.cell_tests import CellTests
from harness.measure.cells import number
from harness.stats.core.arrays import Floats
from harness.stats.intervals.judge_tests import lower_bounds, stacked

_AT_ONCE = 64  # cells, of about as many groups: short ones are filled up to the longest


class CellBounds(msgspec.Struct, frozen=True):
    """Lower bounds of one cell; None where undefined.

    Attributes:
        alone: of the gap to people, of one test at alpha.
        gap: the same bound at the level that the correction leaves to this cell. Where it is above -margin, the gap's part of `use` is
            shown. With a cap, it is the smaller of that bound and of the bound without a cap at alpha.
        perfect: that bound of a judge that agrees with people on every text just as they agree with each other. Where it is not above
            -margin, no such judge can be shown with so few texts. None without texts of two annotators.
        base: of the difference from the baseline, at the level of `gap`.
    """

    alone: float | None
    gap: float | None
    perfect: float | None
    base: float | None


def family_bounds(tests: Sequence[CellTests], alpha: float, level: Floats) -> list[CellBounds]:
    """Return the bounds of each cell.

    Args:
        tests: of the cells of a family.
        alpha: of one test.
        level: (cells,) what the correction leaves of it.
    """
    order = np.argsort([len(cell.sums.gap.times) for cell in tests], kind="stable")
    bounds = np.full((len(tests), len(CellBounds.__struct_fields__)), np.nan)
    for first in range(0, len(order), _AT_ONCE):
        cells = order[first : first + _AT_ONCE]
        bounds[cells] = np.column_stack(_bounds([tests[cell] for cell in cells.tolist()], alpha, level[cells]))
    return [CellBounds(*map(number, row)) for row in bounds.tolist()]


def _bounds(tests: Sequence[CellTests], alpha: float, level: Floats) -> tuple[Floats, ...]:
    sums, cap = stacked([cell.sums for cell in tests]), np.array([cell.cap for cell in tests])
    lower = lower_bounds(sums, cap, alpha, np.stack([np.full_like(level, alpha), level]))
    perfect = sums._replace(gap=sums.gap._replace(y=np.zeros_like(sums.gap.y)))
    return lower.gap[0], lower.gap[1], lower_bounds(perfect, cap, alpha, level).gap, lower.base[1]
