"""TruthfulQA-Multi: answers in five languages, reviewed by a main and a second annotator of each language.

Columns are read by their place and never beyond the ninth: the headers differ from file to file, and some files name a person there.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.published.raw import RawFiles, Row, Tables, label

LANGUAGES = ("en", "es", "ca", "eu", "gl")
METRICS = {"truthfulness": 5, "informativeness": 6}  # metric -> its place, from 0
COLUMNS, CHANGED, BEFORE = 9, 7, 8
FOLDER = "judge/manual_review"


def convert(raw: RawFiles) -> Tables:
    """Return one item an answer. The texts of the second annotator's sheets differ slightly: those of the main sheets count."""
    return {
        "items": (
            {
                "item_id": f"{tag}-{answer_id}",
                "language": tag,
                "task": "truthful_question_answering",
                "prompt": question,
                "correct_answers": correct.splitlines(),
                "incorrect_answers": incorrect.splitlines(),
                "output": answer,
                "system": answer_id.partition("__")[2],
            }
            for tag in LANGUAGES
            for path in ("evaluated", "evaluated/no_instruct")
            for answer_id, question, correct, incorrect, answer, *_ in _rows(raw, path, tag)
        ),
        "labels": (label for tag in LANGUAGES for label in _labels(raw, tag)),
    }


def _rows(raw: RawFiles, folder: str, tag: str) -> list[list[str]]:
    path = f"{FOLDER}/{folder}/{tag}.csv"
    rows = raw.lists(path, least=max(METRICS.values()) + 1) if raw.has(path) else []
    return [row[:COLUMNS] for row in rows[1:]]


def _labels(raw: RawFiles, tag: str) -> Iterator[Row]:
    for row in _rows(raw, "evaluated", tag):
        changed = row[CHANGED] if len(row) > CHANGED else ""
        yield from _scores(tag, row, "main", {"changed": changed, "before": row[BEFORE].strip()} if changed else {})
    for folder, role in (("evaluated/no_instruct", "main"), ("iaa", "iaa")):
        for row in _rows(raw, folder, tag):
            yield from _scores(tag, row, role, {})


def _scores(tag: str, row: list[str], role: str, more: Row) -> Iterator[Row]:
    for metric, column in METRICS.items():
        if row[column]:
            yield label(f"{tag}-{row[0]}", f"{tag}-{role}", metric, row[column], **more)
