"""HANNA: short stories by ten systems and by people, rated by people and by five judges under four prompts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from harness.published.raw import RawFiles, Row, Tables, judgment, label, nfc, rounded, whole

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


class _Scores:
    """The table of scores: one row a system, and in each cell the scores of its stories, one a prompt."""

    def __init__(self, rows: Sequence[Mapping[str, str]]) -> None:
        self._rows = rows
        self.systems = [row["Model"] for row in rows]

    def column(self, name: str) -> list[float]:
        """Return a column's scores by story: number of the system x 96 + number of the prompt."""
        return [score for row in self._rows for score in msgspec.json.decode(row[name], type=list[float])]


def convert(raw: RawFiles) -> Tables:
    """Return one item a story. Judges' scores are means in which unreadable answers count as -1, so that some lie below the scale."""
    scores = _Scores(raw.table(*SCORES))
    stories = {int(story["story_id"]): story for file in STORIES if raw.has(*file) for story in raw.json(*file)}
    return {"items": _items(scores.systems, stories), "labels": _labels(scores), "judgments": _judgments(scores)}


def _item_id(story: int) -> str:
    return f"hanna-{story:04d}"


def _items(systems: list[str], stories: Mapping[int, Mapping[str, str]]) -> Iterator[Row]:
    for number, story in sorted(stories.items()):
        yield {
            "item_id": _item_id(number),
            "language": "en",
            "task": "story_writing",
            "prompt_id": f"prompt-{number % PROMPTS:02d}",
            "system": systems[number // PROMPTS],
            "prompt": nfc(story["prompt"]),
            "output": nfc(story["story"]),
        }


def _labels(scores: _Scores) -> Iterator[Row]:
    columns = {(metric, k): scores.column(f"Human {k} {short}") for short, metric in METRICS.items() for k in LISTS_OF_PEOPLE}
    for story in range(PROMPTS * len(scores.systems)):
        for (metric, k), column in columns.items():
            yield label(_item_id(story), f"pos{k}", metric, whole(column[story]))


def _judgments(scores: _Scores) -> Iterator[Row]:
    for name, judge in JUDGES.items():
        for number, variant in VARIANTS.items():
            for short, metric in METRICS.items():
                for story, score in enumerate(scores.column(f"{name} {short} {number}")):
                    yield judgment(_item_id(story), judge, variant, metric, rounded(score, 6))
