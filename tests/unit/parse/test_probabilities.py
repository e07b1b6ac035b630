"""Scores from token probabilities: which token holds the score, what its alternatives say, and when nothing can be said."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model import Scale, Token
from harness.parse import entropy, expected_score, score_probabilities

THREE = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
TEN = Scale(kind="ordinal", classes=tuple(range(11)), best=10)
PAIR = Scale(kind="nominal", classes=("A", "B", "tie"))
WORDS = Scale(kind="ordinal", classes=("bad", "good", "great"), best="great")


def token(text: str, others: dict[str, float] | None = None) -> Token:
    """A token with its alternatives by probability."""
    return Token(text, {other: math.log(p) for other, p in (others or {}).items()})


def single(scale: Scale, *tokens: Any) -> dict[str, float] | None:
    """What the only metric's classes have; texts are tokens without alternatives."""
    found = score_probabilities([token(each) if isinstance(each, str) else each for each in tokens], {"m": scale}, joint=False)
    return found.get("m")


USUAL = token("2", {"2": 0.6, "1": 0.3, "7": 0.1})
EXPECTED = pytest.approx({"0": 0, "1": 1 / 3, "2": 2 / 3})

# Where the score stands


@pytest.mark.parametrize(
    "before",
    [
        ['{"score": '],
        ['{"', "score", '":', " "],
        ["{", ' "score"', " : "],
        ['```json\n{\n  "score":\n    '],
        ['{"justification": "Good.", ', '"score"', ": "],
        ['{"justification": "It says \\"score\\": 1.", "score": '],
        ['{"justification": "Give \'score\': 0", "score": '],
    ],
    ids=["one token", "cut anywhere", "spaces", "fenced", "after the reason", "quoted in the reason", "in other quotes"],
)
def test_the_score_is_found_wherever_tokens_are_cut(before: list[str]) -> None:
    assert single(THREE, *before, USUAL, "}") == EXPECTED


def test_a_reason_after_the_score_changes_nothing() -> None:
    assert single(THREE, '{"score": ', USUAL, ', "justification": "', token("1", {"1": 0.9, "2": 0.1}), ' of 2."}') == EXPECTED


@pytest.mark.parametrize("text", [" 2", '"2', ' "2"', "2}", "2,", ": 2", "2\n", '2"}'])
def test_what_json_puts_around_a_score_is_no_part_of_it(text: str) -> None:
    other = text.replace("2", "1")
    before = '{"score"' if ":" in text else '{"score":'
    assert single(THREE, before, token(text, {text: 0.6, other: 0.3, "x": 0.1}), "}") == EXPECTED


def test_tokens_of_one_class_are_added() -> None:
    found = single(THREE, '{"score":', token(" 2", {" 2": 0.3, "2": 0.2, '"2': 0.1, " 1": 0.2, '"': 0.2}), "}")
    assert found == pytest.approx({"0": 0, "1": 0.25, "2": 0.75})


@pytest.mark.parametrize(
    "tokens", [(), ("",), ("2",), ('{"rating": ', USUAL, "}"), ('{"score"', ": "), ('{"score": ', ""), ("no",)], ids=range(7)
)
def test_an_answer_without_a_score_has_no_probabilities(tokens: tuple[Any, ...]) -> None:
    assert single(THREE, *tokens) is None


# What the alternatives say


def test_a_class_that_is_not_named_has_zero_and_what_is_no_class_is_left_out() -> None:
    assert single(THREE, '{"score": ', token("2", {"2": 0.5, "null": 0.4, "3": 0.1}), "}") == {"0": 0, "1": 0, "2": 1}


@pytest.mark.parametrize("others", [{}, {"null": 0.9, "{": 0.1}], ids=["none", "no class"])
def test_without_alternatives_that_are_classes_nothing_is_said(others: dict[str, float]) -> None:
    assert single(THREE, '{"score": ', token("2", others), "}") is None


def test_the_least_likely_class_may_be_the_answer() -> None:
    """At a temperature the sampled token need not be the likeliest."""
    assert single(THREE, '{"score": ', token("0", {"2": 0.6, "1": 0.3, "0": 0.1}), "}") == pytest.approx({"0": 0.1, "1": 0.3, "2": 0.6})


def test_classes_that_are_words_are_read() -> None:
    found = single(PAIR, '{"score": "', token("A", {"A": 0.5, "B": 0.25, "tie": 0.25}), '"}')
    assert found == pytest.approx({"A": 0.5, "B": 0.25, "tie": 0.25})


