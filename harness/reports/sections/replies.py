"""What replies are like: refusals and several scores in answers in the judge's own words, and the language of justifications."""

from __future__ import annotations

from collections import Counter
from itertools import groupby, islice

import numpy as np

from harness.data.columns import NO_VALUE
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.measure.condition_rows import Row, new_row, put_share, rows_by_level, section
from harness.measure.judged_table import JudgedTable
from harness.measure.options import MeasureOptions
from harness.model import CONDITION, Failure
from harness.parse.language import UNDETERMINED, known_languages
from harness.reports.sections.section import (
    FEW_NAMES,
    JudgmentsWithItems,
    Section,
    SectionNumbers,
    SectionTable,
    of_answers,
    range_by_language,
)
from harness.reports.tables.columns import COUNT_OR_BLANK, NAMED_COUNTS, SHARE, Column
from harness.text import terminal_safe

FREE_TEXT_LEVELS = (("language", "metric"), ("language", "task", "metric"), ("metric",))
MOST_EXAMPLES = 20
FREE_TEXT_NOTE = (
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
    for key, cell in rows_by_level(columns, FREE_TEXT_LEVELS):
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
    return section("Answers in own words", rows, note=FREE_TEXT_NOTE, several=len(several), examples=examples)


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


LANGUAGE_NOTE = (
    "Languages as py3langid identifies them, in justifications without their JSON and quotations; those with fewer than 20 letters left "
    "are not counted (too_short). It identifies languages, not varieties: pt-BR and pt-PT are the same to it."
)


def compare_languages(answers: JudgedTable) -> SectionNumbers | None:
    """Return the share of justifications in the requested language, by language, judge and condition; None if none is long enough."""
    clean = answers.clean
    clean = clean.take((clean.judgments.detected_language.codes != NO_VALUE) & (clean.judgments.asked_language.codes != NO_VALUE))
    if not len(clean):
        return None
    column = clean.judgments.detected_language
    languages = np.array(column.values, object)[column.codes]
    rows = []
    for key, cell in clean.with_keys(asked_language=clean.judgments.asked_language).cells(("language",), (*CONDITION, "asked_language")):
        detected = languages[cell]
        identified = detected != UNDETERMINED
        requested = key["asked_language"].partition("-")[0]
        row = new_row(key, n=int(identified.sum()), too_short=int((~identified).sum()))
        identifiable = requested in detected or requested in known_languages()  # loading the identifier takes half a second
        right = np.where(identified & identifiable, detected == requested, np.nan)
        why = "no justification of 20 letters" if identifiable else f"the identifier does not know '{requested}'"
        put_share(row, "in_asked_language", right, clean.group[cell], clean.drawing, why)
        other_languages = Counter(language for language in detected.tolist() if language not in (UNDETERMINED, requested))
        row["other_languages"] = dict(sorted(other_languages.items(), key=lambda pair: (-pair[1], pair[0]))[:3])
        rows.append(row)
    return section("Language of the justifications", rows, note=LANGUAGE_NOTE) if any(row["n"] for row in rows) else None


JUSTIFICATION_LANGUAGE = Section(
    "justification_language",
    "Does the judge justify its scores in the language that it was asked to use? JSON and quotations do not count, nor do "
    "justifications shorter than 20 letters.",
    range_by_language("in_asked_language", "In the language asked"),
    (
        SectionTable(
            (
                Column("n", "justifications", COUNT_OR_BLANK, "justifications whose language was identified"),
                Column("too_short", "too short", COUNT_OR_BLANK, "justifications too short to identify their language"),
                Column("in_asked_language", "as asked", SHARE, "the share of justifications in the language that was asked for"),
                Column("other_languages", "other languages", NAMED_COUNTS, "the languages of the others, and how many"),
            ),
            keys=("asked_language",),
        ),
    ),
    of_answers(compare_languages),
    in_every_run=True,
    needs_labels=False,
)
