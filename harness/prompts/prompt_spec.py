"""The parts of a prompt template, and the form of its answer: the JSON schema, and the most tokens that an answer of this form may take."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import langcodes
import msgspec

from harness.content.specs import Task
from harness.model import SEVERITIES, Item, Scale, Variant, hashed_variant
from harness.prompts.examples import Example
from harness.prompts.wording import FURTHER_WORDS, Wording

JUSTIFICATION_CHARACTERS = 120
MAX_SPANS = 10  # errors that an answer may mark
SPAN_CHARACTERS = 80  # of a quotation


def answer_schema(scale: Scale, variant: Variant) -> dict[str, Any]:
    """Return one object with the score of a metric, and what the variant asks beside it."""
    score: dict[str, Any] = {"enum": list(scale.classes)}
    if scale.kind == "interval":
        score = {"type": "number", "minimum": scale.min, "maximum": scale.max}
    if variant.answer == "spans":
        error = {"text": {"type": "string", "maxLength": SPAN_CHARACTERS}, "severity": {"enum": list(SEVERITIES)}}
        return object_schema({"errors": {"type": "array", "maxItems": MAX_SPANS, "items": object_schema(error)}, "score": score})
    justification = {"type": "string", "maxLength": JUSTIFICATION_CHARACTERS}
    keys = {
        "before": {"justification": justification, "score": score},
        "after": {"score": score, "justification": justification},
        "none": {"score": score},
    }
    return object_schema(keys[variant.justification])


def object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """Return an object that has just these keys, in this order."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


_EXPLAINED_CHARACTERS = 400  # of a text with an explanation; it may be cut, as its score comes first
_SPAN_TOKENS = 20  # for the braces, keys and severity of an error
_JSON_TOKENS = 40  # for braces, keys, white space and the score itself
_TOKENS_PER_CHARACTER = {"Latn": 2}  # letters with diacritics take several tokens of an English vocabulary
_DEFAULT_TOKENS_PER_CHARACTER = 3


def most_tokens(variant: Variant, language: str, metrics: int) -> int:
    """Return enough tokens for the longest answer that the schema allows, so that its JSON is never cut off; a limit for texts."""
    per_character = tokens_for(language, 1)
    if variant.answer == "text":
        return per_character * (_EXPLAINED_CHARACTERS if variant.explain else JUSTIFICATION_CHARACTERS)
    if variant.answer == "spans":
        return _JSON_TOKENS + MAX_SPANS * (_SPAN_TOKENS + SPAN_CHARACTERS * per_character)
    characters = 0 if variant.justification == "none" else JUSTIFICATION_CHARACTERS
    return metrics * (_JSON_TOKENS + characters * per_character)


def tokens_for(language: str, characters: int) -> int:
    """Return the most tokens that so many characters of a text in this language take."""
    script = langcodes.get(language).maximize().script or ""
    return characters * _TOKENS_PER_CHARACTER.get(script, _DEFAULT_TOKENS_PER_CHARACTER)


class PromptSpec(msgspec.Struct, frozen=True):
    """Everything that a prompt is made of, except the texts of the item.

    `scales` belong to the metrics of the query, in the order in which the prompt names them. `text_names` are the names of the texts
    that are shown.
    """

    wording: Wording
    scales: dict[str, Scale]
    variant: Variant
    language: str
    text_names: tuple[str, ...]
    examples: tuple[Example, ...] = ()
    named_sources: tuple[str, ...] = ()  # the texts whose headings name who wrote them

    @property
    def key(self) -> str:
        """The hash of all fields. Specs with equal keys render to equal templates."""
        fields = msgspec.to_builtins(self) | {"variant": hashed_variant(self.variant)}
        if not self.named_sources:
            del fields["named_sources"]
        for name in FURTHER_WORDS:  # came later; without them, keys are as before
            if not fields["wording"]["words"][name]:
                del fields["wording"]["words"][name]
        return hashlib.sha256(msgspec.json.encode([fields, list(self.scales)], order="sorted")).hexdigest()

    @property
    def joint(self) -> bool:
        return self.variant.call == "joint"

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the answer: one object, or in a joint call one object for each metric; empty for a text."""
        if self.variant.answer == "text":
            return {}
        answers = {metric: answer_schema(scale, self.variant) for metric, scale in self.scales.items()}
        return object_schema(answers) if self.joint else next(iter(answers.values()))

    @property
    def max_tokens(self) -> int:
        return most_tokens(self.variant, self.language, len(self.scales))


def source_of(name: str) -> str:
    """The name under which a shown item has the system that wrote its text `name`. No text of a task has a colon in its name."""
    return f"source:{name}"


def shown_texts(item: Item, task: Task, metrics: Iterable[str] = ()) -> tuple[str, ...]:
    """The names of the item's texts that a question about these metrics shows, in the order of the task.

    These are the judged texts, and those that are not empty and that one of the metrics shows (`Task.shown`).
    """
    needed = {name for metric in metrics for name in task.shown.get(metric, task.fields)} or set(task.fields)
    return tuple(name for name in task.fields if name in task.outputs or (name in needed and str(item.fields.get(name, "")).strip()))
