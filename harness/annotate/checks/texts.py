"""Two frequent errors in texts: a text occurs twice, or is not in the language that its item names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from harness.model import Item
from harness.parse.language import MIN_LETTERS, identify_language, known_languages

_OUTPUTS = ("output", "output_a", "output_b")
_CLEAR = 0.9
SAME_TO_IT = "the identifier knows languages, not their varieties: pt-BR and pt-PT are one to it"


class WrongLanguageText(msgspec.Struct, frozen=True):
    """A text that seems to be in another language: the identified language, and the identifier's confidence (0 to 1)."""

    item_id: str
    field: str
    stated: str
    found: str
    probability: float


def duplicates(items: Iterable[Item]) -> list[list[str]]:
    """Ids of items of one language and task with the same output for the same input, each set in the order of the file.

    The input is the group that an item shares with others. If the item is its own group, the input is all its other texts.
    """
    items_by_text: dict[tuple[Any, ...], list[str]] = {}
    for item in items:
        texts = sorted((name, value) for name, value in item.fields.items() if isinstance(value, str))
        outputs = tuple(text for text in texts if text[0] in _OUTPUTS)
        inputs = item.group if item.group != item.item_id else tuple(texts)
        if any(value.strip() for _, value in outputs):
            items_by_text.setdefault((item.language, item.task, inputs, outputs), []).append(item.item_id)
    return [ids for ids in items_by_text.values() if len(ids) > 1]


def misplaced(items: Iterable[Item], watch: Callable[[], object] = lambda: None) -> tuple[list[WrongLanguageText], int, set[str]]:
    """Texts that seem to be in another language than their item, how many were checked, and the languages unknown to the identifier.

    The `output` of each item is checked (or `output_a`, `output_b`); texts with fewer than 20 letters are ignored. `watch` is called after
    each item.
    """
    wrong, looked, unknown = [], 0, set()
    for item in items:
        base = item.language.partition("-")[0]
        for name in _OUTPUTS:
            text = item.fields.get(name)
            if not isinstance(text, str) or sum(letter.isalpha() for letter in text) < MIN_LETTERS:
                continue
            if base not in known_languages():
                unknown.add(item.language)
                continue
            looked += 1
            language, probability = identify_language(text)
            if language != base and probability >= _CLEAR:
                wrong.append(WrongLanguageText(item.item_id, name, item.language, language, round(probability, 4)))
        watch()
    return wrong, looked, unknown
