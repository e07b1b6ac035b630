"""BASSE: positions of annotators, and judges' rows that name no document."""

from tests.unit.published.releases import Release


def document(number: int, round_: int, scores: list[float]) -> dict[str, object]:
    summary = {"summ": f"laburpena {number}", "anns": {"Fluency": scores}}
    return {
        "idx": f"d{number}",
        "round": round_,
        "original_document": "testua",
        "reference_summaries": [],
        "model_summaries": {"one-base": summary, "human-ann1": summary},
    }


def test_positions_stay_where_a_score_is_absent_and_round_three_has_one_annotator(release: Release) -> None:
    release.json_lines("data/eu/BASSE.eu.jsonl", [document(1, 1, [4.0, 5.0]), document(2, 3, [3.0])])
    release.json_lines("data/eu/BASSE.eu.round_0.jsonl", [document(1, 0, [float("nan"), 2.0])])
    tables = release.convert("basse")
    assert [doc["doc_id"] for doc in tables["documents"]] == ["d1", "d2"]
    found = [(row["item_id"], row["annotator_id"], row["score"]) for row in tables["labels"] if "one-base" in row["item_id"]]
    assert found == [
        ("eu-r1-00-one-base", "eu-pos1", 4),
        ("eu-r1-00-one-base", "eu-pos2", 5),
        ("eu-r3-01-one-base", "eu-single", 3),
        ("eu-r0-00-one-base", "eu-pos2", 2),
    ]
    human = next(item for item in tables["items"] if item["system"] == "human-ann1")
    assert (human["generator"], human["prompt_style"]) == ("human-ann1", None)


def test_the_kth_row_of_a_system_is_about_the_kth_document(release: Release) -> None:
    release.json_lines("data/es/BASSE.es.jsonl", [document(1, 1, [1.0]), document(2, 2, [1.0])])
    rows = [["model", "feedback", "score"], ["one-base", "a", "5.0"], ["two-base", "b", "4.0"], ["one-base", "c", ""]]
    release.csv("pred/judges/es/gpt-4o/Fluency.csv", rows)
    found = [(row["item_id"], row["score"]) for row in release.convert("basse")["judgments"]]
    assert found == [("es-r1-00-one-base", 5), ("es-r1-00-two-base", 4), ("es-r2-01-one-base", None)]
