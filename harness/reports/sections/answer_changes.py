"""Answers under another condition: how often they change, and how far scores move, whatever people say.

Sections on agreement, perturbations and variants have better numbers where they apply. This one has the rest: names of systems in the
headings, changes of texts on scales that have no best end, and every condition where no text has a label.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.data.columns import NO_VALUE
from harness.measure.condition_rows import SCORE_LEVELS, Row, level_of, new_row, put_moved, section, with_q
from harness.measure.judged_table import JudgedTable, ordered_table
from harness.model import CONDITION, SAMPLING, axis_words
from harness.reports.sections.section import BY_METRIC, Section, SectionInput, SectionNumbers, SectionTable, cells_at, tests_shown
from harness.reports.sections.variants import PAIRED_ANSWERS, SCORE_CHANGE

_SHOWN = ("shown_source", "perturbation")
_SAME = ("metric", *CONDITION, "order", "repeat", *_SHOWN)
"""The keys in which two answers must be equal but for the one that is compared."""
HYPOTHESIS = (
    "H0: the score is the same on average under both conditions, on the same items; two-sided. q: Benjamini-Yekutieli over the rows of one "
    "level and one axis"
)


def compare_conditions(source: SectionInput) -> SectionNumbers | None:
    """Return the changes of answers from the plainest value of each axis of conditions to the others, all else being equal."""
    judgments = source.recording.judgments
    table = ordered_table(source.recording.data, judgments, source.options)
    if not len(table):
        return None
    table = table.with_keys(**{name: getattr(table.judgments, name) for name in _SHOWN})
    rows = [row for name in _SHOWN for row in _changes(table, name)]
    clean = table.clean.take(table.clean.judgments.is_clean)
    if not len(clean) or np.isnan(clean.hit[:]).all():
        rows += [row for name in ("variant", *SAMPLING) for row in _changes(clean, name)]
    with_q(rows, "moved", lambda row: (row["axis"], level_of(row)))
    return section("Answers under another condition", rows, hypothesis=HYPOTHESIS)


def _changes(table: JudgedTable, axis: str) -> Iterator[Row]:
    """Yield the rows of one axis: each of its values beside the plainest one, which is none where there are answers without it."""
    column = table.column(axis)
    codes = sorted(set(column.codes.tolist()))
    plainest = NO_VALUE if axis in _SHOWN else min(codes, default=NO_VALUE)
    base = np.flatnonzero(column.codes == plainest)
    for code in codes:
        if code == plainest:
            continue
        mine = np.flatnonzero(column.codes == code)
        partner = table.partners(mine, base, tuple(name for name in _SAME if name != axis))
        for key, cell in cells_at(table.take(mine), SCORE_LEVELS):
            has_points = not np.isnan(table.points[mine[cell]]).all()
            if (partner[cell] < 0).all() or (axis == "perturbation" and has_points):
                continue  # the section on perturbations has these
            value, against = (None if class_code == NO_VALUE else column.values[class_code] for class_code in (code, plainest))
            row = new_row(key, axis=axis, changed_to=_words(axis, value), changed_from=_words(axis, against))
            put_moved(row, table, mine[cell], partner[cell])
            yield row


def _words(axis: str, value: object) -> str:
    if axis == "shown_source":
        return {None: "no names", "correct": "names of the systems", "swapped": "names exchanged"}[value]  # type: ignore[index]
    if value is None:
        return "unchanged text" if axis == "perturbation" else "left to the endpoint"
    return axis_words(axis, value)


ANSWER_CHANGES = Section(
    "answer_changes",
    "Do answers change with the way of asking? Each condition is compared with the plainest one, on the same items.",
    tests_shown("moved", "kinder", "harsher"),
    (SectionTable((*PAIRED_ANSWERS, *SCORE_CHANGE), keys=("changed_to", "changed_from"), levels=BY_METRIC),),
    compare_conditions,
    needs_labels=False,
)
