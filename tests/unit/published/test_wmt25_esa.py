"""WMT25: the described file converts; whatever differs from the description is an error that says what."""

from __future__ import annotations

from typing import Any

import pytest

from harness.content.library import Library
from harness.errors import ContentError
from harness.published.wmt25_esa import FILE, LANGUAGES, SOURCES
from tests.unit.published.releases import Release


def segment(doc_id: str = "cs-de_DE_#_news_#_paper.1_#_0", **changes: Any) -> dict[str, Any]:
    """A segment as the release describes it: one system with two people, one with one, one that nobody scored."""
    first = {"human1": 80, "errors1": [{"start_i": 0, "end_i": 3, "severity": "minor"}], "annotator1": "a1", "times1": [1.0, 2.0]}
    second = {"human2": 62.5, "errors2": [{"start_i": "missing", "end_i": "missing", "severity": "major"}], "annotator2": "b2"}
    scores = {"one": {**first, **second}, "two": {"human1": 100, "errors1": [], "annotator1": "a3"}}
    texts = {"one": "Haus am See", "two": "Das Haus am See", "three": "Haus"}
    return {"scores": scores, "src_text": "Dům u jezera", "tgt_text": texts, "doc_id": doc_id, **changes}


def test_each_scored_translation_is_an_item_with_a_label_of_each_person(release: Release) -> None:
    unscored = segment("cs-de_DE_#_news_#_paper.1_#_1", scores={})
    mqm = segment("en-ko_KR_#_news_#_paper.1_#_0")
    release.json_lines(FILE, [segment(), unscored, segment("en-ja_JP_#_social_#_post_#_3"), mqm])
    tables = release.convert("wmt25_esa")
    assert [row["item_id"] for row in tables["items"]] == [
        "cs-de-00000-one",
        "cs-de-00000-two",
        "en-ja-00000-one",
        "en-ja-00000-two",
    ]
    first, *_, last = tables["items"]
    assert (first["language"], first["source_language"], first["doc_id"], first["segment"]) == ("de", "cs", "paper.1", 0)
    assert (last["language"], last["domain"], last["segment"], last["source"]) == ("ja", "social", 3, "Dům u jezera")
    assert [(row["annotator_id"], row["score"]) for row in tables["labels"][:3]] == [("a1", 80), ("b2", 62.5), ("a3", 100)]
    assert tables["labels"][0]["spans"] == [{"severity": "minor", "start": 0, "end": 4}], "the released end is a place inside"
    assert tables["labels"][1]["spans"] == [{"severity": "major", "missing": True}]


def test_the_card_names_the_languages_of_the_converter() -> None:
    card = Library().dataset_card("wmt25_esa")
    assert {*card.languages} == {*LANGUAGES.values()} and not card.tried
    [source] = card.sources
    assert source.origin.startswith("lfs:") and source.files[0].sha256 and {*SOURCES} == {"cs", "en"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: row.update(doc_id="fr-de_DE_#_news_#_p_#_0"), "is of the pair 'fr-de_DE'"),
        (lambda row: row.update(doc_id="cs-de_DE_#_news_#_0"), "doc_id is 'cs-de_DE_#_news_#_0'"),
        (lambda row: row["tgt_text"].pop("two"), "'two' has scores and no translation"),
        (lambda row: row["scores"]["one"].pop("human1"), "there is no 'human1' here"),
        (lambda row: row["scores"]["one"].update(human2=101), "'b2' gave cs-de-00000-one the score 101"),
        (lambda row: row["scores"]["one"].update(human1="good"), "the score 'good'"),
        (lambda row: row["scores"]["one"].update(annotator2="a1"), "'a1' scored cs-de-00000-one in both rounds"),
        (lambda row: row["scores"]["one"]["errors1"][0].update(severity="critical"), "an error in cs-de-00000-one is 'critical'"),
    ],
)
def test_what_differs_from_the_description_is_named_with_its_line(release: Release, change: Any, message: str) -> None:
    row = segment("cs-de_DE_#_news_#_p_#_0")
    change(row)
    release.json_lines(FILE, [segment("en-cs_CZ_#_news_#_p_#_0"), row])
    with pytest.raises(ContentError, match=message) as raised:
        release.convert("wmt25_esa")
    assert ":2:" in str(raised.value)
