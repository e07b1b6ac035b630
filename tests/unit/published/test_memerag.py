"""MEMERAG: one annotator in the base part, five places in the extension, no comments."""

from tests.unit.published.releases import Release


def answer(query_id: object, sentence: dict[str, object]) -> dict[str, object]:
    passages = [{"text": "Eins."}, {"text": "Zwei."}]
    return {"query_id": query_id, "query": "Wer?", "context": passages, "answer": [{"sentence": "Jemand.", "sentence_id": 0, **sentence}]}


def test_places_are_numbered_and_base_has_a_single_annotator(release: Release) -> None:
    five = {
        "factuality": ["Supported"] * 4 + ["Not Supported"],
        "relevance": ["Directly answers the question"] * 5,
        "comments": ["geheim"] * 5,
    }
    one = {"factuality": "Challenging to determine", "relevance": "Unrelated to the question", "comments": "geheim"}
    release.json_lines("data/memerag_ext/de.jsonl", [answer("7#0", five)])
    release.json_lines("data/memerag/de.jsonl", [answer("7#0", one)])
    release.json_lines("data/memerag/en.jsonl", [answer(7, one)])
    tables = release.convert("memerag")
    assert [item["item_id"] for item in tables["items"]] == ["de-base-7#0-0", "de-ext-7#0-0", "en-base-7-0"]
    assert tables["items"][0]["query_id"] == tables["items"][1]["query_id"] == "de-7#0"
    assert [(doc["doc_id"], doc["query_id"], doc["context"]) for doc in tables["documents"]][2] == ("en-base-7", "7", "Eins.\n\nZwei.")
    assert [(row["annotator_id"], row["metric"]) for row in tables["labels"]][:4] == [
        ("de-single", "factuality"),
        ("de-single", "relevance"),
        ("de-pos1", "factuality"),
        ("de-pos1", "relevance"),
    ]
    assert tables["labels"][10]["score"] == "Not Supported" and "geheim" not in str(tables)
