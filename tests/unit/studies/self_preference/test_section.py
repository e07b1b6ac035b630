"""The first screen of a page about self-preference."""

from __future__ import annotations

from typing import Any

from harness.studies.self_preference.section import open_page


def row(judge: str, preference: float, interval: list[float] | None, **changed: Any) -> dict[str, Any]:
    condition = {"variant": "single", "temperature": 0.0, "top_p": None}
    own = {"preference": preference, "preference_ci": interval, "recognition": 0.5, "recognition_ci": None}
    return {"judge": judge, "language": "*", "source": "*", "n": 6, **condition, **own, **changed}


def test_the_question_is_the_study_s_and_each_judge_has_an_answer() -> None:
    rows = [row("a", 0.8, [0.6, 0.9]), row("b", 0.5, None), row("a", 0.8, None, language="cs"), row("a", 0.1, None, source="b")]
    screen = open_page({"rows": rows})
    assert screen and screen.question == "Do 2 judges prefer their own texts?" and screen.facts == "6 pairs of texts in 1 language"
    first, second = screen.cards
    assert (first.style, first.heading) == ("bad", "a prefers its own texts")
    assert first.text.startswith("Over 6 pairs its own text gets 80 % [60–90] of the confidence as the better one, and 50 % as")
    assert (second.style, second.heading) == ("open", "Unknown whether b prefers its own texts")
    numbers = [(number.name, number.value) for number in screen.numbers]
    assert numbers[:2] == [("a: its own text is better", 0.8), ("a: it wrote this text", 0.5)]


def test_without_a_row_about_all_systems_there_is_no_answer() -> None:
    assert open_page({}) is None and open_page({"rows": [row("a", 0.1, None, source="b")]}) is None
