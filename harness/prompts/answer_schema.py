"""The JSON schema of an answer."""

from __future__ import annotations

from typing import Any

from harness.model import SEVERITIES, Scale, Variant

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
