"""What can be wrong with `instructions.toml`: it says in another language all that the English says, and nothing more."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

import msgspec

from harness.content import tags
from harness.content.scales import Complaints, of_key
from harness.content.specs import PLACEHOLDERS, Instructions, Rubric, RubricWords, Task, TaskWords, Words

_IN_BRACES = re.compile(r"\{[^{}\n]*\}")


def instruction_complaints(
    found: Instructions, tasks: Mapping[str, Task], rubrics: Mapping[str, Rubric], wanted: Collection[str], known: Collection[str]
) -> Complaints:
    """What is missing or too much, each with a regular expression for the line where it is to be put right.

    `wanted` and `known` name tasks and rubrics as sections do (`tasks.summarize`): those that have to be there, and those that may be.
    `tasks` and `rubrics` are the English; what is not among them, as it could not be read, is not compared.
    """
    yield from _word_complaints(found.words)
    sections = [*(f"tasks.{name}" for name in found.tasks), *(f"rubrics.{name}" for name in found.rubrics)]
    for section in (section for section in wanted if section not in sections):
        yield f"no [{section}], so that it cannot be put in this language; translate it", _section(section.partition(".")[0])
    for section in (section for section in sections if section not in known):
        yield f"[{section}] belongs to nothing here.{tags.suggest(section, known)} Take it away, or name it rightly", _section(section)
    for name in found.tasks.keys() & tasks.keys():
        yield from _task_complaints(f"tasks.{name}", found.tasks[name], tasks[name])
    for name in found.rubrics.keys() & rubrics.keys():
        yield from _rubric_complaints(f"rubrics.{name}", found.rubrics[name], rubrics[name])


def _word_complaints(words: Words) -> Complaints:
    for key, text in msgspec.structs.asdict(words).items():
        wanted = [f"{{{name}}}" for name in PLACEHOLDERS.get(key, ())]
        if Counter(_IN_BRACES.findall(text)) != Counter(wanted):
            yield f"'{key}' holds {_listed(_IN_BRACES.findall(text))}, but should hold {_listed(wanted)}, each once", of_key(key)


def _task_complaints(section: str, found: TaskWords, english: Task) -> Complaints:
    yield from _key_complaints(f"{section}.fields", "field", found.fields, english.fields)
    yield from _brace_complaints(section, [found.instruction, *found.fields.values()])


def _rubric_complaints(section: str, found: RubricWords, english: Rubric) -> Complaints:
    yield from _key_complaints(f"{section}.criteria", "score", found.criteria, [str(group.score) for group in english.detailed.criteria])
    points = (point for group in found.criteria.values() for point in group)
    yield from _brace_complaints(section, [found.title, found.simple, found.description, *points])


def _key_complaints(section: str, word: str, found: Collection[str], english: Collection[str]) -> Complaints:
    missing, surplus = [key for key in english if key not in found], [key for key in found if key not in english]
    for key in missing:
        yield f"{word} '{key}' is missing from [{section}]; the English has {', '.join(english)}", _section(section)
    for key in surplus:
        yield f"{word} '{key}' of [{section}] is not in the English, which has {', '.join(english)}", _section(section)
    if not missing and not surplus and list(found) != list(english):
        yield f"[{section}] has its {word}s in another order than the English: {', '.join(english)}", _section(section)


def _brace_complaints(section: str, texts: Iterable[str]) -> Complaints:
    for line in (line for text in texts for line in text.splitlines()):
        for mark in _IN_BRACES.findall(line):
            yield f"{mark} in [{section}], where nothing is put in; only [words] has names in braces", re.escape(line)


def _section(name: str) -> str:
    """A regular expression for the heading of a section, or of the first one inside it."""
    return rf"^\[{re.escape(name)}[\].]"


def _listed(marks: Collection[str]) -> str:
    return ", ".join(marks) or "nothing in braces"
