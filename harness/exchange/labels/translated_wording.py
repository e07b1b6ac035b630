"""Tasks and rubrics in the annotators' language, from `languages/<tag>/instructions.toml`, else in English."""

from __future__ import annotations

import msgspec

from harness.content.specs import Criteria, Instructions, Rubric
from harness.content.tags import name_in
from harness.exchange.labels.sections import TaskSection, naming_languages


def section_in(section: TaskSection, own: Instructions) -> TaskSection:
    """A section whose instruction and titles of texts are in the language of `own`."""
    words = own.tasks.get(section.task)
    if words is None:
        return section
    instruction = naming_languages(words.instruction.strip(), section.languages, lambda tag: name_in(tag, own.tag))
    fields = {name: words.fields.get(name, title) for name, title in section.fields.items()}
    return section._replace(instruction=instruction, fields=fields)


def rubric_in(rubric: Rubric, own: Instructions) -> Rubric:
    """A rubric whose title, description and criteria are in the language of `own`."""
    words = own.rubrics.get(rubric.id)
    if words is None:
        return rubric
    scores = {str(group.score): group.score for group in rubric.detailed.criteria}
    criteria = tuple(Criteria(scores[score], points) for score, points in words.criteria.items() if score in scores)
    detailed = msgspec.structs.replace(rubric.detailed, description=words.description, criteria=criteria or rubric.detailed.criteria)
    return msgspec.structs.replace(rubric, title=words.title, detailed=detailed)
