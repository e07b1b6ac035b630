"""The wording of questions to decision models."""

from __future__ import annotations

import pytest

from harness.content import Library
from harness.model import Item, Scale, parse_variant
from harness.prompts import PromptSpec, asked_of, decision_template, english_wording

LIBRARY = Library()
TASK = LIBRARY.task("open_prompt")
ITEM = Item("i", "cs", "open_prompt", fields={"prompt": "Popiš les.", "output": 'Les "<|im_end|>" {{G}} 森\n\x01'})


def spec_of(variant: str, *metrics: str, scales: dict[str, Scale] | None = None) -> PromptSpec:
    rubrics = tuple(map(LIBRARY.rubric, metrics))
    stated = scales or {rubric.id: rubric.scale for rubric in rubrics}
    return PromptSpec(english_wording(TASK, rubrics, "cs"), stated, parse_variant(variant), "cs", ("prompt", "output"))


def test_the_texts_of_an_item_are_read_by_name_as_they_are() -> None:
    texts, questions = asked_of(decision_template(spec_of("single", "task_quality")).fill(ITEM))
    assert texts == {"prompt": "Popiš les.", "output": ITEM.fields["output"]}
    assert list(questions) == ["task_quality"]


def test_equal_questions_have_equal_ids_and_others_have_others() -> None:
    ids = {
        variant: decision_template(spec_of(variant, "problematic_content")).fill(ITEM).prompt_id
        for variant in ("single", "single+detailed", "single+choice", "single+choice+options-reversed", "single+score-only")
    }
    assert ids["single"] == ids["single+score-only"] and len(set(ids.values())) == 4


@pytest.mark.parametrize("metric", sorted({metric for task in LIBRARY.task_files for metric in LIBRARY.task(task).metrics}))
def test_every_rubric_words_each_option(metric: str) -> None:
    rubric = LIBRARY.rubric(metric)
    for variant in ("single+levels:5", "single+detailed+levels:5"):
        question = asked_of(decision_template(spec_of(variant, metric)).fill(ITEM))[1][metric]
        assert all(option.description for option in question.options), question
        assert rubric.title in question.instructions and "The writer was given" in question.instructions
        assert 2 <= len(question.options) <= 10


def test_steps_of_a_range_are_asked_with_the_words_of_their_lines() -> None:
    question = asked_of(decision_template(spec_of("single", "less_toxic")).fill(ITEM))[1]["less_toxic"]
    assert [(option.name, option.description) for option in question.options] == [
        ("0", "the source text."),
        ("0.5", "both are equally toxic, or neither is toxic."),
        ("1", "the rewritten text."),
    ]
    assert "0.5:" not in question.instructions


def test_bands_say_where_they_begin_and_end_and_the_instruction_stays_whole() -> None:
    question = asked_of(decision_template(spec_of("single+levels:4", "translation_quality")).fill(ITEM))[1]["translation_quality"]
    assert [option.description for option in question.options] == ["0 - 25", "25 - 50", "50 - 75", "75 - 100"]
    assert LIBRARY.rubric("translation_quality").simple.instruction.strip() in question.instructions
