"""The answer of boards that were asked together, by language, judge and what people ask about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.decide.verdicts import Verdict
from harness.reports.answer.several_boards import BoardVerdicts, answer_of_boards

MakeVerdict = Callable[..., Verdict]
USE: dict[str, Any] = {"verdict": "use", "reason": "", "obstacles": (), "gap": 0.05}
UNCLEAR: dict[str, Any] = {"verdict": "too few labels", "gap": -0.03, "obstacles": ("people",)}
SETTINGS = "margin=0.1 alpha=0.05 correction=holm family=judge"


def test_boards_asked_together_have_one_answer_by_language_and_by_what_people_ask_about(make_verdict: MakeVerdict) -> None:
    harm = BoardVerdicts(
        (
            *(make_verdict(language="ja", metric=metric, settings=SETTINGS, family=4) for metric in ("insult", "violence")),
            make_verdict(language="ja", metric="self_harm", **UNCLEAR),
            make_verdict(metric="insult", **USE),
        ),
        {"insult": "harm", "violence": "harm", "self_harm": "harm"},
    )
    pairs = BoardVerdicts((make_verdict(language="ja", metric="preference", **USE),), {"preference": "preference"})
    order = BoardVerdicts((), {"translation_quality_0_4": "translation"}, (("ja", "openai/one", "translation_quality_0_4"),))
    answer = answer_of_boards([harm, pairs, order])
    assert answer is not None and answer.title == "openai/one may be used for 2 of 5 questions"
    assert answer.sentences == (
        ("good", "Czech: use it for harm."),
        ("good", "Japanese: use it for preference."),
        ("bad", "Japanese: do not use it for harm (insult, violent content)."),
        ("open", "Japanese: unknown for harm (self-harm) (more labels will not help)."),
        ("open", "Japanese: no verdict for translation: its scores stand beside people's by order alone."),
    )
    assert "over the tests of a judge on one board" in answer.sure


def test_what_boards_leave_open_is_not_called_unfit(make_verdict: MakeVerdict) -> None:
    order = BoardVerdicts((), {}, (("ja", "openai/one", "fluency"),))
    for boards, title in (
        ([order], "It is unknown whether openai/one may be used"),
        ([BoardVerdicts((make_verdict(),), {}), order], "Do not use openai/one for 1 of 1 question"),
        ([BoardVerdicts((make_verdict(),), {})], "Do not use openai/one"),
    ):
        answer = answer_of_boards(boards)
        assert answer is not None and answer.title == title
    assert answer_of_boards([BoardVerdicts((), {})]) is None


def test_several_judges_on_boards_are_named(make_verdict: MakeVerdict) -> None:
    answer = answer_of_boards(
        [BoardVerdicts((make_verdict(judge="a", **USE), make_verdict(judge="b", **UNCLEAR)), {"task_quality": "summary"})]
    )
    assert answer is not None
    assert [sentence for _, sentence in answer.sentences] == [
        "Czech, a: use it for summary.",
        "Czech, b: unknown for summary (more labels will not help).",
    ]
