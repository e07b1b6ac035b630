"""Topical-Chat under seven prompts: how a score is read from an answer, and no text in the tables."""

import pytest

from harness.published.chiang_lee_closer_look import score_of
from tests.unit.published.releases import Release


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("2", 2),
        ("82", 8),
        ("2.5", 2.5),
        ("3.", 3),
        ("Rating: 2 of 3", 2),
        ("4? Rating: 1 RATING: 3", 3),
        ("3, rating: none", None),
        ("", None),
    ],
)
def test_a_score_is_the_first_number_after_the_last_rating(answer: str, score: float | None) -> None:
    assert score_of(answer) == score


def test_a_response_is_found_by_its_texts_and_no_text_is_kept(release: Release) -> None:
    def response(source: str, system: str, **more: object) -> dict[str, object]:
        return {"source": source, "system_id": system, "system_output": "hm", **more}

    scores = {"overall": 3.0}
    release.json(
        "data/topical_chat.json",
        [response("s1", "a", scores=scores), response("s2", "a", scores=scores), response("s1", "b", scores=scores)],
    )
    release.json("results/topical_chat/gpt3.5_nat_geval.json", [response("s1", "b", all_responses=["3", "x"])])
    tables = release.convert("chiang_lee_closer_look")
    assert [item["doc_group"] for item in tables["items"]] == ["doc00", "doc01", "doc00"]
    [judgment] = tables["judgments"]
    assert judgment == {
        "item_id": "tc-002",
        "judge": "gpt-3.5-turbo-0613",
        "variant": "cot+score-only",
        "metric": "naturalness",
        "scores": [3, None],
    }
    assert "hm" not in str(tables) and "s1" not in str(tables) and str(tables["labels"][0]["score"]) == "3.0"
