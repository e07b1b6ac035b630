"""Runs as recordings: what the baseline has learnt, and signatures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.measure import recorded_run
from harness.measure.compare import compare
from harness.measure.options import MeasureOptions
from harness.measure.recorded_run import recording
from harness.model import Condition, Failure, Item, Judgment, Score
from harness.signature import ComparisonSignature, Signature
from tests.protocols import PROTOCOL

MakeItem = Callable[..., Item]
MakeData = Callable[..., Dataset]
Judged = Callable[..., Judgment]
Answers = Mapping[str, Score | Failure]
World = Callable[..., tuple[Dataset, list[Judgment]]]

JUDGE = "openai/one"
NOTHING = Judgments.from_rows([])


def letters(count: int) -> list[str]:
    return [chr(ord("a") + number) for number in range(count)]


@pytest.fixture
def world(make_item: MakeItem, make_data: MakeData, judged: Judged) -> World:
    """A data set with labels `{item: score}`, and a judge's answers to it; items of one letter share a group."""

    def make(labels: Mapping[str, Score], answers: Answers, *, dev: Sequence[Score] = (1,), **item: Any) -> tuple[Dataset, Judgments]:
        items = [make_item(name, group=name[0] if len(name) > 1 else name, **item) for name in labels]
        learnt = [make_item(f"dev {number}", split="dev", **item) for number in range(len(dev))]
        data = make_data([*items, *learnt], dict(labels) | {i.item_id: score for i, score in zip(learnt, dev, strict=True)})
        judgments = [judged(name, answer, judge=JUDGE, language=items[0].language) for name, answer in answers.items()]
        return data, Judgments.from_rows(judgments)

    return make


def test_the_baseline_is_the_commonest_label_of_the_development_items(world: World) -> None:
    data, judgments = world({"a": 0, "b": 2}, {"a": 0, "b": 2}, dev=(1, 1, 0))
    made = recording(judgments, data, data, "name")
    assert made.baseline == {("a", "m"): 1, ("b", "m"): 1}
    assert (made.name, made.asked, len(made.judgments)) == ("name", None, 2)


def test_without_development_items_it_is_the_commonest_reference_of_the_cell(world: World) -> None:
    data, judgments = world({"a1": 0, "a2": 0, "b": 2}, {"a1": 0, "a2": 0, "b": 2}, dev=())
    made = recording(judgments, data, data)
    assert made.baseline == {}
    [cell] = compare([made], MeasureOptions()).cells
    assert cell.vs_baseline["pa"] == pytest.approx(2 / 3)


def test_every_judge_has_a_signature_that_parses_and_tells_it_from_others() -> None:
    one, two = recorded_run.signatures(PROTOCOL, NOTHING).values()
    assert Signature.parse(str(one)) == one
    assert one.judge == "openai/one@endpoint=a-very-long-name.of-a-host.example"
    assert two.judge == "local/two@sha256=ffffffffffff"
    assert one.data == "controls@1.0.0+dddddddddddd"


@pytest.mark.parametrize(
    "change",
    [
        {"source": "controls@1.0.1"},
        {"data_sha256": "e" * 64},
        {"tasks": {"open_prompt": "1.0.1"}},
        {"rubrics": {"m": "1.0.1"}},
        {"languages": ("en", "ja")},
        {"conditions": (Condition(temperature=0.7),)},
        {"repeats": 5},
        {"seed": 1},
        {"prompts": "q" * 16},
        {"limit": 3},
        {"majority": "median"},
        {"annotators": "3"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_can_move_a_number_is_in_the_signature(change: dict[str, Any]) -> None:
    changed, usual = (recorded_run.signatures(protocol, NOTHING)[JUDGE] for protocol in (PROTOCOL.with_fields(**change), PROTOCOL))
    assert changed != usual


@pytest.mark.parametrize(
    "change", [{"title": "Another"}, {"data": "/somewhere"}, {"content": ("/elsewhere",)}], ids=lambda change: next(iter(change))
)
def test_nothing_else_is(change: dict[str, Any]) -> None:
    assert recorded_run.signatures(PROTOCOL.with_fields(**change), NOTHING) == recorded_run.signatures(PROTOCOL, NOTHING)


def test_other_answers_give_another_signature_and_it_is_that_of_the_comparison(world: World) -> None:
    found = []
    for answers in ({"a": 0, "b": 2}, {"a": 2, "b": 0}, {"a": 0, "b": Failure.REFUSED}):
        data, judgments = world({"a": 0, "b": 2}, answers)
        compared = ComparisonSignature.parse(compare([recording(judgments, data, data)], MeasureOptions()).signature)
        found.append(recorded_run.signatures(PROTOCOL, judgments)[JUDGE].judgments)
        assert compared.judgments == (found[-1],)
    assert len(set(found)) == 3


def test_a_field_that_no_part_has_is_refused() -> None:
    with pytest.raises(TypeError, match=r"a run protocol has no repeat$"):
        PROTOCOL.with_fields(repeat=5)
