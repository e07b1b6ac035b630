"""The first screen of the self-preference study: its question, and whether each judge is shown to prefer its own texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.decide.verdicts import Verdict
from harness.render.html.first_screen import first_screen
from harness.render.html.study_screen import self_preference_screen


def row(judge: str, preference: float, interval: list[float] | None, **changed: Any) -> dict[str, Any]:
    condition = {"variant": "single", "temperature": 0.0, "top_p": None}
    own = {"preference": preference, "preference_ci": interval, "recognition": 0.5, "recognition_ci": None}
    return {"judge": judge, "language": "*", "source": "*", "n": 6, **condition, **own, **changed}


def test_the_question_is_the_study_s_and_each_judge_has_an_answer() -> None:
    rows = [row("a", 0.8, [0.6, 0.9]), row("b", 0.5, None), row("a", 0.8, None, language="cs"), row("a", 0.1, None, source="b")]
    screen = self_preference_screen(None, {"rows": rows})
    assert screen and screen.title == "Do 2 judges prefer their own texts?" and screen.facts == "6 pairs of texts in 1 language"
    [(bad, first), (open_, second)] = screen.sentences
    assert (bad, open_) == ("bad", "open")
    assert first.startswith(
        "a prefers its own texts: over 6 pairs it gives them 80 % [60–90] of the confidence as the better text, and 50 % as"
    )
    assert second.startswith("b is not shown to prefer its own texts")


def test_control_questions_follow(make_verdict: Callable[..., Verdict]) -> None:
    controls = first_screen([make_verdict(controls=True)])
    screen = self_preference_screen(controls, {"rows": [row("a", 0.4, [0.3, 0.6], language="cs", n=1)]})
    assert controls and screen and screen.title == "Does a prefer its own texts?"
    assert screen.facts.startswith("1 pair of texts in 1 language · control questions: constructed labels")
    assert screen.sentences[1:] == controls.sentences and screen.answers == controls.answers


def test_without_pairs_nothing_changes(make_verdict: Callable[..., Verdict]) -> None:
    controls = first_screen([make_verdict(controls=True)])
    assert self_preference_screen(controls, None) is controls and self_preference_screen(None, {"rows": []}) is None


def test_many_conditions_are_told_apart_and_counted() -> None:
    rows = [row("a", 0.5, None) | {"temperature": temperature / 10} for temperature in range(6)]
    screen = self_preference_screen(None, {"rows": rows})
    assert screen and [words for _, words in screen.sentences][1].startswith("a · temperature 0.1 is not shown")
    assert screen.sentences[-1] == ("open", "2 further conditions stand below, under Self-preference.")
