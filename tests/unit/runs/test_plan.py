"""The plan: what is asked, in which order, and which queries share a call; the same specification is the same plan."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import msgspec
import pytest

from harness.content import Library
from harness.data import Dataset, load_bundled
from harness.data.labels import Labels
from harness.model import Call, Condition, Item, JudgeIdentity, Prompt, Query, RealisedPerturbation, Usage, Variant, parse_variant
from harness.prompts import PromptTemplates, answer_schema, templates
from harness.runs import Plan, estimate_usage
from harness.runs.plan import PlanSources, estimate_prompt_tokens, make_plan
from harness.runs.protocol import AskedQuestions

METRICS = ("linguistic_acceptability", "task_quality", "hallucination")
MODEL = JudgeIdentity("openai", "one", {"endpoint": "host"})
BASELINE = JudgeIdentity("baseline", "random")


@pytest.fixture(scope="module")
def data(library: Library) -> Dataset:
    """Some bundled items of two languages and all tasks."""
    everything = load_bundled(library, ["cs", "ja"])
    return everything.only(item for item in everything.items if item.split == "dev" and item.group.endswith("d1"))


@pytest.fixture(scope="module")
def plan(library: Library) -> Callable[..., Plan]:
    def make(data: Dataset, metrics: Sequence[str] = METRICS, variants: Sequence[str] = ("single",), **other: Any) -> Plan:
        conditions = [
            Condition(parse_variant(text), temperature, top_p, perturbation)
            for text in variants
            for temperature in other.get("temperatures", (0.0,))
            for top_p in other.get("top_ps", (None,))
            for perturbation in other.get("perturbations", ("",))
        ]
        training = other.get("training")
        asked = AskedQuestions(tuple(metrics), tuple(conditions), other.get("repeats", 1), other.get("seed", 0))
        return make_plan(data, library, asked, PromptTemplates(), PlanSources(training))

    return make


def queries(plan: Plan) -> list[Query]:
    return list(plan.queries())


def prompts(plan: Plan) -> list[Prompt]:
    """The prompts of all asks."""
    return [plan.call(ask, "").prompt for ask in plan.queries()]


def ids(plan: Plan, identity: JudgeIdentity = MODEL) -> list[str]:
    """The call id of every ask."""
    return list(plan.calls(identity).all_call_ids())


def prompt_ids(plan: Plan) -> list[str]:
    return list(plan.all_prompt_ids())


def what_is_asked(plan: Plan) -> tuple[object, ...]:
    return plan.seed, prompt_ids(plan), queries(plan), ids(plan)


def calls(plan: Plan, identity: JudgeIdentity = MODEL) -> dict[str, Call]:
    return {call.call_id: call for call in plan.calls(identity)}


@pytest.fixture
def small(library: Library, make_item: Callable[..., Item], make_data: Callable[..., Dataset]) -> Callable[..., Dataset]:
    """Items with labels `{item_id: metrics}` on the bundled rubrics' scales."""

    def make(labelled: dict[str, Sequence[str]], **texts: str) -> Dataset:
        scales = {name: library.rubric(name).scale for name in library.rubric_files}
        scores = {(item, metric): [1] for item, metrics in labelled.items() for metric in metrics}
        return make_data([make_item(item, **texts) for item in labelled], scores, scales)

    return make


# What is asked


def test_only_labelled_metrics_are_asked(data: Dataset, plan: Callable[..., Plan]) -> None:
    asked = {(query.item.item_id, metric) for query in queries(plan(data)) for metric in query.metrics}
    assert asked == {(label.item_id, label.metric) for label in data.labels if label.metric in METRICS}


def test_a_joint_call_asks_for_the_labelled_metrics_of_the_item_in_the_order_given(
    small: Callable[..., Dataset], plan: Callable[..., Plan]
) -> None:
    data = small({"a": ["hallucination", "task_quality"], "b": ["linguistic_acceptability"], "c": []})
    found = queries(plan(data, variants=["joint"]))
    assert [(query.item.item_id, query.metrics) for query in found] == [
        ("a", ("task_quality", "hallucination")),
        ("b", ("linguistic_acceptability",)),
    ]


