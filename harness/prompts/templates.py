"""Prompt templates: messages with slots for the texts of an item. They ask for scores, or for the output of a task to be written.

A guidance program is rendered once, with marks where the texts go. Filling the resulting template only joins strings, so a million
prompts do not cost a million renderings. The store keeps templates under the hash of what they are made of, so that a finished run can
be read again without guidance.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from harness.content import Library
from harness.content.specs import Task, WritingWords
from harness.content.tags import english_name, name_in
from harness.errors import ContentError, UsageError
from harness.model import Item, Message, Prompt
from harness.prompts.answer_schema import tokens_for
from harness.prompts.prompt_spec import PromptSpec, source_of
from harness.prompts.wording import ENGLISH, is_english
from harness.text import fill_placeholders

# A mark is a field's name between two private-use characters. Marks are searched before any text of an item is in place, so a text that
# holds these characters cannot be taken for a mark.
_MARK = re.compile("\ue000([^\ue001]+)\ue001")
_SOURCE_FILES = ("programs.py", "wording.py", "examples.py", "prompt_spec.py", "templates.py")


class TextSlot(msgspec.Struct, frozen=True, tag="slot"):
    """The place in a message for the item's text of that name."""

    name: str


class TemplateMessage(msgspec.Struct, frozen=True):
    role: Literal["system", "user", "assistant"]
    parts: tuple[str | TextSlot, ...]


class PromptTemplate(msgspec.Struct, frozen=True):
    """Messages with slots, the JSON schema of the answer (empty: a text is asked for), and the maximum number of its tokens."""

    messages: tuple[TemplateMessage, ...]
    schema: dict[str, Any]
    max_tokens: int

    def fill(self, item: Item, prompt_id: str | None = None) -> Prompt:
        """Return the prompt for one item. `prompt_id` is the hash of messages and schema; pass it if it is known already."""
        messages = tuple(
            Message(m.role, "".join(part if isinstance(part, str) else str(item.fields.get(part.name, "")) for part in m.parts))
            for m in self.messages
        )
        return Prompt(prompt_id or prompt_hash(messages, self.schema), messages, self.schema, self.max_tokens)


def prompt_hash(messages: tuple[Message, ...], schema: dict[str, Any]) -> str:
    """The id of the prompt with these messages and this answer schema. It does not depend on the judge."""
    return hashlib.sha256(msgspec.json.encode((messages, schema))).hexdigest()


def conversation_prompt(turns: Sequence[PromptTemplate], answers: Sequence[str], item: Item) -> Prompt:
    """Return the prompt of the last turn of a conversation: after each of the other turns stands its answer."""
    messages = list(turns[0].fill(item).messages)
    for answer, turn in zip(answers, turns[1:], strict=True):
        messages += [Message("assistant", answer), *turn.fill(item).messages]
    last = turns[-1]
    return Prompt(prompt_hash(tuple(messages), last.schema), tuple(messages), last.schema, last.max_tokens)


class TemplateStore(Protocol):
    """Keeps encoded templates by key."""

    def get_template(self, key: str) -> bytes | None: ...

    def put_template(self, key: str, template: bytes) -> None: ...


class PromptTemplates:
    """Templates by spec. Each is rendered at most once, and kept in `store` if one is given.

    `program` is the hash of the code that words prompts. Templates of an earlier wording can be read from the store, but not rendered.
    """

    def __init__(self, store: TemplateStore | None = None, program: str | None = None) -> None:
        self._store = store
        self._program = program or program_hash()
        self._templates: dict[str, PromptTemplate] = {}

    def template_for(self, spec: PromptSpec, *, next_question: bool = False) -> PromptTemplate:
        """Return the template of a whole prompt, or with `next_question` that of a later turn of a conversation."""
        key = f"{self._program}:{spec.key}" + (":next" if next_question else "")
        if key in self._templates:
            return self._templates[key]
        if self._store and (encoded := self._store.get_template(key)):
            template = msgspec.json.decode(encoded, type=PromptTemplate)
        else:
            if self._program != program_hash():
                raise UsageError(
                    "this run was made with another wording of the prompts, and its store does not have that wording; run it again"
                )
            template = render_next_question(spec) if next_question else render_template(spec)
            if self._store:
                self._store.put_template(key, msgspec.json.encode(template))
        self._templates[key] = template
        return template


