"""Baselines: what each says, that none has seen what it is asked about, and that the same question has the same answer."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.data import Dataset
from harness.errors import UsageError
from harness.judges.baselines import BASELINES, BaselineJudge, TrainingCounts, constant_best, length, majority, open_judge, random
from harness.judges.judge_protocol import Judge, JudgeOptions
from harness.model import Call, Condition, Item, Prompt, Query, Scale, Score, Variant

MakeItem = Callable[..., Item]
MakeData = Callable[..., Dataset]

THREE = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
LOW_IS_BEST = Scale(kind="ordinal", classes=(0, 1, 2), best=0)
WORDS = Scale(kind="nominal", classes=("yes", "no"))
UNIT = Scale(kind="interval", min=0, max=10, best=10)


@pytest.fixture
def world(make_item: MakeItem, make_data: MakeData) -> Callable[..., tuple[Item, TrainingCounts]]:
    """An item to be judged, and what may be learnt from items with the given scores, each in a group of its own."""

    def make(scores: list[Score], *, split: str = "dev", scale: Scale = THREE) -> tuple[Item, TrainingCounts]:
        own = make_item("own", group="own")
        others = [make_item(f"o{number}", split=split) for number in range(len(scores))]
        labels = {other.item_id: score for other, score in zip(others, scores, strict=True)}
        return own, TrainingCounts(make_data([own, *others], labels, {"m": scale}))

    return make


# constant-best


@pytest.mark.parametrize(("scale", "best"), [(THREE, 2), (LOW_IS_BEST, 0), (UNIT, 10), (WORDS, None)])
def test_constant_best_says_the_best(make_item: MakeItem, make_data: MakeData, scale: Scale, best: Score | None) -> None:
    assert constant_best(make_item(), "m", scale, TrainingCounts(make_data([], {})), "") == best


# majority


@pytest.mark.parametrize(
    ("scores", "scale", "said"),
    [
        ([0, 1, 1], THREE, 1),
        ([0], THREE, 0),
        ([2, 2, 0, 0, 1], THREE, 2),
        ([2, 2, 0, 0, 1], LOW_IS_BEST, 0),
        ([1, 1, 0, 0, 2], THREE, 0),
        (["no", "yes"], WORDS, "yes"),
        (["no", "no", "yes"], WORDS, "no"),
        ([], THREE, None),
        ([1, 2, 10], UNIT, 2),
        ([1, 2.5], UNIT, 1.75),
    ],
    ids=[
        "commonest",
        "one",
        "tie: the best",
        "tie: best is low",
        "tie without the best: first",
        "tie without a best",
        "words",
        "none",
        "median",
        "mean",
    ],
)
def test_majority_says_the_commonest(
    world: Callable[..., tuple[Item, TrainingCounts]], scores: list[Score], scale: Scale, said: Score | None
) -> None:
    item, learnt = world(scores, scale=scale)
    assert majority(item, "m", scale, learnt, "") == said


def test_majority_prefers_development_items(make_item: MakeItem, make_data: MakeData) -> None:
    items = [make_item("dev", split="dev"), *(make_item(f"t{i}") for i in range(5))]
    learnt = TrainingCounts(make_data(items, {"dev": 0} | {f"t{i}": 2 for i in range(5)}))
    assert majority(make_item("own"), "m", THREE, learnt, "") == 0


def test_majority_learns_from_the_same_language_task_and_metric_only(make_item: MakeItem, make_data: MakeData) -> None:
    items = [make_item("here"), make_item("cs", language="cs"), make_item("sum", task="summarize"), make_item("other")]
    data = make_data(items, {"here": 1, "cs": 0, "sum": 0, ("other", "n"): 0}, {"m": THREE, "n": THREE})
    assert TrainingCounts(data).scores(make_item("own"), "m") == {1: 1}


@given(
    groups=st.lists(st.integers(0, 3), min_size=1, max_size=12),
    scores=st.lists(st.sampled_from([0, 1, 2]), min_size=12, max_size=12),
    splits=st.lists(st.sampled_from(["dev", "test"]), min_size=12, max_size=12),
)
def test_majority_never_sees_the_items_own_group(
    make_item: MakeItem, make_data: MakeData, groups: list[int], scores: list[int], splits: list[str]
) -> None:
    """Whatever the labels of an item's group are, what is said about the item stays the same."""
    items = [make_item(f"i{number}", group=f"g{group}", split=splits[number]) for number, group in enumerate(groups)]
    item = items[0]
    labels = {other.item_id: score for other, score in zip(items, scores, strict=False)}
    flipped = {name: (2 - score if group == groups[0] else score) for (name, score), group in zip(labels.items(), groups, strict=True)}
    said = [majority(item, "m", THREE, TrainingCounts(make_data(items, found)), "") for found in (labels, flipped)]
    assert said[0] == said[1]


