"""Judgments: what replies say, one row a metric and item, in the plan's order; what was not answered is not among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from harness import judgments
from harness.judgments import derive, is_readable, read
from harness.model import Ask, Condition, Failure, Item, JudgeIdentity, Judgment, Prompt, Reply, Scale, Variant
from harness.plan import Plan
from harness.tables import read_rows, write_parquet

JUDGE = JudgeIdentity("openai", "one")
SCALES = {
    "m": Scale(kind="ordinal", classes=(0, 1, 2), best=2),
    "n": Scale(kind="nominal", classes=("yes", "no")),
    "x": Scale(kind="interval"),
}


def ask(item: Item, *metrics: str, joint: bool = False, repeat: int = 0) -> Ask:
    return Ask(item, metrics or ("m",), Condition(Variant(call="joint" if joint else "single"), 0.3), repeat)


def derived(asks: Sequence[tuple[Ask, str]], replies: Mapping[str, Reply]) -> list[Judgment]:
    """Judgments of asks `(ask, prompt id)`, where replies are given by prompt id."""
    plan = Plan(tuple(one for one, _ in asks), tuple(Prompt(prompt_id, (), {}, 1) for _, prompt_id in asks), 0)
    by_call = {
        call_id: replies[prompt.prompt_id]
        for call_id, prompt in zip(plan.call_ids(JUDGE), plan.prompts, strict=True)
        if prompt.prompt_id in replies
    }
    return list(derive(plan, JUDGE, by_call, SCALES))


@pytest.fixture
def item(make_item: Callable[..., Item]) -> Item:
    return make_item("a", language="ja", task="summarize")


def test_a_reply_becomes_a_judgment_in_the_items_own_frame(item: Item) -> None:
    [found] = derived([(ask(item, repeat=3), "p")], {"p": Reply('{"justification": "良い。", "score": 2}', "one-2024")})
    assert found == Judgment("a", "ja", "summarize", "m", "openai/one", "single", 0.3, 3, 2, None, "2", "良い。", found.call_id)
    assert len(found.call_id) == 64


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
