"""Judgments: what replies say, one row a metric and item, in the plan's order; what was not answered is not among them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness import judgments
from harness.content.recorded import Judgments, checked
from harness.content.recorded import read_rows as recorded_rows
from harness.judgments import derive, is_readable, read
from harness.model import Ask, Condition, Failure, Item, JudgeIdentity, Judgment, Reply, Scale, Token, Variant
from harness.plan import Plan
from harness.tables import read_rows, write_parquet

JUDGE = JudgeIdentity("openai", "one")
SCALES = {
    "m": Scale(kind="ordinal", classes=(0, 1, 2), best=2),
    "n": Scale(kind="nominal", classes=("yes", "no")),
    "x": Scale(kind="interval"),
}


def ask(item: Item, *metrics: str, joint: bool = False, repeat: int = 0, **condition: Any) -> Ask:
    variant = condition.pop("variant", None) or Variant(call="joint" if joint else "single")
    return Ask(item, metrics or ("m",), Condition(variant, **{"temperature": 0.3} | condition), repeat)


class Asked:
    """A plan of asks whose calls are known by the name of their prompt."""

    def __init__(self, asks: Sequence[tuple[Ask, str]]) -> None:
        self.asks = [one for one, _ in asks]
        self._prompts = [prompt for _, prompt in asks]

    def call_ids(self, identity: JudgeIdentity) -> list[str]:
        assert identity == JUDGE
        return self._prompts

    asked_language = Plan.asked_language


def derived(asks: Sequence[tuple[Ask, str]], replies: Mapping[str, Reply]) -> list[Judgment]:
    """Judgments of asks `(ask, prompt)`, where replies are given by prompt."""
    return list(derive(Asked(asks), JUDGE, replies, SCALES))  # type: ignore[arg-type]


@pytest.fixture
def item(make_item: Callable[..., Item]) -> Item:
    return make_item("a", language="ja", task="summarize")


def test_a_reply_becomes_a_judgment_in_the_items_own_frame(item: Item) -> None:
    [found] = derived([(ask(item, repeat=3), "p")], {"p": Reply('{"justification": "良い。", "score": 2}', "one-2024")})
    assert found == Judgment("a", "ja", "summarize", "m", "openai/one", "single", 0.3, 3, 2, None, "2", "良い。", "p")


def test_a_judgment_says_under_which_condition_it_was_made(item: Item) -> None:
    own = Variant(language="own", justification="after")
    asks = [(ask(item, variant=own, top_p=0.9, perturbation="truncate:0.5", temperature=1.0), "p"), (ask(item), "p")]
    changed, plain = derived(asks, {"p": Reply('{"score": 2}', "")})
    assert (changed.variant, changed.temperature, changed.top_p) == ("single+score-first+own-language", 1.0, 0.9)
    assert (changed.perturbation, changed.asked_language) == ("truncate:0.5", "ja")
    assert (plain.top_p, plain.perturbation, plain.asked_language) == (None, "", "en")
    assert (plain.probs, plain.expected, plain.entropy) == (None, None, None)


def one_token(score: str, **others: float) -> tuple[Token, ...]:
    """The tokens of an answer whose score is one token; alternatives with their probabilities."""
    return (Token('{"score": ', {}), Token(score, {text: math.log(p) for text, p in others.items()}), Token("}", {}))


def test_token_probabilities_become_an_expected_score_and_an_entropy(item: Item) -> None:
    reply = Reply('{"score": 2}', "", tokens=one_token("2", **{"2": 0.5, "1": 0.25, "0": 0.25}))
    [found] = derived([(ask(item), "p")], {"p": reply})
    assert found.score == 2 and found.probs == pytest.approx({"0": 0.25, "1": 0.25, "2": 0.5})
    assert found.expected == pytest.approx(1.25) and found.entropy == pytest.approx(1.5)


def test_classes_that_are_words_have_probabilities_but_no_mean(item: Item) -> None:
    tokens = (Token('{"score": "', {}), Token("yes", {"yes": math.log(0.8), "no": math.log(0.2)}), Token('"}', {}))
    [found] = derived([(ask(item, "n"), "p")], {"p": Reply('{"score": "yes"}', "", tokens=tokens)})
    assert found.probs == pytest.approx({"yes": 0.8, "no": 0.2}) and found.expected is None
    assert found.entropy == pytest.approx(0.7219, abs=1e-4)


def test_an_interval_scale_has_a_score_and_no_probabilities(item: Item) -> None:
    reply = Reply('{"score": 2}', "", tokens=one_token("2", **{"2": 0.5, "1": 0.5}))
    [found] = derived([(ask(item, "x"), "p")], {"p": reply})
    assert (found.score, found.probs, found.expected, found.entropy) == (2, None, None, None)


def test_a_joint_reply_becomes_a_judgment_for_each_metric(item: Item) -> None:
    found = derived([(ask(item, "m", "n", "x", joint=True), "p")], {"p": Reply('{"n": {"score": "no"}, "m": {"score": 7}, "x": 0.5}', "")})
    assert [(j.metric, j.score, j.failure) for j in found] == [("m", None, Failure.OFF_SCALE), ("n", "no", None), ("x", 0.5, None)]
    assert len({j.call_id for j in found}) == 1


def test_judgments_stand_in_the_order_of_the_plan_and_what_was_not_answered_is_not_there(make_item: Callable[..., Item]) -> None:
    asks = [(ask(make_item(name)), name) for name in "cab"]
    assert [j.item_id for j in derived(asks, {name: Reply('{"score": 1}', "") for name in "bc"})] == ["c", "b"]


def test_a_shared_call_answers_every_ask_that_shares_it(make_item: Callable[..., Item]) -> None:
    found = derived([(ask(make_item("a")), "same"), (ask(make_item("b")), "same")], {"same": Reply('{"score": 1}', "")})
    assert [(j.item_id, j.score) for j in found] == [("a", 1), ("b", 1)]
    assert found[0].call_id == found[1].call_id


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
    [found] = derived([(ask(item), "p")], {"p": reply})
    assert (found.score, found.failure) == (None, failure)
    assert not is_readable(ask(item), reply, SCALES)


def test_a_cut_reply_that_holds_a_score_is_no_failure(item: Item) -> None:
    [found] = derived([(ask(item), "p")], {"p": Reply('{"score": 2, "justification": "It', "", finish_reason="length")})
    assert (found.score, found.failure) == (2, None)


def test_a_reply_is_readable_when_every_metric_has_a_score(item: Item) -> None:
    both = ask(item, "m", "n", joint=True)
    assert is_readable(both, Reply('{"m": 1, "n": "yes"}', ""), SCALES)
    assert not is_readable(both, Reply('{"m": 1}', ""), SCALES)


def test_only_the_metrics_of_the_ask_are_read(item: Item) -> None:
    assert set(read(ask(item, "n"), Reply('{"m": 1, "n": "yes", "x": 3}', ""), SCALES)) == {"n"}


def test_rows_are_text_where_scores_may_be_words_and_go_through_parquet(item: Item, tmp_path: Path) -> None:
    asks = [(ask(item, metric), metric) for metric in SCALES]
    found = derived(asks, {"m": Reply('{"score": 2}', ""), "n": Reply('{"score": "yes"}', ""), "x": Reply("no idea", "")})
    rows = judgments.rows(found)
    assert [(row["score"], row["failure"]) for row in rows] == [("2", None), ("yes", None), (None, "not_json")]
    assert all(list(row) == list(judgments.PARQUET_COLUMNS) for row in rows)
    write_parquet(tmp_path / "j.parquet", rows, judgments.PARQUET_COLUMNS)
    back = [{name: row.get(name) for name in judgments.PARQUET_COLUMNS} for _, row in read_rows(tmp_path / "j.parquet")]
    assert back == rows


def test_a_runs_table_can_be_read_as_recorded_judgments(item: Item, tmp_path: Path) -> None:
    probable = Reply('{"score": 2}', "", tokens=one_token("2", **{"2": 0.5, "1": 0.5}))
    asks = [(ask(item), "p"), (ask(item, perturbation="truncate:0.5", top_p=0.5), "q"), (ask(item, temperature=1.0), "r")]
    found = derived(asks, {"p": probable, "q": Reply('{"score": 0}', ""), "r": Reply("", "", refusal="no")})
    path = tmp_path / "judgments.parquet"
    write_parquet(path, judgments.rows(found), judgments.PARQUET_COLUMNS)
    read_back, direct = checked(recorded_rows(path), SCALES, {"a": item}, path), Judgments.of(found)
    for name in (*Judgments.COLUMNS, "expected", "entropy"):
        assert list(getattr(read_back, name)) == list(getattr(direct, name)), name
    assert list(read_back.perturbation) == [None, "truncate:0.5", None] and list(read_back.clean.score) == [2, None]
    assert msgspec.json.decode(judgments.rows(found)[0]["probs"]) == pytest.approx({"0": 0, "1": 0.5, "2": 0.5})
