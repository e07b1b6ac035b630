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
    items: list[Row] = []
    labels: list[Row] = []
    judgments: list[Row] = []
    for path in sorted(raw.paths(f"{FOLDER}/human-score/*_data.json")):
        subject = path.rpartition("/")[2].removesuffix("_data.json")
        entries, judged_path = raw.json(path), f"{FOLDER}/gpt-score/{subject}_data.json"
        for entry in entries:
            question, answer = entry["dialog"]
            item = {
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
            items.append(item)
            labels += [label(item["item_id"], "released-score", metric, score) for metric, score in _scores(entry)]
        if raw.has(judged_path):
            judged = {entry["dialog_uuid"]: entry for entry in raw.json(judged_path)}
            for item_id in (entry["dialog_uuid"] for entry in entries):
                judgments += [judgment(item_id, "gpt-4", "released", metric, score) for metric, score in _scores(judged[item_id])]
    return {"items": items, "labels": labels, "judgments": judgments}


def _text(value: str | float | bool) -> str:
    """Return a text as it stands. A spreadsheet made numbers and logical values of some: `0.7405`, `3`, `True`."""
    return nfc(str(value))


def _scores(entry: dict[str, Any]) -> Iterator[tuple[str, int | float]]:
    return ((METRICS[key], whole(score)) for key, score in entry["stars"].items())
