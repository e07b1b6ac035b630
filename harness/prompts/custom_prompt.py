"""Prompts and wordings of a rubric of the user's own, each named with the hash of its content (`polite@1f2e3d4c`).

Item texts never pass through a format.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from harness import parse  # whose names are imported on first use
from harness.content.problems import line_of
from harness.content.specs import Rubric, Text, read_spec
from harness.content.tags import english_name
from harness.errors import ContentError, UsageError
from harness.model import Item, Scale, Score, Variant, is_own_name, parse_variant
from harness.prompts.templates import PromptTemplate, TemplateMessage, TextSlot

LANGUAGE = "language"
"""The variable that is the English name of the item's language; all others are fields of the item."""
_VARIABLE = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}")


class OwnMessage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One message; `{{name}}` is the item's text of that name."""

    role: Literal["system", "user", "assistant"]
    text: Text


class OwnPrompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A prompt file."""

    metric: Text  # what is scored; labels of this metric are what the scores are compared with
    message: Annotated[tuple[OwnMessage, ...], msgspec.Meta(min_length=1)]
    read: Text = "json:score"  # how the score is read: `json:<key>`, or `regex:<pattern>` with one group
    map: dict[str, Score] = {}  # scores for words
    scale: Scale | None = None  # the scale that the prompt states; it must be that of the metric
    max_tokens: Annotated[int, msgspec.Meta(ge=1, le=32_768)] = 512  # of the answer

    @property
    def rule(self) -> parse.AnswerRule:
        return parse.AnswerRule(self.read, self.map)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the texts that the messages show, in order."""
        return tuple(dict.fromkeys(name for message in self.message for name in _VARIABLE.findall(message.text)))

    def template(self, language: str) -> PromptTemplate:
        """Return the messages with slots for an item's texts, in one language."""
        messages = tuple(TemplateMessage(message.role, tuple(_parts(message.text, language))) for message in self.message)
        return PromptTemplate(messages, {}, self.max_tokens)

    def problem_with(self, scale: Scale, items: Iterable[Item]) -> str:
        """Return why the prompt does not fit data with this scale of its metric, as a clause; empty if it does."""
        if self.scale is not None and self.scale != scale:
            return f"states the scale {self.scale.describe()}, but '{self.metric}' has {scale.describe()}"
        for word, score in self.map.items():
            if not scale.holds(score):
                return f"maps '{word}' to {score!r}, which is not on the scale of '{self.metric}' ({scale.describe()})"
        for item in items:
            for name in self.variables:
                if name != LANGUAGE and not str(item.fields.get(name, "")).strip():
                    fields = ", ".join(field for field, value in item.fields.items() if isinstance(value, str))
                    return f"shows '{name}', but item '{item.item_id}' has only the texts {fields}"
        return ""


def _parts(text: str, language: str) -> Iterator[str | TextSlot]:
    """Yield a message split at its variables: literal, name, literal, …"""
    for index, piece in enumerate(_VARIABLE.split(text.strip())):
        if index % 2 == 0:
            if piece:
                yield piece
        else:
            yield english_name(language) if piece == LANGUAGE else TextSlot(piece)


def load_own_prompt(path: Path) -> tuple[str, OwnPrompt]:
    """Read a prompt file: its name and the prompt.

    Raises ContentError with the line for a file that is no prompt, and for a reading rule that cannot be.
    """
    prompt = read_spec(path, OwnPrompt)
    name = _own_name(path, prompt, "a prompt")
    try:
        prompt.rule.check()
    except ValueError as err:
        raise ContentError(str(err), path, line_of(path, r"^\s*read\s*=")) from None
    if not any(variable != LANGUAGE for variable in prompt.variables):
        raise ContentError(
            "no message shows a text of the item; write {{output}} where it should stand", path, line_of(path, r"^\s*text\s*=")
        )
    return name, prompt


def load_own_rubric(path: Path) -> tuple[str, Rubric]:
    """Read a rubric file, which is like those in rubrics/: its name and the rubric.

    Raises ContentError with the line for a file that is no rubric.
    """
    rubric = read_spec(path, Rubric)
    return _own_name(path, rubric, "a rubric"), rubric


def _own_name(path: Path, spec: OwnPrompt | Rubric, what: str) -> str:
    digest = hashlib.sha256(msgspec.json.encode(spec, order="sorted")).hexdigest()
    if not is_own_name(name := f"{path.stem}@{digest[:8]}"):
        raise ContentError(f"'{path.stem}' cannot be the name of {what}; use letters, digits, '-', '_' and '.'", path)
    return name


def with_rubric(text: str, name: str) -> Variant:
    """Return a variant that shows this rubric. Raises UsageError for one that cannot: a joint call, instructions in another language."""
    try:
        return parse_variant(f"{text}+rubric:{name}")
    except ValueError as err:
        raise UsageError(str(err)) from None
