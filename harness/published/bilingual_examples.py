"""Example sentences for dictionaries: two models' sentences in French, Indonesian and Tetun, rated by two people of each language."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from harness.errors import ContentError
from harness.published.raw import RawFiles, RawRow, Row, Tables, label, nfc

LANGUAGES = {"fra": "fr", "ind": "id", "tdt": "tet"}
SYSTEMS = {"gpt4": "gpt-4o", "llama": "llama-3.1-405b"}  # the names that the README has
ANNOTATORS = ("A1", "A2")
ANSWERS = {  # metric -> its column
    "typical": "Typical",
    "informative": "Informative",
    "intelligible": "Intelligible",
    "translation_correct": "Translation correct",
}
SCORES = {"No": 0, "Somewhat": 1, "Yes": 2}


class Sentence(NamedTuple):
    """A model's sentence for a word: the release's code of its language, the word's number, and the sentence's row by annotator."""

    code: str
    model: str
    number: int
    rows: dict[str, RawRow]

    @property
    def item_id(self) -> str:
        return f"{LANGUAGES[self.code]}-{self.model}-{self.number:02d}"


def convert(raw: RawFiles) -> Tables:
    """Return one item a sentence. The files of the two people have the same sentences in the same order."""
    sentences = [sentence for code, model in product(LANGUAGES, SYSTEMS) for sentence in _sentences(raw, code, model)]
    return {"items": map(_item, sentences), "labels": (row for sentence in sentences for row in _labels(sentence))}


def _sentences(raw: RawFiles, code: str, model: str) -> Iterator[Sentence]:
    paths = {annotator: f"datafiles/select_examples_{model}_{code}_eng_rated_{annotator}.tsv" for annotator in ANNOTATORS}
    tables = {
        annotator: [row for row in raw.table(path, delimiter="\t") if row[code]]  # below them stands the mean of a column
        for annotator, path in paths.items()
        if raw.has(path)
    }
    for number, rows in enumerate(zip(*tables.values(), strict=True), start=1):
        for row in rows:
            if any(row[column] != rows[0][column] for column in (code, "eng", f"example.{model}_src", f"example.{model}_tgt")):
                raise ContentError(f"is about another sentence than line {rows[0].line} of {rows[0].file.name}", row.file, row.line)
        yield Sentence(code, model, number, dict(zip(tables, rows, strict=True)))


def _item(sentence: Sentence) -> Row:
    language, row = LANGUAGES[sentence.code], next(iter(sentence.rows.values()))
    return {
        "item_id": sentence.item_id,
        "language": language,
        "task": "dictionary_example",
        "source_id": f"{language}-{sentence.number:02d}",
        "system": SYSTEMS[sentence.model],
        "word": nfc(row[sentence.code]),
        "word_in_english": row["eng"],
        "word_in_english_language": "en",
        "output": nfc(row[f"example.{sentence.model}_src"]),
        "translation": row[f"example.{sentence.model}_tgt"],
        "translation_language": "en",
    }


def _labels(sentence: Sentence) -> Iterator[Row]:
    for annotator, row in sentence.rows.items():
        answers = {metric: SCORES[answer] for metric, column in ANSWERS.items() if (answer := row[column])}
        overall = {"overall_rating": int(rating[0])} if (rating := row["Overall rating"]) else {}
        for metric, score in (answers | overall).items():
            yield label(sentence.item_id, f"{LANGUAGES[sentence.code]}-{annotator}", metric, score)
