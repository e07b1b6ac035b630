"""HANNA: short stories by ten systems and by people, rated by people and by five judges under four prompts."""

from __future__ import annotations

from itertools import product

import msgspec

from harness.published.raw import RawFiles, Tables, judgment, label, nfc, rounded, whole

SCORES = ("hanna_metric_scores_llm.csv", "dig-team/hanna-benchmark-asg")
STORIES = (
    ("data/hanna/hanna_test_qwen_2_5_14b.json", "thu-coai/HPSS"),
    ("data/hanna/hanna_valid_qwen_2_5_14b.json", "thu-coai/HPSS"),
)
METRICS = {"RE": "relevance", "CH": "coherence", "EM": "empathy", "SU": "surprise", "EG": "engagement", "CX": "complexity"}
JUDGES = {
    "Beluga-13B": "beluga-13b",
    "OrcaPlatypus": "orca-platypus-13b",
    "Mistral-7B": "mistral-7b",
    "Llama-13B": "llama-13b",
    "ChatGPT": "gpt-3.5-turbo-0613",
}
VARIANTS = {1: "prompt1-simple", 2: "prompt2-explanation", 3: "prompt3-guidelines", 4: "prompt4-human-story"}
PROMPTS = 96
LISTS_OF_PEOPLE = (1, 2, 3)  # a place in a list is not a person


def convert(raw: RawFiles) -> Tables:
    """Return one item a story. Judges' scores are means in which unreadable answers count as -1, so that some lie below the scale."""
    systems = raw.table(*SCORES)

    def column(name: str) -> list[float]:
        """Return the scores by story (number of the system x 96 + number of the prompt): a row is a system, a cell a list of its scores."""
        return [score for row in systems for score in msgspec.json.decode(row[name], type=list[float])]

    stories = {int(story["story_id"]): story for file in STORIES if raw.has(*file) for story in raw.json(*file)}
    people = {(metric, k): column(f"Human {k} {short}") for short, metric in METRICS.items() for k in LISTS_OF_PEOPLE}
    questions = product(JUDGES.items(), VARIANTS.items(), METRICS.items())
    return {
        "items": (
            {
                "item_id": _item_id(number),
                "language": "en",
                "task": "story_writing",
                "prompt_id": f"prompt-{number % PROMPTS:02d}",
                "system": systems[number // PROMPTS]["Model"],
                "prompt": nfc(story["prompt"]),
                "output": nfc(story["story"]),
            }
            for number, story in sorted(stories.items())
        ),
        "labels": (
            label(_item_id(number), f"pos{k}", metric, whole(scores[number]))
            for number in range(PROMPTS * len(systems))
            for (metric, k), scores in people.items()
        ),
        "judgments": (
            judgment(_item_id(number), judge, variant, metric, rounded(score, 6))
            for (name, judge), (prompt, variant), (short, metric) in questions
            for number, score in enumerate(column(f"{name} {short} {prompt}"))
        ),
    }


def _item_id(story: int) -> str:
    return f"hanna-{story:04d}"
