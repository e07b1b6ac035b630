"""The same judge in several runs: its agreement with the labels over the runs and, apart from it, the classes that it gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from harness.data.columns import combination_ids
from harness.measure.cells import Cell
from harness.measure.compare import JudgedTables, compare_tables
from harness.measure.condition_rows import Row, new_row, section, with_q
from harness.measure.judged_table import JudgedTable
from harness.measure.options import POOLED, MeasureOptions
from harness.model import CELL, SAMPLING
from harness.reports.sections.section import (
    AGREEMENT_DIFFERENCE,
    BY_METRIC,
    SHOWN_BELOW,
    Section,
    SectionNumbers,
    SectionTable,
    q_value,
    tests_shown,
)
from harness.reports.tables.column import CLASS_SHARES, COUNT_OR_BLANK, SHARE, Column

KEYS = ("source", *CELL)
FIRST_RUN = "the run that the others are compared with"
NOTE = (
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
        "runs": section("Agreement over runs", map(_agreement_row, cells), note=NOTE),
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
