"""Panels: does a panel agree with people more often than the best of its members?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.judges import Panel
from harness.measure.condition_rows import Row, new_row, put_difference, put_share, section, with_q
from harness.measure.judged_table import JudgedTable
from harness.model import CONDITION
from harness.reports.sections.section import AGREEMENT_DIFFERENCE, Found, Section, SectionInput, SectionTable, cells_at, tests_shown
from harness.reports.tables.column import COUNT_OR_BLANK, SHARE, TEXT, Column
from harness.stats import best_on_other_folds, difference_from_best, group_folds, paired_difference
from harness.stats.core.arrays import Floats, Ints

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
_Chosen = tuple[Ints, NDArray[np.bool_], str]  # the best member of each row, which rows are compared, and what it was chosen on


def panel_gains(answers: JudgedTable, panels: Mapping[str, Panel]) -> Found | None:
    """The section of panels, each beside the best of its members; None without one. Rows are by language and metric, and by language."""
    clean = answers.clean
    judges = set(clean.column("judge").values)
    known = {name: panel.members for name, panel in panels.items() if judges.issuperset(panel.members)}
    rows = [_gain_row(clean, key, at, known[key["judge"]]) for key, at in cells_at(clean, LEVELS) if key["judge"] in known]
    with_q(rows, "diff", lambda row: row["metric"] == "*")
    return section("Panels", rows, note=NOTE)


def _gain_row(clean: JudgedTable, key: Mapping[str, Any], at: Ints, members: Sequence[str]) -> Row:
    why = NUMBERS if (np.isnan(clean.hit[at]) & ~np.isnan(clean.label_points[at])).any() else NO_TEXT
    at, ours, every = _credits(clean, at, members)
    development = np.array([item.split == "dev" for item in clean.data.items], bool)[clean.item[at]]
    best, tested, source = _chosen_on_development(every, development) or _chosen_on_other_texts(every, clean.group[at])
    ours, theirs, groups = ours[tested], every[tested, best[tested]], clean.group[at][tested]
    row = new_row(key, n=len(ours), groups=len(np.unique(groups)), chosen_on=source if len(ours) else None)
    names = Counter(members[place] for place in best[tested].tolist())
    row["best"] = ", ".join(name for name, _ in names.most_common()) or None
    put_share(row, "panel_agreement", ours, groups, clean.drawing, why)
    put_share(row, "best_agreement", theirs, groups, clean.drawing, why)
    found = paired_difference(ours, theirs, groups)
    if source == OTHER_TEXTS and len(ours):
        found = difference_from_best(ours, every[tested], groups, found.diff)
    put_difference(row, "diff", found, why=None if len(ours) else why)
    return row


def _credits(clean: JudgedTable, at: Ints, members: Sequence[str]) -> tuple[Ints, Floats, Floats]:
    """The rows of a panel that all members have answered too, with the credits of the panel (rows,) and of its members (rows, members)."""
    judge, every = clean.column("judge"), clean.hit
    own = [np.flatnonzero(judge.codes == judge.values.index(member)) for member in members]
    partner = np.column_stack([clean.partners(at, rows, _SAME) for rows in own])
    ours, theirs = every[at], np.where(partner >= 0, every[np.maximum(partner, 0)], np.nan)
    counted = ~(np.isnan(ours) | np.isnan(theirs).any(axis=1))
    return at[counted], ours[counted], theirs[counted]


def _chosen_on_development(theirs: Floats, development: NDArray[np.bool_]) -> _Chosen | None:
    """The member that is right most often on development items, for all others; None without one of both."""
    if not development.any() or development.all():
        return None
    best = int(np.argmax(theirs[development].sum(axis=0)))
    return np.full(len(theirs), best), ~development, DEVELOPMENT


def _chosen_on_other_texts(theirs: Floats, groups: Ints) -> _Chosen:
    """For each of several folds of texts, the member that is right most often on the others; nothing is compared with fewer than two."""
    count = len(np.unique(groups))
    if count < 2:
        return np.zeros(len(theirs), np.int64), np.zeros(len(theirs), bool), OTHER_TEXTS
    folds = group_folds(groups, min(FOLDS, count))
    return best_on_other_folds(theirs, folds), np.ones(len(theirs), bool), OTHER_TEXTS


def _compute(given: SectionInput) -> Found | None:
    panels = given.recording.panels
    return panel_gains(given.answers, panels) if panels and len(given.answers) else None


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
    _compute,
    in_comparisons=True,
    apart=True,
)
