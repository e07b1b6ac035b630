"""The language of justifications: the share that is in the requested language."""

from __future__ import annotations

from collections import Counter

import numpy as np

from harness.data.columns import NO_VALUE
from harness.measure.condition_rows import new_row, put_share, section
from harness.measure.judged_table import JudgedTable
from harness.model import CONDITION
from harness.parse.language import UNDETERMINED, known_languages
from harness.reports.sections.section import Section, SectionNumbers, SectionTable, of_answers, range_by_language
from harness.reports.tables.column import COUNT_OR_BLANK, NAMED_COUNTS, SHARE, Column

NOTE = (
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
    return section("Language of the justifications", rows, note=NOTE) if any(row["n"] for row in rows) else None


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
