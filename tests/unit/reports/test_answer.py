"""The answer of verdicts: who may be used for what, how sure that is, and what to do next; pages and screens print the same words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.decide.verdicts import Verdict
from harness.render.verdicts import answer_lines
from harness.reports.answer import answer_of

MakeVerdict = Callable[..., Verdict]
USE: dict[str, Any] = {"verdict": "use", "reason": "", "obstacles": (), "gap": 0.05}
UNCLEAR: dict[str, Any] = {"verdict": "too few labels", "gap": -0.03, "obstacles": ("people",)}


def test_an_answer_needs_a_verdict() -> None:
    with pytest.raises(ValueError, match="at least one verdict"):
        answer_of([], [])
    assert list(answer_lines([])) == []


def test_of_several_judges_the_one_for_most_questions_is_named(make_verdict: MakeVerdict) -> None:
    wide = [make_verdict(judge="wide", metric=metric, **USE | {"gap": 0.0}) for metric in ("a", "b")]
    close = [make_verdict(judge="close", metric="a", **USE | {"gap": 0.2}), make_verdict(judge="close", metric="b", **UNCLEAR)]
    assert [sentence for _, sentence in answer_of([wide, close], ["wide", "close"]).sentences] == ["Use wide in Czech."]


def test_a_question_that_one_judge_leaves_open_is_not_closed_by_another(make_verdict: MakeVerdict) -> None:
    bad, open_ = [make_verdict(judge="bad")], [make_verdict(judge="open", **UNCLEAR)]
    assert answer_of([bad, open_], ["bad", "open"]).sentences == (("open", "Not known yet in Czech."),)
    assert answer_of([bad, bad], ["bad", "worse"]).sentences == (("bad", "Use no judge in Czech: shown for both."),)


def test_how_sure_an_answer_is_comes_from_the_thresholds_of_the_verdicts(make_verdict: MakeVerdict) -> None:
    settings = "margin=0.05 alpha=0.1 correction=holm family=judge"
    sure = answer_of([[make_verdict(**USE, settings=settings, family=30, margin=0.05)]], [""]).sure
    assert sure == "A wrong 'use' has at most a 10 % chance over the 30 tests of a judge; 'as good as people' allows 5 points less."
    together = answer_of([[make_verdict(**USE, settings=settings.replace("=judge", "=all"), family=60)]], [""]).sure
    assert "over the 60 tests of all judges" in together
    other = answer_of([[make_verdict(**USE, settings=settings.replace("holm", "by"), family=30)]], [""])
    assert other.sure == "", "with 'by' the share of false ones is bounded, not the chance of one"


def test_lines_have_the_command_of_the_next_step(make_verdict: MakeVerdict) -> None:
    styles, lines = zip(*answer_lines([make_verdict(**UNCLEAR | {"k": 60}), make_verdict(language="ja", **USE)]), strict=True)
    assert styles[0] == "title" and lines[0] == "openai/one may be used for 1 of 2 questions"
    assert "✓ Use it in Japanese." in lines and "○ Nothing is shown in Czech." in lines
    assert lines[-1].endswith("harness labels page DATA --lang cs --metrics task_quality --next 60 --out pages")


def test_baselines_have_no_answer(make_verdict: MakeVerdict) -> None:
    assert list(answer_lines([make_verdict(judge="baseline/majority")])) == []