def test_several_annotators_count_each(make_item: MakeItem, make_data: MakeData) -> None:
    learnt = TrainingCounts(make_data([make_item("a"), make_item("b")], {("a", "m"): [0, 0, 0], ("b", "m"): [2, 2]}))
    assert majority(make_item("own"), "m", THREE, learnt, "") == 0


# random


def test_random_is_fixed_by_item_metric_and_draw_and_differs_between_them(make_item: MakeItem, make_data: MakeData) -> None:
    learnt = TrainingCounts(make_data([], {}))

    def say(name: str, metric: str, draw: str) -> list[Score | None]:
        return [random(make_item(f"{name}{number}"), metric, THREE, learnt, draw) for number in range(50)]

    assert say("a", "m", "0") == say("a", "m", "0")
    answers = [say("a", "m", "0"), say("b", "m", "0"), say("a", "n", "0"), say("a", "m", "1")]
    assert all(one != other for index, one in enumerate(answers) for other in answers[:index])


def test_random_gives_every_score_equally_often(make_item: MakeItem, make_data: MakeData) -> None:
    learnt = TrainingCounts(make_data([], {}))
    counts = Counter(random(make_item(f"i{number}"), "m", THREE, learnt, "") for number in range(3000))
    assert set(counts) == {0, 1, 2} and all(900 < count < 1100 for count in counts.values())


def test_random_fills_an_interval(make_item: MakeItem, make_data: MakeData) -> None:
    learnt = TrainingCounts(make_data([], {}))
    drawn = [float(random(make_item(f"i{number}"), "m", UNIT, learnt, "") or 0) for number in range(1000)]
    assert all(UNIT.holds(score) for score in drawn)
    assert min(drawn) < 0.1 and max(drawn) > 9.9 and 4.5 < sum(drawn) / 1000 < 5.5


def test_random_takes_the_steps_of_a_range_alone(make_item: MakeItem, make_data: MakeData) -> None:
    learnt, steps = TrainingCounts(make_data([], {})), Scale(kind="interval", min=0, max=1, best=1, steps=(0, 0.5, 1))
    assert {random(make_item(f"i{number}"), "m", steps, learnt, "") for number in range(99)} == {0, 0.5, 1}


# length


@pytest.mark.parametrize(
    ("scale", "own", "said"),
    [(THREE, 1, 0), (THREE, 50, 1), (THREE, 1000, 2), (LOW_IS_BEST, 1, 2), (LOW_IS_BEST, 1000, 0), (UNIT, 1, 0.0), (UNIT, 50, 5.0)],
)
def test_length_gives_better_scores_to_longer_texts(make_item: MakeItem, make_data: MakeData, scale: Scale, own: int, said: Score) -> None:
    others = [make_item(f"o{size}", output="x" * size, split="dev") for size in range(10, 100, 10)]
    learnt = TrainingCounts(make_data(others, {}))
    assert length(make_item(output="x" * own), "m", scale, learnt, "") == said


def test_length_reads_the_text_that_the_task_calls_its_output(make_item: MakeItem, make_data: MakeData) -> None:
    items = [make_item(f"i{n}", group=f"g{n}", task="reply", output="", answer="x" * n) for n in range(1, 7)]
    training = TrainingCounts(msgspec.structs.replace(make_data(items, {}), outputs={"reply": ("answer",)}))
    assert [length(item, "m", THREE, training, "") for item in items] == [0, 0, 1, 1, 2, 2]


def test_length_never_leaves_the_scale(make_item: MakeItem, make_data: MakeData) -> None:
    learnt = TrainingCounts(make_data([make_item("o", output="x", split="dev")], {}))
    assert length(make_item(output="xx"), "m", THREE, learnt, "") == 2
    assert length(make_item(output=""), "m", THREE, learnt, "") == 0


def test_length_does_not_look_at_the_items_own_group(make_item: MakeItem, make_data: MakeData) -> None:
    item = make_item("own", group="g", output="xx")
    siblings = [make_item(f"s{i}", group="g", output="x") for i in range(5)]
    assert length(item, "m", THREE, TrainingCounts(make_data([item, *siblings], {})), "") is None
    assert TrainingCounts(make_data([item, *siblings, make_item("o", output="xxx")], {})).lengths(item) == {3: 1}


# The judge


def answered(judge: BaselineJudge, item: Item, metrics: tuple[str, ...] = ("m",), *, joint: bool = False, repeat: int = 0) -> object:
    query = Query(item, metrics, Condition(Variant(call="joint" if joint else "single")), repeat)
    return json.loads(asyncio.run(judge.answer(Call("c", Prompt("p", (), {}, 1), query))).text)


