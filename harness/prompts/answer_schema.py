"""The form of an answer: its JSON schema, and the most tokens that an answer of this form may take."""

from __future__ import annotations

from typing import Any

import langcodes

from harness.model import SEVERITIES, Scale, Variant

JUSTIFICATION_CHARACTERS = 120
MAX_SPANS = 10  # errors that an answer may mark
SPAN_CHARACTERS = 80  # of a quotation


def answer_schema(scale: Scale, variant: Variant) -> dict[str, Any]:
    """Return one object with the score of a metric, and what the variant asks beside it."""
    score: dict[str, Any] = {"enum": list(scale.classes)}
    if scale.steps:
        score = {"enum": list(scale.steps)}
    elif scale.kind == "interval":
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