def test_every_condition_and_repeat_is_asked(small: Callable[..., Dataset], plan: Callable[..., Plan]) -> None:
    found = queries(plan(small({"a": METRICS}), variants=["single", "joint+detailed"], temperatures=(0.0, 0.7), repeats=5))
    assert len(found) == len(set(map(str, found))) == 2 * 5 * (len(METRICS) + 1)
    assert {(str(query.condition), query.repeat) for query in found} == {
        (f"{variant} T={temperature}", repeat)
        for variant in ("single", "joint+detailed")
        for temperature in ("0", "0.7")
        for repeat in range(5)
    }


def test_each_ask_has_the_prompt_about_its_own_item(data: Dataset, plan: Callable[..., Plan]) -> None:
    made = plan(data)
    for query, prompt in zip(queries(made), prompts(made), strict=True):
        assert query.item.fields["output"] in prompt.messages[-1].content
        assert list(prompt.schema["properties"]) == ["justification", "score"]
    assert [prompt.prompt_id for prompt in prompts(made)] == prompt_ids(made)


def test_a_call_holds_the_prompt_of_an_ask_that_it_answers(data: Dataset, plan: Callable[..., Plan]) -> None:
    made = plan(data, perturbations=("", "truncate:0.5"))
    by_call = dict(zip(ids(made), prompts(made), strict=True))
    assert {call_id: call.prompt for call_id, call in calls(made).items()} == by_call


def test_calls_that_are_answered_are_left_out(data: Dataset, plan: Callable[..., Plan]) -> None:
    made = plan(data)
    every = list(calls(made))
    answered = [call_id in every[1::2] for call_id in every]
    assert list(made.calls(MODEL).without(answered).ids()) == every[::2]


# In which order


def test_the_plan_does_not_depend_on_the_order_of_the_files(data: Dataset, plan: Callable[..., Plan]) -> None:
    items, labels = list(data.items), list(data.labels)
    random.Random(7).shuffle(items)
    random.Random(8).shuffle(labels)
    shuffled = msgspec.structs.replace(data, items=tuple(items), labels=Labels.from_rows(labels))
    one, other = plan(data), plan(shuffled)
    assert what_is_asked(one) == what_is_asked(other)


@pytest.mark.parametrize(
    "shared",
    [lambda item: item.language, lambda item: (item.language, item.task), lambda item: item.group, lambda item: item.item_id],
    ids=["language", "task", "group", "item"],
)
def test_what_shares_a_prefix_is_asked_together(data: Dataset, plan: Callable[..., Plan], shared: Callable[[Item], object]) -> None:
    found = queries(plan(data, variants=["single", "detailed"], repeats=2))
    runs = [key for key, _ in groupby(shared(query.item) for query in found)]
    assert len(runs) == len(set(runs)) > 1


def test_a_group_stands_together_whatever_its_items_are_called(
    library: Library, make_item: Callable[..., Item], make_data: Callable[..., Dataset], plan: Callable[..., Plan]
) -> None:
    items = [make_item(name, group=group) for name, group in (("a", "y"), ("b", "x"), ("c", "y"), ("d", "x"))]
    scales = {"task_quality": library.rubric("task_quality").scale}
    data = make_data(items, {(item.item_id, "task_quality"): [1] for item in items}, scales)
    assert [query.item.item_id for query in queries(plan(data))] == ["b", "d", "a", "c"]


def test_the_metrics_of_an_item_share_everything_up_to_its_last_text(data: Dataset, plan: Callable[..., Plan]) -> None:
    made = plan(data)
    starts: dict[str, set[str]] = {}
    for query, prompt in zip(queries(made), prompts(made), strict=True):
        text = "".join(message.content for message in prompt.messages)
        before, output, _ = text.partition(query.item.fields["output"])
        starts.setdefault(query.item.item_id, set()).add(before + output)
    assert len(starts) < len(queries(made)) and all(len(found) == 1 for found in starts.values())


# Which call


def test_identical_prompts_share_a_call_and_both_asks_are_answered_by_it(small: Callable[..., Dataset], plan: Callable[..., Plan]) -> None:
    made = plan(small({"a": METRICS, "b": METRICS}, output="Something."))
    every = ids(made)
    assert len(every) == 6 and len(set(every)) == 3
    assert list(calls(made)) == list(dict.fromkeys(every))
    assert prompt_ids(made)[:3] == prompt_ids(made)[3:]


