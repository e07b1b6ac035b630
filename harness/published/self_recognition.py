"""Self-recognition: three judges score, recognise and prefer summaries of their own. Numbers and keys of articles only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.published.raw import RawFiles, Row, Tables, judgment, rounded

DATASETS = ("xsum", "cnn")
JUDGES = ("gpt4", "gpt35", "llama")
SYSTEMS = ("human", "claude", "gpt35", "gpt4", "llama")
DIGITS = 12


def convert(raw: RawFiles) -> Tables:
    """Return one item a summary, in the order in which the judgments first name its article."""
    items = (
        {
            "item_id": f"{dataset}/{article}/{system}",
            "language": "en",
            "task": "summarization",
            "dataset": dataset,
            "source_id": article,
            "system": system,
        }
        for dataset in DATASETS
        for article in dict.fromkeys(row["item_id"].split("/")[1] for row in _judgments(raw, dataset))
        for system in SYSTEMS
    )
    return {"items": items, "judgments": (row for dataset in DATASETS for row in _judgments(raw, dataset))}


def _judgments(raw: RawFiles, dataset: str) -> Iterator[Row]:
    for judge in JUDGES:
        for entry in _entries(raw, f"individual_setting_results/score_results/{dataset}/{judge}_results.json"):
            probs = {score: rounded(probability, DIGITS) for score, probability in entry["scores"].items()}
            yield {**_individual(dataset, judge, entry, "score_1_5", entry["score"]), "probs": probs}
        for entry in _entries(raw, f"individual_setting_results/recognition_results/{dataset}/{judge}_results.json"):
            yield _individual(dataset, judge, entry, "self_recognition_prob", entry["recognition_score"])
        for entry in _entries(raw, f"results/{dataset}/{judge}_results.json"):
            yield _pairwise(dataset, judge, entry, "self_preference", entry["self_preference"], "comparison")
            yield _pairwise(dataset, judge, entry, "self_recognition", entry["detection_score"], "detection")


def _entries(raw: RawFiles, path: str) -> list[dict[str, Any]]:
    return raw.json(path) if raw.has(path) else []


def _individual(dataset: str, judge: str, entry: dict[str, Any], metric: str, score: float) -> Row:
    return judgment(f"{dataset}/{entry['key']}/{entry['target_model']}", judge, "individual", metric, rounded(score, DIGITS))


def _pairwise(dataset: str, judge: str, entry: dict[str, Any], metric: str, score: float, question: str) -> Row:
    """Return the item is the judge's own summary, which was shown beside another one in both orders."""
    return {
        "item_id": f"{dataset}/{entry['key']}/{judge}",
        "other_item_id": f"{dataset}/{entry['key']}/{entry['model']}",
        "judge": judge,
        "variant": "pairwise",
        "metric": metric,
        "score": rounded(score, DIGITS),
        "forward": entry[f"forward_{question}"],
        "backward": entry[f"backward_{question}"],
    }
