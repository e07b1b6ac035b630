"""The development part: labelled texts for examples that no run ever scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import pytest

from harness.content import Library
from harness.data import Dataset
from harness.errors import UsageError
from harness.model import Item, Scale
from harness.prompts import FewShotExamples
from harness.runs import RunSpec, prepare
from harness.runs.development_part import DevelopmentPart, development_part
from harness.runs.sources import load_board
from tests.conftest import SHARED_DATA

MakeItem = Callable[..., Item]
MakeData = Callable[..., Dataset]


@pytest.fixture
def data(make_item: MakeItem, make_data: MakeData) -> Dataset:
    """Ten groups of two texts, labelled from 0 to 2."""
    items = [make_item(f"i{number}", group=f"g{number // 2}", output=f"Text {number}") for number in range(20)]
    return make_data(items, {item.item_id: number % 3 for number, item in enumerate(items)})


def part_of(data: Dataset, judged: Iterable[Item]) -> DevelopmentPart:
    return development_part(data, judged, ["m"])


def test_texts_of_groups_that_are_never_judged_serve(data: Dataset) -> None:
    part = part_of(data, data.items[:7])  # the group of the last one has a second text
    assert [item.item_id for item in part.data.items] == [f"i{number}" for number in range(8, 20)]
    assert {item.split for item in part.data.items} == {"dev"} and not part.set_aside
    assert part.origin.startswith("other-groups+")


def test_where_all_groups_are_judged_one_in_five_is_set_aside(data: Dataset) -> None:
    part = part_of(data, data.items)
    groups = {data.by_id[name].group for name in part.set_aside}
    assert len(groups) == 2 and part.set_aside == {item.item_id for item in data.items if item.group in groups}
    assert {item.item_id for item in part.data.items} == part.set_aside
    assert part.origin.startswith("set-aside+")


def test_a_group_is_set_aside_in_every_language(make_item: MakeItem, make_data: MakeData) -> None:
    items = [make_item(f"{tag}{number}", language=tag, group=f"g{number}") for tag in ("cs", "ja") for number in range(6)]
    part = part_of(make_data(items, {item.item_id: 1 for item in items}), items)
    assert {name[2:] for name in part.set_aside if name.startswith("cs")} == {name[2:] for name in part.set_aside if name.startswith("ja")}


def test_texts_of_the_same_wording_are_one_group(make_item: MakeItem, make_data: MakeData) -> None:
    """A text that is judged in one group is no example of another."""
    items = [make_item("judged", output="The same."), make_item("copy", output="The same."), make_item("other", output="Another.")]
    part = part_of(make_data(items, {item.item_id: 1 for item in items}), items[:1])
    assert [item.item_id for item in part.data.items] == ["other"]


def test_what_a_run_leaves_out_moves_no_example(data: Dataset) -> None:
    """The part depends on what is ever judged, so that fewer languages or a limit ask the same questions."""
    assert part_of(data, data.items).set_aside == part_of(data, reversed(data.items)).set_aside


def test_one_group_alone_is_refused(make_item: MakeItem, make_data: MakeData) -> None:
    items = [make_item(name, group="g") for name in "ab"]
    with pytest.raises(UsageError, match="the labelled texts of en/open_prompt are all of one group"):
        part_of(make_data(items, {"a": 1, "b": 2}), items)


def test_items_without_a_label_on_the_metrics_are_no_examples(data: Dataset, three: Scale) -> None:
    scales = data.scales | {"n": three}
    part = development_part(msgspec.structs.replace(data, scales=scales), data.items[:2], ["n"])
    assert not part.data.items and not part.set_aside


BOARDS = ("adparaphrase", "basse", "hanna", "pariksha", "wmt23-esa-de", "wmt24-esa")  # classes, pairs and numbers


@pytest.mark.slow
@pytest.mark.needs("shared data")
@pytest.mark.parametrize("board", BOARDS)
def test_no_example_of_a_published_board_is_ever_judged(board: str, library: Library) -> None:
    """Neither the text itself nor another one of its group, in any language, nor one with the same wording."""
    folder = SHARED_DATA / library.board(board).data.card  # type: ignore[union-attr]
    prepared = prepare(RunSpec(board=board, data=Path(folder), variants=("few-shot", "single"), judges=("baseline/random",)))
    assert prepared.examples is not None
    everything = load_board(library.board(board), library, tuple(library.board(board).languages), Path(folder)).everything
    cluster = dict(zip((item.item_id for item in everything.items), everything.clusters, strict=True))
    judged = {cluster[item.item_id] for item in prepared.data.items}
    few_shot, shown = FewShotExamples(prepared.examples, 0), set()
    for item in prepared.data.items:
        for metric in prepared.data.asked_metrics[item.item_id] & set(prepared.protocol.questions.metrics):
            examples = few_shot.choose(item, library.task(item.task), metric, prepared.data.scales[metric], 2)
            assert len(examples) >= 2
            shown |= {example.item_id for example in examples}
    assert shown and not {cluster[name] for name in shown} & judged