def test_a_baseline_sees_the_item_so_two_items_never_share_its_call(small: Callable[..., Dataset], plan: Callable[..., Plan]) -> None:
    found = calls(plan(small({"a": METRICS, "b": METRICS})), BASELINE)
    assert sorted((call.query.item.item_id, call.query.metrics[0]) for call in found.values()) == sorted(
        (i, m) for i in "ab" for m in METRICS
    )


def test_repeats_are_calls_of_their_own_with_seeds_of_their_own(small: Callable[..., Dataset], plan: Callable[..., Plan]) -> None:
    made = plan(small({"a": ["task_quality"]}), repeats=5, seed=10)
    found = calls(made)
    assert [call.seed for call in found.values()] == [10, 11, 12, 13, 14]
    assert [call.query.repeat for call in found.values()] == [0, 1, 2, 3, 4]
    assert len(set(prompt_ids(made))) == 1


@pytest.mark.parametrize(
    ("other", "judge"),
    [
        ({"seed": 1}, MODEL),
        ({"temperatures": (0.7,)}, MODEL),
        ({"variants": ["detailed"]}, MODEL),
        ({"variants": ["score-only"]}, MODEL),
        ({"variants": ["probabilities"]}, MODEL),
        ({"top_ps": (0.9,)}, MODEL),
        ({"perturbations": ("truncate:0.5",)}, MODEL),
        ({}, JudgeIdentity("openai", "two", {"endpoint": "host"})),
        ({}, JudgeIdentity("local", "one", {"endpoint": "host"})),
        ({}, JudgeIdentity("openai", "one", {"endpoint": "another"})),
        ({}, JudgeIdentity("openai", "one")),
    ],
    ids=[
        "seed",
        "temperature",
        "instructions",
        "answer",
        "probabilities",
        "top-p",
        "perturbation",
        "model",
        "provider",
        "setting",
        "no setting",
    ],
)
def test_whatever_could_change_an_answer_changes_the_call(
    small: Callable[..., Dataset], plan: Callable[..., Plan], other: dict[str, Any], judge: JudgeIdentity
) -> None:
    data = small({"a": METRICS}, output="A text that is long enough to be cut.")
    assert not set(ids(plan(data, **other), judge)) & set(ids(plan(data)))


def test_seed_and_repeat_are_not_mixed_up(small: Callable[..., Dataset], plan: Callable[..., Plan]) -> None:
    """Repeat 1 of seed 0 sends the same seed as repeat 0 of seed 1, and is another call all the same."""
    data = small({"a": ["task_quality"]})
    one, other = (ids(plan(data, repeats=2, seed=seed)) for seed in (0, 1))
    assert len(set(one + other)) == 4


