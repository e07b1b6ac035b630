"""What a condition shows: a pair in the other order, the names of systems in headings; judgments are in the item's own order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.content import Library
from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.errors import UsageError
from harness.model import Condition, Item, JudgeIdentity, Query, Reply, Scale, Token, parse_variant
from harness.parse import bundled_vocabulary
from harness.prompts import PromptTemplates
from harness.runs import Plan, ReadingRules, RunSpec, derive_judgments, prepare
from harness.runs.plan import make_plan
from harness.runs.protocol import AskedQuestions

SCALE = Scale(kind="nominal", classes=("A", "B", "tie"), swap={"A": "B", "B": "A"})
TEXTS = {"prompt": "Say.", "output_a": "first text", "output_b": "second text", "system_a": "ann {x}", "system_b": "bob"}


@pytest.fixture
def plan(library: Library, make_data: Callable[..., Dataset]) -> Callable[..., Plan]:
    def make(*conditions: Condition, **texts: Any) -> Plan:
        item = Item("p", "en", "compare_responses", group="p", fields=TEXTS | texts)
        data = make_data([item], {("p", "preference"): "A"}, {"preference": SCALE})
        return make_plan(data, library, AskedQuestions(("preference",), conditions), PromptTemplates())

    return make


def prompts(plan: Plan) -> list[str]:
    return [plan.call(query, "").prompt.messages[-1].content for query in plan.queries()]


def test_a_swapped_pair_shows_its_second_text_first(plan: Callable[..., Plan]) -> None:
    forward, swapped = prompts(plan(Condition(), Condition(order="swapped")))
    assert forward.index("first text") < forward.index("second text")
    assert swapped == forward.replace("first text", "\0").replace("second text", "first text").replace("\0", "second text")


def test_sources_stand_in_the_headings_of_their_texts_or_of_the_others(plan: Callable[..., Plan]) -> None:
    orders: list[Any] = ["forward", "swapped"]
    shown = [Condition(order=order, shown_source=source) for source in ("correct", "swapped") for order in orders]  # type: ignore[arg-type]
    correct, correct_swapped, wrong, wrong_swapped = prompts(plan(*shown))
    assert 'Text A (written by ann {x}):\n"""\nfirst text' in correct and 'Text B (written by bob):\n"""\nsecond text' in correct
    assert 'Text A (written by bob):\n"""\nsecond text' in correct_swapped
    assert 'Text A (written by bob):\n"""\nfirst text' in wrong and 'Text B (written by bob):\n"""\nfirst text' in wrong_swapped
    assert "written by" not in prompts(plan(Condition()))[0]


def test_a_source_that_no_item_names_cannot_be_shown(plan: Callable[..., Plan]) -> None:
    with pytest.raises(UsageError, match="'p' has no 'system_b'"):
        plan(Condition(shown_source="correct"), system_b="")


def test_equal_texts_share_one_call_for_both_orders(plan: Callable[..., Plan]) -> None:
    both = plan(Condition(), Condition(order="swapped"), output_b="first text")
    assert len(both) == 2 and len(both.calls(JudgeIdentity("openai", "one"))) == 1


def judged(order: Any, answer: str, probabilities: bool = False) -> Judgments:
    item = Item("p", "en", "compare_responses", group="p", fields=TEXTS)
    tokens = (Token('{"score": "', {}), Token(answer, {"A": -0.105, "B": -2.303}), Token('"}', {})) if probabilities else ()
    reply = Reply(f'{{"score": "{answer}"}}', "m", tokens=tokens)
    query = Query(item, ("preference",), Condition(parse_variant("score-only"), order=order))
    identity, words = JudgeIdentity("openai", "one"), bundled_vocabulary()
    return Judgments.from_rows(list(derive_judgments(query, reply, "c", identity, ReadingRules({"preference": SCALE}, words))))


def test_a_judgment_is_turned_back_into_the_order_of_the_item() -> None:
    assert [*judged("forward", "A").score, *judged("swapped", "A").score, *judged("swapped", "tie").score] == ["A", "B", "tie"]
    assert list(judged("swapped", "A").order) == ["swapped"] and list(judged("forward", "A").order) == [None]


def test_so_are_its_probabilities() -> None:
    forward, swapped = judged("forward", "A", True), judged("swapped", "A", True)
    assert list(forward.share_a) == pytest.approx([0.9], abs=1e-3) and list(swapped.share_a) == pytest.approx([0.1], abs=1e-3)
    assert list(forward.confidence) == pytest.approx(list(swapped.confidence))


PAIRS = '{"item_id": "p", "language": "en", "task": "compare_responses", "prompt": "Say.", "output_a": "a", "output_b": "b"}\n'


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"orders": ("forward", "swapped"), "metrics": ("task_quality",)}, "swap = { A"),
        ({"orders": ("forward", "swapped"), "tasks": ("open_prompt",)}, "only pairs have an order"),
        ({"shown_sources": ("swapped",), "tasks": ("open_prompt",)}, "sources that can be swapped"),
    ],
    ids=["scale without swap", "one text", "sources of one text"],
)
def test_an_order_needs_pairs_and_a_scale_that_can_be_swapped(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    single = '{"item_id": "s", "language": "en", "task": "open_prompt", "prompt": "Say.", "output": "a"}\n'
    (tmp_path / "items.jsonl").write_text(PAIRS + single)
    labels = ['{"item_id": "p", "annotator_id": "x", "metric": "preference", "score": "A"}']
    labels += [f'{{"item_id": "{item}", "annotator_id": "x", "metric": "task_quality", "score": 1}}' for item in ("p", "s")]
    (tmp_path / "labels.jsonl").write_text("\n".join(labels))
    spec = RunSpec(data=tmp_path, tasks=("compare_responses",))
    with pytest.raises(UsageError, match=words):
        prepare(replace(spec, **change))


def test_pairs_without_labels_are_asked_about_all_metrics_of_their_task(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text(PAIRS)
    prepared = prepare(RunSpec(data=tmp_path, unlabelled=True, orders=("forward", "swapped")))
    questions = prepared.protocol.questions
    assert set(questions.metrics) == {
        "preference",
        "forced_preference",
        "authorship",
        "longer",
        "more_vowels",
        "more_readable",
    }
    assert prepared.data.sealed and [str(each) for each in questions.conditions] == [
        "single T=0",
        "single T=0 order=swapped",
    ]


def test_a_pair_needs_both_texts(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text(PAIRS.replace(', "output_b": "b"', ""))
    with pytest.raises(Exception, match=r"items.jsonl:1: item 'p' has no 'output_b', which task 'compare_responses' needs"):
        prepare(RunSpec(data=tmp_path, unlabelled=True))
