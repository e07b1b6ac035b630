"""Answers in the judge's own words: the shares of refusals, and of answers that name more than one score."""

from __future__ import annotations

from itertools import groupby, islice

import numpy as np

from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.measure.condition_rows import Row, new_row, put_share, rows_by_level, section
from harness.measure.options import MeasureOptions
from harness.model import Failure
from harness.reports.sections.section import FEW_NAMES, JudgmentsWithItems, Section, SectionNumbers, SectionTable
from harness.reports.tables.column import COUNT_OR_BLANK, SHARE, Column
from harness.text import terminal_safe

LEVELS = (("language", "metric"), ("language", "task", "metric"), ("metric",))
MOST_EXAMPLES = 20
NOTE = (
    "Answers in the judge's own words. several: of answers with a score, the share that names another number (or class) too; the first one "
    "is the score. refused: the share of refusals among all answers. unreadable: all answers without a score, refusals included. "
    "Intervals are clustered by source text."
)


def summarise_free_text(data: Dataset, judgments: Judgments, options: MeasureOptions) -> SectionNumbers | None:
    """Return the section of answers in the judge's own words about unchanged texts; None without any. Labels are not needed.

    `rows` are by language, task, metric, judge and condition (`*`: pooled). `several` is the number of answers with further numbers, and
    `examples` are the first of them (`MOST_EXAMPLES` at most), one for each item, metric and judge.
    """
    judgments = judgments.clean
    spoken = {variant: 0 for variant in judgments.variant.used if "text" in str(variant).split("+")}
    judgments, _, group, columns = JudgmentsWithItems.select(data, judgments, judgments.variant.recode(spoken) == 0)
    read = judgments.failure.codes < 0
    names_further = judgments.further_numbers.codes >= 0
    refused = judgments.failure.equals(str(Failure.REFUSED))
    drawing = options.drawing
    rows: list[Row] = []
    for key, cell in rows_by_level(columns, LEVELS):
        row = new_row(key, n=len(cell), several_n=int(names_further[cell].sum()), unreadable=int((~read[cell]).sum()))
        put_share(
            row, "several", np.where(read[cell], names_further[cell].astype(float), np.nan), group[cell], drawing, "no answer has a score"
        )
        put_share(row, "refused", refused[cell].astype(float), group[cell], drawing, "no answer")
        rows.append(row)
    several = judgments.take(names_further.nonzero()[0])
    names = ("item", "metric", "judge", "score", "further_numbers")
    answers = sorted(zip(*(getattr(several, name) for name in names), strict=True), key=lambda answer: tuple(map(str, answer)))
    first = (next(same) for _, same in groupby(answers, key=lambda answer: answer[:3]))  # one for each item, metric and judge
    examples = [dict(zip(names, answer, strict=True)) for answer in islice(first, MOST_EXAMPLES)]
    return section("Answers in own words", rows, note=NOTE, several=len(several), examples=examples)


def _describe_several_scores(numbers: SectionNumbers) -> str:
    """Return how many answers name more than one score, and the first of them."""
    if not numbers["several"]:
        return "No answer with a score names another one."
    examples = [
        f"{example['item']} ({example['metric']}): {example['score']}, then {example['further_numbers']}"
        for example in numbers["examples"][:FEW_NAMES]
    ]
    count = numbers["several"]
    answers = "1 answer names" if count == 1 else f"{count} answers name"
    return terminal_safe(f"{answers} more than one score: {'; '.join(examples)}{' …' if count > len(examples) else ''}.")


FREE_TEXT = Section(
    "free_text",
    "Does the judge give one score when it answers in its own words? The first score that it names counts.",
    _describe_several_scores,
    (
        SectionTable(
            (
                Column("n", "answers", COUNT_OR_BLANK, "answers in the judge's own words"),
                Column("unreadable", "unread", COUNT_OR_BLANK, "answers without a readable score, refusals included"),
                Column("refused", "refused", SHARE, "the share of answers that are refusals"),
                Column("several_n", "naming several", COUNT_OR_BLANK, "answers that name more than one score"),
                Column(
                    "several",
                    "several scores",
                    SHARE,
                    "the share of answers with a readable score that name more than one; the first one counts",
                ),
            )
        ),
    ),
    lambda inputs: summarise_free_text(inputs.recording.data, inputs.recording.judgments, inputs.options),
    needs_labels=False,
)
