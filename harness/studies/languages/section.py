"""Effects of the language of the rubric, of the item and of the justification on the score of the same text.

Each is English or another language, so that every language has eight cells. The items are parallel: the same texts in both languages.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import msgspec
import numpy as np

from harness.measure.condition_rows import Row, new_row, parallel_numbers, put_difference, section, text_clusters, with_q
from harness.measure.judged_table import JudgedTable
from harness.measure.options import POOLED
from harness.model import SAMPLING
from harness.reports.sections.section import Section, SectionNumbers, SectionTable, of_answers, q_value, tests_shown
from harness.reports.sections.variants import variant_of
from harness.reports.tables.columns import COUNT_OR_BLANK, PERCENT_OF_SCALE, Column
from harness.stats.core.arrays import Floats, Ints
from harness.stats.intervals.paired import paired_difference

FACTORS = ("rubric", "item", "justification")
INCOMPLETE = "no text has readable scores in all eight cells"
NOTE = (
    "effect of a factor: the score with this language less the score with English, as a share of the scale, + toward the best, over the "
    "texts with readable scores in all eight cells, the other two factors averaged. Of 'rubric × item': the effect of the rubric's "
    "language with the item in this language less that with the English item; of all three, the same once more. Intervals and p by text, "
    "q over the rows of one level."
)


def language_factors(answers: JudgedTable) -> SectionNumbers | None:
    """Return the effects of the three languages, by language, metric, judge and the rest of the condition; None without all eight cells."""
    clean = answers.clean
    cells = _Cells(clean)
    rows: list[Row] = []
    for names in (("metric", "judge", *SAMPLING), ("judge", *SAMPLING)) if cells.languages else ():
        for key, of_key in clean.cells((), names):
            for rest in dict.fromkeys(cells.rest[of_key].tolist()):
                rows_of_rest = of_key[cells.rest[of_key] == rest]
                for language in cells.languages:
                    scores = cells.scores(rows_of_rest, language)
                    if scores is not None:
                        rows += _effects({**key, "language": language, "variant": rest}, *scores, clean)
    with_q(rows, "effect", lambda row: row["metric"] == POOLED)
    return section("Languages of rubric, item and justification", rows, note=NOTE)


def _effects(key: Row, table: Floats, texts: Ints, clean: JudgedTable) -> Iterator[Row]:
    """Yield a row for each factor and each of their products. `table` (questions, 2, 2, 2) has English first, on each axis a factor."""
    complete = ~np.isnan(table).any(axis=(1, 2, 3))
    for size in (1, 2, 3):
        for axes in combinations(range(3), size):
            row = new_row(key, factor=" × ".join(FACTORS[axis] for axis in axes), n=int(complete.sum()), incomplete=int((~complete).sum()))
            contrast = table[complete]
            for axis in reversed(range(3)):
                contrast = np.diff(contrast, axis=axis + 1) if axis in axes else contrast.mean(axis=axis + 1, keepdims=True)
            effect = contrast.reshape(-1)
            bounds = (-(2.0 ** (size - 1)), 2.0 ** (size - 1))
            difference = paired_difference(effect, np.zeros(len(effect)), texts[complete], bounds=bounds)
            put_difference(row, "effect", difference, why=None if complete.any() else INCOMPLETE)
            yield row


class _Cells:
    """The cell of each answer: the languages of its rubric, item and justification."""

    def __init__(self, clean: JudgedTable) -> None:
        self.clean = clean
        items = np.asarray(clean.item)
        variants = {text: variant_of(text) for text in clean.column("variant").values}
        worded = {text: variant for text, variant in variants.items() if variant is not None and not variant.prompt}
        rest = {text: str(msgspec.structs.replace(variant, language="english", reasons="")) for text, variant in worded.items()}
        texts = [clean.column("variant").at(row) for row in range(len(clean))]
        language = [clean.data.items[item].language for item in items.tolist()]
        self.rest = np.array([rest.get(text, "") for text in texts], object)
        self.tags = [
            (worded[text].instructions_in(tag), tag, worded[text].reasons_in(tag)) if text in worded else ("", "", "")
            for text, tag in zip(texts, language, strict=True)
        ]
        self.parallel, self.cluster = parallel_numbers(clean.data)[items], text_clusters(clean.data)[items]
        foreign = {tag for tags in self.tags for tag in tags} - {"en", ""}
        cells = {tags for tags, number in zip(self.tags, self.parallel.tolist(), strict=True) if number >= 0}
        self.languages = [tag for tag in sorted(foreign) if all(cell in cells for cell in _eight(tag))]

    def scores(self, rows: Ints, language: str) -> tuple[Floats, Ints] | None:
        """Return the scores as shares of the scale (questions, 2, 2, 2) and their texts (questions,); None without an answer in a cell."""
        cell_number = {cell: number for number, cell in enumerate(_eight(language))}
        parallel_rows = [row for row in rows.tolist() if self.parallel[row] >= 0 and self.tags[row] in cell_number]
        if len({self.tags[row] for row in parallel_rows}) < len(cell_number):
            return None
        questions: dict[tuple[Any, ...], int] = {}
        table = np.full((len(parallel_rows), 8), np.nan)
        text = np.zeros(len(parallel_rows), np.int64)
        for row in parallel_rows:
            metric = str(self.clean.column("metric").at(row))
            question = (metric, int(self.parallel[row]), self.clean.column("repeat").at(row), self.clean.column("order").at(row))
            number = questions.setdefault(question, len(questions))
            table[number, cell_number[self.tags[row]]] = self.clean.points[row] / (self.clean.reach[metric] or np.nan)
            text[number] = self.cluster[row]
        return table[: len(questions)].reshape(-1, 2, 2, 2), text[: len(questions)]


def _eight(language: str) -> list[tuple[str, str, str]]:
    """Return the cells (rubric, item, justification) of a language, English first; for English itself they are one."""
    return [(rubric, item, reasons) for rubric in ("en", language) for item in ("en", language) for reasons in ("en", language)]


def _compute(answers: JudgedTable) -> SectionNumbers | None:
    """None unless a variant names a language of the rubric or of the justification."""
    variants = map(variant_of, answers.column("variant").values)
    names_language = any(variant and (variant.reasons or variant.language not in ("english", "own")) for variant in variants)
    return language_factors(answers) if names_language else None


LANGUAGE_FACTORS = Section(
    "language_factors",
    "What do the languages of the rubric, of the item and of the justification do to the score of the same text? Each is English or "
    "the language of the row.",
    tests_shown("effect", "kinder", "harsher"),
    (
        SectionTable(
            (
                Column("n", "texts", COUNT_OR_BLANK, "texts (on a metric) with readable scores in all eight cells"),
                Column("incomplete", "incomplete", COUNT_OR_BLANK, "texts without a readable score in one of the cells"),
                Column(
                    "effect",
                    "effect",
                    PERCENT_OF_SCALE,
                    "the score with this language minus the score with English, the other factors averaged; of products, how far one "
                    "effect depends on the other factor",
                ),
                q_value("effect_q", "the effect"),
            ),
            keys=("factor",),
        ),
    ),
    of_answers(_compute),
    after="calibrated_scores",
)
