"""PARIKSHA: systems are keys with objects, and the exchanged files are no fault."""

from tests.unit.published.releases import Release

HEADER = ["model", "prompt_id", "worker_id", "ling_rating", "task_rating", "hallucination_rating"]
REASONS = ["ling_rating_reasoning", "task_rating_reasoning", "hallucination_reasoning"]


def prompt(name: str, **more: object) -> dict[str, object]:
    return {"prompt_id": name, "prompt_type": "food", "system_prompt": "Answer.", "prompt": "?", **more}


def test_an_items_language_is_its_own_however_the_rating_files_are_named(release: Release) -> None:
    for name, one in (("gujarati", "g"), ("punjabi", "p")):
        release.json(f"outputs/round1/formatted/output_{name}.json", [prompt(one, **{"lab/model": {"response": "!"}})])
    folder = "karya_eval/round1/individual"
    release.csv(
        f"{folder}/gujarati_ratings_output_indi_just.tsv",
        [HEADER + REASONS, ["lab/model", "p", 5, 2, 1, "False", "why", "none", ""]],
        delimiter="\t",
    )
    release.csv(
        f"{folder}/punjabi_ratings_output_indi.tsv",
        [HEADER + REASONS, ["lab/model", "g", 6, 0, 0, "True", "none", "none", "none"]],
        delimiter="\t",
    )
    tables = release.convert("pariksha")
    assert {item["item_id"]: item["language"] for item in tables["items"]} == {"g/lab/model": "gu", "p/lab/model": "pa"}
    assert [(row["item_id"], row["metric"], row["score"], row.get("comment")) for row in tables["labels"]] == [
        ("p/lab/model", "linguistic_acceptability", 2, "why"),
        ("p/lab/model", "task_quality", 1, None),
        ("p/lab/model", "hallucinations", 0, None),
        ("g/lab/model", "linguistic_acceptability", 0, None),
        ("g/lab/model", "task_quality", 0, None),
        ("g/lab/model", "hallucinations", 1, None),
    ]
    assert {row["annotator_id"] for row in tables["labels"]} == {"karya-5", "karya-6"}


def test_judgments_are_sorted_by_metric_within_a_language(release: Release) -> None:
    for metric in ("task_quality", "hallucinations", "linguistic_acceptability"):
        path = f"gpt_eval/outputs/round1/individual/{metric}/individual_odia.json"
        release.json(path, [prompt("o", model={"score": 1, "justification": "so"})])
    judgments = release.convert("pariksha")["judgments"]
    assert [row["metric"] for row in judgments] == ["hallucinations", "linguistic_acceptability", "task_quality"]
    assert judgments[0] == {
        "item_id": "o/model",
        "judge": "gpt-4-32k",
        "variant": "single-call-per-metric",
        "metric": "hallucinations",
        "score": 1,
        "justification": "so",
    }