def test_the_room_for_the_answer_is_part_of_the_call(
    small: Callable[..., Dataset], plan: Callable[..., Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = small({"a": ["task_quality"]})
    made = plan(data)
    monkeypatch.setattr(answer_schema, "_JSON_TOKENS", 100)
    monkeypatch.setattr(templates, "render_template", templates.render_template.__wrapped__)  # type: ignore[attr-defined]  # anew
    roomier = plan(data)
    assert prompt_ids(made) == prompt_ids(roomier) and ids(made) != ids(roomier)


@pytest.mark.parametrize("other", [{"seed": 3}, {"temperatures": (1.0,)}, {"repeats": 1}, {"top_ps": (0.5,)}], ids=str)
def test_the_prompt_id_depends_on_neither_judge_nor_sampling(
    small: Callable[..., Dataset], plan: Callable[..., Plan], other: dict[str, Any]
) -> None:
    data = small({"a": METRICS})
    assert prompt_ids(plan(data)) == prompt_ids(plan(data, **other))


def test_asking_for_probabilities_changes_the_call_and_not_the_prompt(small: Callable[..., Dataset], plan: Callable[..., Plan]) -> None:
    made = plan(small({"a": ["task_quality"]}), variants=["score-only", "score-only+probabilities"])
    assert len(set(prompt_ids(made))) == 1 and len(made.calls(MODEL)) == 2


def test_more_languages_leave_the_calls_of_those_before_alone(data: Dataset, plan: Callable[..., Plan]) -> None:
    part = data.only(item for item in data.items if item.language == "cs")
    assert set(ids(plan(part))) < set(ids(plan(data)))


# Perturbed texts

LONG = "One two three four five six seven eight nine ten."
FORMS = ("", "shuffle-words:0.5", "shuffle-words:0.5@whitespace", "truncate:0.5", "strip-diacritics")


def test_a_perturbed_text_is_asked_about_beside_the_text_as_it_is(small: Callable[..., Dataset], plan: Callable[..., Plan]) -> None:
    made = plan(small({"a": ["task_quality"]}, output=LONG), perturbations=("", "truncate:0.5"))
    clean, cut = prompts(made)
    assert [query.condition.perturbation for query in queries(made)] == ["", "truncate:0.5"]
    assert LONG in clean.messages[-1].content and LONG not in cut.messages[-1].content
    assert "One two three" in cut.messages[-1].content and clean.prompt_id != cut.prompt_id
    assert all(query.item.fields["output"] == LONG for query in queries(made))  # judgments are about the item


def test_only_the_outputs_are_perturbed(small: Callable[..., Dataset], plan: Callable[..., Plan]) -> None:
    made = plan(small({"a": ["task_quality"]}, prompt=LONG, output=LONG[::-1]), perturbations=("truncate:0.5",))
    [prompt] = prompts(made)
    assert LONG in prompt.messages[-1].content and LONG[::-1] not in prompt.messages[-1].content


def test_what_cannot_be_changed_is_not_asked_and_is_said(small: Callable[..., Dataset], plan: Callable[..., Plan]) -> None:
    made = plan(small({"a": METRICS}, output=LONG), perturbations=FORMS)
    assert {query.condition.perturbation for query in queries(made)} == set(FORMS) - {"strip-diacritics"}
    assert len(queries(made)) == len(METRICS) * (len(FORMS) - 1)
    realised = {one.perturbation: one for one in made.realised}
    assert set(realised) == set(FORMS) - {""} and len(made.realised) == len(realised)
    assert realised["strip-diacritics"] == RealisedPerturbation("a", "strip-diacritics", False, {})
    assert realised["truncate:0.5"].applied and realised["truncate:0.5"].realised


def test_a_model_and_a_baseline_judge_the_same_perturbed_text(small: Callable[..., Dataset], plan: Callable[..., Plan]) -> None:
    made = plan(small({"a": ["task_quality"]}, output=LONG), perturbations=("", "truncate:0.5"))
    for identity in (MODEL, BASELINE):
        clean, cut = calls(made, identity).values()
        assert clean.query.item.fields["output"] == LONG
        assert cut.query.item.fields["output"] in cut.prompt.messages[-1].content
        assert len(cut.query.item.fields["output"]) < len(LONG)


def test_the_same_specification_is_the_same_plan_and_another_seed_shuffles_otherwise(
    small: Callable[..., Dataset], plan: Callable[..., Plan]
) -> None:
    data = small({"a": METRICS, "b": METRICS}, output=LONG)
    how = {"perturbations": FORMS, "temperatures": (0.0, 1.0), "top_ps": (None, 0.9), "repeats": 2}
    one, same, other = (plan(data, variants=["single", "joint+reversed"], seed=seed, **how) for seed in (1, 1, 2))
    assert what_is_asked(one) == what_is_asked(same) and one.realised == same.realised
    assert what_is_asked(one) != what_is_asked(other) and set(prompt_ids(one)) != set(prompt_ids(other))


def test_items_of_other_languages_come_from_all_that_was_loaded(data: Dataset, library: Library, plan: Callable[..., Plan]) -> None:
    czech = data.only(item for item in data.items if item.language == "cs")
    alone, beside = (plan(czech, perturbations=("swap-language",), training=training) for training in (czech, data))
    assert not queries(alone) and not any(one.applied for one in alone.realised)
    assert len(queries(beside)) == len(queries(plan(czech))) and all(one.applied for one in beside.realised)
    japanese = [item.fields["output"] for item in data.items if item.language == "ja"]
    assert all(any(text in prompt.messages[-1].content for text in japanese) for prompt in prompts(beside))


# Variants


def test_reversed_is_the_same_metrics_backwards(small: Callable[..., Dataset], plan: Callable[..., Plan]) -> None:
    made = plan(small({"a": METRICS}), variants=["joint", "joint+reversed"])
    assert [query.metrics for query in queries(made)] == [METRICS, METRICS[::-1]]
    forward, backward = prompts(made)
    assert list(forward.schema["properties"]) == list(METRICS) and list(backward.schema["properties"]) == list(METRICS[::-1])


def test_a_reason_is_asked_for_in_english_or_in_the_items_language(data: Dataset, plan: Callable[..., Plan]) -> None:
    made = plan(data, variants=["single", "own-language"])
    asked = {(query.item.language, query.condition.variant.language, made.asked_language(query)) for query in queries(made)}
    assert asked == {("cs", "english", "en"), ("ja", "english", "en"), ("cs", "own", "cs"), ("ja", "own", "ja")}


@pytest.fixture
def shots(library: Library, make_item: Callable[..., Item], make_data: Callable[..., Dataset]) -> tuple[Dataset, Dataset]:
    """What is judged (item `t`), and everything that was loaded: with scored development items for two of three classes."""
    scales = {name: library.rubric(name).scale for name in library.rubric_files}
    dev = [make_item(f"d{number}", split="dev", output=f"Scored text {number}.") for number in range(6)]
    items = [make_item("t", output="The text."), *dev]
    scores = {(item.item_id, "task_quality"): [2 * (number % 2)] for number, item in enumerate(dev)} | {("t", "task_quality"): [1]}
    everything = make_data(items, scores, scales)
    return everything.only(items[:1]), everything


def test_examples_stand_before_the_item_and_classes_without_one_are_said(shots: tuple[Dataset, Dataset], plan: Callable[..., Plan]) -> None:
    data, training = shots
    made = plan(data, ["task_quality"], ["few-shot"], training=training)
    [prompt] = prompts(made)
    told = prompt.messages[-1].content
    assert [told.count(text) for text in ("Scored text", "The text.")] == [4, 1]
    assert told.rindex("Scored text") < told.index("The text.")
    assert made.absent == {("en", "open_prompt", "task_quality"): (1,)}


def test_without_examples_nothing_is_absent(shots: tuple[Dataset, Dataset], plan: Callable[..., Plan]) -> None:
    data, training = shots
    assert plan(data, ["task_quality"], training=training).absent == {}


def test_the_number_of_examples_and_their_seed_make_another_prompt(shots: tuple[Dataset, Dataset], plan: Callable[..., Plan]) -> None:
    data, training = shots
    made = [
        prompt_ids(plan(data, ["task_quality"], [variant], training=training, seed=seed))[0]
        for variant, seed in (("single", 0), ("fewshot:1", 0), ("fewshot:2", 0), ("fewshot:2", 1))
    ]
    assert len(set(made)) == 4
    assert prompt_ids(plan(data, ["task_quality"], ["few-shot"], training=training)) == [made[2]]


# What it is about to take


def test_what_calls_take_is_the_sum_of_what_each_takes(small: Callable[..., Dataset], plan: Callable[..., Plan]) -> None:
    made = plan(small({"a": METRICS, "b": ["task_quality"]}, output="Ein Satz, 一句话。"), variants=["single", "joint"])
    every = made.calls(MODEL)
    each = [estimate_usage(call) for call in every]
    assert every.tokens == Usage(sum(u.prompt_tokens for u in each), 0, sum(u.completion_tokens for u in each))
    assert every.without([True] * len(every)).tokens == Usage()


def test_tokens_are_a_quarter_of_ascii_and_one_for_any_other_character(small: Callable[..., Dataset], plan: Callable[..., Plan]) -> None:
    few, many = (prompts(plan(small({"a": ["task_quality"]}, output=text)))[0] for text in ("x" * 4, "雨" * 400 + "x" * 4))
    assert estimate_prompt_tokens(many) - estimate_prompt_tokens(few) == 400


def test_the_default_variant_is_single() -> None:
    assert str(Variant()) == "single"
