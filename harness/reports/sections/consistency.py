"""Consistency: the share of repeated questions with the same answer."""

from __future__ import annotations

import numpy as np

from harness.data.columns import NO_VALUE, CodedColumn, first_rows, unique_integers
from harness.measure.condition_rows import new_row, put_mean, put_share, section
from harness.measure.judged_table import JudgedTable
from harness.model import CONDITION
from harness.reports.sections.section import Found, Section, SectionTable, cells_at, of_answers, range_by_language
from harness.reports.tables.column import COEFFICIENT, COUNT_OR_BLANK, SHARE, Column
from harness.stats import distinct_counts, entropy_bits
from harness.stats.core.arrays import Floats, Ints

LEVELS = (("language",), ("language", "metric"))
QUESTION = ("metric", *CONDITION, "order")
NOTE = (
    "Of questions (an item, a metric) with two answers or more. A failure is an answer of its own, by its kind. entropy_bits: 0 if all "
    "answers are the same score, at most log2 of the number of repeats."
)


def consistency(answers: JudgedTable) -> Found | None:
    """Shares of questions with the same score, and the same justification, every time; entropy of the scores."""
    clean = answers.clean
    question = clean.joint(QUESTION, items=True)
    times = np.bincount(question)
    asked = times >= 2
    if not asked.any():
        return None
    first = first_rows(question)
    counts, kind = distinct_counts(_table(question, _answer(clean)))
    bits = entropy_bits(counts)[kind]
    same = (bits == 0).astype(float)
    worded = _same_wording(clean, question)
    rows = []
    for key, at in cells_at(clean.take(first), LEVELS):
        n = at[asked[at]]
        if not len(n):
            continue
        most = int(times[n].max())
        row = new_row(key, n=len(n), repeats=most, incomplete=int((times[at] < most).sum()))
        groups = clean.group[first[n]]
        row["groups"] = len(np.unique(groups))
        put_share(row, "same_score", same[n], groups, clean.drawing, "no question asked twice")
        put_share(row, "same_justification", worded[n], groups, clean.drawing, "no justifications")
        put_mean(row, "entropy_bits", bits[n], groups, (0.0, float(np.log2(most))), "no question asked twice")
        rows.append(row)
    return section("Consistency over repeats", rows, note=NOTE)


def _answer(clean: JudgedTable) -> Ints:
    """A number for every different answer; an answer is a class or a failure."""
    return np.where(clean.readable, clean.judgments.score.codes.astype(np.int64), -2 - clean.judgments.failure.codes.astype(np.int32))


def _table(question: Ints, answer: Ints) -> Ints:
    """Counts of each answer to each question, (questions, answers)."""
    lowest = int(answer.min())
    found, which = unique_integers(answer - lowest, int(answer.max()) - lowest + 1)
    kinds, many = len(found), int(question.max()) + 1
    which += question * kinds
    return np.bincount(which, minlength=many * kinds).reshape(-1, kinds)


def _same_wording(clean: JudgedTable, question: Ints) -> Floats:
    """1 if all justifications of a question are the same, else 0; NaN without a justification."""
    column: CodedColumn = clean.judgments.justification
    if not column.values:
        return np.full(int(question.max()) + 1, np.nan)
    width = len(column.values) + 1
    different = np.unique(question * width + column.codes + 1) // width
    any_at_all = np.bincount(question, column.codes != NO_VALUE) > 0
    return np.where(any_at_all, (np.bincount(different) == 1).astype(float), np.nan)


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
    of_answers(consistency),
)
