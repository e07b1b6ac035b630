"""PARIKSHA in pairs: codes of answers, and pairs without an item."""

from tests.unit.published.releases import Release


def test_answers_are_renamed_and_only_pairs_with_an_item_keep_a_justification(release: Release) -> None:
    pair = {"pairing_id": "x", "prompt_id": "p", "prompt": "?", "duplicate_id": None, "model1": "m/1", "model2": "m/2"}
    exchanged = {**pair, "pairing_id": "y", "duplicate_id": "x", "model1": "m/2", "model2": "m/1"}
    release.json("pairings/round1/new_karya_eval/odia/odia_pairings_2.json", [exchanged])
    release.json("pairings/round1/new_karya_eval/odia/odia_pairings_1.json", [pair])
    header = ["pairing_id", "annotator_id", "battle_outcome", "justification_native"]
    rows = [["x", 3, 0, "none"], ["y", 3, 1, "none"], ["z", 4, 2, "none"]]
    release.csv("karya_eval/round1/pairwise/odia_pairwise_ratings.tsv", [header, *rows], delimiter="\t")
    outcomes = [{"pairing_id": one, "battle_outcome": outcome, "justification": "so"} for one, outcome in (("x", "C"), ("z", "A"))]
    release.json("gpt_eval/outputs/round1/pairwise/battle_outcomes_odia.json", outcomes)
    tables = release.convert("pariksha_pairwise")
    assert [(item["item_id"], item["output_a_item"], item.get("duplicate_of")) for item in tables["items"]] == [
        ("x", "p/m/1", None),
        ("y", "p/m/2", "x"),
    ]
    assert [row["score"] for row in tables["labels"]] == ["A", "B", "tie"]
    assert [(row["score"], row.get("justification")) for row in tables["judgments"]] == [("tie", "so"), ("A", None)]
