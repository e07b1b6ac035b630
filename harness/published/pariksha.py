"""PARIKSHA, direct assessment: answers in ten Indic languages, rated by native speakers and by GPT-4."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.published.raw import RawFiles, Row, Tables, judgment, label

LANGUAGES = {
    "bengali": "bn",
    "gujarati": "gu",
    "hindi": "hi",
    "kannada": "kn",
    "malayalam": "ml",
    "marathi": "mr",
    "odia": "or",
    "punjabi": "pa",
    "tamil": "ta",
    "telugu": "te",
}
JUDGE = "gpt-4-32k"  # the paper names it
RATINGS = {  # metric -> its column and the column of people's reasons
    "linguistic_acceptability": ("ling_rating", "ling_rating_reasoning"),
    "task_quality": ("task_rating", "task_rating_reasoning"),
    "hallucinations": ("hallucination_rating", "hallucination_reasoning"),
}
NUMBERS = {"False": 0, "True": 1}


def convert(raw: RawFiles) -> Tables:
    """Return items are the answers of all systems. The rating files of Gujarati and Punjabi are exchanged in the release: a label names its
    prompt, so that only the item says the language."""
    judgments = (
        judgment(
            item_id(prompt["prompt_id"], system),
            JUDGE,
            "single-call-per-metric",
            metric,
            answer["score"],
            justification=answer["justification"],
        )
        for name in LANGUAGES
        for metric in sorted(RATINGS)
        for prompt, system, answer in _answers(raw, f"gpt_eval/outputs/round1/individual/{metric}/individual_{name}.json")
    )
    items = (
        {
            "item_id": item_id(prompt["prompt_id"], system),
            "language": tag,
            "task": "question_answering",
            "prompt_id": prompt["prompt_id"],
            "prompt_type": prompt["prompt_type"],
            "system_prompt": prompt["system_prompt"],
            "prompt": prompt["prompt"],
            "output": answer["response"],
            "system": system,
        }
        for name, tag in LANGUAGES.items()
        for prompt, system, answer in _answers(raw, f"outputs/round1/formatted/output_{name}.json")
    )
    return {"items": items, "labels": _labels(raw), "judgments": judgments}


def item_id(prompt_id: str, system: str) -> str:
    """Return the id of a system's answer to a prompt."""
    return f"{prompt_id}/{system}"


def _labels(raw: RawFiles) -> Iterator[Row]:
    for name in LANGUAGES:
        for path in raw.paths(f"karya_eval/round1/individual/{name}_ratings_output_indi*.tsv"):
            for rating in raw.table(path, delimiter="\t"):
                for metric, (column, reasons) in RATINGS.items():
                    value, comment = rating[column], rating[reasons]
                    score = NUMBERS[value] if value in NUMBERS else int(value)
                    more = {"comment": comment} if comment not in ("", "none") else {}
                    yield label(item_id(rating["prompt_id"], rating["model"]), f"karya-{rating['worker_id']}", metric, score, **more)


def _answers(raw: RawFiles, path: str) -> Iterator[tuple[dict[str, Any], str, dict[str, Any]]]:
    """Yield each prompt of a file, each system, and what the file has of it: keys of a prompt whose value is an object are systems."""
    for prompt in raw.json(path) if raw.has(path) else []:
        for key, value in prompt.items():
            if isinstance(value, dict):
                yield prompt, key, value
