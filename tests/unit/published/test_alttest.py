"""The alternative annotator test's data: ids, metrics, and no texts."""

from tests.unit.published.releases import Release


def test_ids_that_hold_a_text_become_hashes_and_metrics_come_from_the_ids(release: Release) -> None:
    release.json("data/summeval/human_annotations.json", {"w2": {"b__fluency": 4, "a__relevance": 2}})
    release.json("data/summeval/llm_annotations.json", {"judge": {"b__fluency": 5, "a__relevance": 2}})
    release.json("data/wax/human_annotations.json", {"1": {"sea__ship__ships sail the sea": "Location"}})
    release.json("data/wax/llm_annotations.json", {"judge": {"sea__ship__ships sail the sea": "None-of-the-above"}})
    tables = release.convert("alttest")
    items = [item["item_id"] for item in tables["items"]]
    assert items[:2] == ["summeval:a__relevance", "summeval:b__fluency"]
    assert items[2].startswith("wax:") and len(items[2]) == 16 and "ship" not in str(tables)
    assert [(row["annotator_id"], row["metric"], row["score"]) for row in tables["labels"]] == [
        ("summeval:w2", "fluency", 4),
        ("summeval:w2", "relevance", 2),
        ("wax:1", "relation", "Location"),
    ]
    assert tables["judgments"][-1]["score"] == "None-of-the-above"
