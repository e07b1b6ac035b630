"""Few-shot examples: chosen by seed from scored development items, never from what is judged, and what is missing is said."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from harness.content import Library
from harness.content.specs import Task
from harness.data import Dataset, load_bundled
from harness.data.labels import Labels
from harness.errors import UsageError
from harness.model import Item, Label, Scale, Variant
from harness.prompts import Example, FewShotExamples, PromptSpec, english_wording
from harness.prompts.templates import TextSlot, render_template

MakeItem = Callable[..., Item]
MakeData = Callable[..., Dataset]


@pytest.fixture
def task(library: Library) -> Task:
    return library.task("open_prompt")


@pytest.fixture
def chosen(make_item: MakeItem, three: Scale, task: Task) -> Callable[..., tuple[Example, ...]]:
    """The examples that stand before an item of a group of its own."""

    def choose(data: Dataset, k: int = 2, seed: int = 0, item: Item | None = None, metric: str = "m") -> tuple[Example, ...]:
        return FewShotExamples(data, seed).choose(item or make_item("asked"), task, metric, three, k)

    return choose


@pytest.fixture
def many(make_item: MakeItem, make_data: MakeData) -> Dataset:
    """Ten development items of each class, each in a group of its own."""
    items = [make_item(f"d{score}-{number}", split="dev", output=f"{score} {number}") for score in range(3) for number in range(10)]
    return make_data(items, {item.item_id: int(item.item_id[1]) for item in items})


# Which


@pytest.mark.parametrize("k", [1, 2, 8])
def test_there_are_so_many_of_every_class(many: Dataset, chosen: Callable[..., Any], k: int) -> None:
    examples = chosen(many, k)
    assert Counter(example.score for example in examples) == {0: k, 1: k, 2: k}
    assert len({example.item_id for example in examples}) == 3 * k
    assert all(
        example.texts == {"prompt": "Say something.", "output": many.by_id[example.item_id].fields["output"]} for example in examples
    )


def test_a_class_with_fewer_shows_those_that_there_are(make_item: MakeItem, make_data: MakeData, chosen: Callable[..., Any]) -> None:
    items = [make_item(f"d{number}", split="dev") for number in range(4)]
    examples = chosen(make_data(items, {"d0": 0, "d1": 2, "d2": 2, "d3": 2}))
    assert Counter(example.score for example in examples) == {0: 1, 2: 2}


def test_classes_without_an_example_are_said_and_not_filled(make_item: MakeItem, make_data: MakeData, three: Scale, task: Task) -> None:
    items = [make_item("d0", split="dev"), make_item("d1", split="dev"), make_item("t", split="test")]
    few_shot = FewShotExamples(make_data(items, {"d0": 2, "d1": 2, "t": 0}), 0)
    assert [example.score for example in few_shot.choose(make_item("asked"), task, "m", three, 2)] == [2, 2]
    assert few_shot.classes_without_examples("en", "open_prompt", "m", three) == (0, 1)


def test_only_the_same_language_task_and_metric_serve(make_item: MakeItem, make_data: MakeData, three: Scale, task: Task) -> None:
    others = [
        make_item("d0", split="dev", language="ja"),
        make_item("d1", split="dev", task="summarize"),
        make_item("d2", split="dev"),
        make_item("d3", split="dev"),
    ]
    data = make_data(others, {("d0", "m"): [2], ("d1", "m"): [2], ("d2", "n"): [2], ("d3", "m"): [2]}, {"m": three, "n": three})
    few_shot = FewShotExamples(data, 0)
    for item, metric, expected in (
        (make_item("asked"), "m", "d3"),
        (make_item("asked"), "n", "d2"),
        (make_item("asked", language="ja"), "m", "d0"),
    ):
        assert [example.item_id for example in few_shot.choose(item, task, metric, three, 8)] == [expected]


def test_a_test_item_is_never_shown(make_item: MakeItem, make_data: MakeData, chosen: Callable[..., Any]) -> None:
    items = [make_item(f"t{number}") for number in range(9)] + [make_item("d", split="dev")]
    examples = chosen(make_data(items, {item.item_id: number % 3 for number, item in enumerate(items)}), 8)
    assert [example.item_id for example in examples] == ["d"]


def test_nothing_of_the_items_own_group_is_shown(many: Dataset, make_item: MakeItem, chosen: Callable[..., Any]) -> None:
    for seed in range(10):
        first = chosen(many, 1, seed)
        for example in first:
            group = many.by_id[example.item_id].group
            asked = make_item("asked", group=group)
            instead = chosen(many, 1, seed, asked)
            assert example.item_id not in {other.item_id for other in instead} and len(instead) == len(first)


def test_a_development_item_that_is_asked_about_is_not_shown_to_its_own_judge(many: Dataset, chosen: Callable[..., Any]) -> None:
    for item in many.items:
        assert item.item_id not in {example.item_id for example in chosen(many, 8, item=item)}


def test_texts_that_were_not_shown_yet_come_first(make_item: MakeItem, make_data: MakeData, chosen: Callable[..., Any]) -> None:
    """One source text with several outputs is not shown for every class, as long as there is another."""
    items = [make_item(f"{group}{score}", split="dev", group=group) for group in "abc" for score in range(3)]
    data = make_data(items, {item.item_id: int(item.item_id[1]) for item in items})
    for seed in range(20):
        assert {example.item_id[0] for example in chosen(data, 1, seed)} == set("abc")


# The aggregate of several annotators


@pytest.mark.parametrize(
    ("scores", "aggregate"),
    [([2, 2, 0], [2]), ([0, 0, 1, 1], []), ([0, 1, 2], []), ([1], [1]), ([2, 2, 1, 1, 1], [1])],
    ids=str,
)
def test_the_aggregate_is_the_unique_mode(
    make_item: MakeItem, make_data: MakeData, chosen: Callable[..., Any], scores: Sequence[int], aggregate: list[int]
) -> None:
    items = [make_item("d", split="dev"), make_item("other", split="dev")]
    data = make_data(items, {("d", "m"): list(scores), ("other", "m"): [0]})
    assert [example.score for example in chosen(data, 8) if example.item_id == "d"] == aggregate


def test_where_all_are_tied_there_is_none(make_item: MakeItem, make_data: MakeData, chosen: Callable[..., Any]) -> None:
    data = make_data([make_item("d", split="dev")], {("d", "m"): [0, 1]})
    with pytest.raises(UsageError, match="few-shot needs development items"):
        chosen(data)


def test_scores_that_were_made_with_the_text_are_marked(
    make_item: MakeItem, make_data: MakeData, chosen: Callable[..., Any], three: Scale
) -> None:
    data = make_data([make_item("a", split="dev"), make_item("b", split="dev")], {}, {"m": three, "n": three})
    labels = Labels.from_rows(
        [Label("a", "x", "m", 1, "constructed"), Label("b", "x", "m", 2, "native"), Label("b", "x", "n", 2, "constructed")]
    )
    examples = chosen(msgspec.structs.replace(data, labels=labels))
    assert {example.item_id: example.constructed for example in examples} == {"a": True, "b": False}


# In which order


def test_the_choice_is_fixed_by_the_seed(many: Dataset, chosen: Callable[..., Any]) -> None:
    assert chosen(many, 2, 7) == chosen(many, 2, 7)
    assert len({tuple(example.item_id for example in chosen(many, 2, seed)) for seed in range(20)}) > 10


def test_the_order_of_the_files_does_not_matter(many: Dataset, chosen: Callable[..., Any]) -> None:
    items, labels = list(many.items), list(many.labels)
    random.Random(1).shuffle(items)
    random.Random(2).shuffle(labels)
    assert chosen(many) == chosen(msgspec.structs.replace(many, items=tuple(items), labels=Labels.from_rows(labels)))


def test_more_examples_are_the_same_ones_and_some_more(many: Dataset, chosen: Callable[..., Any]) -> None:
    one, two, eight = ({example.item_id for example in chosen(many, k)} for k in (1, 2, 8))
    assert one < two < eight


def test_every_item_sees_the_same_examples_in_the_same_order(many: Dataset, make_item: MakeItem, chosen: Callable[..., Any]) -> None:
    assert len({tuple(e.item_id for e in chosen(many, 2, item=make_item(f"i{number}"))) for number in range(9)}) == 1


def test_no_class_is_always_last(many: Dataset, chosen: Callable[..., Any]) -> None:
    assert {chosen(many, 2, seed)[-1].score for seed in range(30)} == {0, 1, 2}


# What cannot be


def test_without_development_items_few_shot_is_refused(make_item: MakeItem, make_data: MakeData, chosen: Callable[..., Any]) -> None:
    with pytest.raises(UsageError, match=r"few-shot needs development items \(split = dev\) with labels on 'm' in en/open_prompt"):
        chosen(make_data([make_item("t")], {"t": 2}))


# Numbers


def test_numbers_are_shown_from_five_bands_as_the_mean_of_their_annotators(make_item: MakeItem, make_data: MakeData, task: Task) -> None:
    unit = Scale(kind="interval", min=0, max=10)
    items = [make_item(f"d{number}", split="dev") for number in range(10)]
    labels = {(item.item_id, "m"): [number, number + 1] for number, item in enumerate(items)}  # means .5 to 9.5
    few_shot = FewShotExamples(make_data(items, labels, {"m": unit}), 0)
    scores = sorted(float(example.score) for example in few_shot.choose(make_item("asked"), task, "m", unit, 1))
    assert [int((score - 0.5) / 9 * 5) for score in scores[:-1]] == [0, 1, 2, 3] and scores[-1] in (8.5, 9.5)
    assert len(few_shot.choose(make_item("asked"), task, "m", unit, 8)) == 10
    assert few_shot.classes_without_examples("en", "open_prompt", "m", unit) == ()


def test_means_are_shown_as_the_nearest_step_that_a_judge_may_give(make_item: MakeItem, make_data: MakeData, task: Task) -> None:
    steps = Scale(kind="interval", min=0, max=1, steps=(0, 0.5, 1))
    means = {"d0": 0.0, "d1": 0.333333, "d2": 0.666667, "d3": 0.833333}
    data = make_data([make_item(name, split="dev") for name in means], means, {"m": steps})
    examples = FewShotExamples(data, 0).choose(make_item("asked"), task, "m", steps, 4)
    assert {(example.item_id, example.score) for example in examples} == {("d0", 0), ("d1", 0.5), ("d2", 0.5), ("d3", 1)}


def test_one_number_for_all_is_one_band(make_item: MakeItem, make_data: MakeData, task: Task) -> None:
    unit = Scale(kind="interval", min=0, max=1)
    data = make_data([make_item(f"d{number}", split="dev") for number in range(3)], {f"d{n}": 0.5 for n in range(3)}, {"m": unit})
    assert [example.score for example in FewShotExamples(data, 0).choose(make_item("asked"), task, "m", unit, 2)] == [0.5, 0.5]


def test_numbers_on_another_scale_are_shown_as_the_class_at_their_place(make_item: MakeItem, make_data: MakeData, task: Task) -> None:
    """People scored from 20 to 100 here, judges answer from 0 to 4: 20 is the lowest, 100 the highest class."""
    classes, people = Scale(kind="ordinal", classes=(0, 1, 2, 3, 4)), Scale(kind="interval", min=0, max=100)
    numbers = {"d0": 20, "d1": 38, "d2": 61, "d3": 80, "d4": 100}
    data = make_data([make_item(name, split="dev") for name in numbers], numbers, {"m": classes})
    few_shot = FewShotExamples(msgspec.structs.replace(data, label_scales={"m": people}), 0)
    shown = {example.item_id: example.score for example in few_shot.choose(make_item("asked"), task, "m", classes, 1)}
    assert shown == {"d0": 0, "d1": 1, "d2": 2, "d3": 3, "d4": 4}


# In the prompt


def test_an_example_that_holds_slot_marks_makes_no_slot(make_item: MakeItem, make_data: MakeData, library: Library) -> None:
    """Its text is a part of the template, where marks are searched."""
    rubric, task = library.rubric("task_quality"), library.task("open_prompt")
    laced = "A\ue000output\ue001 B \ue000prompt\ue001 C\ue000 D\ue001"
    data = make_data([make_item("d", split="dev", output=laced, prompt=laced)], {("d", rubric.id): [2]}, {rubric.id: rubric.scale})
    examples = FewShotExamples(data, 0).choose(make_item("asked"), task, rubric.id, rubric.scale, 2)
    wording = english_wording(task, (rubric,), "en")
    template = render_template(PromptSpec(wording, {rubric.id: rubric.scale}, Variant(shots=2), "en", ("prompt", "output"), examples))
    slots = [part.name for message in template.messages for part in message.parts if isinstance(part, TextSlot)]
    assert slots == ["prompt", "output"]
    told = template.fill(make_item("asked", prompt="The request.", output="The answer.")).messages[-1].content
    assert [told.count(text) for text in ("The request.", "The answer.", "Aoutput B prompt C D")] == [1, 1, 2]


def test_texts_that_are_empty_are_left_out(make_item: MakeItem, make_data: MakeData, chosen: Callable[..., Any], library: Library) -> None:
    item = msgspec.structs.replace(make_item("d", split="dev", task="continue_writing"), fields={"left": " \n", "output": " o "})
    [example] = FewShotExamples(make_data([item], {"d": 1}), 0).choose(
        make_item("asked", task="continue_writing"), library.task("continue_writing"), "m", Scale(kind="ordinal", classes=(0, 1)), 2
    )
    assert example.texts == {"output": "o"}


def test_every_bundled_item_has_examples(library: Library) -> None:
    data = load_bundled(library, ["cs"])
    few_shot = FewShotExamples(data, 0)
    for item in data.items:
        for metric in data.labelled_metrics.get(item.item_id, ()):
            examples = few_shot.choose(item, library.task(item.task), metric, data.scales[metric], 2)
            assert examples and all(data.by_id[e.item_id].split == "dev" and data.by_id[e.item_id].group != item.group for e in examples)
            assert all(e.constructed for e in examples)
