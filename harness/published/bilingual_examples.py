"""Example sentences for dictionaries: two models' sentences in French, Indonesian and Tetun, rated by two people of each language."""

from __future__ import annotations

from itertools import product

from harness.errors import ContentError
from harness.published.raw import RawFiles, Row, Tables, label, nfc

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


def convert(raw: RawFiles) -> Tables:
    """Return one item a sentence. The files of the two people have the same sentences in the same order."""
    items: list[Row] = []
    labels: list[Row] = []
    for code, model in product(LANGUAGES, SYSTEMS):
        language = LANGUAGES[code]
        paths = {annotator: f"datafiles/select_examples_{model}_{code}_eng_rated_{annotator}.tsv" for annotator in ANNOTATORS}
        tables = {
            annotator: [row for row in raw.table(path, delimiter="\t") if row[code]]  # below them stands the mean of a column
            for annotator, path in paths.items()
            if raw.has(path)
        }
        for number, rows in enumerate(zip(*tables.values(), strict=True), start=1):
            first = rows[0]
            for row in rows:
                if any(row[column] != first[column] for column in (code, "eng", f"example.{model}_src", f"example.{model}_tgt")):
                    raise ContentError(f"is about another sentence than line {first.line} of {first.file.name}", row.file, row.line)
            item = {
                "item_id": f"{language}-{model}-{number:02d}",
                "language": language,
                "task": "dictionary_example",
                "source_id": f"{language}-{number:02d}",
                "system": SYSTEMS[model],
                "word": nfc(first[code]),
                "word_in_english": first["eng"],
                "word_in_english_language": "en",
                "output": nfc(first[f"example.{model}_src"]),
                "translation": first[f"example.{model}_tgt"],
                "translation_language": "en",
            }
            items.append(item)
            for annotator, row in zip(tables, rows, strict=True):
                answers = {metric: SCORES[answer] for metric, column in ANSWERS.items() if (answer := row[column])}
                overall = {"overall_rating": int(rating[0])} if (rating := row["Overall rating"]) else {}
                for metric, score in (answers | overall).items():
                    labels.append(label(item["item_id"], f"{language}-{annotator}", metric, score))
    return {"items": items, "labels": labels}