def test_answers_have_the_form_that_models_are_asked_for(make_item: MakeItem, make_data: MakeData) -> None:
    judge = open_judge("constant-best", JudgeOptions(training=make_data([], {}, {"m": THREE, "n": UNIT})))
    assert isinstance(judge, Judge)
    assert answered(judge, make_item()) == {"score": 2}
    assert answered(judge, make_item(), ("m", "n"), joint=True) == {"m": {"score": 2}, "n": {"score": 10}}


def test_what_is_not_known_is_null(make_item: MakeItem, make_data: MakeData) -> None:
    judge = open_judge("majority", JudgeOptions(training=make_data([], {})))
    assert answered(judge, make_item()) == {"score": None}


def test_random_is_fixed_by_seed_and_repeat(make_item: MakeItem, make_data: MakeData) -> None:
    items = [make_item(f"i{number}") for number in range(40)]

    def say(seed: int, repeat: int) -> list[object]:
        judge = open_judge("random", JudgeOptions(training=make_data([], {}), seed=seed))
        return [answered(judge, item, repeat=repeat) for item in items]

    assert say(1, 0) == say(1, 0)
    assert len({str(say(seed, repeat)) for seed in (1, 2) for repeat in (0, 1)}) == 4


@pytest.mark.parametrize("name", BASELINES)
def test_identity_holds_what_may_change_an_answer_and_nothing_else(make_item: MakeItem, make_data: MakeData, name: str) -> None:
    one, other = make_data([make_item("a")], {"a": 0}), make_data([make_item("a")], {"a": 1})

    def identity(data: Dataset, seed: int) -> bytes:
        return msgspec.json.encode(open_judge(name, JudgeOptions(training=data, seed=seed)).identity)

    assert (identity(one, 0) != identity(other, 0)) == (name in ("majority", "length", "length-ratio"))
    assert (identity(one, 0) != identity(one, 1)) == (name == "random")


def test_an_unknown_baseline_is_refused_with_those_there_are(make_data: MakeData) -> None:
    with pytest.raises(
        UsageError, match=r"no baseline 'majorty'. Did you mean 'majority'\?\n +choose from: constant-best, majority, random, length"
    ):
        open_judge("majorty", JudgeOptions(training=make_data([], {})))


def test_a_baseline_needs_something_to_learn_from() -> None:
    with pytest.raises(UsageError, match="a baseline needs items and labels to learn from"):
        open_judge("majority", JudgeOptions())


# pairs


def test_of_a_pair_the_majority_keeps_the_text_and_the_draw_does_not(make_data: MakeData) -> None:
    """The majority of labels is in the item's own order; a random choice of a place is drawn again for the other order."""
    scale = Scale(kind="nominal", classes=("A", "B"), swap={"A": "B", "B": "A"})
    items = [Item(f"p{n}", "en", "t", group=f"p{n}", fields={"output_a": "a", "output_b": "b"}) for n in range(30)]
    training = make_data(items, {item.item_id: "A" for item in items}, {"m": scale})

    def answers(name: str, order: str) -> list[str]:
        judge = open_judge(name, JudgeOptions(training=training))
        condition = Condition(order=order)  # type: ignore[arg-type]
        return [json.loads(judge.reply(Query(item, ("m",), condition)).text)["score"] for item in items]

    assert set(answers("majority", "forward")) == {"A"} and set(answers("majority", "swapped")) == {"B"}
    changed = sum(one != other for one, other in zip(answers("random", "forward"), answers("random", "swapped"), strict=True))
    assert 5 < changed < 25


def test_length_ratio_prefers_the_usual_length_beside_the_source(make_item: MakeItem, make_data: MakeData) -> None:
    """Three translations of usual length; one that is far too short is the worst, and one without a source has no score."""
    lengths = {"a": 10, "b": 10, "c": 12, "short": 1}
    items = [make_item(name, group=name, source="x" * 10, output="y" * n) for name, n in lengths.items()]
    data = make_data([*items, make_item("none", group="none", output="y")], {name: 2 for name in (*lengths, "none")})
    training = TrainingCounts(data)
    scale = Scale(kind="interval", min=0.0, max=1.0, best=1.0)
    given = {item.item_id: BASELINES["length-ratio"](item, "m", scale, training, "") for item in data.items}
    assert given["short"] == 0.0 and given["none"] is None
    assert given["a"] == given["b"] == pytest.approx(5 / 6), "one of the three others is as usual, two are farther"
    assert given["c"] == pytest.approx(1 / 3)
