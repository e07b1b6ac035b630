"""AdParaphrase: counts become votes."""

from tests.unit.published.releases import Release

COLUMNS = ["index", "ad1", "ad2", "source_ad1", "source_ad2", "count.nonparaphrase", "count.paraphrase"]
PREFERENCE = ["count.preference_skip", "count.preference_ad1", "count.preference_ad2"]


def test_counts_are_votes_numbered_within_an_item(release: Release) -> None:
    rows = [[0, "はやい", "すばやい", "one", "two", 1, 2, 1, 0, 1], [7, "ちかい", "とおい", "one", "one", 2, 0, 0, 0, 0]]
    release.csv("data/adparaphrase.csv", [COLUMNS + PREFERENCE, *rows])
    tables = release.convert("adparaphrase_ja")
    assert [item["item_id"] for item in tables["items"]] == ["adp1-0", "adp1-7"]
    votes = [(row["item_id"], row["metric"], row["annotator_id"], row["score"]) for row in tables["labels"]]
    assert votes == [
        ("adp1-0", "is_paraphrase", "anon-1", "yes"),
        ("adp1-0", "is_paraphrase", "anon-2", "yes"),
        ("adp1-0", "is_paraphrase", "anon-3", "no"),
        ("adp1-0", "preference", "anon-1", "B"),
        ("adp1-0", "preference", "anon-2", "skip"),
        ("adp1-7", "is_paraphrase", "anon-1", "no"),
        ("adp1-7", "is_paraphrase", "anon-2", "no"),
    ]
