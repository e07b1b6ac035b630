"""The visible part of a data set for people, in their language: each task's items, texts and metrics."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from harness.content import Library
from harness.content.specs import Criteria, Instructions, Rubric
from harness.content.tags import choose_from, english_name, name_in, resolve
from harness.data.dataset import Dataset
from harness.errors import UsageError
from harness.model import Item
from harness.text import fill_placeholders


class Selection(NamedTuple):
    """The part of a data set that is exported, and its layout."""

    languages: Sequence[str] | None = None
    tasks: Sequence[str] | None = None
    metrics: Sequence[str] | None = None
    fields: Sequence[str] | None = None  # texts to show if no task describes them
    seed: int = 0
    annotator: str = ""


class TaskSection(NamedTuple):
    """One task of what people label, a worksheet of its own: its items in reading order, the titles of their texts, and the metrics."""

    task: str
    title: str
    instruction: str
    fields: Mapping[str, str]
    items: Sequence[Item]
    metrics: Sequence[str]
    languages: Mapping[str, Sequence[str]] = {}  # key of the items that names languages -> their tags


def selected_items(data: Dataset, selected: Selection) -> list[Item]:
    """The items of the selected languages and tasks. Raises UsageError for a language or task that no item has."""
    languages = {item.language for item in data.items}
    tasks = {item.task for item in data.items}
    if selected.languages is not None:
        languages = set(resolve(selected.languages, languages, "item"))
    for name in selected.tasks or ():
        if name not in tasks:
            raise UsageError(f"no item has the task '{name}'.{choose_from(sorted(tasks), name)}")
    wanted_tasks = set(selected.tasks or tasks)
    return [item for item in data.items if item.language in languages and item.task in wanted_tasks]


def make_sections(data: Dataset, items: Sequence[Item], library: Library, selected: Selection) -> list[TaskSection]:
    """One section for each task, with its items in reading order."""
    if not items:
        raise UsageError("there are no items of these languages and tasks to export")
    by_task: dict[str, list[Item]] = {}
    for item in items:
        by_task.setdefault(item.task, []).append(item)
    return [_make_section(task, task_items, data, library, selected) for task, task_items in by_task.items()]


def _make_section(task: str, items: list[Item], data: Dataset, library: Library, selected: Selection) -> TaskSection:
    # The metrics of a task: the chosen ones, else those with labels, else those of the data, else those of the task. All items of the
    # bundled data belong together, so they have the metrics of their task.
    if selected.metrics is not None:
        metrics = list(selected.metrics)
    else:
        of_task = [name for name in library.task(task).metrics if name in data.scales] if task in library.task_files else []
        if of_task and not data.private:
            metrics = of_task
        else:
            labelled = {metric for item in items for metric in data.labelled_metrics.get(item.item_id, ())}
            in_order = dict.fromkeys((*of_task, *data.scales))
            metrics = [name for name in in_order if name in labelled] or list(data.about.metrics) or of_task
            if not metrics:
                raise UsageError(
                    f"the metrics of task '{task}' are unknown; name them with --metrics; choose from: {', '.join(data.scales)}"
                )
    # Order items by group, so that people read a shared text once. Within a group the order is random, so that it reveals nothing.
    groups: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        groups.setdefault((item.language, item.group), []).append(item)
    ordered: list[Item] = []
    for (language, group), group_items in groups.items():
        random.Random(f"{selected.seed} {language} {group}").shuffle(group_items)
        ordered += group_items
    if task in library.task_files:
        spec = library.task(task)
        fields = {name: field.title for name, field in spec.fields.items() if selected.fields is None or name in selected.fields}
        fields = {name: title for name, title in fields.items() if any(str(item.fields.get(name) or "").strip() for item in items)}
        if not fields:
            raise UsageError(f"--fields names no text of task '{task}' (its texts: {', '.join(spec.fields)})")
        languages = {
            key: list(dict.fromkeys(item.language if key == "language" else str(item.fields.get(key) or item.language) for item in items))
            for key in spec.language_keys
        }
        instruction = naming_languages(spec.instruction.strip(), languages, english_name)
        return TaskSection(task, spec.title, instruction, fields, ordered, metrics, languages)
    texts = list(dict.fromkeys(name for item in items for name, value in item.fields.items() if isinstance(value, str)))
    if selected.fields is None:
        raise UsageError(
            f"task '{task}' has no description that says which texts readers may see (never systems or notes); name them with "
            f"--fields (its texts: {', '.join(texts)})"
        )
    fields = {name: name.replace("_", " ").capitalize() for name in selected.fields if name in texts}
    if missing := [name for name in selected.fields if name not in texts]:
        raise UsageError(f"--fields: no item of task '{task}' has a text '{missing[0]}' (its texts: {', '.join(texts)})")
    return TaskSection(task, task.replace("_", " ").capitalize(), "", fields, ordered, metrics)


def naming_languages(instruction: str, languages: Mapping[str, Sequence[str]], name_of: Callable[[str], str]) -> str:
    """An instruction with the names of the items' languages in place of their keys in braces.

    People read one instruction for many items, so a key may stand for several names: `Czech / German`.
    """
    return fill_placeholders(instruction, **{key: " / ".join(map(name_of, tags)) for key, tags in languages.items()})


# In the annotators' language, from `languages/<tag>/instructions.toml`, else in English


def section_in(section: TaskSection, instructions: Instructions) -> TaskSection:
    """A section whose instruction and titles of texts are in the language of `own`."""
    words = instructions.tasks.get(section.task)
    if words is None:
        return section
    instruction = naming_languages(words.instruction.strip(), section.languages, lambda tag: name_in(tag, instructions.tag))
    fields = {name: words.fields.get(name, title) for name, title in section.fields.items()}
    return section._replace(instruction=instruction, fields=fields)


def rubric_in(rubric: Rubric, instructions: Instructions) -> Rubric:
    """A rubric whose title, description and criteria are in the language of `own`."""
    words = instructions.rubrics.get(rubric.id)
    if words is None:
        return rubric
    scores = {str(group.score): group.score for group in rubric.detailed.criteria}
    criteria = tuple(Criteria(scores[score], points) for score, points in words.criteria.items() if score in scores)
    detailed = msgspec.structs.replace(rubric.detailed, description=words.description, criteria=criteria or rubric.detailed.criteria)
    return msgspec.structs.replace(rubric, title=words.title, detailed=detailed)
