"""Marked reasoning before an answer is not read, wherever answers are read; marks elsewhere are words of the answer."""

from __future__ import annotations

import pytest

from harness.model import Failure, Reply, Scale, Token
from harness.parse import (
    AnswerRule,
    bundled_vocabulary,
    clean_text,
    read_by_rule,
    read_reply,
    read_text,
    score_probabilities,
    writing_failure,
)
from harness.parse.reasoning import reasoning_end, without_reasoning
from tests.growth import assert_grows_linearly

WORDS = bundled_vocabulary()
OTHER = 'or {"score": 0}?'
MARKED = [
    "<think>Score: 0? No.</think>\n",
    "\n<think>\n\n</think>\n\n",
    '<Thinking>{"score": 0}</Thinking>',
    "<think>a</think><think>0</think>",
    '<unused94>thought\n{"score": 0}<unused95>',
    "<reasoning>0</reasoning> ",
    "[THINK]0[/THINK]",
    "◁think▷0◁/think▷",
    "<|START_THINKING|>0<|END_THINKING|>",
    '<|channel|>analysis<|message|>{"score": 0}<|end|><|start|>assistant<|channel|>final<|message|>',
    'Okay, {"score": 0} or 1?\n</think>\n\n',
    f"<|channel|>analysis<|message|>{OTHER}<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>",
    f"<|channel|>analysis<|message|>{OTHER}<|end|><|start|>assistant<|channel|>final json<|message|>",
    f"<|start|>assistant<|channel|>analysis<|message|>{OTHER}<|end|><|start|>assistant<|channel|>final<|message|>",
    f"<|channel|>analysis<|message|>{OTHER}<|end|>",
    f"<|channel|>analysis<|message|>{OTHER}<|end|><|start|>assistant<|channel|>commentary to=functions.answer <|constrain|>json<|message|>",
    f"analysisLet me see, {OTHER}assistantfinal",
    f"<|channel>thought\n{OTHER}<channel|>",
    f"<|im_start|>think\n{OTHER}<|im_end|>",
    f"<|begin_of_thought|>{OTHER}<|end_of_thought|><|begin_of_solution|>",
    f"<|inner_prefix|>{OTHER}<|inner_suffix|>",
    f"<longcat_think>{OTHER}</longcat_think>",
    f"<scratchpad>{OTHER}</scratchpad>",
]


@pytest.fixture
def single(three: Scale) -> dict[str, Scale]:
    return {"m": three}


@pytest.mark.parametrize("marked", MARKED)
def test_no_reader_reads_it(marked: str, single: dict[str, Scale], three: Scale) -> None:
    assert read_reply(marked + '{"score": 2}', single, joint=False)["m"].score == 2
    assert read_reply(marked + '{"m": {"score": 2}}', single, joint=True)["m"].score == 2
    assert read_text(marked + "I give it a 2.", three, WORDS).score == 2
    assert read_by_rule(marked + "GRADE: 2", AnswerRule(r"regex:(\d)"), three, WORDS).score == 2
    assert read_by_rule(marked + '{"score": 2}', AnswerRule("json:score"), three, WORDS).score == 2
    assert clean_text(marked + "A quiet forest.").text == "A quiet forest."


@pytest.mark.parametrize(("finish", "failure"), [("length", Failure.TRUNCATED), ("stop", Failure.MISSING)])
def test_reasoning_that_never_ends_is_no_answer(finish: str, failure: Failure, single: dict[str, Scale], three: Scale) -> None:
    text = '<think>It may be {"score": 1}. Score: 1'
    assert read_reply(text, single, joint=False, finish_reason=finish)["m"].failure == failure
    assert read_by_rule(text, AnswerRule(r"regex:Score: (\d)"), three, WORDS, finish_reason=finish).failure == failure
    assert read_text(text, three, WORDS, finish_reason=finish).failure == failure
    assert writing_failure(Reply(text, "m"), WORDS) == Failure.MISSING


@pytest.mark.parametrize(
    "text",
    [
        '{"justification": "It says <think>0</think>.", "score": 2}',
        '{"justification": "It ends with\\n</think>\\n", "score": 2}',
        "Score: 2. The text holds </think>, which is odd.",
        '```json\n{"score": 2}\n```\n</think>\n',
    ],
)
def test_marks_in_an_answer_are_words_of_it(text: str, single: dict[str, Scale]) -> None:
    assert without_reasoning(text) == text
    assert read_reply(text, single, joint=False)["m"].score == 2


def test_a_quoted_mark_does_not_choose_the_score(single: dict[str, Scale]) -> None:
    """A text that holds `</think> {"score": 2}` and is quoted in the reasoning is not believed."""
    quoting = '<think>The text says "</think> {"score": 2}". It is bad.</think> {"score": 0}'
    assert read_reply(quoting, single, joint=False)["m"].failure == Failure.NOT_JSON


def test_probabilities_are_those_of_the_answer(single: dict[str, Scale]) -> None:
    thought = [Token("<think>", {}), Token('{"score": ', {}), Token("0", {"0": -0.1}), Token("}</think>", {})]
    answer = [Token('{"score": ', {}), Token("2", {"2": -0.1, "1": -2.4}), Token("}", {})]
    assert score_probabilities(thought + answer, single, joint=False) == score_probabilities(answer, single, joint=False) != {}
    assert score_probabilities(thought[:3], single, joint=False) == {}


@pytest.mark.parametrize(
    "unit",
    ["<think>", "<think></think>", "\n</think", "<|channel|>", "<|channel|>a<|message|><|end|>", "<|end|>", "analysisA", " ", "\n"],
)
def test_the_time_is_linear(unit: str) -> None:
    assert_grows_linearly(lambda repeats: reasoning_end(unit * repeats), 300_000 // len(unit))
