"""Labels and judges' scores of the alternative annotator test: six data sets, numbers and ids only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from harness.published.raw import RawFiles, Row, Tables

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
    """Items by their released id, labels and judgments in file order. The ids of wax hold a text: their hashes stand for them."""
    here = [name for name in TASKS if raw.has(_file(name, "human")) and raw.has(_file(name, "llm"))]
    return {
        "items": (item for name in here for item in _items(raw, name)),
        "labels": (label for name in here for label in _labels(raw, name)),
        "judgments": (judgment for name in here for judgment in _judgments(raw, name)),
    }


def _file(name: str, who: str) -> str:
    return f"data/{name}/{who}_annotations.json"


def _items(raw: RawFiles, name: str) -> Iterator[Row]:
    released = {key for scores in raw.json(_file(name, "llm")).values() for key in scores}
    for key in sorted(released):
        yield {"item_id": _item_id(name, key), "language": "en", "task": TASKS[name], "dataset": name}


def _labels(raw: RawFiles, name: str) -> Iterator[Row]:
    for annotator, scores in raw.json(_file(name, "human")).items():
        for key, score in scores.items():
            who = f"{name}:{annotator}"
            yield {"item_id": _item_id(name, key), "annotator_id": who, "metric": _metric(name, key), "score": score}


def _judgments(raw: RawFiles, name: str) -> Iterator[Row]:
    for judge, scores in raw.json(_file(name, "llm")).items():
        for key, score in scores.items():
            item = _item_id(name, key)
            yield {"item_id": item, "judge": judge, "variant": "default", "metric": _metric(name, key), "score": score}


def _item_id(name: str, key: str) -> str:
    if name == "wax":
        key = hashlib.sha1(key.encode(), usedforsecurity=False).hexdigest()[:12]
    return f"{name}:{key}"


def _metric(name: str, key: str) -> str:
    return METRICS.get(name) or key.rpartition("__")[2]
