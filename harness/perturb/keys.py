"""Which keys lie beside each other, and the typos that hands make: one slip a word, on graphemes."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, lru_cache

from harness.content.tags import likely_script
from harness.perturb.chance import Chance
from harness.text import graphemes

_ROWS = {
    "qwerty": ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    "qwertz": ("qwertzuiop", "asdfghjkl", "yxcvbnm"),
    "azerty": ("azertyuiop", "qsdfghjklm", "wxcvbn"),
}
_LAYOUTS = {"de": "qwertz", "cs": "qwertz", "sk": "qwertz", "hu": "qwertz", "sl": "qwertz", "hr": "qwertz", "bs": "qwertz", "fr": "azerty"}
_CJK = ("CJK", "HIRAGANA", "KATAKANA")

_Slip = Callable[[list[str], str, Chance], "list[str] | None"]


def slip(word: str, language: str, chance: Chance) -> str | None:
    """The word with one typo; None where none fits. The graphemes of the result are those that were meant: none is torn or merged.

    Two neighbours swapped, one missing, one doubled, or the key beside (languages in Latin script). In words with Japanese or Chinese
    characters, which are not typed one key each, only swapping and doubling.
    """
    units = graphemes(word)
    ways: list[_Slip] = [_swap, _double] if _is_cjk(word) else [_swap, _drop, _double, _beside]
    for way in chance.some(len(ways), len(ways)):
        typed = ways[way](units, language, chance)
        if typed is not None:
            result = "".join(typed)
            if graphemes(result) == typed:
                return result
    return None


def _is_cjk(word: str) -> bool:
    return any(unicodedata.name(character, "").startswith(_CJK) for character in word)


def _letters(units: Sequence[str]) -> list[int]:
    return [place for place, unit in enumerate(units) if unit[0].isalpha()]


def _swap(units: list[str], language: str, chance: Chance) -> list[str] | None:
    """Two different letters side by side; a capital keeps its place."""
    letters = set(_letters(units))
    pairs = [
        place
        for place in sorted(letters)
        if place + 1 in letters and units[place] != units[place + 1] and units[place].isupper() == units[place + 1].isupper()
    ]
    if not pairs:
        return None
    place = chance.pick(pairs)
    return [*units[:place], units[place + 1], units[place], *units[place + 2 :]]


def _drop(units: list[str], language: str, chance: Chance) -> list[str] | None:
    """Any letter but the first."""
    letters = _letters(units)[1:]
    if not letters:
        return None
    place = chance.pick(letters)
    return units[:place] + units[place + 1 :]


def _double(units: list[str], language: str, chance: Chance) -> list[str] | None:
    """Any letter but the first, unless it is the only one."""
    letters = _letters(units)
    if not letters:
        return None
    place = chance.pick(letters[1:] or letters)
    return [*units[: place + 1], units[place], *units[place + 1 :]]


def _beside(units: list[str], language: str, chance: Chance) -> list[str] | None:
    """The key beside the one meant, for a letter that has a key."""
    keys = _keys_of(language)
    letters = [place for place, unit in enumerate(units) if unit.lower() in keys]
    if not letters:
        return None
    place = chance.pick(letters)
    typed = chance.pick(keys[units[place].lower()])
    return [*units[:place], typed.upper() if units[place].isupper() else typed, *units[place + 1 :]]


@lru_cache(maxsize=256)
def _keys_of(language: str) -> dict[str, str]:
    try:
        if likely_script(language) != "Latn":
            return {}
    except ValueError:  # not a language tag
        return {}
    return _neighbours(_LAYOUTS.get(language.partition("-")[0], "qwerty"))


@cache
def _neighbours(layout: str) -> dict[str, str]:
    """Letter -> the letters beside, above and below it; each row lies half a key to the right of the one above."""
    rows = _ROWS[layout]
    at = {key: (row, place) for row, keys in enumerate(rows) for place, key in enumerate(keys)}

    def near(one: str, other: str) -> bool:
        (row, place), (other_row, other_place) = at[one], at[other]
        return other_place - place in {0: (-1, 1), 1: (-1, 0), -1: (0, 1)}.get(other_row - row, ())

    return {key: "".join(other for other in at if other != key and near(key, other)) for key in at}
