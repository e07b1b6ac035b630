"""Labels and judges' scores of the alternative annotator test: six data sets, numbers and ids only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from harness.published.raw import RawFiles, Tables, judgment, label

TASKS = {
    "mtbench": "pairwise_preference",
    "summeval": "summarization",
    "cebab_stars": "review_rating",
    "cebab_aspects": "aspect_sentiment",
    "wax": "word_association_relation",
    "10k_prompts": "prompt_quality",
}
METRICS = {"mtbench": "preference", "wax": "relation", "10k_prompts": "prompt_quality"}  # elsewhere the id ends with the metric


def convert(raw: RawFiles) -> Tables:
    """Return items by their released id, labels and judgments in file order. The ids of wax hold a text: their hashes stand for them."""
    tasks = [name for name in TASKS if raw.has(_file(name, "human")) and raw.has(_file(name, "llm"))]
    return {
        "items": (
            {"item_id": _item_id(name, key), "language": "en", "task": TASKS[name], "dataset": name}
            for name in tasks
            for key in sorted({key for scores in raw.json(_file(name, "llm")).values() for key in scores})
        ),
        "labels": (
            label(item, f"{name}:{who}", metric, score) for name in tasks for who, item, metric, score in _scores(raw, name, "human")
        ),
        "judgments": (
            judgment(item, who, "default", metric, score) for name in tasks for who, item, metric, score in _scores(raw, name, "llm")
        ),
    }


def _file(name: str, who: str) -> str:
    return f"data/{name}/{who}_annotations.json"


def _scores(raw: RawFiles, name: str, who: str) -> Iterator[tuple[str, str, str, Any]]:
    """Yield (annotator or judge, item, metric, score)"""
    for rater, scores in raw.json(_file(name, who)).items():
        for key, score in scores.items():
            yield rater, _item_id(name, key), METRICS.get(name) or key.rpartition("__")[2], score


def _item_id(name: str, key: str) -> str:
    if name == "wax":
        key = hashlib.sha1(key.encode(), usedforsecurity=False).hexdigest()[:12]
    return f"{name}:{key}"
