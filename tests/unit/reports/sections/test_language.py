"""The language of justifications: their own words only, and only where there are enough of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.model import Judgment
from harness.parse.language import detect_language, without_quotations

Find = Callable[..., dict[str, Any]]
Said = Callable[..., Judgment]
TheRow = Callable[..., dict[str, Any]]

ENGLISH = "The text is fluent and natural; only one sentence has a small mistake in it."
JAPANESE = "この文章は自然で流暢ですが、一つの文に小さな間違いがあります。読みやすいです。"
CZECH = "Text je plynulý a přirozený, jen v jedné větě je malá pravopisná chyba."


def test_by_hand(find: Find, the_row: TheRow, said: Said) -> None:
    reasons = {"a": JAPANESE, "b": ENGLISH, "c": "短い", "d": None}
    judgments = [said(name, 1, justification=words, asked_language="ja") for name, words in reasons.items()]
    row = the_row(
        find(judgments, places={name: {"language": "ja"} for name in reasons})["justification_language"]["rows"], language="ja", metric="*"
    )
    assert (row["asked_language"], row["n"], row["too_short"], row["in_asked_language"]) == ("ja", 2, 1, 0.5)
    assert row["other_languages"] == {"en": 1}


def test_what_is_asked_is_told_apart(find: Find, said: Said) -> None:
    judgments = [
        said("a", 1, justification=CZECH, asked_language="cs", variant="single+own-language"),
        said("a", 1, justification=CZECH, asked_language="en"),
    ]
    rows = find(judgments)["justification_language"]["rows"]
    assert {row["asked_language"]: row["in_asked_language"] for row in rows} == {"cs": 1.0, "en": 0.0}


def test_varieties_are_one_language(find: Find, said: Said) -> None:
    portuguese = "O texto é fluente e natural, mas uma das frases contém um pequeno erro de ortografia."
    [row] = find([said("a", 1, justification=portuguese, asked_language="pt-BR")])["justification_language"]["rows"]
    assert row["in_asked_language"] == 1.0


def test_a_language_that_the_identifier_does_not_know(find: Find, said: Said) -> None:
    [row] = find([said("a", 1, justification=ENGLISH, asked_language="tlh")])["justification_language"]["rows"]
    assert row["in_asked_language"] is None and row["undefined"]["in_asked_language"] == "the identifier does not know 'tlh'"


@pytest.mark.parametrize("words", ["Good.", "「とても自然で流暢な文章だと思います」"], ids=["short", "only a quotation"])
def test_where_nothing_can_be_told_there_is_no_section(find: Find, said: Said, words: str) -> None:
    assert "justification_language" not in find([said("a", 1, justification=words)])


def test_changed_texts_are_left_out(find: Find, said: Said) -> None:
    assert "justification_language" not in find([said("a", 1, justification=ENGLISH, perturbation="swap-language")])


@pytest.mark.parametrize(
    "quotation",
    [
        f"“{JAPANESE}”",
        f'"{JAPANESE}"',
        f"«{JAPANESE}»",
        f"「{JAPANESE}」",
        f"『{JAPANESE}』",
        f"'{JAPANESE}'",
        f"„{JAPANESE}“",
        f"‘{JAPANESE}’",
    ],
)
def test_a_quotation_is_not_the_judges_own_language(quotation: str) -> None:
    assert detect_language(f"The sentence {quotation} doesn't read well, it's the judge's opinion that it isn't natural.") == "en"


def test_json_is_no_language() -> None:
    assert without_quotations('{"score": 2, "justification": "gut"}').strip() == ""
    assert without_quotations("```json\n[1, 2]\n```").split() == []


def test_apostrophes_are_no_quotation_marks() -> None:
    text = "It isn't the author's fault that readers don't follow."
    assert without_quotations(text) == text


def test_very_long_texts_are_told_quickly() -> None:
    assert detect_language("'" * 50_000 + "{" * 50_000) == "und"
    assert detect_language((ENGLISH + " ") * 2000) == "en"
