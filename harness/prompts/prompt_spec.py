"""The parts of a prompt template."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec

from harness.content.specs import Task
from harness.model import Item, Scale, Variant, hashed_variant
from harness.prompts.answer_schema import answer_schema, most_tokens, object_schema
from harness.prompts.examples import Example
from harness.prompts.wording import FURTHER_WORDS, Wording


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
        scales = {metric: scale.hashed for metric, scale in self.scales.items()}
        fields = msgspec.to_builtins(self) | {"variant": hashed_variant(self.variant), "scales": scales}
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