def test_a_word_of_several_tokens_is_known_by_its_first() -> None:
    found = single(PAIR, '{"score": "', token("t", {"t": 0.5, "A": 0.25, "B": 0.25}), "ie", '"}')
    assert found == pytest.approx({"A": 0.25, "B": 0.25, "tie": 0.5})


def test_a_first_token_that_begins_several_classes_decides_nothing() -> None:
    assert single(WORDS, '{"score": "', token("g", {"g": 0.9, "bad": 0.1}), "ood", '"}') is None
    found = single(WORDS, '{"score": "', token("go", {"go": 0.5, "gr": 0.25, "b": 0.25}), "od", '"}')
    assert found == pytest.approx({"bad": 0.25, "good": 0.5, "great": 0.25})


def test_a_number_that_goes_on_in_the_next_token_is_not_taken_for_its_first_digit() -> None:
    whole = single(TEN, '{"score": ', token("10", {"10": 0.7, "1": 0.2, "9": 0.1}), "}")
    assert whole is not None and (whole["10"], whole["1"], whole["9"]) == pytest.approx((0.7, 0.2, 0.1))
    assert single(TEN, '{"score": ', token("1", {"1": 0.7, "9": 0.3}), "0", "}") is None


def test_an_interval_scale_has_no_classes() -> None:
    assert single(Scale(kind="interval", min=0, max=2), '{"score": ', USUAL, "}") is None


def test_an_answer_off_the_scale_still_has_those_of_the_scale() -> None:
    assert single(THREE, '{"score": ', token("7", {"7": 0.9, "2": 0.1}), "}") == {"0": 0, "1": 0, "2": 1}


# Joint answers


def combination_ids(*tokens: Any, metrics: tuple[str, ...] = ("m", "n")) -> dict[str, dict[str, float]]:
    return score_probabilities(
        [token(each) if isinstance(each, str) else each for each in tokens], dict.fromkeys(metrics, THREE), joint=True
    )


ONE = token("1", {"1": 1.0})


def test_each_metric_has_its_own_score() -> None:
    found = combination_ids('{"m": {"score": ', USUAL, '}, "n": {"justification": "It is m.", "score": ', ONE, "}}")
    assert found == {"m": EXPECTED, "n": {"0": 0, "1": 1, "2": 0}}


def test_metrics_may_come_in_any_order() -> None:
    assert combination_ids('{"n": {"score": ', ONE, '}, "m": {"score": ', USUAL, "}}") == {"m": EXPECTED, "n": {"0": 0, "1": 1, "2": 0}}


@pytest.mark.parametrize("first", ['{"m": {"justification": "None."}, ', '{"m": 2, ', '{"m": null, ', '{"m": {}, ', "{"])
def test_a_metric_without_a_score_does_not_take_the_next_ones(first: str) -> None:
    assert combination_ids(first + '"n": {"score": ', ONE, "}}") == {"n": {"0": 0, "1": 1, "2": 0}}


def test_a_metric_whose_name_holds_anothers_is_told_apart() -> None:
    found = combination_ids('{"a.b": {"score": ', ONE, '}, "axb": {"score": ', USUAL, "}}", metrics=("axb", "a.b"))
    assert found == {"axb": EXPECTED, "a.b": {"0": 0, "1": 1, "2": 0}}


# Whatever comes


@given(
    st.lists(
        st.tuples(
            st.text('{}":, scoremn012\\', max_size=8),
            st.dictionaries(st.text(' "012tAB', max_size=3), st.floats(-1e9, 1e-3), max_size=4),
        ),
        max_size=12,
    ),
    st.booleans(),
)
def test_probabilities_sum_to_one_or_are_not_there(parts: list[tuple[str, dict[str, float]]], several: bool) -> None:
    scales = {"m": THREE, "n": PAIR} if several else {"m": THREE}
    found = score_probabilities([Token(text, others) for text, others in parts], scales, joint=several)
    for metric, probs in found.items():
        assert list(probs) == list(map(str, scales[metric].classes))
        assert sum(probs.values()) == pytest.approx(1) and all(0 <= p <= 1 for p in probs.values())
        assert -1e-9 <= entropy(probs) <= math.log2(3) + 1e-9


# Numbers


def test_the_expected_score_is_the_mean_of_the_classes() -> None:
    assert expected_score({"0": 0.5, "1": 0.0, "2": 0.5}, THREE) == 1
    assert expected_score({"10": 1.0}, TEN) == 10
    assert expected_score({"A": 1.0}, PAIR) is None


def test_entropy_is_in_bits() -> None:
    assert entropy({"0": 1.0, "1": 0.0}) == 0
    assert math.copysign(1, entropy({"0": 1.0})) == 1  # not minus zero
    assert entropy(dict.fromkeys("abcd", 0.25)) == 2
