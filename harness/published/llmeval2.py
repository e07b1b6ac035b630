"""LLMEval-2: answers of Chinese models to exam questions of twelve subjects, scored by people and by GPT-4."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.published.raw import RawFiles, Row, Tables, judgment, label, nfc, whole

FOLDER = "results"
TASKS = {"A": "exam_answer_objective", "B": "exam_answer_subjective"}  # type of the question -> task
METRICS = {  # key of the stars -> metric
    "Correctness": "correctness",
    "Explanation Correctness": "explanation_correctness",
    "Accuracy": "accuracy",
    "Fluency": "fluency",
    "Informativeness": "informativeness",
    "Logicality": "logicality",
}


def convert(raw: RawFiles) -> Tables:
    """Return one item an answer, subjects by name. A released human score is one whole number, rounded from several people."""
    return {
        "items": (_item(subject, entry) for subject, entry in _entries(raw, "human")),
        "labels": (
            label(entry["dialog_uuid"], "released-score", metric, score)
            for _, entry in _entries(raw, "human")
            for metric, score in _scores(entry)
        ),
        "judgments": _judgments(raw),
    }


def _file(subject: str, who: str) -> str:
    return f"{FOLDER}/{who}-score/{subject}_data.json"


def _subjects(raw: RawFiles) -> list[str]:
    paths = raw.paths(f"{FOLDER}/human-score/*_data.json")
    return sorted(path.rpartition("/")[2].removesuffix("_data.json") for path in paths)


def _entries(raw: RawFiles, who: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for subject in _subjects(raw):
        for entry in raw.json(_file(subject, who)):
            yield subject, entry


def _item(subject: str, entry: dict[str, Any]) -> Row:
    question, answer = entry["dialog"]
    return {
        "item_id": entry["dialog_uuid"],
        "language": "zh",
        "task": TASKS[entry["type"]],
        "question_id": entry["question_uuid"],
        "subject": subject,
        "system": entry["llm_name"],
        "prompt": _text(question["content"]),
        **({"reference": _text(entry["hint"])} if entry["hint"] not in ("", None) else {}),
        "output": _text(answer["content"]),
    }


def _text(value: str | float | bool) -> str:
    """Return a text as it stands. A spreadsheet made numbers and logical values of some: `0.7405`, `3`, `True`."""
    return nfc(str(value))


def _judgments(raw: RawFiles) -> Iterator[Row]:
    for subject in _subjects(raw):
        if raw.has(_file(subject, "gpt")):
            judged = {entry["dialog_uuid"]: entry for entry in raw.json(_file(subject, "gpt"))}
            for entry in raw.json(_file(subject, "human")):
                for metric, score in _scores(judged[entry["dialog_uuid"]]):
                    yield judgment(entry["dialog_uuid"], "gpt-4", "released", metric, score)


def _scores(entry: dict[str, Any]) -> Iterator[tuple[str, int | float]]:
    return ((METRICS[key], whole(score)) for key, score in entry["stars"].items())
