"""Other numbers in the place of those that a text holds."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from harness.model import Item
from harness.perturb.chance import Chance, number_of
from harness.perturb.kind import Change, Doses, Kind
from harness.perturb.segments import Words

# Digits of any script, with marks inside as in 1,234.5 or 10:30 or 2024-05-01.
_NUMBER = re.compile(r"\d+(?:[.,:/٫٬’'-]\d+)*")

# A letter of a script that writes spaces around numbers, and what holds an identifier together: the 19 of "COVID-19", the 5 of "x_5"
# and the 2.0 of "v2.0" are no numbers. Letters of Japanese, Chinese, Thai or Korean may touch a number: 2023年.
_LETTER = r"A-Za-zªµº\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u052f\u1d00-\u1fff"
_IDENTIFIER = re.compile(rf"[{_LETTER}\d._@#/\\:&=+-]+")
_HAS_LETTER = re.compile(rf"[{_LETTER}_@#\\]")

# Between digit and mark these make one emoji (a keycap); other marks after a digit are as much a part of it.
_MARKS = ("Mn", "Me", "Mc", "Cf")


def number_swap(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """The chosen numbers, at least one, become others of as many digits, in the same script and with the same marks inside.

    A number that begins with other digits than 0 still does. Numerals that are words (three, 三) are left alone: 一 is a part of too many
    words that are no numbers. Realised: `changed`, the share of numbers; `numbers`, how many there were.
    """
    found = _numbers(words.text)
    if not found:
        return None
    chance = Chance(seed)
    chosen = sorted(chance.some(len(found), max(1, number_of(dose, len(found)))))
    pieces: list[str] = []
    end = 0
    for number in chosen:
        start, stop = found[number]
        pieces += [words.text[end:start], _other(words.text[start:stop], chance)]
        end = stop
    return Change("".join([*pieces, words.text[end:]]), {"changed": len(chosen) / len(found), "numbers": float(len(found))})


def _numbers(text: str) -> list[tuple[int, int]]:
    """Where the numbers are, as (start, end): not inside words and identifiers, nor parts of emoji."""
    inside = [match.span() for match in _IDENTIFIER.finditer(text) if _HAS_LETTER.search(match[0])]
    found: list[tuple[int, int]] = []
    at = 0
    for match in _NUMBER.finditer(text):
        while at < len(inside) and inside[at][1] <= match.start():
            at += 1
        in_identifier = at < len(inside) and inside[at][0] < match.end()
        marked = match.end() < len(text) and unicodedata.category(text[match.end()]) in _MARKS
        if not in_identifier and not marked:
            found.append(match.span())
    return found


def _other(number: str, chance: Chance) -> str:
    """Another number of as many digits. Zeros at its start stay: 0.5 becomes 0.7, and 007 becomes 003."""
    digits = [place for place, character in enumerate(number) if character.isdecimal()]
    zeros = next((n for n, place in enumerate(digits) if unicodedata.decimal(number[place])), len(digits) - 1)
    characters = list(number)
    for place in digits[zeros + 1 :]:
        characters[place] = _digit(number[place], chance.below(10))
    first = digits[zeros]  # always another, so that the number is; never 0
    was = unicodedata.decimal(number[first])
    characters[first] = _digit(number[first], chance.pick([digit for digit in range(1, 10) if digit != was]))
    return "".join(characters)


def _digit(like: str, value: int) -> str:
    """The digit `value` in the script of another: scripts have theirs in a row, from 0 to 9."""
    return chr(ord(like) - unicodedata.decimal(like) + value)


NUMBER_SWAP = Kind(
    name="number-swap",
    summary="some numbers become others of as many digits",
    doses=Doses(0.5, 0.05, 1.0),
    heeds_segmenter=False,
    moves={"hallucination": -1, "linguistic_acceptability": 0, "problematic_content": 0},
    perturb=number_swap,
)
