"""Changed characters: letters without their marks, and typos, at most one in a word, made on graphemes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from harness.content.tags import likely_script
from harness.model import Item
from harness.perturb.kind import Chance, Change, Doses, Kind, dosed_count
from harness.perturb.segments import Words
from harness.text import graphemes

LATIN_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")  # for languages in Latin script whose lexicon has no keyboard
_CJK = ("CJK", "HIRAGANA", "KATAKANA")

AdjacentKeys = Mapping[str, str]
_Typo = Callable[[list[str], AdjacentKeys, Chance], "list[str] | None"]

# Scripts in which every mark may be removed: the letter under it is still a letter.
_SCRIPTS_WITH_ACCENTS = ("LATIN", "GREEK", "CYRILLIC")
# Scripts in which only these marks may be removed: vowels and signs of recitation. Hamza and madda (U+0653 to U+0655) are part of a letter.
_VOWEL_POINTS = {
    "ARABIC": re.compile("[\u0610-\u061a\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]"),
    "HEBREW": re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]"),
}


def strip_diacritics(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Remove the combining marks of Latin, Greek and Cyrillic letters, and the vowel points of Arabic and Hebrew ones.

    In other scripts, marks are letters or vowels of their own (が, ि, ำ), and stay. The result is in normal form C. Realised: `changed`,
    the share of letters that lost a mark; `letters`, their number.
    """
    characters: list[str] = []
    letters = stripped_letters = 0
    script, mark_removed = "", False
    for character in unicodedata.normalize("NFD", words.text):
        if not unicodedata.combining(character):
            script, mark_removed = _script(character), False
            letters += character.isalpha()
        elif script in _SCRIPTS_WITH_ACCENTS or (script in _VOWEL_POINTS and bool(_VOWEL_POINTS[script].match(character))):
            stripped_letters += not mark_removed
            mark_removed = True
            continue
        characters.append(character)
    if not stripped_letters:
        return None
    return Change(unicodedata.normalize("NFC", "".join(characters)), {"changed": stripped_letters / letters, "letters": float(letters)})


@lru_cache(maxsize=1 << 14)
def _script(character: str) -> str:
    """Return the script of a letter, which is the first word of its Unicode name; empty for other characters."""
    return unicodedata.name(character, "").partition(" ")[0] if character.isalpha() else ""


def typos(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Put a typo into each chosen word, at least one. If no typo fits a word, the next word gets it.

    Realised: `mistyped`, the share of words with a typo; `words`, their number.
    """
    count = len(words)
    wanted = max(1, dosed_count(dose, count))
    parts = list(words.parts)
    chance = Chance(seed)
    adjacent = adjacent_keys(item.language, words.lexicon.keyboard)
    mistyped = 0
    for number in chance.some(count, count):  # each word has its own seed, so that a greater dose repeats a smaller one
        if mistyped == wanted:
            break
        position = words.places[number]
        typed = add_typo(parts[position], adjacent, Chance(seed + number))
        if typed:
            parts[position] = typed
            mistyped += 1
    return Change("".join(parts), {"mistyped": mistyped / count, "words": float(count)}) if mistyped else None


def add_typo(word: str, keys: AdjacentKeys, chance: Chance) -> str | None:
    """Return the word with one typo, or None if no typo fits. No grapheme is split or merged by accident.

    A typo swaps two neighbours, drops or doubles a letter, or hits an adjacent key. `keys` maps each letter to the letters on adjacent
    keys. Words with Japanese or Chinese characters, which are not typed with one key each, are only swapped and doubled.
    """
    parts = graphemes(word)
    cjk = any(unicodedata.name(character, "").startswith(_CJK) for character in word)
    typos: list[_Typo] = [_swap, _double] if cjk else [_swap, _drop, _double, _hit_adjacent_key]
    for number in chance.some(len(typos), len(typos)):
        changed = typos[number](parts, keys, chance)
        if changed is not None:
            result = "".join(changed)
            if graphemes(result) == changed:
                return result
    return None


def _letter_places(parts: Sequence[str]) -> list[int]:
    return [position for position, part in enumerate(parts) if part[0].isalpha()]


def _swap(parts: list[str], keys: AdjacentKeys, chance: Chance) -> list[str] | None:
    """Swap two different neighbouring letters; a capital keeps its place."""
    letters = set(_letter_places(parts))
    pairs = [
        position
        for position in sorted(letters)
        if position + 1 in letters and parts[position] != parts[position + 1] and parts[position].isupper() == parts[position + 1].isupper()
    ]
    if not pairs:
        return None
    position = chance.pick(pairs)
    return [*parts[:position], parts[position + 1], parts[position], *parts[position + 2 :]]


def _drop(parts: list[str], keys: AdjacentKeys, chance: Chance) -> list[str] | None:
    """Drop a letter, but not the first one."""
    letters = _letter_places(parts)[1:]
    if not letters:
        return None
    position = chance.pick(letters)
    return parts[:position] + parts[position + 1 :]


def _double(parts: list[str], keys: AdjacentKeys, chance: Chance) -> list[str] | None:
    """Double a letter, but the first one only if there is no other."""
    letters = _letter_places(parts)
    if not letters:
        return None
    position = chance.pick(letters[1:] or letters)
    return [*parts[: position + 1], parts[position], *parts[position + 1 :]]


def _hit_adjacent_key(parts: list[str], keys: AdjacentKeys, chance: Chance) -> list[str] | None:
    """Replace a letter by one on an adjacent key."""
    letters = [position for position, part in enumerate(parts) if keys.get(part.lower())]
    if not letters:
        return None
    position = chance.pick(letters)
    changed = chance.pick(keys[parts[position].lower()])
    return [*parts[:position], changed.upper() if parts[position].isupper() else changed, *parts[position + 1 :]]


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
    position = {key: (row, column) for row, keys in enumerate(rows) for column, key in enumerate(keys)}

    def is_adjacent(first: str, other: str) -> bool:
        (row, column), (other_row, other_place) = position[first], position[other]
        return other_place - column in {0: (-1, 1), 1: (-1, 0), -1: (0, 1)}.get(other_row - row, ())

    return {key: "".join(other for other in position if other != key and is_adjacent(key, other)) for key in position}


STRIP_DIACRITICS = Kind(
    name="strip-diacritics",
    summary="letters lose accents and vowel points",
    doses=None,
    heeds_segmenter=False,
    moves={"linguistic_acceptability": -1, "problematic_content": 0, "hallucination": 0},
    perturb=strip_diacritics,
)
TYPOS = Kind(
    name="typos",
    summary="some words get a typo: letters swapped, doubled, missing, or the key beside",
    doses=Doses(0.1, 0.05, 1.0),
    heeds_segmenter=True,
    moves={"linguistic_acceptability": -1, "problematic_content": 0, "hallucination": 0},
    perturb=typos,
)
