"""What one prompt asks, before any item text is in it, and the JSON schema of the answer."""

from __future__ import annotations

import hashlib
from typing import Any

import langcodes
import msgspec

from harness.content.specs import Task
from harness.model import Item, Scale, Variant
from harness.prompts.shots import Example
from harness.prompts.wording import Wording

JUSTIFICATION_CHARACTERS = 120
_JSON_TOKENS = 40  # room for braces, keys, white space and the score itself
_TOKENS_PER_CHARACTER = {"Latn": 2}  # letters with diacritics take several tokens of an English vocabulary
_TOKENS_PER_CHARACTER_ELSEWHERE = 3


class Question(msgspec.Struct, frozen=True):
    """Everything that a prompt is made of except the item's texts.

    `scales` are those of the metrics asked, in the order in which they are asked; `present` names the texts that are not empty.
    """

    wording: Wording
    scales: dict[str, Scale]
    variant: Variant
    language: str
    present: tuple[str, ...]
    examples: tuple[Example, ...] = ()

    @property
    def key(self) -> str:
        """Hash of all of it: equal keys render to equal frames."""
        return hashlib.sha256(msgspec.json.encode([self, list(self.scales)], order="sorted")).hexdigest()

    @property
    def joint(self) -> bool:
        return self.variant.call == "joint"

    @property
    def asked_language(self) -> str:
        """The language that the justification is asked for in."""
        return self.language if self.variant.language == "own" else "en"

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the answer: one object, or in a joint call one object a metric."""
        answers = {metric: _answer_schema(scale, self.variant) for metric, scale in self.scales.items()}
        return _object(answers) if self.joint else next(iter(answers.values()))

    @property
    def max_tokens(self) -> int:
        """Room for the longest answer that the schema allows, so that JSON is not cut in the middle."""
        script = langcodes.get(self.language).maximize().script or ""
        per_character = _TOKENS_PER_CHARACTER.get(script, _TOKENS_PER_CHARACTER_ELSEWHERE)
        characters = 0 if self.variant.justification == "none" else JUSTIFICATION_CHARACTERS
        return len(self.scales) * (_JSON_TOKENS + characters * per_character)


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
