"""Consistency: the share of repeated questions with the same answer."""

from __future__ import annotations

import numpy as np

from harness.data.columns import NO_VALUE, first_rows, unique_integers
from harness.measure.condition_rows import new_row, put_mean, put_share, section
from harness.measure.judged_table import JudgedTable
from harness.model import CONDITION
from harness.reports.sections.section import Section, SectionNumbers, SectionTable, cells_at, of_answers, range_by_language
from harness.reports.tables.column import COEFFICIENT, COUNT_OR_BLANK, SHARE, Column
from harness.stats import distinct_counts, entropy_bits

LEVELS = (("language",), ("language", "metric"))
QUESTION = ("metric", *CONDITION, "order")
NOTE = (
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
    for key, cell in cells_at(clean.take(first), LEVELS):
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
    return section("Consistency over repeats", rows, note=NOTE)


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
