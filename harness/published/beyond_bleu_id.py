"""Beyond BLEU: translations into Indonesian by three small models, scored by three experts and by GPT-5."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import NamedTuple

from harness.published.raw import RawFiles, RawRow, Row, Tables, judgment, label, nfc

PEOPLE = "human_evaluation_result.csv"
JUDGED = "gpt_evaluation_result_{}_EN_ID_0_1000_bleu_meteor_amount(1000)_batch(10).csv"
SYSTEMS = ("gemma3_1b", "llama3.2_3b", "qwen3_0.6b")
METRICS = ("morphosyntactic", "semantic", "pragmatic")
EVALUATORS = ("evaluator1", "evaluator2", "evaluator3")
JUDGE, VARIANT = "gpt-5-chat", "ten-at-once"


class IndonesianTranslation(NamedTuple):
    """A translation: its system, the number of its source text (from 1, in the order of first occurrence) and its texts."""

    system: str
    segment: int
    source: str
    output: str

    @property
    def item_id(self) -> str:
        return f"id-{self.segment:03d}-{self.system}"


def convert(raw: RawFiles) -> Tables:
    """Return one item a translation that people scored. Rows that are broken at the line breaks of a translation are left out."""
    rated = list(_rated(raw))
    translations = list(dict.fromkeys(translation for translation, _, _ in rated))
    return {
        "items": (
            {
                "item_id": translation.item_id,
                "language": "id",
                "task": "translation",
                "source_id": f"s{translation.segment:03d}",
                "system": translation.system,
                "source_language": "en",
                "source": translation.source,
                "output": translation.output,
            }
            for translation in translations
        ),
        "labels": (
            label(translation.item_id, evaluator, metric, int(score))
            for translation, metric, scores in rated
            for evaluator, score in zip(EVALUATORS, scores, strict=True)
        ),
        "judgments": _judgments(raw, translations),
    }


def _rated(raw: RawFiles) -> Iterator[tuple[IndonesianTranslation, str, list[str]]]:
    """Yield translation, metric and scores of each whole row. The file is quoted twice: a row of one cell is itself a line of CSV."""
    segments: dict[str, int] = {}
    header, *rows = raw.lists(PEOPLE, least=1)
    for cells in rows:
        if len(cells) == 1:
            cells = next(csv.reader(cells), [])
        if len(cells) != len(header):
            continue
        row = RawRow(dict(zip(header, cells, strict=True)), raw.file(PEOPLE))
        segment = segments.setdefault(row["prompt_text"], len(segments) + 1)
        translation = IndonesianTranslation(row["llm_name"], segment, nfc(row["prompt_text"].strip()), nfc(row["llm_answer"].strip()))
        yield translation, row["metric"].lower(), [row[evaluator] for evaluator in EVALUATORS]


def _judgments(raw: RawFiles, translations: list[IndonesianTranslation]) -> Iterator[Row]:
    for system in SYSTEMS:
        path = JUDGED.format(system)
        if not raw.has(path):
            continue
        by_source: dict[str, RawRow] = {}
        for row in raw.table(path):
            by_source.setdefault(nfc(row["source_en"].strip()), row)
        for translation in translations:
            if translation.system == system:
                row = by_source[translation.source]
                for metric in METRICS:
                    yield judgment(translation.item_id, JUDGE, VARIANT, metric, int(row[metric]))
