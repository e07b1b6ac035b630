"""Requests to models to write texts: one query for each different input of a task, in each language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec

from harness.content import Library, Task
from harness.content.tags import resolve
from harness.data import Dataset, load_bundled, load_folder
from harness.data.asked_data import with_our_names
from harness.errors import UsageError
from harness.model import Condition, Item, Prompt, Query, Score, Variant
from harness.prompts import PromptTemplate, WritingPrompt, given_texts, is_english, writing_prompt
from harness.runs.plan import Plan
from harness.runs.shown_items import ShownItems
from harness.runs.sources import first_items
from harness.runs.specification import read_names


@dataclass(frozen=True)
class GenerateSpec:
    """What a user asks models to write. Without `data`, the inputs are those of the language packs' control items."""

    task: str
    writers: tuple[str, ...]
    languages: tuple[str, ...] | None = None
    data: Path | None = None
    content: tuple[Path, ...] = ()
    base_url: str | None = None
    base_urls: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)  # as of a run
    body: Mapping[str, Any] = field(default_factory=dict)
    temperature: float = 0.0
    top_p: float | None = None
    own_language: bool = False  # the request in the language of the items
    allow_unreviewed: bool = False
    seed: int = 0
    limit: int | None = None  # inputs of each language
    reask: bool = False

    def __post_init__(self) -> None:
        read_names(self, ("writers", "languages"))


class WritingSources(msgspec.Struct, frozen=True):
    """The inputs that are written about, as items without an output, and the data that they come from.

    `kept` are the outputs of the data that name their system: they stand beside the new ones.
    """

    task: Task
    everything: Dataset
    items: tuple[Item, ...]
    kept: tuple[Item, ...]


def writing_sources(spec: GenerateSpec, library: Library) -> WritingSources:
    """The inputs of a specification. Raises UsageError for a task, a language or data without any, ContentError for wrong data."""
    task, writing = library.task(spec.task), library.writing(spec.task)
    if spec.data is not None:
        everything = with_our_names(load_folder(spec.data, library), library)
        languages = {item.language for item in everything.items}
    else:
        languages = set(library.tags_with_items())
        everything = load_bundled(library, resolve(spec.languages or languages, languages, "items"))
    chosen = set(resolve(spec.languages or languages, languages, "items"))
    of_languages = [item for item in everything.items if item.language in chosen and item.split == "test"]
    own = [item for item in of_languages if item.task == task.id]
    inputs = _inputs(own or [item for item in of_languages if item.task == writing.inputs_of], task)
    items = tuple(first_items(inputs, spec.limit, attrgetter("language")))
    if not items:
        raise UsageError(f"no item of {spec.data or 'the language packs'} has the inputs of '{task.id}' ({', '.join(_input_names(task))})")
    groups = {(item.language, item.group) for item in items}
    kept = tuple(item for item in own if item.system and (item.language, item.group) in groups) if spec.data else ()
    return WritingSources(task, everything, items, kept)


def _input_names(task: Task) -> list[str]:
    return [name for name, field in task.fields.items() if field.role == "input"]


def _inputs(items: Sequence[Item], task: Task) -> Iterator[Item]:
    """One item for each different input of a language, named after its group, without an output."""
    seen: dict[tuple[str, ...], None] = {}
    in_group: dict[tuple[str, str], int] = {}
    keys = (*_input_names(task), *task.language_keys[1:])
    for item in items:
        texts = {name: item.fields[name] for name in keys if item.fields.get(name)}
        key = (item.language, item.group, *(str(item.fields.get(name, "")).strip() for name in keys))
        if key in seen or not given_texts(item, task):
            continue
        seen[key] = None
        number = in_group[item.language, item.group] = in_group.get((item.language, item.group), 0) + 1
        name = item.group if number == 1 else f"{item.group}-{number}"
        yield Item(name, item.language, task.id, "test", item.group, None, item.parallel_id, texts)


def writing_plan(spec: GenerateSpec, sources: WritingSources, library: Library) -> Plan:
    """One query for each input, at the temperature of the specification."""
    [output] = sources.task.outputs
    condition = Condition(Variant(answer="text"), spec.temperature, spec.top_p)
    items = sorted(sources.items, key=lambda item: (item.language, item.group, item.item_id))

    def queries() -> Iterator[Query]:
        return (Query(item, (output,), condition) for item in items)

    return Plan(spec.seed, queries, 1, _WritingRenderer(spec, sources, library), _half_of_the_longest)


def _half_of_the_longest(query: Query, prompt: Prompt) -> int:
    return prompt.max_tokens // 2


class _WritingRenderer:
    """Finds the request to write for a query, by language and by the inputs that an item has."""

    def __init__(self, spec: GenerateSpec, sources: WritingSources, library: Library) -> None:
        self.items = ShownItems(library, (), spec.seed)
        self.absent: dict[tuple[str, str, str], tuple[Score, ...]] = {}
        self._task = sources.task
        self._prompts = {language: _prompt(spec, sources.task, library, language) for language in {item.language for item in sources.items}}
        self._templates: dict[tuple[str, tuple[str, ...]], PromptTemplate] = {}

    def template(self, query: Query) -> PromptTemplate:
        key = (query.item.language, given_texts(query.item, self._task))
        if key not in self._templates:
            self._templates[key] = self._prompts[key[0]].template(key[1])
        return self._templates[key]


def _prompt(spec: GenerateSpec, task: Task, library: Library, language: str) -> WritingPrompt:
    """The request in one language. Raises UsageError for own words that no native reader has reviewed, unless they are allowed."""
    prompt = writing_prompt(library, task, language, own_language=spec.own_language)
    translated = spec.own_language and not is_english(language)
    if translated and not library.instructions(language).reviewed_by and not spec.allow_unreviewed:
        raise UsageError(f"no native reader has reviewed the instructions in '{language}'; --allow-unreviewed uses them")
    return prompt
