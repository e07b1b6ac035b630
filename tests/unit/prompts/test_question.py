"""Questions: the answer's schema in the order that the variant wants, and room enough for the longest answer."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import msgspec
import pytest

from harness.content import Library
from harness.model import Item, Scale, Variant, parse_variant
from harness.prompts import Example, Question, present_texts
from harness.prompts.question import JUSTIFICATION_CHARACTERS

MakeQuestion = Callable[..., Question]
EXAMPLE = Example("e", "task_quality", 2, {"passage": "A passage.", "output": "A text."}, constructed=True)
ORDER = {"before": ["justification", "score"], "after": ["score", "justification"], "none": ["score"]}


def test_fields_stand_in_the_order_of_the_variant(make_question: MakeQuestion, variant: Variant) -> None:
    question = make_question(variant)
    schema = question.schema
    if variant.call == "joint":
        assert list(schema["properties"]) == schema["required"] == list(question.scales)
        assert len(question.scales) == 5
    answers = list(schema["properties"].values()) if variant.call == "joint" else [schema]
    for answer in answers:
        assert list(answer["properties"]) == answer["required"] == ORDER[variant.justification]


def test_every_object_is_closed_and_all_its_fields_are_required(make_question: MakeQuestion, variant: Variant) -> None:
    schema = make_question(variant).schema
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
def test_a_score_is_limited_to_its_scale(make_question: MakeQuestion, scale: Scale, schema: dict[str, object]) -> None:
    question = msgspec.structs.replace(make_question(), scales={"task_quality": scale})
    assert question.schema["properties"]["score"] == schema


@pytest.mark.parametrize("elsewhere", ["ja", "zh", "ko", "ru", "hi", "ar"])
def test_there_is_more_room_outside_latin_scripts(make_question: MakeQuestion, elsewhere: str) -> None:
    latin = {make_question(language=tag).max_tokens for tag in ("en", "cs", "pt-BR")}
    assert len(latin) == 1 and make_question(language=elsewhere).max_tokens > latin.pop()


@pytest.mark.parametrize("language", ["cs", "ja"])
def test_there_is_room_for_the_longest_answer(make_question: MakeQuestion, variant: Variant, language: str) -> None:
    question = make_question(variant, language=language)
    wordy = variant.justification != "none"
    least = len(question.scales) * JUSTIFICATION_CHARACTERS * wordy * (3 if language == "ja" else 1)
    assert question.max_tokens >= least + 20 * len(question.scales)
    assert wordy or question.max_tokens <= 50 * len(question.scales)


def test_different_questions_have_different_keys_and_equal_ones_the_same(make_question: MakeQuestion) -> None:
    texts = ("single", "joint", "detailed", "score-only", "own-language", "fewshot:1", "probabilities")
    variants = [parse_variant(text) for text in texts]
    presents = [("passage", "output"), ("passage", "instruction", "output")]
    questions = [
        make_question(variant, language=language, present=present)
        for variant, language, present in itertools.product(variants, ("ja", "cs"), presents)
    ]
    questions += [make_question(metrics=("hallucination",)), make_question(task="open_prompt")]
    first = questions[0]
    reworded = msgspec.structs.replace(first.wording, task=msgspec.structs.replace(first.wording.task, instruction="Sum it up."))
    questions.append(msgspec.structs.replace(first, wording=reworded))
    questions.append(msgspec.structs.replace(first, examples=(EXAMPLE,)))
    questions.append(msgspec.structs.replace(first, examples=(msgspec.structs.replace(EXAMPLE, score=1),)))
    assert len({question.key for question in questions}) == len(questions)
    assert make_question().key == make_question().key


def test_the_order_of_the_metrics_is_part_of_the_question(make_question: MakeQuestion) -> None:
    metrics = ("task_quality", "hallucination")
    one, other = (make_question(Variant(call="joint"), metrics=asked) for asked in (metrics, metrics[::-1]))
    assert one.key != other.key and list(one.schema["properties"]) == list(other.schema["properties"])[::-1]


@pytest.mark.parametrize(("text", "language"), [("single", "en"), ("joint+detailed", "en"), ("own-language", "ja")])
def test_a_reason_is_asked_for_in_the_language_of_the_instructions(make_question: MakeQuestion, text: str, language: str) -> None:
    assert make_question(parse_variant(text)).asked_language == language


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
    assert present_texts(item, library.task(kind)) == there
