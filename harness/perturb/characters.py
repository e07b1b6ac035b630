"""Changed characters: letters without their marks, and typos."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from harness.model import Item
from harness.perturb.chance import Chance, dosed_count
from harness.perturb.keys import add_typo, adjacent_keys
from harness.perturb.kind import Change, Doses, Kind
from harness.perturb.segments import Words

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
    """The script of a letter, which is the first word of its Unicode name; empty for other characters."""
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
        place = words.places[number]
        typed = add_typo(parts[place], adjacent, Chance(seed + number))
        if typed:
            parts[place] = typed
            mistyped += 1
    return Change("".join(parts), {"mistyped": mistyped / count, "words": float(count)}) if mistyped else None


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
