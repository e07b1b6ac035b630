"""Prompts that ask a model to write the output of a task: the request, the item's inputs, and a hole for the text."""

from __future__ import annotations

import msgspec

from harness.content import Library
from harness.content.placeholders import fill_placeholders
from harness.content.specs import Task, WritingWords
from harness.content.tags import english_name, name_in
from harness.errors import ContentError, UsageError
from harness.model import Item
from harness.prompts.answer_tokens import tokens_for
from harness.prompts.templates import PromptTemplate, render_program
from harness.prompts.wording import ENGLISH, is_english

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
        from harness.prompts.writing_program import writing_program  # late: guidance takes half a second

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
