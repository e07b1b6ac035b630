"""Self-recognition: the item of a pairwise row is the judge's own summary."""

from tests.unit.published.releases import Release


def test_individual_rows_come_before_pairwise_ones(release: Release) -> None:
    scored = {"key": "k1", "model": "gpt4", "target_model": "human", "scores": {"2": 0.25, "1": 0.7500000000001}, "score": 1.0000000000001}
    release.json("individual_setting_results/score_results/cnn/gpt4_results.json", [scored])
    compared = {"forward_detection": "1", "backward_detection": "1", "forward_comparison": "1", "backward_comparison": "2"}
    release.json(
        "results/cnn/gpt4_results.json", [{"key": "k2", "model": "llama", "detection_score": 0.5, "self_preference": 1.0, **compared}]
    )
    tables = release.convert("self_recognition")
    assert [(row["item_id"], row["metric"], row["score"]) for row in tables["judgments"]] == [
        ("cnn/k1/human", "score_1_5", 1),
        ("cnn/k2/gpt4", "self_preference", 1),
        ("cnn/k2/gpt4", "self_recognition", 0.5),
    ]
    assert tables["judgments"][0]["probs"] == {"2": 0.25, "1": 0.75} and [*tables["judgments"][0]["probs"]] == ["2", "1"]
    assert tables["judgments"][2]["other_item_id"] == "cnn/k2/llama" and tables["judgments"][2]["backward"] == "1"
    assert [item["item_id"] for item in tables["items"]][::5] == ["cnn/k1/human", "cnn/k2/human"]
