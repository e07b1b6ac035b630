"""Checks that `instructions.toml` translates all English instructions and adds nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

import msgspec

from harness.content import tags
from harness.content.problems import Complaints, key_pattern
from harness.content.specs import PLACEHOLDERS, Instructions, PromptWords, Rubric, RubricWords, Task, TaskWords

_IN_BRACES = re.compile(r"\{[^{}\n]*\}")


def instruction_complaints(
    translated: Instructions, tasks: Mapping[str, Task], rubrics: Mapping[str, Rubric], required: Collection[str], allowed: Collection[str]
) -> Complaints:
    """What is missing or superfluous, each with a pattern for the line to correct.

    `required` and `allowed` are names of sections (`tasks.summarize`). `tasks` and `rubrics` are the English originals that could be
    read; others are not compared.
    """
    yield from _word_complaints(translated.words)
    sections = [*(f"tasks.{name}" for name in translated.tasks), *(f"rubrics.{name}" for name in translated.rubrics)]
    for section in (section for section in required if section not in sections):
        yield f"[{section}] is missing; translate it", _section_pattern(section.partition(".")[0])
    for section in (section for section in sections if section not in allowed):
        hint = tags.suggest(section, allowed)
        yield f"[{section}] matches no task or rubric.{hint} Remove it or correct its name", _section_pattern(section)
    for name in translated.tasks.keys() & tasks.keys():
        yield from _task_complaints(f"tasks.{name}", translated.tasks[name], tasks[name])
    for name in translated.rubrics.keys() & rubrics.keys():
        yield from _rubric_complaints(f"rubrics.{name}", translated.rubrics[name], rubrics[name])


def _word_complaints(words: PromptWords) -> Complaints:
    for key, text in msgspec.structs.asdict(words).items():
        names, expected = _IN_BRACES.findall(text), [f"{{{name}}}" for name in PLACEHOLDERS.get(key, ())]
        if Counter(names) != Counter(expected):
            yield f"'{key}' contains {_listed(names)}, but should contain {_listed(expected)}, each once", key_pattern(key)


def _task_complaints(section: str, translated: TaskWords, english: Task) -> Complaints:
    yield from _key_complaints(f"{section}.fields", "field", translated.fields, english.fields)
    named = names_in_braces(english.instruction)
    for name in sorted(named - names_in_braces(translated.instruction)):
        yield f"the instruction of [{section}] does not name {{{name}}}, as the English does", _section_pattern(section)
    yield from _brace_complaints(section, [translated.instruction, *translated.fields.values()], named)


def _rubric_complaints(section: str, translated: RubricWords, english: Rubric) -> Complaints:
    yield from _key_complaints(
        f"{section}.criteria", "score", translated.criteria, [str(group.score) for group in english.detailed.criteria]
    )
    points = (point for group in translated.criteria.values() for point in group)
    yield from _brace_complaints(section, [translated.title, translated.simple, translated.description, *points])


def _key_complaints(section: str, word: str, translated: Collection[str], english: Collection[str]) -> Complaints:
    missing, surplus = [key for key in english if key not in translated], [key for key in translated if key not in english]
    for key in missing:
        yield f"{word} '{key}' is missing from [{section}]; the English has {', '.join(english)}", _section_pattern(section)
    for key in surplus:
        yield f"{word} '{key}' of [{section}] is not in the English, which has {', '.join(english)}", _section_pattern(section)
    if not missing and not surplus and list(translated) != list(english):
        yield f"the {word}s of [{section}] are in another order than in the English: {', '.join(english)}", _section_pattern(section)


def names_in_braces(text: str) -> set[str]:
    """The names that a text holds in braces."""
    return {mark[1:-1] for mark in _IN_BRACES.findall(text)}


def _brace_complaints(section: str, texts: Iterable[str], allowed: Collection[str] = ()) -> Complaints:
    for line in (line for text in texts for line in text.splitlines()):
        for mark in (mark for mark in _IN_BRACES.findall(line) if mark[1:-1] not in allowed):
            yield f"{mark} in [{section}] is not replaced by anything; only [words] has names in braces", re.escape(line)


def _section_pattern(name: str) -> str:
    """A regular expression for the heading of a section or of the first subsection."""
    return rf"^\[{re.escape(name)}[\].]"


def _listed(marks: Collection[str]) -> str:
    return ", ".join(marks) or "nothing in braces"