def render_template(spec: PromptSpec) -> PromptTemplate:
    """Render the program of a spec with marks for texts, and split the messages at the marks."""
    from harness.prompts.programs import judging_program  # late: guidance takes half a second

    return render_program(lambda texts: judging_program(spec, texts), (*spec.text_names, *map(source_of, spec.named_sources)))


def render_next_question(spec: PromptSpec) -> PromptTemplate:
    """Render the question of a later turn of a conversation."""
    from harness.prompts.programs import next_question_program  # late: guidance takes half a second

    return render_program(lambda texts: next_question_program(spec, texts), spec.text_names)


def render_program(program: Callable[[Mapping[str, str]], Any], slots: Iterable[str]) -> PromptTemplate:
    """Render a program of texts by name, with a slot for each of them."""
    from harness.prompts.programs import record  # late: guidance takes half a second

    messages, schema, max_tokens = record(program({name: f"\ue000{name}\ue001" for name in slots}))
    parts = []
    for message in messages:
        pieces = enumerate(_MARK.split(message.content))  # re.split with one group alternates literal, name, literal, ...
        parts.append(TemplateMessage(message.role, tuple(TextSlot(piece) if index % 2 else piece for index, piece in pieces if piece)))
    return PromptTemplate(tuple(parts), schema, max_tokens)


@cache
def program_hash() -> str:
    """The hash of the code that words prompts and of guidance's version. A changed wording makes new templates."""
    folder = Path(__file__).parent
    code = b"".join((folder / name).read_bytes() for name in _SOURCE_FILES)
    return hashlib.sha256(code + version("guidance").encode()).hexdigest()[:16]


_USUAL_SHARE = 3  # a text takes about a third of the most tokens that its characters can take; a model that does not end is stopped there


class WritingPrompt(msgspec.Struct, frozen=True):
    """Everything that a request to write is made of, except the texts of the item: `titles` are those of its inputs."""

    words: WritingWords
    heading: str
    titles: dict[str, str]
    language_name: str
    max_tokens: int

    def template(self, text_names: tuple[str, ...]) -> PromptTemplate:
        """Return the messages with slots for these inputs."""
        from harness.prompts.programs import writing_program  # late: guidance takes half a second

        request = f"{self.words.instruction.strip()}\n{fill_placeholders(self.words.meant_for, language=self.language_name)}"
        headings = {name: fill_placeholders(self.heading, title=title) for name, title in self.titles.items()}
        return render_program(lambda texts: writing_program(self.words, request, headings, texts, self.max_tokens), text_names)


def writing_prompt(library: Library, task: Task, language: str, *, own_language: bool) -> WritingPrompt:
    """Return the request for one task and language, in English or (`own_language`) in the language itself. English items have the English
    one.

    Raises UsageError for a task that nobody is asked to write, or a language without instructions; ContentError for instructions that
    lack the request.
    """
    writing = library.writing(task.id)
    budget = tokens_for(language, writing.max_characters) // _USUAL_SHARE
    titles = {name: field.title for name, field in task.fields.items() if field.role == "input"}
    if is_english(language) or not own_language:
        return WritingPrompt(writing.words, ENGLISH.heading, titles, english_name(language), budget)
    if language not in library.instruction_files:
        raise UsageError(f"there are no instructions in '{language}'; leave out --own-language")
    instructions, path = library.instructions(language), library.instruction_files[language]
    if task.id not in instructions.writing:
        raise ContentError(f"[writing.{task.id}] is missing: the request to write is not translated; leave out --own-language", path)
    translated = instructions.tasks.get(task.id)
    titles = {name: translated.fields.get(name, title) for name, title in titles.items()} if translated else titles
    return WritingPrompt(instructions.writing[task.id], instructions.words.heading, titles, name_in(language, language), budget)


def given_texts(item: Item, task: Task) -> tuple[str, ...]:
    """Return the names of the item's inputs that are not empty, in the order of the task."""
    inputs = (name for name, field in task.fields.items() if field.role == "input")
    return tuple(name for name in inputs if str(item.fields.get(name, "")).strip())
