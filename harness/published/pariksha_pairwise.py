"""PARIKSHA, pairwise comparison: answers of two systems in ten Indic languages, compared by native speakers and by GPT-4."""

from __future__ import annotations

from collections.abc import Iterator

from harness.published.pariksha import JUDGE, LANGUAGES, item_id
from harness.published.raw import RawFiles, Row, Tables

PEOPLES_ANSWERS = {"0": "A", "1": "B", "2": "tie"}  # the release does not state this; the joint counts with the judge show it
JUDGES_ANSWERS = {"A": "A", "B": "B", "C": "tie"}


def convert(raw: RawFiles) -> Tables:
    """Most pairs have labels and judgments but no item: their rows name the language."""
    pairs = {
        pair["pairing_id"]: {
            "item_id": pair["pairing_id"],
            "language": tag,
            "task": "pairwise_preference",
            "prompt_id": pair["prompt_id"],
            "prompt": pair["prompt"],
            "system_a": pair["model1"],
            "system_b": pair["model2"],
            "output_a_item": item_id(pair["prompt_id"], pair["model1"]),
            "output_b_item": item_id(pair["prompt_id"], pair["model2"]),
            **({"duplicate_of": pair["duplicate_id"]} if pair["duplicate_id"] is not None else {}),
        }
        for name, tag in LANGUAGES.items()
        for path in sorted(raw.paths(f"pairings/round1/new_karya_eval/{name}/{name}_pairings_*.json"))
        for pair in raw.json(path)
    }
    return {"items": pairs.values(), "labels": _labels(raw), "judgments": _judgments(raw, set(pairs))}


def _labels(raw: RawFiles) -> Iterator[Row]:
    for name, tag in LANGUAGES.items():
        path = f"karya_eval/round1/pairwise/{name}_pairwise_ratings.tsv"
        for rating in raw.table(path, delimiter="\t") if raw.has(path) else []:
            yield {
                "item_id": rating["pairing_id"],
                "language": tag,
                "annotator_id": f"karya-{rating['annotator_id']}",
                "metric": "preference",
                "score": PEOPLES_ANSWERS[rating["battle_outcome"]],
            }


def _judgments(raw: RawFiles, items: set[str]) -> Iterator[Row]:
    for name, tag in LANGUAGES.items():
        path = f"gpt_eval/outputs/round1/pairwise/battle_outcomes_{name}.json"
        for outcome in raw.json(path) if raw.has(path) else []:
            yield {
                "item_id": outcome["pairing_id"],
                "language": tag,
                "judge": JUDGE,
                "variant": "pairwise",
                "metric": "preference",
                "score": JUDGES_ANSWERS[outcome["battle_outcome"]],
                **({"justification": outcome["justification"]} if outcome["pairing_id"] in items else {}),
            }
