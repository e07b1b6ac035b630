"""Judgments: what one reply says, one a metric, in the item's own frame."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from harness.model import Condition, Failure, Item, JudgeIdentity, Judgment, Query, Reply, Scale, Token, Variant
from harness.parse import bundled_vocabulary, language
from harness.runs import ReadingRules, derive_judgments, read_metrics, reply_failures
from harness.runs.judgments_from_replies import count_failures
from tests.unit.made_judgments import made_judgment

JUDGE = JudgeIdentity("openai", "one")
SCALES = {
    "m": Scale(kind="ordinal", classes=(0, 1, 2), best=2),
    "n": Scale(kind="nominal", classes=("yes", "no")),
    "x": Scale(kind="interval"),
}
WORDS = bundled_vocabulary()
RULES = ReadingRules(SCALES, WORDS)


def query(item: Item, *metrics: str, joint: bool = False, repeat: int = 0, **condition: Any) -> Query:
    variant = condition.pop("variant", None) or Variant(call="joint" if joint else "single")
    return Query(item, metrics or ("m",), Condition(variant, **{"temperature": 0.3} | condition), repeat)


def derived(asks: Sequence[tuple[Query, str]], replies: Mapping[str, Reply]) -> list[Judgment]:
    """Judgments of asks `(ask, call id)`, where replies are given by call id."""
    return [found for one, call_id in asks for found in derive_judgments(one, replies[call_id], call_id, JUDGE, RULES)]


@pytest.fixture
def item(make_item: Callable[..., Item]) -> Item:
    return make_item("a", language="ja", task="summarize")


def test_a_reply_becomes_a_judgment_in_the_items_own_frame(item: Item) -> None:
    [found] = derived([(query(item, repeat=3), "p")], {"p": Reply('{"justification": "良い。", "score": 2}', "one-2024")})
    expected = made_judgment(
        "a", "ja", "summarize", "m", "openai/one", "single", 0.3, 3, 2, None, "2", "良い。", "p", detected_language="und"
    )
    assert found == expected


def test_a_judgment_says_under_which_condition_it_was_made(item: Item) -> None:
    own = Variant(language="own", justification="after")
    queries = [(query(item, variant=own, top_p=0.9, perturbation="truncate:0.5", temperature=1.0), "p"), (query(item), "p")]
    changed, plain = derived(queries, {"p": Reply('{"score": 2}', "")})
    assert str(changed.condition) == "single+score-first+own-language T=1 top_p=0.9 truncate:0.5"
    assert (plain.condition.top_p, plain.condition.perturbation) == (None, "")
    assert (plain.probs, plain.expected, plain.entropy) == (None, None, None)


def one_token(score: str, **others: float) -> tuple[Token, ...]:
    """The tokens of an answer whose score is one token; alternatives with their probabilities."""
    return (Token('{"score": ', {}), Token(score, {text: math.log(p) for text, p in others.items()}), Token("}", {}))


def test_token_probabilities_become_an_expected_score_and_an_entropy(item: Item) -> None:
    reply = Reply('{"score": 2}', "", tokens=one_token("2", **{"2": 0.5, "1": 0.25, "0": 0.25}))
    [found] = derived([(query(item), "p")], {"p": reply})
    assert found.score == 2 and found.probs == pytest.approx({"0": 0.25, "1": 0.25, "2": 0.5})
    assert found.expected == pytest.approx(1.25) and found.entropy == pytest.approx(1.5)


def test_classes_that_are_words_have_probabilities_but_no_mean(item: Item) -> None:
    tokens = (Token('{"score": "', {}), Token("yes", {"yes": math.log(0.8), "no": math.log(0.2)}), Token('"}', {}))
    [found] = derived([(query(item, "n"), "p")], {"p": Reply('{"score": "yes"}', "", tokens=tokens)})
    assert found.probs == pytest.approx({"yes": 0.8, "no": 0.2}) and found.expected is None
    assert found.entropy == pytest.approx(0.7219, abs=1e-4)


def test_an_interval_scale_has_a_score_and_no_probabilities(item: Item) -> None:
    reply = Reply('{"score": 2}', "", tokens=one_token("2", **{"2": 0.5, "1": 0.5}))
    [found] = derived([(query(item, "x"), "p")], {"p": reply})
    assert (found.score, found.probs, found.expected, found.entropy) == (2, None, None, None)


def test_a_joint_reply_becomes_a_judgment_for_each_metric(item: Item) -> None:
    found = derived(
        [(query(item, "m", "n", "x", joint=True), "p")], {"p": Reply('{"n": {"score": "no"}, "m": {"score": 7}, "x": 0.5}', "")}
    )
    assert [(j.metric, j.score, j.failure) for j in found] == [("m", None, Failure.OFF_SCALE), ("n", "no", None), ("x", 0.5, None)]
    assert len({j.call_id for j in found}) == 1


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        (Reply("I cannot help with that.", ""), Failure.REFUSED),
        (Reply("", "", refusal="no"), Failure.REFUSED),
        (Reply("", "", finish_reason="content_filter"), Failure.REFUSED),
        (Reply("lovely text", ""), Failure.NOT_JSON),
        (Reply('{"score": 3}', ""), Failure.OFF_SCALE),
        (Reply('{"justification": "It is', "", finish_reason="length"), Failure.TRUNCATED),
        (Reply("", ""), Failure.MISSING),
        (Reply("", "", error="400: the prompt is too long"), Failure.MISSING),
        (Reply('{"score": null}', ""), Failure.MISSING),
    ],
    ids=["refused in words", "refusal", "filter", "prose", "off scale", "cut", "empty", "error", "null"],
)
def test_an_answer_without_a_score_is_a_failure_with_a_name(item: Item, reply: Reply, failure: Failure) -> None:
    [found] = derived([(query(item), "p")], {"p": reply})
    assert (found.score, found.failure) == (None, failure)
    assert reply_failures(query(item), reply, RULES) == [failure]


def test_a_cut_reply_that_holds_a_score_is_no_failure(item: Item) -> None:
    [found] = derived([(query(item), "p")], {"p": Reply('{"score": 2, "justification": "It', "", finish_reason="length")})
    assert (found.score, found.failure) == (2, None)


def test_a_reply_is_readable_when_every_metric_has_a_score(item: Item) -> None:
    both = query(item, "m", "n", joint=True)
    assert reply_failures(both, Reply('{"m": 1, "n": "yes"}', ""), RULES) == []
    assert reply_failures(both, Reply('{"m": 1}', ""), RULES) == [Failure.MISSING]


def test_a_look_at_a_reply_counts_what_cannot_be_read_and_moves_no_judgment(item: Item) -> None:
    language.load_identifier()
    reason = "The text keeps to what was asked, and leaves nothing out."
    both, reply = query(item, "m", "n", joint=True), Reply(json.dumps({"m": {"justification": reason, "score": 1}, "n": 3}), "")
    assert count_failures(both, reply, RULES) == 1
    assert [found.detected_language for found in derived([(both, "p")], {"p": reply})] == ["en", None]


def test_only_the_metrics_of_the_ask_are_read(item: Item) -> None:
    assert set(read_metrics(query(item, "n"), Reply('{"m": 1, "n": "yes", "x": 3}', ""), RULES)) == {"n"}


@pytest.mark.parametrize(
    ("justification", "told"),
    [
        ("The text reads well from the first sentence to the last.", "en"),
        ("Der Text ist flüssig geschrieben und leicht zu verstehen.", "de"),
        ("Good.", "und"),
        ("", None),
        (None, None),
    ],
)
def test_a_judgment_says_in_which_language_its_reason_is(item: Item, justification: str | None, told: str | None) -> None:
    said = {"score": 1} if justification is None else {"justification": justification, "score": 1}
    [found] = derived([(query(item), "p")], {"p": Reply(json.dumps(said), "")})
    assert found.detected_language == told and found.asked_language == "en"
