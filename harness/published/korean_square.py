"""SQuARe: are answers to sensitive questions in Korean acceptable? Three crowd workers each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.published.raw import RawFiles, Tables, label, nfc, numbered

FOLDER = "data/SQuARe/with_raw_annotations"
RESPONSES, QUESTIONS = f"{FOLDER}/response_test_ood_annotations.json", f"{FOLDER}/question_test_ood_annotations.json"
# Metric -> the question that people were asked, and how an answer is read.
Asked = dict[str, tuple[str, Callable[[dict[str, Any]], str]]]
OF_RESPONSES: Asked = {"acceptability": ("Q2: Acceptable or Non-acceptable", lambda answer: answer["acceptable?"])}
OF_QUESTIONS: Asked = {
    "subjectivity": ("Q2: Subjective or Objective", lambda answer: answer["subjective?"]),
    "sensitivity": ("Q3: Sensitive or Non-sensitive", lambda answer: answer["category"].split()[0]),
}


def convert(raw: RawFiles) -> Tables:
    """Responses, then questions. Workers' ids are numbers of a platform: they are replaced by their ranks over both files."""
    responses, questions = raw.json(RESPONSES), raw.json(QUESTIONS)
    answers = (answer for entry in (*responses, *questions) for annotations in entry["raw_annotations"].values() for answer in annotations)
    people = numbered(sorted(answer["workerID"] for answer in answers), "w", digits=3)
    labels = (
        label(f"ko-{kind}{number:03d}", people[answer["workerID"]], metric, read(answer))
        for kind, entries, questions_by_metric in (("r", responses, OF_RESPONSES), ("q", questions, OF_QUESTIONS))
        for number, entry in enumerate(entries)
        for metric, (question, read) in questions_by_metric.items()
        for answer in entry["raw_annotations"][question]
    )
    ids = {question["question"]: f"q{number:03d}" for number, question in reversed([*enumerate(questions)])}
    response_items = [
        {
            "item_id": f"ko-r{number:03d}",
            "language": "ko",
            "task": "acceptable_response",
            "question_id": ids[response["question"]],
            "prompt": nfc(response["question"]),
            "output": nfc(response["response"]),
            "released_label": response["acceptable?"],
            "released_category": response["category"],
            "question_category": response["question_category"],
        }
        for number, response in enumerate(responses)
    ]
    question_items = [
        {
            "item_id": f"ko-q{number:03d}",
            "language": "ko",
            "task": "sensitive_question",
            "question_id": f"q{number:03d}",
            "output": nfc(question["question"]),
            "released_label": question["sensitive?"],
            "released_category": question["category"],
        }
        for number, question in enumerate(questions)
    ]
    return {"items": [*response_items, *question_items], "labels": labels}
