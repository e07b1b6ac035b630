"""The first screen of a page about ratings."""

from __future__ import annotations

from typing import Any

from harness.studies.chiang_lee.opening import open_page


def rating(**changed: Any) -> dict[str, Any]:
    key = {"judge": "a", "language": "cs", "metric": "likability", "variant": "single+text", "temperature": 0.0, "top_p": 0.9}
    return {**key, "texts": 12, "r": None, "alpha_ordinal": 0.2, **changed}


def test_ratings_open_with_what_the_plainest_condition_shows() -> None:
    rows = [rating(variant="single+text+persona", alpha_ordinal=0.9), rating(), rating(language="ja", alpha_ordinal=0.4)]
    differences = [rating(paired_q=0.01), rating(paired_q=0.2), rating(paired_q=0.001, variant="single+text+persona")]
    screen = open_page({"rows": rows, "differences": differences})
    assert screen and screen.question == "Does a rate a text the same each time?"
    itself, systems = screen.cards
    assert itself.text.startswith("Several samples of the same question agree by α .20 to .40 (likability)")
    assert (systems.style, systems.text) == ("good", "Of 2 differences between systems' means within prompts 1 are shown after correction.")
    assert "without a persona" in screen.facts
    people = open_page({"rows": [rating(r=0.3)]})
    assert people and people.question == "Does a rate texts as people do?" and people.cards[0].heading == "With people"


def test_altered_texts_are_no_systems() -> None:
    rows = [rating(metric="meaning_preserved")]
    screen = open_page({"rows": rows, "differences": [rating(metric="meaning_preserved", paired_q=None)]})
    assert screen and screen.question == "Does a rate a text the same each time, and altered texts lower?"
    assert screen.cards[1].heading == "Altered texts"
    assert screen.cards[1].text == "Unknown: too few texts. A test needs 8 texts in both versions; ask about more of them."
