"""The number of texts still to label: for an interval of a given width, and for a verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from harness.correction.cell_results import CellResults, KeyedRow
from harness.correction.options import LabelBudgetOptions
from harness.correction.unread_cells import UnreadCells, refuse_unread
from harness.correction.with_others import NewLanguage, new_languages
from harness.decide.cell_tests import CellTests
from harness.decide.options import DecisionOptions
from harness.decide.rule import NOBODY, VerdictName
from harness.decide.verdicts import Verdict, tests_of_tables, verdicts_of_tests
from harness.errors import UsageError
from harness.measure.cells import number
from harness.measure.compare import Recording, align
from harness.measure.item_table import item_tables
from harness.measure.options import MeasureOptions
from harness.model import BY_PEOPLE
from harness.options import part_of
from harness.stats import items_for_wilson, wilson
from harness.stats.intervals.cluster_mean import ClusterMean

NO_AGREEMENT = "no text has an aggregate of labels"
NOT_NATIVE = "labels are not native"
SHOWN = "use is shown"
NO_NUMBER = "at what was seen, no number of labels would do"


class LabelsNeeded(KeyedRow, frozen=True, kw_only=True):
    """The labels of one cell, and those that are missing. Undefined numbers are None, and `reasons` says why.

    Attributes:
        n, groups: texts with two annotators, and independent ones among them.
        agreement, half_width: share of texts on which the judge gives the aggregate, failures as wrong, and the half-width of its 95 %
            interval: Wilson's on n divided by the design effect.
        design_effect: the variance of the share relative to that of as many independent texts, at least 1.
        texts_for_half_width, more_for_half_width: texts for the wanted half-width in all, and those that are missing.
        verdict: what the judge may be used for now.
        more_for_verdict: further texts until `use` is shown with the power of the options, if the judge is as good as people.
        more_than: `more_for_verdict` is the largest number that was tried, and it does not suffice.
    """

    n: int
    groups: int
    agreement: float | None
    half_width: float | None
    design_effect: float | None
    texts_for_half_width: int | None
    more_for_half_width: int | None
    verdict: VerdictName
    more_for_verdict: int | None
    more_than: bool
    reasons: dict[str, str]


class LabelBudget(CellResults, frozen=True):
    """The labels needed in every cell, for the wanted `half_width` and for verdicts.

    `new_languages` is what a new language needs if the others help it; None where it was not asked for. `unread` are cells without numbers,
    because most answers cannot be read.
    """

    signature: str
    half_width: float
    cells: tuple[LabelsNeeded, ...]
    new_languages: tuple[NewLanguage, ...] | None = None
    unread: tuple[UnreadCells, ...] = ()
    schema_version: int = 1

    def as_json(self) -> dict[str, Any]:
        """Return `{schema_version, signature, half_width, cells, unread}`, and `new_languages` where they were asked for."""
        return {name: part for name, part in super().as_json().items() if part is not None}


def label_budget(
    sources: Sequence[Recording],
    options: LabelBudgetOptions,
) -> LabelBudget:
    """Return the labels that are needed, by language, metric, judge and condition.

    Raises UsageError as `measure.compare` does, JudgeError where most answers of every judge cannot be read.

    The half-width is wanted of the interval of agreement, between 0 and 0.5; what a new language needs, if the others help it, is for a
    mean to the half-width of the scale.
    """
    half_width, decision = options.half_width, part_of(options, DecisionOptions)
    if not 0 < half_width < 0.5:
        raise UsageError(f"a half-width is a share between 0 and 0.5, such as 0.05 for 5 points; got {half_width:g}")
    aligned = align(sources, part_of(options, MeasureOptions))
    tables = (cell for judged in aligned.tables for cell in item_tables(judged, by_source="source" in aligned.by))
    readable, unread = refuse_unread(tables, "no number of labels is planned by the scores")
    tests = tests_of_tables(aligned, decision)
    tests_by_key = {tuple(tests_of_cell.key.values()): tests_of_cell for tests_of_cell in tests}
    cells = tuple(
        _labels_of_cell(tests_by_key[tuple(verdict.key.values())], verdict, half_width)
        for verdict in verdicts_of_tests(tests, decision)
        if not any(left_out.covers(verdict.key) for left_out in unread)
    )
    signature = aligned.signed(decide=decision.signed(judged.data.about for judged in aligned.tables))
    return LabelBudget(signature, half_width, cells, new_languages(readable, half_width) if options.borrow else None, unread)


def _labels_of_cell(cell_tests: CellTests, verdict: Verdict, half_width: float) -> LabelsNeeded:
    effect = design_effect_of_share(cell_tests.hits)
    texts = now = None
    reasons = {}
    if math.isnan(effect):
        reasons["agreement"] = NO_AGREEMENT
    else:
        lo, hi = wilson(cell_tests.right * cell_tests.hits.n / effect, cell_tests.hits.n / effect)
        now = (hi - lo) / 2
        with_aggregate = cell_tests.hits.n / max(cell_tests.texts.n, cell_tests.hits.n)  # some texts have no majority
        texts = math.ceil(items_for_wilson(cell_tests.right, half_width, effect=effect) / with_aggregate)
    if verdict.needed is None:
        reasons["more_for_verdict"] = _no_number_reason(cell_tests, verdict)
    return LabelsNeeded(
        key=cell_tests.key,
        n=cell_tests.texts.n,
        groups=cell_tests.texts.groups,
        agreement=number(cell_tests.right),
        half_width=now,
        design_effect=number(effect),
        texts_for_half_width=texts,
        more_for_half_width=None if texts is None else max(0, texts - max(cell_tests.texts.n, cell_tests.hits.n)),
        verdict=verdict.decision.verdict,
        more_for_verdict=verdict.needed.texts if verdict.needed else None,
        more_than=verdict.needed is not None and verdict.needed.more_than,
        reasons=reasons,
    )


def _no_number_reason(cell_tests: CellTests, verdict: Verdict) -> str:
    """Return why no number of further texts is named."""
    if verdict.decision.verdict == "use":
        return SHOWN
    if cell_tests.texts.labels not in BY_PEOPLE:
        return NOT_NATIVE
    return NOBODY.reason if verdict.decision.reason == NOBODY.reason else NO_NUMBER


def design_effect_of_share(share: ClusterMean) -> float:
    """Return variance over groups of a share, relative to p (1 - p) / (n - 1) of independent items; at least 1. NaN without items.

    It is 1 where all items or all groups say the same, and with one group, where it cannot be seen.

    >>> round(design_effect_of_share(ClusterMean(0.5, 0.1, 50, 10, 9.0, 9.0)), 2)
    1.96
    """
    if not share.n:
        return math.nan
    alone = share.mean * (1 - share.mean) / max(share.n - 1, 1)
    return max(1.0, round(share.error**2 / alone, 9)) if alone > 0 and share.error > 0 else 1.0
