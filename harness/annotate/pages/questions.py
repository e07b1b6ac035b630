"""The questions of a page: metrics, scales, and the meaning of each score in the annotator's language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from harness.content import Library
from harness.content.specs import Instructions, RubricWords
from harness.exchange.labels.sections import TaskSection, section_in
from harness.exchange.labels.sheet import title_of
from harness.model import Scale
from harness.pages import visible

_CLASS_LINE = re.compile(r"^\s*(\S+)\s*[:：]\s*(\S.*)$")
_STEPS = 100  # of a slider over the whole scale


class AnnotatorWords(msgspec.Struct, frozen=True):
    """The words of a page in the annotator's language, and English where there are none."""

    library: Library
    instructions: Instructions | None
    strings: dict[str, str]

    def question(self, metric: str, scale: Scale) -> dict[str, Any]:
        """One question for the page: title, text, and the classes or the range to choose from."""
        rubric = self._rubric(metric)
        lines = rubric.simple.strip().splitlines() if rubric else []
        hints = dict(_class_hints(lines, scale))
        asked = [line for line in lines if not (match := _CLASS_LINE.match(line)) or match[1] not in hints]
        shown = {
            "id": metric,
            "title": rubric.title if rubric else title_of(metric, {}),
            "text": "\n".join(asked),
            "description": rubric.description.strip() if rubric else "",
            "best": scale.best,
        }
        if scale.kind == "interval":
            assert scale.min is not None and scale.max is not None
            whole = scale.max - scale.min >= _STEPS // 2
            step = 1 if whole else (scale.max - scale.min) / _STEPS
            return shown | {"kind": "number", "min": scale.min, "max": scale.max, "step": step}
        points = rubric.criteria if rubric else {}
        names = self._names_of_texts(scale)
        classes = []
        for value in scale.classes:
            text = str(value)
            classes.append({"value": value, "name": names.get(text, text), "hint": hints.get(text, ""), "points": points.get(text, ())})
        return shown | {"kind": "classes", "classes": classes}

    def task(self, section: TaskSection) -> dict[str, Any]:
        """A task for the page: what writers were asked to do, and the titles of its texts."""
        own = section_in(section, self.instructions) if self.instructions else section
        outputs = output_fields(self.library, section)
        return {"about": own.instruction.strip(), "fields": dict(own.fields), "outputs": outputs}

    def _rubric(self, metric: str) -> RubricWords | None:
        if self.instructions and metric in self.instructions.rubrics:
            return self.instructions.rubrics[metric]
        if metric not in self.library.rubric_files:
            return None
        rubric = self.library.rubric(metric)
        criteria = {str(group.score): group.points for group in rubric.detailed.criteria}
        return RubricWords(rubric.title, rubric.simple.instruction, rubric.detailed.description, criteria)

    def _names_of_texts(self, scale: Scale) -> dict[str, str]:
        """Names for classes that say which of two texts is better: those that an exchange of the texts exchanges."""
        if not scale.swap:
            return {}
        unmoved = [name for name in map(str, scale.classes) if scale.swap.get(name, name) == name]
        return {"A": self.strings["text_a"], "B": self.strings["text_b"], **{name: self.strings["equal"] for name in unmoved[:1]}}


def output_fields(library: Library, section: TaskSection) -> list[str]:
    """The texts to be judged: those that the task declares; without a task, those called output, else the last one."""
    if section.task in library.task_files:
        return [name for name in library.task(section.task).outputs if name in section.fields]
    named = [name for name in section.fields if name == "output" or name.startswith("output_")]
    return named or list(section.fields)[-1:]


def _class_hints(lines: list[str], scale: Scale) -> Iterator[tuple[str, str]]:
    """(class, meaning) of the lines of a simple instruction that explain a class, such as `2: yes, all of it.`"""
    classes = {str(value) for value in scale.classes}
    for line in lines:
        match = _CLASS_LINE.match(line)
        if match and match[1] in classes:
            yield match[1], visible(match[2])
