"""The wording of questions to decision models: the item's texts by name, and a typed question for each metric, an option a score.

Such a model reads no chat: there is no system message, no form of the answer and no example. What a prompt says of the task stands in each
question, as instructions. The words are those of the rubric in the language of the variant.
"""

from __future__ import annotations

import hashlib
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from harness import parse
from harness.content.specs import RubricWords
from harness.model import Prompt, Scale
from harness.parse import TypedQuestion, typed_question
from harness.prompts.prompt_spec import PromptSpec, source_of
from harness.prompts.templates import PromptTemplate, TemplateMessage, TextSlot
from harness.text import fill_placeholders

_WRITTEN_BY = "{}_written_by"  # the name under which a judge reads who wrote a text


class Option(msgspec.Struct, frozen=True):
    """One option of a question: the score that it stands for, as text, and what the rubric says of it."""

    name: str
    description: str


class Question(msgspec.Struct, frozen=True):
    """One typed question. The options of a statement are what it means if it is false, and if it is true."""

    kind: Literal["statement", "choice", "levels"]
    instructions: str
    options: tuple[Option, ...]


class Questions(msgspec.Struct, frozen=True):
    """The content of one request to a decision model: the names of the texts that it reads, and the questions by metric."""

    texts: tuple[str, ...]
    questions: dict[str, Question]


def decision_template(spec: PromptSpec) -> PromptTemplate:
    """Return the questions as a template: its first message holds them as JSON, each further one is a text of the item."""
    texts = {name: TextSlot(name) for name in spec.text_names}
    for name in spec.named_sources:
        texts[_WRITTEN_BY.format(name)] = TextSlot(source_of(name))
    questions = {metric: _question(metric, scale, spec) for metric, scale in spec.scales.items()}
    content = msgspec.json.encode(Questions(tuple(texts), questions)).decode()
    messages = (TemplateMessage("system", (content,)), *(TemplateMessage("user", (slot,)) for slot in texts.values()))
    return PromptTemplate(messages, {}, 0)


@cache
def decision_program_hash() -> str:
    """The hash of the code that words questions to decision models."""
    typed_questions = Path(parse.__file__).with_name("typed_questions.py")
    return hashlib.sha256(Path(__file__).read_bytes() + typed_questions.read_bytes()).hexdigest()[:16]


def asked_of(prompt: Prompt) -> tuple[dict[str, str], dict[str, Question]]:
    """Return the texts of a decision model's prompt by name, and its questions by metric."""
    first, *texts = prompt.messages
    request = _decoded(first.content)
    return {name: message.content for name, message in zip(request.texts, texts, strict=True)}, request.questions


@lru_cache(maxsize=1 << 8)  # most calls ask the same questions
def _decoded(content: str) -> Questions:
    return msgspec.json.decode(content, type=Questions)


def _question(metric: str, scale: Scale, spec: PromptSpec) -> Question:
    rubric, words, task = spec.wording.rubrics[metric], spec.wording.words, spec.wording.task
    typed = typed_question(scale, spec.variant)
    instruction, by_class = (rubric.simple.strip(), {}) if typed.bands else _split(rubric, scale)
    if spec.variant.instructions == "detailed":
        instruction = rubric.description.strip()
        by_class = {score: " ".join(points) for score, points in rubric.criteria.items()} or by_class
    meant_for = fill_placeholders(words.meant_for_pair or words.meant_for, language=spec.wording.language_name)
    question = fill_placeholders(words.question, title=rubric.title)
    instructions = f"{task.instruction.strip()}\n{meant_for}\n\n{question}\n{instruction}"
    return Question(typed.kind, instructions, tuple(_options(typed, by_class)))


def _options(question: TypedQuestion, by_class: dict[str, str]) -> list[Option]:
    if question.bands:
        ends = ((_number(first), _number(last)) for first, last in question.bands)
        return [
            Option(name, first if first == last else f"{first} - {last}") for name, (first, last) in zip(question.names, ends, strict=True)
        ]
    return [Option(name, by_class.get(name, "")) for name in question.names]


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _split(rubric: RubricWords, scale: Scale) -> tuple[str, dict[str, str]]:
    """Return the simple instruction without the lines that say what each class means, and those by class.

    Where the instruction does not name every class, it stays whole, and the criteria of the classes say what they mean.
    """
    classes = {*map(str, scale.classes)} or {*rubric.criteria}
    lines = rubric.simple.strip().splitlines()
    about = {name.strip(): text.strip() for name, sign, text in (line.partition(":") for line in lines) if sign and text.strip()}
    if classes <= about.keys():
        instruction_lines = [line for line in lines if line.partition(":")[0].strip() not in classes]
        return "\n".join(instruction_lines), {name: about[name] for name in classes}
    return "\n".join(lines), {score: " ".join(points) for score, points in rubric.criteria.items()}
