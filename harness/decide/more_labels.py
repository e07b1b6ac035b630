"""The approximate number of further labels that would show a judge to be as good as people."""

from __future__ import annotations

import math
from typing import NamedTuple

from harness.decide.cell_tests import CellTests
from harness.decide.options import DecisionOptions
from harness.stats import about_more
from harness.stats.estimation.more_labels import GROWTH, LIMIT


class FurtherTexts(NamedTuple):
    """How many further texts, a multiple of ten. With `more_than` it is the largest number that is tried, and it does not suffice."""

    texts: int
    more_than: bool = False

    def __str__(self) -> str:
        return f"more than {self.texts:,}" if self.more_than else f"about {self.texts:,}"


MORE_THAN = FurtherTexts(LIMIT, more_than=True)


def labels_needed(one: CellTests, level: float, options: DecisionOptions) -> FurtherTexts | None:
    """Further texts, or `MORE_THAN` where even the largest number that is tried would not do; None where more labels would not help.

    The cell's groups are resampled with the gap moved to 0 until the rule of `use` holds with the power of the options, and the rule has
    the texts that it asks for. Without any text of two annotators, it is what the rule asks for.

    Args:
        one: the tests of the cell.
        level: the level that the correction leaves to one further cell.
        options: margin, power and the least numbers of texts.
    """
    if one.gap.mean <= -options.margin or one.baseline.mean <= 0:
        return None
    enough = one.n >= options.items and one.groups >= options.groups
    if not one.n:
        return _rounded(max(options.items, options.groups))
    if enough and one.tests.shown(options.alpha, level):  # only coverage is missing
        return None
    planned = about_more(
        one.differences.gap,
        one.differences.baseline,
        one.differences.group,
        margin=options.margin,
        alpha=options.alpha,
        cells=options.alpha / level,
        effective_groups=options.effective_groups,
        power=options.power,
        least_items=math.ceil(GROWTH * one.n) if enough else options.items,
        least_groups=options.groups,
    )
    return MORE_THAN if planned.more is None or planned.more > LIMIT else FurtherTexts(planned.more)


def _rounded(needed: int) -> FurtherTexts:
    rounded = 10 * math.ceil(needed / 10)
    return MORE_THAN if rounded > LIMIT else FurtherTexts(rounded)
