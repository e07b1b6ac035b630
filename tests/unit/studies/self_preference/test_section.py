"""The first screen of a page about self-preference."""

from __future__ import annotations

from typing import Any

from harness.studies.self_preference.section import open_page


def row(judge: str, preference: float, interval: list[float] | None, **changed: Any) -> dict[str, Any]:
    condition = {"variant": "single", "temperature": 0.0, "top_p": None}
    own = {"preference": preference, "preference_ci": interval, "recognition": 0.5, "recognition_ci": None}
    own["undefined"] = {"preference_ci": "too few independent texts"}
    return {"judge": judge, "language": "*", "source": "*", "n": 6, **condition, **own, **changed}


def test_the_title_says_who_prefers_its_own_texts_and_each_judge_has_an_answer() -> None:
    rows = [row("a", 0.8, [0.6, 0.9]), row("b", 0.5, None), row("a", 0.8, None, language="cs"), row("a", 0.1, None, source="b")]
    screen = open_page({"rows": rows})
    assert screen and screen.title == "1 of 2 judges prefers its own texts; of 1 it is unknown"
    assert screen.facts == "6 pairs of texts in 1 language"
    first, second = screen.cards
    assert (first.style, first.heading) == ("bad", "a prefers its own texts")
    assert first.text == "6 pairs; the 95 % interval of the preference lies above 50 %, which favours neither text."
    assert (second.style, second.heading) == ("open", "Unknown whether b prefers its own texts")
    numbers = [(number.name, number.value) for number in screen.numbers]
    assert numbers[:2] == [("a: Which text is better?", 0.8), ("a: Which text did it write?", 0.5)]
    assert [number.text for number in screen.numbers][:1] == ["80 % [60–90]"]


def test_of_one_judge_title_chart_and_card_each_say_another_thing() -> None:
    screen = open_page({"rows": [row("a", 1.0, None)]})
    assert screen and screen.title == "It is unknown whether a prefers its own texts"
    assert [number.name for number in screen.numbers] == ["Which text is better?", "Which text did it write?"]
    [card] = screen.cards
    assert (card.heading, card.text) == ("How sure", "6 pairs, and no test: too few independent texts.")
    preferred = open_page({"rows": [row("a", 0.9, [0.8, 1.0]), row("a", 0.5, [0.3, 0.7], temperature=1.0)]})
    assert preferred and preferred.title == "a prefers its own texts under one condition or more"
    assert preferred.cards[1].heading == "Unknown whether a (temperature 1) prefers its own texts"


def test_without_a_row_about_all_systems_there_is_no_answer() -> None:
    assert open_page({}) is None and open_page({"rows": [row("a", 0.1, None, source="b")]}) is None
