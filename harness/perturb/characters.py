"""Letters without their marks, and slips of the fingers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from harness.model import Item
from harness.perturb.chance import Chance, number_of
from harness.perturb.keys import slip
from harness.perturb.kind import Change, Doses, Kind
from harness.perturb.segments import Words

# Scripts where any mark may go, and the letter under it is a letter still.
_MARKED = ("LATIN", "GREEK", "CYRILLIC")
# Scripts where only these marks may: vowels and signs of recitation. Hamza and madda (U+0653 to U+0655) are part of their letter.
_POINTED = {
    "ARABIC": re.compile("[\u0610-\u061a\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]"),
    "HEBREW": re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]"),
}


def strip_diacritics(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Letters of Latin, Greek and Cyrillic lose their combining marks, those of Arabic and Hebrew their vowel points.

    In other scripts marks are letters or vowels of their own (が, ि, ำ), and stay. The result is in normal form C. Realised: `changed`,
    the share of letters that lost a mark; `letters`, how many there were.
    """
    kept: list[str] = []
    letters = stripped = 0
    script, lost = "", False
    for character in unicodedata.normalize("NFD", words.text):
        if not unicodedata.combining(character):
            script, lost = _script(character), False
            letters += character.isalpha()
        elif _goes(script, character):
            stripped += not lost
            lost = True
            continue
        kept.append(character)
    if not stripped:
        return None
    return Change(unicodedata.normalize("NFC", "".join(kept)), {"changed": stripped / letters, "letters": float(letters)})


@lru_cache(maxsize=1 << 14)
def _script(character: str) -> str:
    """The first word of a letter's name, which is its script; empty for what is no letter."""
    return unicodedata.name(character, "").partition(" ")[0] if character.isalpha() else ""


def _goes(script: str, mark: str) -> bool:
    return script in _MARKED or (script in _POINTED and bool(_POINTED[script].match(mark)))


def typos(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """The chosen words, at least one, get a typo each; a word that none fits hands on to the next.

    Realised: `mistyped`, the share of words that got one; `words`, how many there were.
    """
    count = len(words)
    wanted = max(1, number_of(dose, count))
    parts = list(words.parts)
    chance = Chance(seed)
    done = 0
    for number in chance.some(count, count):
        if done == wanted:
            break
        place = words.places[number]
        typed = slip(parts[place], item.language, Chance(seed + number))  # of its own, so that a greater dose repeats a smaller one
        if typed:
            parts[place] = typed
            done += 1
    return Change("".join(parts), {"mistyped": done / count, "words": float(count)}) if done else None


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
