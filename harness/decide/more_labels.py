"""About how many more texts have to be labelled before a judge that is as good as people would be shown to be so."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from harness.decide.cell_tests import CellTests
from harness.decide.options import DecisionOptions
from harness.stats import about_more, more_for_margin
from harness.stats.more_labels import GROWTH, LIMIT


class FurtherTexts(NamedTuple):
    """How many further texts, a multiple of ten. With `more_than` it is the largest number that is tried, and it does not suffice."""

    texts: int
    more_than: bool = False

    def __str__(self) -> str:
        return f"more than {self.texts:,}" if self.more_than else f"about {self.texts:,}"


MORE_THAN = FurtherTexts(LIMIT, more_than=True)


def labels_needed(one: CellTests, level: float, options: DecisionOptions) -> FurtherTexts | None:
    """Further texts, or `MORE_THAN` where even the largest number that is tried would not do; None where more labels would not help.

    Where the cell has enough texts to be tested, its groups are resampled with the gap moved to 0 until the rule of `use` holds with the
    power of the options. With fewer texts the number comes from the spread of the gaps, and is at least what the rule asks for.

    Args:
        one: the tests of the cell.
        level: the level that the correction leaves to one further cell.
        options: margin, power and the least numbers of texts.
    """
    if one.gap.mean <= -options.margin or one.baseline.mean <= 0:
        return None
    if one.n < options.items or one.groups < options.groups:
        return _before_tests(one, level, options)
    if one.tests.shown(options.alpha, level):  # only coverage is missing
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
        least_items=math.ceil(GROWTH * one.n),
    )
    return MORE_THAN if planned.more is None or planned.more > LIMIT else FurtherTexts(planned.more)


def _before_tests(one: CellTests, level: float, options: DecisionOptions) -> FurtherTexts:
    """From the formula of a mean; without two items to take a spread from, only what the rule asks for."""
    per_group = one.n / one.groups if one.groups else 1.0
    least = max(options.items, math.ceil(options.groups * per_group)) - one.n
    spread = float(np.nanstd(one.differences.gap, ddof=1)) if one.n > 2 else math.nan
    more = more_for_margin(spread, one.n, options.margin, alpha=level, power=options.power) if spread > 0 else math.nan
    needed = max(least, 0 if math.isnan(more) else more)
    rounded = 10 * math.ceil(needed / 10)
    return MORE_THAN if rounded > LIMIT else FurtherTexts(rounded)
