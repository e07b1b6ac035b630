"""Bio-MQM: repeated rows, weights of errors, places of terms, initials."""

from typing import Any

from tests.unit.published.releases import Release

FOLDER = "data/v2/target/main_phase/round_two"


def row(source: str, target: str, who: str = "ZZ", **error: Any) -> dict[str, Any]:
    whole = {"error_category": "Style", "error_subcategory": "Grammar", "severity": "Minor", **error}
    return {"source": source, "target": target, "DOC_ID": "doc1", "Annotator_ID": who, "target_errors": [whole] if error else []}


def test_rows_that_one_linguist_has_twice_are_left_out_with_their_segment(release: Release) -> None:
    release.json(
        f"{FOLDER}/en2pt/b.json", [row("one", "um"), row("one", "um"), row("one", "um", "AA"), row("two", "dois"), row("two", "dois", "AA")]
    )
    release.json(f"{FOLDER}/en2pt/a.json", [row("one", "um")])
    tables = release.convert("bio_mqm")
    assert [(item["system"], item["source"], item["language"]) for item in tables["items"]] == [
        ("a", "one", "pt-BR"),
        ("b", "two", "pt-BR"),
    ]
    assert [row["annotator_id"] for row in tables["labels"]] == ["pt-BR-l2", "pt-BR-l2", "pt-BR-l1"]
    assert "ZZ" not in str(tables)


def test_a_score_is_the_sum_of_the_weights(release: Release) -> None:
    errors = [
        ("Neutral", "Grammar", 0),
        ("Minor", "Grammar", -1),
        ("Minor", "Punctuation", -0.1),
        ("Major", "Punctuation", -5),
        ("Critical", "", -25),
    ]
    rows = [
        row(str(number), "ein Wort", term="Wort", startIndex=4, endIndex=7, severity=severity, error_subcategory=kind)
        for number, (severity, kind, _) in enumerate(errors)
    ]
    release.json(f"{FOLDER}/en2de/s.json", rows)
    labels = release.convert("bio_mqm")["labels"]
    assert [label["score"] for label in labels] == [score for _, _, score in errors]
    assert labels[1]["spans"] == [{"severity": "minor", "type": "Style/Grammar", "start": 4, "end": 8}]
    assert labels[4]["spans"][0]["type"] == "Style"


def test_a_term_that_is_not_where_it_should_be_is_looked_for(release: Release) -> None:
    text = "e\u0301 um um dado"  # five characters less one in NFC before the last word
    rows = [
        row("a", text, term=" dado", startIndex=8, endIndex=12),
        row("b", text, term="dado", startIndex=0, endIndex=3),
        row("c", text, term="um", startIndex=0, endIndex=1),
    ]
    release.json(f"{FOLDER}/en2es/s.json", rows)
    spans = [label["spans"][0] for label in release.convert("bio_mqm")["labels"]]
    assert [(span.get("start"), span.get("end")) for span in spans] == [(8, 12), (8, 12), (None, None)]
    assert spans[2] == {"severity": "minor", "type": "Style/Grammar", "text": "um", "unplaced": True}
