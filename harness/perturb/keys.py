"""Adjacent keys of keyboards, and typos: at most one in a word, made on graphemes."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from harness.content.tags import likely_script
from harness.perturb.chance import Chance
from harness.text import graphemes

LATIN_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")  # for languages in Latin script whose lexicon has no keyboard
_CJK = ("CJK", "HIRAGANA", "KATAKANA")

AdjacentKeys = Mapping[str, str]
_Typo = Callable[[list[str], AdjacentKeys, Chance], "list[str] | None"]


def add_typo(word: str, keys: AdjacentKeys, chance: Chance) -> str | None:
    """Return the word with one typo, or None if no typo fits. No grapheme is split or merged by accident.

    A typo swaps two neighbours, drops or doubles a letter, or hits an adjacent key. `keys` maps each letter to the letters on adjacent
    keys. Words with Japanese or Chinese characters, which are not typed with one key each, are only swapped and doubled.
    """
    parts = graphemes(word)
    typos: list[_Typo] = [_swap, _double] if _is_cjk(word) else [_swap, _drop, _double, _hit_adjacent_key]
    for number in chance.some(len(typos), len(typos)):
        changed = typos[number](parts, keys, chance)
        if changed is not None:
            result = "".join(changed)
            if graphemes(result) == changed:
                return result
    return None


def _is_cjk(word: str) -> bool:
    return any(unicodedata.name(character, "").startswith(_CJK) for character in word)


def _letter_places(parts: Sequence[str]) -> list[int]:
    return [place for place, part in enumerate(parts) if part[0].isalpha()]


def _swap(parts: list[str], keys: AdjacentKeys, chance: Chance) -> list[str] | None:
    """Swap two different neighbouring letters; a capital keeps its place."""
    letters = set(_letter_places(parts))
    pairs = [
        place
        for place in sorted(letters)
        if place + 1 in letters and parts[place] != parts[place + 1] and parts[place].isupper() == parts[place + 1].isupper()
    ]
    if not pairs:
        return None
    place = chance.pick(pairs)
    return [*parts[:place], parts[place + 1], parts[place], *parts[place + 2 :]]


def _drop(parts: list[str], keys: AdjacentKeys, chance: Chance) -> list[str] | None:
    """Drop a letter, but not the first one."""
    letters = _letter_places(parts)[1:]
    if not letters:
        return None
    place = chance.pick(letters)
    return parts[:place] + parts[place + 1 :]


def _double(parts: list[str], keys: AdjacentKeys, chance: Chance) -> list[str] | None:
    """Double a letter, but the first one only if there is no other."""
    letters = _letter_places(parts)
    if not letters:
        return None
    place = chance.pick(letters[1:] or letters)
    return [*parts[: place + 1], parts[place], *parts[place + 1 :]]


def _hit_adjacent_key(parts: list[str], keys: AdjacentKeys, chance: Chance) -> list[str] | None:
    """Replace a letter by one on an adjacent key."""
    letters = [place for place, part in enumerate(parts) if keys.get(part.lower())]
    if not letters:
        return None
    place = chance.pick(letters)
    changed = chance.pick(keys[parts[place].lower()])
    return [*parts[:place], changed.upper() if parts[place].isupper() else changed, *parts[place + 1 :]]


@lru_cache(maxsize=256)
def adjacent_keys(language: str, rows: tuple[str, ...]) -> AdjacentKeys:
    """Map each letter to the letters on adjacent keys, for the keyboard rows of a lexicon.

    Without rows, languages in Latin script have a QWERTY keyboard and other languages none.
    """
    if rows:
        return _neighbours(rows)
    try:
        return _neighbours(LATIN_KEYS) if likely_script(language) == "Latn" else {}
    except ValueError:  # not a language tag
        return {}


def _neighbours(rows: Sequence[str]) -> AdjacentKeys:
    """Map each letter to the letters beside, above and below it. Each row lies half a key to the right of the one above."""
    position = {key: (row, place) for row, keys in enumerate(rows) for place, key in enumerate(keys)}

    def is_adjacent(one: str, other: str) -> bool:
        (row, place), (other_row, other_place) = position[one], position[other]
        return other_place - place in {0: (-1, 1), 1: (-1, 0), -1: (0, 1)}.get(other_row - row, ())

    return {key: "".join(other for other in position if other != key and is_adjacent(key, other)) for key in position}
