"""What one prompt asks, before any item text is in it, and the JSON schema of the answer."""

from __future__ import annotations

import hashlib
from typing import Any

import langcodes
import msgspec

from harness.content.specs import Rubric, Task
from harness.content.tags import english_name
from harness.model import Item, Scale, Variant

JUSTIFICATION_CHARACTERS = 120
_JSON_TOKENS = 40  # room for braces, keys, white space and the score itself
_TOKENS_PER_CHARACTER = {"Latn": 2}  # letters with diacritics take several tokens of an English vocabulary
_TOKENS_PER_CHARACTER_ELSEWHERE = 3


class Question(msgspec.Struct, frozen=True):
    """Everything that a prompt is made of except the item's texts. `present` names the texts that are not empty."""

    task: Task
    rubrics: tuple[Rubric, ...]
    variant: Variant
    language: str
    present: tuple[str, ...]

    @property
    def key(self) -> str:
        """Hash of all of it: equal keys render to equal frames."""
        return hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()

    @property
    def language_name(self) -> str:
        return english_name(self.language)

    @property
    def joint(self) -> bool:
        return self.variant.call == "joint"

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the answer: one object, or in a joint call one object a metric."""
        answers = {rubric.id: _answer_schema(rubric.scale, self.variant) for rubric in self.rubrics}
        return _object(answers) if self.joint else answers[self.rubrics[0].id]

    @property
    def max_tokens(self) -> int:
        """Room for the longest answer that the schema allows, so that JSON is not cut in the middle."""
        script = langcodes.get(self.language).maximize().script or ""
        per_character = _TOKENS_PER_CHARACTER.get(script, _TOKENS_PER_CHARACTER_ELSEWHERE)
        characters = 0 if self.variant.justification == "none" else JUSTIFICATION_CHARACTERS
        return len(self.rubrics) * (_JSON_TOKENS + characters * per_character)


def present_texts(item: Item, task: Task) -> tuple[str, ...]:
    """The names of an item's texts that are not empty, in the task's order."""
    return tuple(name for name in task.fields if str(item.fields.get(name, "")).strip())


def _answer_schema(scale: Scale, variant: Variant) -> dict[str, Any]:
    score: dict[str, Any] = {"enum": list(scale.classes)}
    if scale.kind == "interval":
        score = {"type": "number", "minimum": scale.min, "maximum": scale.max}
    justification = {"type": "string", "maxLength": JUSTIFICATION_CHARACTERS}
    keys = {
        "before": {"justification": justification, "score": score},
        "after": {"score": score, "justification": justification},
        "none": {"score": score},
    }
    return _object(keys[variant.justification])


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
