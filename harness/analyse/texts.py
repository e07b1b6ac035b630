"""Two things that are wrong with texts more often than one thinks: they are there twice, or not in the language they say."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import msgspec

from harness.model import Item

_OUTPUTS = ("output", "output_a", "output_b")
MIN_LETTERS = 20  # of a shorter text nobody can tell the language
_CLEAR = 0.9
SAME_TO_IT = "the identifier knows languages, not their varieties: pt-BR and pt-PT are one to it"


class Misplaced(msgspec.Struct, frozen=True):
    """A text that does not look like its language: what the identifier takes it for, and how sure it is (0 to 1)."""

    item_id: str
    field: str
    stated: str
    found: str
    probability: float


def duplicates(items: Iterable[Item]) -> list[list[str]]:
    """Ids of items of one language and task with the same output for the same input, each set in the order of the file.

    The input is the group that an item shares with others; where it is its own group, all its further texts.
    """
    found: dict[tuple[Any, ...], list[str]] = {}
    for item in items:
        texts = sorted((name, value) for name, value in item.fields.items() if isinstance(value, str))
        own = tuple(text for text in texts if text[0] in _OUTPUTS)
        given = item.group if item.group != item.item_id else tuple(texts)
        if any(value.strip() for _, value in own):
            found.setdefault((item.language, item.task, given, own), []).append(item.item_id)
    return [ids for ids in found.values() if len(ids) > 1]


def misplaced(items: Iterable[Item], watch: Callable[[], object] = lambda: None) -> tuple[list[Misplaced], int, set[str]]:
    """Texts that do not look like the language that their item says.

    Args:
        items: whose `output` (or `output_a`, `output_b`) are looked at; texts with fewer than 20 letters are passed over.
        watch: called after each item.

    Returns:
        The misplaced texts, how many texts were looked at, and the languages that the identifier does not know.
    """
    found, looked, unknown = [], 0, set()
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
            language, probability = identify(text)
            if language != base and probability >= _CLEAR:
                found.append(Misplaced(item.item_id, name, item.language, language, round(probability, 4)))
        watch()
    return found, looked, unknown


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # late: its model takes half a second

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def known_languages() -> frozenset[str]:
    """The languages that the identifier can tell, by their base tags."""
    return frozenset(map(str, _identifier().labels))


def identify(text: str) -> tuple[str, float]:
    """The base tag of the language that a text looks like, and how sure that is (0 to 1)."""
    language, probability = _identifier().classify(text)
    return str(language), float(probability)
