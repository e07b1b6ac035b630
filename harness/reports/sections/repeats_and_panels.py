"""The same question asked more than once: of one judge (consistency), in several runs, and of a panel beside the best of its members."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from harness.data.columns import NO_VALUE, combination_ids, first_rows, unique_integers
from harness.judges import Panel
from harness.measure.cells import Cell
from harness.measure.compare import JudgedTables, compare_tables
from harness.measure.condition_rows import Row, new_row, put_difference, put_mean, put_share, section, with_q
from harness.measure.judged_table import JudgedTable
from harness.measure.options import POOLED, MeasureOptions
from harness.model import CELL, CONDITION, SAMPLING
from harness.reports.sections.section import (
    AGREEMENT_DIFFERENCE,
    BY_METRIC,
    SHOWN_BELOW,
    Section,
    SectionNumbers,
    SectionTable,
    cells_at,
    of_answers,
    q_value,
    range_by_language,
    tests_shown,
)
from harness.reports.tables.columns import CLASS_SHARES, COEFFICIENT, COUNT_OR_BLANK, SHARE, TEXT, Column
from harness.stats.agreement.describe import entropy_bits
from harness.stats.core.arrays import Ints
from harness.stats.core.rows import distinct_counts
from harness.stats.estimation.calibration import group_folds
from harness.stats.intervals.paired import best_on_other_folds, difference_from_best, paired_difference

CONSISTENCY_LEVELS = (("language",), ("language", "metric"))
QUESTION = ("metric", *CONDITION, "order")
CONSISTENCY_NOTE = (
    "Of questions (an item, a metric) with two answers or more. A failure is an answer of its own, by its kind. entropy_bits: 0 if all "
    "answers are the same score, at most log2 of the number of repeats."
)


def measure_consistency(answers: JudgedTable) -> SectionNumbers | None:
    """Return the shares of questions with the same score, and the same justification, every time, and the entropy of the scores."""
    clean = answers.clean
    question = clean.joint(QUESTION, items=True)
    times = np.bincount(question)
    repeated = times >= 2
    if not repeated.any():
        return None
    first = first_rows(question)
    answer = np.where(
        clean.readable, clean.judgments.score.codes.astype(np.int64), -2 - clean.judgments.failure.codes.astype(np.int32)
    )  # a class or a failure
    distinct, number = unique_integers(answer - int(answer.min()), int(answer.max() - answer.min()) + 1)
    table = np.bincount(number + question * len(distinct), minlength=len(times) * len(distinct)).reshape(len(times), -1)
    counts, kind = distinct_counts(table)
    bits = entropy_bits(counts)[kind]
    same = (bits == 0).astype(float)
    justification = clean.judgments.justification
    different = np.unique(question * (len(justification.values) + 1) + justification.codes + 1) // (len(justification.values) + 1)
    is_justified = np.bincount(question, justification.codes != NO_VALUE) > 0
    worded = np.where(is_justified, (np.bincount(different) == 1).astype(float), np.nan)  # 1: all justifications are the same
    rows = []
    for key, cell in cells_at(clean.take(first), CONSISTENCY_LEVELS):
        compared = cell[repeated[cell]]
        if not len(compared):
            continue
        most = int(times[compared].max())
        row = new_row(key, n=len(compared), repeats=most, incomplete=int((times[cell] < most).sum()))
        groups = clean.group[first[compared]]
        row["groups"] = len(np.unique(groups))
        put_share(row, "same_score", same[compared], groups, clean.drawing, "no question asked twice")
        put_share(row, "same_justification", worded[compared], groups, clean.drawing, "no justifications")
        put_mean(row, "entropy_bits", bits[compared], groups, (0.0, float(np.log2(most))), "no question asked twice")
        rows.append(row)
    return section("Consistency over repeats", rows, note=CONSISTENCY_NOTE)


CONSISTENCY = Section(
    "consistency",
    "Does the same question get the same answer? A failure counts as an answer of its own.",
    range_by_language("same_score", "The same score every time"),
    (
        SectionTable(
            (
                Column("n", "questions", COUNT_OR_BLANK, "items (and repeats) that were compared"),
                Column("repeats", "repeats", COUNT_OR_BLANK, "how often a question was asked, at most"),
                Column("same_score", "same score", SHARE, "the share of questions with the same answer every time"),
                Column("same_justification", "same justification", SHARE, "the share of questions with the same justification every time"),
                Column("entropy_bits", "entropy in bits", COEFFICIENT, "how much the answers to one question vary; 0 means not at all"),
            )
        ),
    ),
    of_answers(measure_consistency),
    needs_labels=False,
)


KEYS = ("source", *CELL)
FIRST_RUN = "the run that the others are compared with"
RUNS_NOTE = (
    "The same judge under the same condition in several runs on the same items and labels. agreement: with the labels, failures as wrong. "
    "diff: minus the agreement of the run that the others are compared with, on the same items."
)
NOTE_ON_SHARES = (
    "Class shares prove nothing about agreement: a judge whose shares change may agree with people as before, and one whose shares stay "
    "may have moved on every text. margins_p: of the hypothesis that both runs use the classes equally often (Stuart-Maxwell)."
)


def compare_runs(aligned: JudgedTables, options: MeasureOptions) -> dict[str, SectionNumbers]:
    """Return the sections `runs` and `run_shares`; empty without a judge and condition that two sources on the same data have.

    The others are compared with the source that `options.versus` names, else with the first one. Rows are by language and metric; scores
    that are numbers have none.
    """
    cells = [cell for judged in aligned.tables if _has_repeated_judge(judged) for cell in _repeated_cells(aligned, judged, options)]
    shares = [_shares_row(cell) for cell in cells]
    with_q(shares, "margins", lambda row: None)
    sections = {
        "runs": section("Agreement over runs", map(_agreement_row, cells), note=RUNS_NOTE),
        "run_shares": section("Class shares: no proof of agreement", shares, note=NOTE_ON_SHARES),
    }
    return {name: numbers for name, numbers in sections.items() if numbers}


def _has_repeated_judge(judged: JudgedTable) -> bool:
    """Return True where a judge has judgments in two sources."""
    judge = judged.judgments.judge
    pairs = np.unique(combination_ids([judged.source, judge], np.zeros(len(judge), np.int8)))
    return len(pairs) > len(np.unique(judge.codes))


def _repeated_cells(aligned: JudgedTables, judged: JudgedTable, options: MeasureOptions) -> Iterator[Cell]:
    """Yield the cells of judges and conditions that several sources have, the source that the others are compared with first."""
    sources = [str(name) for name in judged.source.used]
    name, wanted = options.versus or ("", "")
    first = wanted if name == "source" and wanted in sources else sources[0]
    order = [first, *(source for source in sources if source != first)]
    by = tuple(key for key in KEYS if key not in SAMPLING[1:] or key in aligned.by)
    of_table = msgspec.structs.replace(aligned, by=by, tables=(judged,))
    by_place: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in compare_tables(of_table, replace(options, versus=("source", first))).cells:
        if not cell.continuous:
            by_place.setdefault(tuple(cell.key[key] for key in by if key != "source"), []).append(cell)
    for cells in by_place.values():
        if len(cells) > 1:
            yield from sorted(cells, key=lambda cell: order.index(str(cell.key["source"])))


def _new_row(cell: Cell, n: int) -> Row:
    key = {"task": POOLED, **{name: cell.key.get(name) for name in KEYS}}
    return new_row(key, n=n, groups=cell.groups)


def _agreement_row(cell: Cell) -> Row:
    row = _new_row(cell, cell.n_ref)
    row |= {"agreement": cell["pa_failed_wrong"], "agreement_ci": cell["pa_failed_wrong_ci"]}
    versus = cell.versus or {"reason": FIRST_RUN}
    row |= {"diff": versus.get("diff"), "diff_ci": versus.get("ci"), "diff_n": versus.get("n")}
    row |= {"diff_p": versus.get("p"), "diff_q": versus.get("q")}
    reasons = {"agreement": cell.undefined.get("pa_failed_wrong"), "diff": versus.get("reason"), "diff_ci": versus.get("reason")}
    row["undefined"] = {name: reason or "undefined" for name, reason in reasons.items() if row[name] is None}
    return row


def _shares_row(cell: Cell) -> Row:
    row = _new_row(cell, cell.n)
    margins = (cell.versus or {}).get("margins") or {"reason": FIRST_RUN}
    row |= {"shares": cell.distribution_judge, "margins_p": margins.get("p"), "margins_n": margins.get("n")}
    if row["margins_p"] is None:
        row["undefined"]["margins_p"] = margins.get("reason") or "undefined"
    return row


def _count_changed_shares(numbers: SectionNumbers) -> str:
    tested = [row["margins_q"] for row in numbers["rows"] if row["margins_q"] is not None]
    return f"Shown (q < .05): a change in {sum(q < SHOWN_BELOW for q in tested)} of {len(tested)} tests." if tested else ""


RUNS = Section(
    "runs",
    "Does the judge agree with the labels as it did in an earlier run? Differences are from the first run of each language and "
    "metric, on the same items.",
    tests_shown("diff", "better", "worse"),
    (
        SectionTable(
            (
                Column("n", "texts", COUNT_OR_BLANK, "answers with a label"),
                Column("agreement", "agreement", SHARE, "with the labels; answers without a score count as wrong"),
                *AGREEMENT_DIFFERENCE,
            ),
            levels=BY_METRIC,
        ),
    ),
)
RUN_SHARES = Section(
    "run_shares",
    "Does the judge give the classes as often as before? A change of class shares proves nothing about agreement, and neither does its "
    "absence.",
    _count_changed_shares,
    (
        SectionTable(
            (
                Column("n", "texts", COUNT_OR_BLANK, "answers with a label and a readable score"),
                Column("shares", "class shares", CLASS_SHARES, "how often the judge gave each score, in percent"),
                q_value("margins_q", "equal shares"),
            ),
            levels=BY_METRIC,
        ),
    ),
)


PANEL_LEVELS: tuple[tuple[str, ...], ...] = (("language", "metric"), ("language",))
FOLDS = 5
DEVELOPMENT, OTHER_TEXTS = "development items", "other texts"
NO_TEXT = "no text that the panel and all members judged"
NUMBERS = "scores are numbers, which have no agreement; --versus judge=NAME compares correlations"
PANELS_NOTE = (
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
    rows = [_gain_row(clean, key, cell, members[key["judge"]]) for key, cell in cells_at(clean, PANEL_LEVELS) if key["judge"] in members]
    with_q(rows, "diff", lambda row: row["metric"] == "*")
    return section("Panels", rows, note=PANELS_NOTE)


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
