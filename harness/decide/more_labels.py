"""The approximate number of further labels that would show a judge to be as good as people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import msgspec

from harness.decide.cell_tests import CellTests
from harness.decide.class_shares import texts_needed
from harness.decide.options import DecisionOptions
from harness.decide.verdict_rule import has_enough
from harness.stats.core.arrays import Floats
from harness.stats.estimation.labels_needed import GROWTH, LIMIT, CellToPlan, about_more_each, use_p
from harness.stats.intervals.judge_tests import JudgeSums, judge_sums


class FurtherTexts(msgspec.Struct, frozen=True):
    """A number of further texts, a multiple of ten. With `more_than` it is the largest number that is tried, and it does not suffice."""

    texts: int
    more_than: bool = False
    by_class: dict[str, int] = {}  # against a bar: the further texts of each class that lacks some

    def __str__(self) -> str:
        return f"more than {self.texts:,}" if self.more_than else f"about {self.texts:,}"


MORE_THAN = FurtherTexts(LIMIT, more_than=True)


def labels_needed(cells: Sequence[tuple[CellTests, float]], options: DecisionOptions) -> list[FurtherTexts | None]:
    """Return each cell's further texts, or `MORE_THAN` where the largest number that is tried would not do; None where more labels would
    not help.

    The cell's groups are resampled with the gap moved to 0 until the rule of `use` holds with the power of the options, and the rule has
    the texts that it asks for. Without any text of two annotators, two people are taken to agree as often as judge and person do.

    Args:
        cells: the tests of each cell, and the level that the correction leaves to one further cell.
        options: margin, power and the least numbers of texts.
    """
    needed: list[FurtherTexts | None] = [None] * len(cells)
    plans: dict[int, CellToPlan] = {}
    for number, (tests, level) in enumerate(cells):
        if tests.basis == "bar":
            needed[number] = _texts_for_bar(tests, level, options)
            continue
        if tests.gap.mean <= -options.margin or tests.baseline.mean <= 0:
            continue
        if tests.texts.n:
            enough = has_enough(tests.texts, options)
            if not (enough and tests.tests.shown(options.alpha, level)):  # else only coverage is missing
                items = math.ceil(GROWTH * tests.texts.n) if enough else options.items
                plans[number] = CellToPlan(judge_sums(*tests.differences), level, items, options.groups)  # texts count once each
        else:
            # How many texts of one person a second one has to score, if people agree with each other as often as the judge with the
            # person. Of three raters who agree with each other equally often, a share a of the texts, one pair alone agrees in (1 - a) /
            # 2 of the texts at most. So the variance of the gap between judge and people is at most .75 (1 - a). Texts count once each;
            # nothing is known of numbers.
            if tests.aggregate or tests.texts.closeness or math.isnan(tests.right):
                texts = 0
            else:
                z = NormalDist()
                texts = math.ceil((z.inv_cdf(1 - level) + z.inv_cdf(options.power)) ** 2 * 0.75 * (1 - tests.right) / options.margin**2)
            needed[number] = _round_up(max(options.items, options.groups, texts))

    def rule(sums: JudgeSums) -> Floats:
        return use_p(sums, options.margin, options.alpha, options.effective_groups)

    planned = about_more_each(list(plans.values()), rule, margin=options.margin, power=options.power)
    for number, plan in zip(plans, planned, strict=True):
        needed[number] = MORE_THAN if plan.more is None else _round_up(plan.more)
    for number, (tests, level) in enumerate(cells):  # where a bar is asked for beside people, the judge has to pass both
        if tests.basis == "people" and tests.texts.n and any(share.p_above is not None and share.p_above > level for share in tests.shares):
            for_bar, for_people = _texts_for_bar(tests, level, options), needed[number]
            if tests.p_people <= options.alpha or for_bar is None:
                needed[number] = for_bar
            elif for_people is not None:
                needed[number] = max(for_bar, for_people, key=lambda needed_texts: (needed_texts.more_than, needed_texts.texts))
    return needed


def _texts_for_bar(tests: CellTests, level: float, options: DecisionOptions) -> FurtherTexts | None:
    """Return the further texts that show every share to be above its bar; None where more labels would not help."""
    lacking = [share for share in tests.shares if share.p_above is None or share.p_above > level]
    needed = {share: texts_needed(share, level, options.power) for share in lacking}
    if not lacking or None in needed.values():
        return None
    texts = sum(share.n for share in tests.shares)
    total = max(count * texts / max(share.n, 1) for share, count in needed.items() if count is not None)
    by_class = {
        str(share.score): _round_up(count).texts for share, count in needed.items() if count is not None and share.score is not None
    }
    return msgspec.structs.replace(_round_up(math.ceil(total)), by_class=by_class)


def _round_up(needed: int) -> FurtherTexts:
    rounded = 10 * math.ceil(needed / 10)
    return MORE_THAN if rounded > LIMIT else FurtherTexts(rounded)
