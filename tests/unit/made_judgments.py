"""Judgments by hand: the parts of a condition as words beside the other fields."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from harness.model import Condition, Judgment, parse_variant

_FIRST = (
    "item_id",
    "language",
    "task",
    "metric",
    "judge",
    "variant",
    "temperature",
    "repeat",
    "score",
    "failure",
    "raw_choice",
    "justification",
    "call_id",
)


def made_judgment(*first: Any, **fields: Any) -> Judgment:
    """A judgment from its fields, in the order of `_FIRST` or by name; `variant` is its text."""
    known = {**dict(zip(_FIRST, first, strict=False)), **fields}
    axes = {name: known.pop(name) for name in Condition.__struct_fields__ if name in known}
    return Judgment(condition=Condition(**axes | {"variant": parse_variant(axes["variant"])}), **known)


def changed_judgment(judgment: Judgment, **fields: Any) -> Judgment:
    """The judgment with other fields, or with other parts of its condition."""
    axes = {name: fields.pop(name) for name in Condition.__struct_fields__ if name in fields}
    return replace(judgment, condition=replace(judgment.condition, **axes), **fields)


def letters(count: int) -> list[str]:
    """The first lower-case letters: names of items."""
    return [chr(ord("a") + number) for number in range(count)]
