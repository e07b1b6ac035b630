"""What a decision model is asked about a scale, and how its answers become scores."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model import Failure, Scale, Variant
from harness.parse import read_decisions, typed_question

PASS = Scale(kind="nominal", classes=("fail", "pass"), best="pass")
BAD_IS_ONE = Scale(kind="ordinal", classes=(0, 1), best=0)
YES_IS_BAD = Scale(kind="nominal", classes=("Yes", "No"), best="No")
LIKERT = Scale(kind="ordinal", classes=(1, 2, 3, 4, 5), best=5)
PAIR = Scale(kind="nominal", classes=("A", "B"), swap={"A": "B", "B": "A"})
TIES = Scale(kind="nominal", classes=("A", "B", "tie"), swap={"A": "B", "B": "A"})
RANGE = Scale(kind="interval", min=0, max=100, best=100)
LONG = Scale(kind="ordinal", classes=tuple(range(1, 13)), best=12)


@pytest.mark.parametrize(
    ("scale", "variant", "kind", "scores"),
    [
        (PASS, Variant(), "statement", ("fail", "pass")),
        (BAD_IS_ONE, Variant(), "statement", (1, 0)),
        (YES_IS_BAD, Variant(), "statement", ("No", "Yes")),
        (PASS, Variant(question="choice"), "choice", ("fail", "pass")),
        (PASS, Variant(question="choice", options="reversed"), "choice", ("pass", "fail")),
        (LIKERT, Variant(), "levels", (1, 2, 3, 4, 5)),
        (LIKERT, Variant(question="choice"), "choice", (1, 2, 3, 4, 5)),
        (LIKERT, Variant(levels=3), "levels", (1, 2, 3, 4, 5)),
        (PAIR, Variant(), "choice", ("A", "B")),
        (TIES, Variant(), "choice", ("A", "B", "tie")),
        (Scale(kind="interval", min=1, max=5), Variant(), "levels", (1, 2, 3, 4, 5)),
        (Scale(kind="interval", min=0, max=1, best=1, steps=(0, 0.5, 1)), Variant(), "levels", (0, 0.5, 1)),
        (Scale(kind="interval", min=0, max=1, best=1, steps=(0, 0.5, 1)), Variant(levels=2), "levels", (0, 0.5, 1)),
        (RANGE, Variant(levels=5), "levels", (10.0, 30.0, 50.0, 70.0, 90.0)),
        (LONG, Variant(levels=4), "levels", (2, 5, 8, 11)),
    ],
)
def test_the_scale_decides_the_kind_of_the_question(scale: Scale, variant: Variant, kind: str, scores: tuple[Any, ...]) -> None:
    asked = typed_question(scale, variant)
    assert (asked.kind, asked.scores) == (kind, scores)


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        (RANGE, "has any score from 0 to 100"),
        (Scale(kind="interval", min=0, max=1), "has any score from 0 to 1"),
        (Scale(kind="interval"), "has scores without a lowest and a highest one"),
        (LONG, "has 12 ordered classes"),
        (Scale(kind="ordinal", classes=(1,)), "has fewer than two classes"),
    ],
)
def test_what_has_no_options_is_refused_in_words(scale: Scale, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        typed_question(scale, Variant())


def test_every_class_of_a_long_scale_is_in_one_band() -> None:
    for levels in range(2, 11):
        bands = typed_question(LONG, Variant(levels=levels)).bands
        covered = [score for first, last in bands for score in range(int(first), int(last) + 1)]
        assert covered == list(LONG.classes) and len(bands) == levels


def systemone(kind: str, **answer: Any) -> str:
    return json.dumps({"m": {"type": kind, **answer}})


def decisions(kind: str, **answer: Any) -> str:
    return json.dumps([{"type": kind, "name": "m", **answer}])


@pytest.mark.parametrize(
    ("scale", "text", "score", "probs"),
    [
        (BAD_IS_ONE, systemone("noul", noul=0.8), 0, {"0": 0.8, "1": 0.2}),
        (BAD_IS_ONE, decisions("predicate", probability=0.3), 1, {"0": 0.3, "1": 0.7}),
        (PAIR, systemone("choice", probabilities={"A": 0.25, "B": 0.75}), "B", {"A": 0.25, "B": 0.75}),
        (
            PAIR,
            decisions("choice", probabilities=[{"value": "B", "probability": 0.4}, {"value": "A", "probability": 0.6}]),
            "A",
            {"A": 0.6, "B": 0.4},
        ),
        (LIKERT, systemone("score", probabilities={"0": 0, "1": 0, "2": 0.1, "3": 0.2, "4": 0.7}), 5, None),
    ],
)
def test_both_forms_are_read(scale: Scale, text: str, score: Any, probs: dict[str, float] | None) -> None:
    reading = read_decisions(text, {"m": scale}, Variant())["m"]
    assert reading.score == score and reading.failure is None and reading.probs is not None
    assert list(reading.probs) == list(map(str, scale.classes))
    if probs:
        assert reading.probs == pytest.approx(probs)


def test_a_choice_is_typed_true_is_not_the_text_true() -> None:
    scale = Scale(kind="nominal", classes=("true", "false", "unclear"))
    listed = [{"value": True, "probability": 0.7}, {"value": "false", "probability": 0.2}, {"value": "unclear", "probability": 0.1}]
    assert read_decisions(decisions("choice", probabilities=listed), {"m": scale}, Variant())["m"].failure == Failure.BAD_PROBABILITIES


def test_answers_without_names_stand_in_the_order_of_the_questions() -> None:
    text = json.dumps([{"type": "predicate", "probability": 0.9}, {"type": "predicate", "name": None, "probability": 0.2}])
    read = read_decisions(text, {"a": PASS, "b": PASS}, Variant())
    assert (read["a"].score, read["b"].score) == ("pass", "fail")
    too_few = read_decisions(json.dumps([{"type": "predicate", "probability": 0.9}]), {"a": PASS, "b": PASS}, Variant())
    assert {reading.failure for reading in too_few.values()} == {Failure.MISSING}


@pytest.mark.parametrize("text", ["", "  ", "[]", "{}", "3", '"m"', "null", "[1, 2]"])
def test_without_an_answer_a_score_is_missing(text: str) -> None:
    assert read_decisions(text, {"m": PASS}, Variant())["m"].failure == Failure.MISSING


@pytest.mark.parametrize("text", ["<html>", '{"m": ', "[" * 100_000])
def test_what_is_no_json_is_said_so(text: str) -> None:
    assert read_decisions(text, {"m": PASS}, Variant())["m"].failure == Failure.NOT_JSON


@pytest.mark.parametrize("p", [-0.01, 1.01, float("nan"), float("inf"), "0.5", True, None, [0.5], {"p": 1}])
def test_what_is_no_probability_is_no_answer(p: Any) -> None:
    assert read_decisions(systemone("noul", noul=p), {"m": PASS}, Variant())["m"].score is None


def test_equal_probabilities_are_a_tie_and_are_kept() -> None:
    reading = read_decisions(systemone("noul", noul=0.5), {"m": PASS}, Variant())["m"]
    assert (reading.score, reading.failure, reading.probs) == (None, Failure.TIED, {"fail": 0.5, "pass": 0.5})


@given(st.lists(st.floats(0, 1), min_size=5, max_size=5))
def test_a_score_is_given_exactly_where_the_probabilities_sum_to_one_and_one_is_largest(listed: list[float]) -> None:
    text = systemone("score", probabilities={str(number): p for number, p in enumerate(listed)})
    reading = read_decisions(text, {"m": LIKERT}, Variant())["m"]
    if abs(sum(listed) - 1) > 0.021:
        assert reading.failure == Failure.BAD_PROBABILITIES and reading.probs is None
    elif abs(sum(listed) - 1) < 0.019:
        assert reading.probs is not None and sum(reading.probs.values()) == pytest.approx(1)
        largest = [number for number, p in enumerate(listed) if p == max(listed)]
        assert reading.score == (LIKERT.classes[largest[0]] if len(largest) == 1 else None)


MEMBERS = st.sampled_from(["m", "type", "noul", "probabilities", "name", "value", "probability", "probs", "0", "1"])
JSON = st.recursive(st.none() | st.floats() | st.text(max_size=5), lambda each: st.lists(each) | st.dictionaries(MEMBERS, each))


@given(st.text(max_size=60) | JSON.map(json.dumps))
def test_any_text_is_read_without_an_error(text: str) -> None:
    reading = read_decisions(text, {"m": LIKERT}, Variant())["m"]
    assert (reading.score is None) == (reading.failure is not None)
