"""Topical-Chat responses, rated by GPT-3.5 in 20 samples under seven prompts. Numbers only: no licence allows to pass on the texts."""

from __future__ import annotations

import re
from typing import Any

from harness.published.raw import RawFiles, Row, Tables, label, whole

METRICS = {"coh": "coherence", "eng": "engagingness", "gro": "groundedness", "nat": "naturalness"}
VARIANTS = {
    "analyze_rate": "analyze-rate",
    "analyze_rate_auto_cot": "cot+analyze-rate",
    "geval": "cot+score-only",
    "geval_no_auto_cot": "score-only",
    "llm_eval_no_cot": "free-text",
    "rate_explain": "rate-explain",
    "rate_explain_auto_cot": "cot+rate-explain",
}
_NUMBER = re.compile(r"\d(?:\.\d+)?")


def convert(raw: RawFiles) -> Tables:
    """Return one item a response. The released labels are means over the annotators."""
    responses = raw.json("data/topical_chat.json")
    ids: dict[tuple[str, str, str], str] = {}
    dialogues: dict[str, int] = {}
    items: list[Row] = []
    labels: list[Row] = []
    for number, response in enumerate(responses):
        item = ids[_key(response)] = f"tc-{number:03d}"
        dialogue = dialogues.setdefault(response["source"], len(dialogues))
        about = {"language": "en", "task": "dialogue_response", "doc_group": f"doc{dialogue:02d}", "system": response["system_id"]}
        items.append({"item_id": item, **about})
        labels += [label(item, "mean-of-annotators", metric, score) for metric, score in response["scores"].items()]
    judgments = (
        {
            "item_id": ids[_key(response)],
            "judge": "gpt-3.5-turbo-0613",
            "variant": variant,
            "metric": metric,
            "scores": [score_of(answer) for answer in response["all_responses"]],
        }
        for short, metric in METRICS.items()
        for name, variant in VARIANTS.items()
        if raw.has(path := f"results/topical_chat/gpt3.5_{short}_{name}.json")
        for response in raw.json(path)
    )
    return {"items": items, "labels": labels, "judgments": judgments}


def _key(response: dict[str, Any]) -> tuple[str, str, str]:
    return response["source"], response["system_id"], response["system_output"]


def score_of(answer: str) -> int | float | None:
    """Return the first number after the last `rating:`, or in the whole answer where there is none. A number is one digit and its decimals.

    >>> score_of("Analysis: 3 points. Rating: 2.5"), score_of("82"), score_of("Rated 3. Rating: none")
    (2.5, 8, None)
    """
    match = _NUMBER.search(answer.lower().rpartition("rating:")[2])
    return whole(float(match[0])) if match else None
