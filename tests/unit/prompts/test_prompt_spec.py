"""Prompt specs: the answer's schema has the order of the variant, and the longest answer fits into the token limit."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import msgspec
import pytest

from harness.content import Library
from harness.model import Item, Scale, Variant, parse_variant
from harness.prompts import Example, PromptSpec, shown_texts
from harness.prompts.answer_schema import JUSTIFICATION_CHARACTERS

MakeSpec = Callable[..., PromptSpec]
EXAMPLE = Example("e", "task_quality", 2, {"passage": "A passage.", "output": "A text."}, constructed=True)
ORDER = {"before": ["justification", "score"], "after": ["score", "justification"], "none": ["score"]}


def test_fields_stand_in_the_order_of_the_variant(make_spec: MakeSpec, variant: Variant) -> None:
    spec = make_spec(variant)
    schema = spec.schema
    if variant.call == "joint":
        assert list(schema["properties"]) == schema["required"] == list(spec.scales)
        assert len(spec.scales) == 5
    answers = list(schema["properties"].values()) if variant.call == "joint" else [schema]
    for answer in answers:
        assert list(answer["properties"]) == answer["required"] == ORDER[variant.justification]


def test_every_object_is_closed_and_all_its_fields_are_required(make_spec: MakeSpec, variant: Variant) -> None:
    schema = make_spec(variant).schema
    objects = [schema] + ([answer for answer in schema["properties"].values()] if variant.call == "joint" else [])
    for found in objects:
        assert found["type"] == "object" and found["additionalProperties"] is False
        assert found["required"] == list(found["properties"])


@pytest.mark.parametrize(
    ("scale", "schema"),
    [
        (Scale(kind="ordinal", classes=(0, 1, 2), best=2), {"enum": [0, 1, 2]}),
        (Scale(kind="nominal", classes=("A", "B")), {"enum": ["A", "B"]}),
        (Scale(kind="interval", min=1, max=5), {"type": "number", "minimum": 1.0, "maximum": 5.0}),
    ],
    ids=["ordinal", "nominal", "interval"],
)
def test_a_score_is_limited_to_its_scale(make_spec: MakeSpec, scale: Scale, schema: dict[str, object]) -> None:
    spec = msgspec.structs.replace(make_spec(), scales={"task_quality": scale})
    assert spec.schema["properties"]["score"] == schema


@pytest.mark.parametrize("elsewhere", ["ja", "zh", "ko", "ru", "hi", "ar"])
def test_there_is_more_room_outside_latin_scripts(make_spec: MakeSpec, elsewhere: str) -> None:
    latin = {make_spec(language=tag).max_tokens for tag in ("en", "cs", "pt-BR")}
    assert len(latin) == 1 and make_spec(language=elsewhere).max_tokens > latin.pop()


@pytest.mark.parametrize("language", ["cs", "ja"])
def test_there_is_room_for_the_longest_answer(make_spec: MakeSpec, variant: Variant, language: str) -> None:
    spec = make_spec(variant, language=language)
    wordy = variant.justification != "none"
    least = len(spec.scales) * JUSTIFICATION_CHARACTERS * wordy * (3 if language == "ja" else 1)
    assert spec.max_tokens >= least + 20 * len(spec.scales)
    assert wordy or spec.max_tokens <= 50 * len(spec.scales)


def test_different_specs_have_different_keys_and_equal_ones_the_same(make_spec: MakeSpec) -> None:
    texts = ("single", "joint", "detailed", "score-only", "own-language", "fewshot:1", "probabilities")
    variants = [parse_variant(text) for text in texts]
    text_names = [("passage", "output"), ("passage", "instruction", "output")]
    specs = [
        make_spec(variant, language=language, text_names=names)
        for variant, language, names in itertools.product(variants, ("ja", "cs"), text_names)
    ]
    specs += [make_spec(metrics=("hallucination",)), make_spec(task="open_prompt")]
    first = specs[0]
    reworded = msgspec.structs.replace(first.wording, task=msgspec.structs.replace(first.wording.task, instruction="Sum it up."))
    specs.append(msgspec.structs.replace(first, wording=reworded))
    specs.append(msgspec.structs.replace(first, examples=(EXAMPLE,)))
    specs.append(msgspec.structs.replace(first, examples=(msgspec.structs.replace(EXAMPLE, score=1),)))
    assert len({spec.key for spec in specs}) == len(specs)
    assert make_spec().key == make_spec().key


def test_the_order_of_the_metrics_is_part_of_the_spec(make_spec: MakeSpec) -> None:
    metrics = ("task_quality", "hallucination")
    one, other = (make_spec(Variant(call="joint"), metrics=asked) for asked in (metrics, metrics[::-1]))
    assert one.key != other.key and list(one.schema["properties"]) == list(other.schema["properties"])[::-1]


@pytest.mark.parametrize(
    ("kind", "texts", "there"),
    [
        ("continue_writing", {"output": "o", "right": "r", "left": "l"}, ("left", "right", "output")),
        ("continue_writing", {"left": "", "right": "r", "output": "o"}, ("right", "output")),
        ("continue_writing", {"left": "l", "right": " \n", "output": "o"}, ("left", "output")),
        ("summarize", {"passage": "p", "output": "o", "note": "not a text of the task"}, ("passage", "output")),
    ],
)
def test_texts_that_are_there_are_named_in_the_order_of_the_task(
    library: Library, make_item: Callable[..., Item], kind: str, texts: dict[str, str], there: tuple[str, ...]
) -> None:
    item = msgspec.structs.replace(make_item(task=kind), fields=texts)
    assert shown_texts(item, library.task(kind)) == there


def test_steps_of_a_range_are_the_only_scores_of_the_form(make_spec: MakeSpec) -> None:
    spec = make_spec(parse_variant("single+score-only"), metrics=("less_toxic",))
    assert spec.schema["properties"]["score"] == {"enum": [0, 0.5, 1]}
