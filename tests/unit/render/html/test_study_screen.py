"""The first screens of studies: the study's own question, and its answer, above the verdicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.decide.verdicts import Verdict
from harness.render.html.first_screen import first_screen
from harness.render.html.study_screen import study_screen


def row(judge: str, preference: float, interval: list[float] | None, **changed: Any) -> dict[str, Any]:
    condition = {"variant": "single", "temperature": 0.0, "top_p": None}
    own = {"preference": preference, "preference_ci": interval, "recognition": 0.5, "recognition_ci": None}
    return {"judge": judge, "language": "*", "source": "*", "n": 6, **condition, **own, **changed}


def preferred(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"self_preference": {"rows": list(rows)}}


def test_the_question_is_the_study_s_and_each_judge_has_an_answer() -> None:
    rows = [row("a", 0.8, [0.6, 0.9]), row("b", 0.5, None), row("a", 0.8, None, language="cs"), row("a", 0.1, None, source="b")]
    screen = study_screen(None, preferred(*rows))
    assert screen and screen.title == "Do 2 judges prefer their own texts?" and screen.facts == "6 pairs of texts in 1 language"
    first, second = screen.lead
    assert (first.style, first.heading) == ("bad", "a prefers its own texts")
    assert first.text.startswith("Over 6 pairs it gives them 80 % [60–90] of the confidence as the better text, and 50 % as")
    assert (second.style, second.heading) == ("open", "b is not shown to prefer its own texts")


def test_control_questions_follow(make_verdict: Callable[..., Verdict]) -> None:
    controls = first_screen([make_verdict(controls="passes")])
    screen = study_screen(controls, preferred(row("a", 0.4, [0.3, 0.6], language="cs", n=1)))
    assert controls and screen and screen.title == "Does a prefer its own texts?" and len(screen.lead) == 1
    [view], [known] = screen.views, controls.views
    assert view.cards == known.cards and view.title == screen.title and view.heading == f"Control questions: {controls.title}"


def rating(**changed: Any) -> dict[str, Any]:
    key = {"judge": "a", "language": "cs", "metric": "likability", "variant": "single+text", "temperature": 0.0, "top_p": 0.9}
    return {**key, "texts": 12, "r": None, "alpha_ordinal": 0.2, **changed}


def test_ratings_open_with_what_the_plainest_condition_shows() -> None:
    rows = [rating(variant="single+text+persona", alpha_ordinal=0.9), rating(), rating(language="ja", alpha_ordinal=0.4)]
    differences = [rating(paired_q=0.01), rating(paired_q=0.2), rating(paired_q=0.001, variant="single+text+persona")]
    screen = study_screen(None, {"chiang_lee": {"rows": rows, "differences": differences}})
    assert screen and screen.title == "Does a rate a text the same each time?"
    itself, systems = screen.lead
    assert itself.text.startswith("Several samples of the same question agree by α .20 to .40 (likability)")
    assert (systems.style, systems.text) == ("good", "Of 2 differences between systems' means within prompts 1 are shown after correction.")
    assert "without a persona" in screen.facts
    people = study_screen(None, {"chiang_lee": {"rows": [rating(r=0.3)]}})
    assert people and people.title == "Does a rate texts as people do?" and people.lead[0].heading == "With people"


def test_altered_texts_are_no_systems() -> None:
    rows = [rating(metric="meaning_preserved")]
    screen = study_screen(None, {"chiang_lee": {"rows": rows, "differences": [rating(metric="meaning_preserved", paired_q=None)]}})
    assert screen and screen.title == "Does a rate a text the same each time, and altered texts lower?"
    assert screen.lead[1].heading == "Altered texts"
    assert screen.lead[1].text == "No difference within texts can be tested: that needs 8 texts in both versions."


def test_without_a_study_nothing_changes(make_verdict: Callable[..., Verdict]) -> None:
    controls = first_screen([make_verdict(controls="passes")])
    assert study_screen(controls, {}) is controls
