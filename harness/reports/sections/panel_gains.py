"""Panels: does a panel agree with people more often than the best of its members?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.judges import Panel
from harness.measure.condition_rows import Row, new_row, put_difference, put_share, section, with_q
from harness.measure.judged_table import JudgedTable
from harness.model import CONDITION
from harness.reports.sections.section import AGREEMENT_DIFFERENCE, Section, SectionNumbers, SectionTable, cells_at, tests_shown
from harness.reports.tables.column import COUNT_OR_BLANK, SHARE, TEXT, Column
from harness.stats import best_on_other_folds, difference_from_best, group_folds, paired_difference
from harness.stats.core.arrays import Ints

LEVELS: tuple[tuple[str, ...], ...] = (("language", "metric"), ("language",))
FOLDS = 5
DEVELOPMENT, OTHER_TEXTS = "development items", "other texts"
NO_TEXT = "no text that the panel and all members judged"
NUMBERS = "scores are numbers, which have no agreement; --versus judge=NAME compares correlations"
NOTE = (
    "agreement: of the panel, failures as wrong, on the texts of the difference. best: the member that agrees with the labels most often, "
    f"chosen on development items where these were judged, else {FOLDS} times, each time on the texts that its difference is not computed "
    "from (chosen_on). diff: the panel's agreement minus that member's on the same texts. A member that is chosen on the same texts looks "
    "better than it is. Where the member was chosen on other texts, the interval and p hold whichever member is the best: the panel is "
    "shown better if it is shown better than every member, and worse if it is shown worse than one, corrected for their number."
)
_SAME = ("metric", *CONDITION[1:], "repeat", "order")


def compare_panels(answers: JudgedTable, panels: Mapping[str, Panel]) -> SectionNumbers | None:
    """Return the section of panels beside the best of their members, by language and metric, and by language; None without a panel."""
    clean = answers.clean
    judges = set(clean.column("judge").values)
    members = {name: panel.members for name, panel in panels.items() if judges.issuperset(panel.members)}
    rows = [_gain_row(clean, key, cell, members[key["judge"]]) for key, cell in cells_at(clean, LEVELS) if key["judge"] in members]
    with_q(rows, "diff", lambda row: row["metric"] == "*")
    return section("Panels", rows, note=NOTE)


def _gain_row(clean: JudgedTable, key: Mapping[str, Any], cell: Ints, members: Sequence[str]) -> Row:
    """Return the row of a panel in a cell, beside its best member: that of the development items, else that of other folds of texts."""
    why = NUMBERS if (np.isnan(clean.hit[cell]) & ~np.isnan(clean.label_points[cell])).any() else NO_TEXT
    # The rows that the panel and all members answered, with the credits of the panel (rows,) and of its members (rows, members).
    judge, credits = clean.column("judge"), clean.hit
    member_rows = [np.flatnonzero(judge.codes == judge.values.index(member)) for member in members]
    partner = np.column_stack([clean.partners(cell, rows, _SAME) for rows in member_rows])
    panel, member_credits = credits[cell], np.where(partner >= 0, credits[np.maximum(partner, 0)], np.nan)
    counted = ~(np.isnan(panel) | np.isnan(member_credits).any(axis=1))
    cell, panel, members_credits = cell[counted], panel[counted], member_credits[counted]
    development = np.array([item.split == "dev" for item in clean.data.items], bool)[clean.item[cell]]
    folds = min(FOLDS, len(np.unique(clean.group[cell])))
    source = DEVELOPMENT if development.any() and not development.all() else OTHER_TEXTS
    best, tested = np.zeros(len(panel), np.int64), np.zeros(len(panel), bool)  # the best member for each row, and the rows compared
    if source == DEVELOPMENT:
        best, tested = np.full(len(panel), members_credits[development].sum(axis=0).argmax()), ~development
    elif folds > 1:
        best, tested = best_on_other_folds(members_credits, group_folds(clean.group[cell], folds)), np.ones(len(panel), bool)
    panel, best_member, groups = panel[tested], members_credits[tested, best[tested]], clean.group[cell][tested]
    row = new_row(key, n=len(panel), groups=len(np.unique(groups)), chosen_on=source if len(panel) else None)
    names = Counter(members[index] for index in best[tested].tolist())
    row["best"] = ", ".join(name for name, _ in names.most_common()) or None
    put_share(row, "panel_agreement", panel, groups, clean.drawing, why)
    put_share(row, "best_agreement", best_member, groups, clean.drawing, why)
    difference = paired_difference(panel, best_member, groups)
    if source == OTHER_TEXTS and len(panel):
        difference = difference_from_best(panel, members_credits[tested], groups, difference.diff)
    put_difference(row, "diff", difference, why=None if len(panel) else why)
    return row


PANELS = Section(
    "panels",
    "Does a panel of judges agree with the labels more often than the best of its members, which is chosen on other texts?",
    tests_shown("diff", "better", "worse"),
    (
        SectionTable(
            (
                Column("n", "texts", COUNT_OR_BLANK, "answers that are compared: of the panel and of all its members"),
                Column("panel_agreement", "agreement", SHARE, "of the panel with the labels; answers without a score count as wrong"),
                Column("best_agreement", "best member's", SHARE, "the same of the best member, on the same texts"),
                Column("best", "best member", TEXT, "the member that agrees with the labels most often elsewhere"),
                Column("chosen_on", "chosen on", TEXT, "the texts on which it was chosen; never those that are compared"),
                *AGREEMENT_DIFFERENCE,
            )
        ),
    ),
    lambda inputs: compare_panels(inputs.answers, inputs.recording.panels) if inputs.recording.panels and len(inputs.answers) else None,
    in_comparisons=True,
    standalone=True,
)
