"""LLMEval-2: a spreadsheet's numbers and logical values are texts, and judgments are found by the id of the dialogue."""

from typing import Any

from tests.unit.published.releases import Release


def entry(name: str, answer: object, hint: object, stars: dict[str, int], kind: str = "A") -> dict[str, Any]:
    dialog = [{"role": "user", "content": "几?"}, {"role": "llm", "content": answer}]
    return {"question_uuid": "q", "dialog_uuid": name, "llm_name": "m", "dialog": dialog, "hint": hint, "type": kind, "stars": stars}


def test_odd_values_become_texts_and_an_empty_hint_no_reference(release: Release) -> None:
    people = [
        entry("a", True, 0.7405, {"Correctness": 0, "Explanation Correctness": 2}),
        entry("b", "三", "", {"Accuracy": 5}, "B"),
        entry("c", "四", 3, {"Correctness": 1}),
    ]
    judged = [
        entry("c", "四", 3, {"Correctness": 3}),
        entry("b", "三", "", {"Accuracy": 1}, "B"),
        entry("a", True, 0.7405, {"Correctness": 2}),
    ]
    release.json("results/human-score/Law_data.json", people)
    release.json("results/gpt-score/Law_data.json", judged)
    tables = release.convert("llmeval2")
    assert [(item["task"], item.get("reference"), item["output"]) for item in tables["items"]] == [
        ("exam_answer_objective", "0.7405", "True"),
        ("exam_answer_subjective", None, "三"),
        ("exam_answer_objective", "3", "四"),
    ]
    assert [(row["item_id"], row["metric"], row["score"]) for row in tables["judgments"]] == [
        ("a", "correctness", 2),
        ("b", "accuracy", 1),
        ("c", "correctness", 3),
    ]
    assert {row["annotator_id"] for row in tables["labels"]} == {"released-score"}
